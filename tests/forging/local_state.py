"""Forged local state: terminals that nobody sits at, files of `.git/cli-guard`, variables and configuration."""

import dataclasses
import hashlib
import io
import json
import os
import pty
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from forging.table import assert_plain, forgery
from forging.world import (
    ADA_MAIL,
    KEY,
    MALLORY,
    MALLORY_MAIL,
    SIGNERS,
    TOUCH,
    World,
    changed,
    security_key,
    signed,
)
from in_process import RISKY, Terminal, state_values
from repositories import GUARD, Repo

from cli_guard.approvals.statements import Signed, Statement
from cli_guard.model import Severity

HARMLESS = "A docstring has no full stop"


@forgery(at_hook=True, codes=(3,))
def a_program_pretends_a_terminal(world: World) -> None:
    """Mallory has no enrolled key: her approval is `tty` at most."""
    world.stage()
    world.by("mallory").approve()
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def a_program_answers_the_question_of_the_hook(world: World) -> None:
    """The hook asks at a terminal, and a program types: without a key, and below the level that policy wants."""
    world.stage()
    done = world.by("mallory").guard("hook", "pre-commit", stdin=Terminal("yes\n"))
    assert_plain(done)
    assert done.code != 0, done.all
    world.set_base({})
    world.repo.git("rm", "-q", "report.py")
    world.set_policy(TOUCH)
    world.stage()
    done = world.guard("hook", "pre-commit", stdin=Terminal("yes\n"))
    assert_plain(done)
    assert done.code != 0, done.all
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def a_terminal_on_standard_input_alone(world: World) -> None:
    world.stage()
    ours, theirs = pty.openpty()
    env = world.by("mallory").repo.env
    with subprocess.Popen(
        (GUARD, "approve"), cwd=world.repo.path, env=env, stdin=theirs,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        os.close(theirs)
        os.write(ours, b"yes\n")
        process.wait(60)
    os.close(ours)
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def script_runs_approve_at_a_terminal_of_its_own(world: World) -> None:
    world.stage()
    if shutil.which("script"):
        command = ("script", "-qec", f"{GUARD} approve", "/dev/null")
        env = world.by("mallory").repo.env
        subprocess.run(
            command,
            cwd=world.repo.path,
            env=env,
            input=b"yes\n",
            capture_output=True,
            timeout=60,
        )
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def a_key_that_a_program_can_use_where_policy_wants_a_touch(world: World) -> None:
    world.set_policy(TOUCH)
    world.stage()
    world.approve()
    world.approve("--key", str(world.key_file("ada")))
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def an_agent_that_signs_without_a_touch(world: World) -> None:
    """As with `-O no-touch-required`: the signature is good."""
    world.set_policy(TOUCH)
    world.stage()
    world.approve_with(security_key(0x00))
    world.record("Add the report")


def waiting(world: World) -> dict[str, Any]:
    """The pending review of what is staged."""
    world.guard("hook", "pre-commit")
    [name] = world.pending()
    found: dict[str, Any] = json.loads(
        (world.state / "waiting" / f"{name}.json").read_text()
    )
    return found


def local_approval(world: World) -> Signed:
    """Append a line to `approvals.jsonl`, as for a `tty` approval of what waits."""
    asked = waiting(world)
    made = Statement(
        **{name: asked[name] for name in ("content", "policy", "lines", "blobs")},
        findings=dict.fromkeys(asked["fingerprints"], "code-python-shell"),
        parent=asked["base"],
        principal="The Boss",
        at="2026-10-02T12:00:00+00:00",
        repository=(),
    )
    given = Signed(made, made.canonical(), "")
    with (world.state / "approvals.jsonl").open("a") as file:
        file.write(given.line() + "\n")
    return given


def chain(world: World, **values: Any) -> None:
    """Append an event to the audit log, with its hash, as cli-guard does."""
    path = world.state / "audit.jsonl"
    lines = path.read_bytes().splitlines() if path.exists() else []
    event = {
        "at": "2026-10-02T12:00:00+00:00",
        "schema": 1,
        "user": "root",
        "version": "0.1.0",
    } | values
    event["previous"] = hashlib.sha256(lines[-1]).hexdigest() if lines else "0" * 64
    line = json.dumps(event, sort_keys=True).encode()
    path.write_bytes(b"".join(each + b"\n" for each in (*lines, line)))
    (world.state / "audit.head").write_text(hashlib.sha256(line).hexdigest() + "\n")


def audited_approval(world: World, level: str, **values: Any) -> None:
    asked = waiting(world)
    said = local_approval(world).audit_details() | {"level": level} | values
    chain(
        world, event="approve", review_id=asked["id"], reason="", approved_rules=["code-python-shell"],
        **{name: asked[name] for name in ("content", "policy", "fingerprints")}, **said,
    )  # fmt: skip


@forgery(at_hook=True, codes=(3,))
def a_line_of_approvals_by_hand(world: World) -> None:
    world.stage()
    local_approval(world)
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def a_line_of_approvals_and_the_audit_log_that_agrees(world: World) -> None:
    world.stage()
    audited_approval(world, "tty")
    assert world.guard("audit", "verify").code == 0
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def local_files_that_claim_the_highest_level(world: World) -> None:
    world.set_policy(TOUCH)
    world.stage()
    for level in ("key", "touch", "verified", "second"):
        audited_approval(world, level, principal=ADA_MAIL, statement="0" * 64)
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def local_files_with_a_statement_that_somebody_else_signed(world: World) -> None:
    """The envelope is in `approvals.jsonl`, its hash in the audit log, all of it agrees."""
    world.stage()
    statement = world.statement()
    for forged, by in (
        (statement, MALLORY),
        (changed(statement, principal=MALLORY_MAIL), MALLORY),
    ):
        line = signed(forged, by)
        payload = json.loads(line)["payload"]
        with (world.state / "approvals.jsonl").open("a") as file:
            file.write(f"{line}\n")
        asked = waiting(world)
        chain(
            world, event="approve", level="key", principal=forged["predicate"]["principal"], reason="",
            review_id=asked["id"], statement=hashlib.sha256(payload.encode()).hexdigest(),
            approved_rules=["code-python-shell"],
            **{name: asked[name] for name in ("content", "policy", "fingerprints")},
        )  # fmt: skip
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def local_files_where_policy_was_tty_before(world: World) -> None:
    """A `tty` approval of the same content, given under a looser policy, and the policy id replaced."""
    world.set_policy('[approvals]\nhigh = "tty"\n')
    world.stage()
    done = world.by("mallory").approve()
    assert done.code == 0, done.all
    world.repo.git("rm", "-q", "-f", "report.py")
    world.set_policy(KEY)
    world.stage()
    asked = waiting(world)
    now = {"policy": asked["policy"], "content": asked["content"]}
    path = world.state / "approvals.jsonl"
    made = dataclasses.replace(Signed.parse(path.read_text().strip()).statement, **now)
    forged = Signed(made, made.canonical(), "")
    path.write_text(forged.line() + "\n")
    path = world.state / "audit.jsonl"
    lines = [
        json.loads(line) | now | {"statement": forged.digest}
        for line in path.read_text().splitlines()
    ]
    path.write_text("".join(json.dumps(line, sort_keys=True) + "\n" for line in lines))
    world.record("Add the report")


def approved_after(world: World, damage: Callable[[dict[str, Any], Path], None]) -> str:
    """Damage what waits, then approve it; return what the person was shown."""
    world.stage()
    asked = waiting(world)
    damage(asked, world.state / "waiting" / f"{asked['id']}.json")
    done = world.approve(asked["id"])
    assert_plain(done)
    world.record("Add the report")
    print(done.all)
    return done.all if done.code == 0 else "refused [code-python-shell]"


@forgery(codes=(0, 1, 2, 3))
def a_pending_review_shows_other_findings(world: World) -> None:
    """What a person reads must be what the approval is for."""

    def damage(asked: dict[str, Any], path: Path) -> None:
        finding = {
            "rule": "docs-missing",
            "path": "app.py",
            "line": 1,
            "message": HARMLESS,
            "fingerprint": "0" * 16,
        }
        asked["findings"] = [finding]
        asked["reason"] = HARMLESS
        path.write_text(json.dumps(asked))

    shown = approved_after(world, damage)
    assert "[code-python-shell]" in shown, shown


def checkpoint_says(checkpoint: Path, **words: Any) -> None:
    """Have the paused review say other words about its findings, under the same fingerprints."""

    def change(values: dict[str, Any]) -> dict[str, Any]:
        found = [dataclasses.replace(each, **words) for each in values["findings"]]
        judged = [
            each | {"finding": one}
            for each, one in zip(values["judged"], found, strict=True)
        ]
        return {
            "findings": found,
            "judged": judged,
            "final_output": HARMLESS,
            "review_reason": HARMLESS,
        }

    state_values(checkpoint.with_suffix(".sqlite"), change)


def touched_after(world: World, **words: Any) -> None:
    """Policy wants a touch, and Ada touches her device for what she is shown: other words than those of the change."""
    world.set_policy(TOUCH)
    world.stage()
    asked = waiting(world)
    checkpoint_says(world.state / "waiting" / f"{asked['id']}.json", **words)
    done = world.approve_with(security_key(0x01), asked["id"])
    assert_plain(done)
    print(done.all)
    assert (
        done.code != 0
        or "report.py:8: A shell runs a command that is put together" in done.all
    ), done.all
    assert HARMLESS not in done.all, done.all
    world.record("Add the report")


@forgery(codes=(0, 3))
def a_checkpoint_shows_another_finding(world: World) -> None:
    """The fingerprint is the same, and so is the id; what a person reads is not."""
    touched_after(
        world,
        path="app.py",
        line=1,
        message=HARMLESS,
        rule="docs-missing",
        evidence="x = 1",
    )


@forgery(codes=(0, 3))
def a_checkpoint_shows_other_words(world: World) -> None:
    """As above; only the place and the words differ."""
    touched_after(
        world,
        path="app.py",
        line=1,
        message="A shell runs a command that is a literal",
        evidence="x",
    )


@forgery(at_hook=True, codes=(3,))
def a_checkpoint_with_a_lower_severity(world: World) -> None:
    """So that a terminal is enough for what a person is asked."""
    world.stage()
    asked = waiting(world)
    checkpoint_says(
        world.state / "waiting" / f"{asked['id']}.json", severity=Severity("low")
    )
    done = world.by("mallory").approve(asked["id"])
    assert_plain(done)
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def a_pending_review_of_harmless_content_with_other_ids(world: World) -> None:
    """A person approves a harmless finding; its file names the content and the findings of the risky one."""
    harmless = RISKY.replace('"render-report " + name', '"true " + name')
    world.stage({"report.py": harmless})
    shown = waiting(world)
    world.stage()
    world.guard("hook", "pre-commit")
    [other] = [name for name in world.pending() if name != shown["id"]]
    risky = json.loads((world.state / "waiting" / f"{other}.json").read_text())
    path = world.state / "waiting" / f"{shown['id']}.json"
    path.write_text(
        json.dumps(
            shown
            | {
                name: risky[name]
                for name in ("content", "fingerprints", "shared", "policy")
            }
        )
    )
    done = world.approve(shown["id"])
    assert_plain(done)
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def a_pending_review_under_the_id_of_another(world: World) -> None:
    """The files of two pending reviews change places."""
    world.stage({"report.py": RISKY.replace('"render-report " + name', '"true " + name')})
    shown = waiting(world)["id"]
    world.stage()
    world.guard("hook", "pre-commit")
    [other] = [name for name in world.pending() if name != shown]
    for suffix in (".json", ".sqlite"):
        one, two = (world.state / "waiting" / f"{name}{suffix}" for name in (shown, other))
        third = one.with_suffix(".swap")
        one.rename(third)
        two.rename(one)
        third.rename(two)
    first = world.approve(shown)
    assert_plain(first)
    assert first.code != 0, first.all
    world.record("Add the report")


class Hurried(io.StringIO):
    """A terminal at which somebody reads, while a program stages something else."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        super().__init__("yes\n")
        self.meanwhile = meanwhile

    def isatty(self) -> bool:
        return True

    def readline(self, *arguments: Any) -> str:
        self.meanwhile()
        return super().readline(*arguments)

    def __iter__(self) -> Iterator[str]:
        self.meanwhile()
        return super().__iter__()


@forgery(at_hook=True, codes=(3,))
def something_else_is_staged_while_a_person_reads(world: World) -> None:
    world.stage({"report.py": RISKY.replace('"render-report " + name', '"true " + name')})
    done = world.guard("approve", stdin=Hurried(world.stage))
    assert_plain(done)
    world.stage()
    world.record("Add the report")


@forgery(codes=(3,))
def the_branch_moves_while_a_person_reads(world: World) -> None:
    """The range has a name; what it names changes between the question and the answer."""
    world.record(
        "Add the report",
        {"report.py": RISKY.replace('"render-report " + name', '"true " + name')},
    )
    world.guard("review", "--range", f"{world.base}..main")
    [asked] = world.pending()

    def move() -> None:
        world.record("Add the report", {"report.py": RISKY})

    done = world.guard("approve", asked, stdin=Hurried(move))
    assert_plain(done)
    if world.repo.git("show", "HEAD:report.py") != RISKY.strip():
        move()


def trusted(world: World) -> Path:
    """Policy wants a key for trust; a `tty` trust was given before it did."""
    world.set_policy("")
    done = world.by("mallory").guard("trust", "--agents", stdin=Terminal("yes\n"))
    assert done.code == 0, done.all
    assert world.by("mallory").guard("check-command", "pytest").code == 0
    world.set_policy(f'{KEY}trust = "key"\n')
    return Path(world.by("mallory").repo.env["HOME"], ".local/state/cli-guard/trees.json")


def judged(world: World) -> None:
    """A command of the tree needs review, then a change that does as well, for the table."""
    done = world.by("mallory").guard("check-command", "pytest")
    assert_plain(done)
    assert done.code != 0, done.all
    world.record("Add the report", {"report.py": RISKY})


@forgery(at_hook=True, codes=(3,))
def a_trust_below_the_level_that_policy_wants(world: World) -> None:
    trusted(world)
    judged(world)


@forgery(at_hook=True, codes=(3,))
def a_trust_with_the_seal_of_somebody_else(world: World) -> None:
    """`trees.json` by hand: Mallory's signature, Ada's signature of another tree, and none."""
    path = trusted(world)
    done = world.guard("trust", "--agents", stdin=Terminal("yes\n"))
    assert done.code == 0, done.all
    ada = json.loads(
        Path(world.repo.env["HOME"], ".local/state/cli-guard/trees.json").read_text()
    )["trees"][0]
    trees = json.loads(path.read_text())
    mallory = json.loads(
        signed(json.dumps(trees["trees"][0]), MALLORY, "cli-guard-trust@v1")
    )["signature"]
    for seal in (mallory, ada["seal"], "x", None, []):
        trees["trees"][0]["seal"] = seal
        path.write_text(json.dumps(trees))
        done = world.by("mallory").guard("check-command", "pytest")
        assert_plain(done)
        assert done.code != 0, (seal, done.all)
    judged(world)


@forgery(at_hook=True, codes=(3,))
def a_sealed_trust_that_is_widened(world: World) -> None:
    """Ada trusted her tree for `strict`; the file then says `floors`, and for another folder."""
    world.set_policy(f'{KEY}trust = "key"\n')
    done = world.guard("trust", "--agents", "--profile", "strict", stdin=Terminal("yes\n"))
    assert done.code == 0, done.all
    path = Path(world.repo.env["HOME"], ".local/state/cli-guard/trees.json")
    trees = json.loads(path.read_text())
    trees["trees"][0]["profile"] = "floors"
    path.write_text(json.dumps(trees))
    done = world.guard("check-command", "pytest")
    assert_plain(done)
    assert done.code != 0, done.all
    world.record("Add the report", {"report.py": RISKY})


@forgery(at_hook=True, codes=(3,))
def a_sealed_trust_with_one_more_rule(world: World) -> None:
    world.set_policy(f'{KEY}trust = "key"\n')
    done = world.guard("trust", "--agents", stdin=Terminal("yes\n"))
    assert done.code == 0, done.all
    assert world.guard("check-command", "pytest").code == 0
    path = Path(world.repo.env["HOME"], ".local/state/cli-guard/trees.json")
    trees = json.loads(path.read_text())
    trees["trees"][0]["allow"] = [
        "npm publish *",
        {"pattern": "npm publish *", "at": "", "by": "root"},
    ]
    path.write_text(json.dumps(trees))
    done = world.guard("check-command", "npm publish x")
    assert_plain(done)
    assert done.code != 0, done.all
    world.record("Add the report", {"report.py": RISKY})


def check(name: str, trust: str = "key") -> str:
    """A policy with a check of the repository."""
    lines = f'[checks.one]\ncommand = "touch {{folder}}/{name}"\nstage = ["pre-commit"]\n'
    return f'{KEY}trust = "{trust}"\n{lines}'


def trusted_checks(who: World) -> Path:
    done = who.guard("trust", "--checks", stdin=Terminal("yes\n"))
    assert done.code == 0, done.all
    return Path(who.repo.env["HOME"], ".local/state/cli-guard/trusted.json")


def assert_not_run(who: World, name: str) -> None:
    """The hook runs nothing that was not trusted at the level that policy wants."""
    who.repo.write("x.py", "x = 2\n")
    who.repo.git("add", "-A")
    done = who.guard("hook", "pre-commit")
    assert_plain(done)
    assert not (who.folder / name).exists(), done.all
    assert done.code != 0, done.all
    who.record("Add the report", {"report.py": RISKY})


@forgery(codes=(1, 2, 3))
def another_repository_at_the_path_of_a_trusted_one(world: World) -> None:
    policy = check("ran", "key").format(folder=world.folder)
    world.set_policy(policy)
    trusted_checks(world)
    world.repo.path.rename(world.folder / "old")
    other = World(Repo.create(world.repo.path, world.repo.env), world.folder, world.marks)
    signers = (world.folder / "old" / SIGNERS).read_bytes()
    other.record("Another start", {"cli-guard.toml": policy, SIGNERS: signers})
    other.start_here()
    assert_not_run(other, "ran")


@forgery(codes=(1, 2, 3))
def a_trusted_check_that_is_replaced(world: World) -> None:
    """`trusted.json` by hand: the entry of another check, under the seal of the first, and under none."""
    mallory = world.by("mallory")
    world.set_policy(check("evil", "tty").format(folder=world.folder))
    evil = json.loads(trusted_checks(mallory).read_text())["trusted"][0]
    world.set_policy(check("ran").format(folder=world.folder))
    path = trusted_checks(world)
    file = json.loads(path.read_text())
    seal = file["trusted"][0]["seal"]
    world.set_policy(check("evil").format(folder=world.folder))
    file["trusted"] = [
        evil,
        evil | {"seal": seal},
        evil | {"seal": ""},
        evil | {"seal": None},
    ]
    path.write_text(json.dumps(file))
    assert_not_run(world, "evil")


@forgery(codes=(1, 2, 3))
def a_trust_below_the_level_that_the_user_wants(world: World) -> None:
    """The repository asks for a terminal, the user's own file for a key: the stricter counts."""
    mallory = world.by("mallory")
    world.set_policy(check("evil", "tty").format(folder=world.folder))
    trusted_checks(mallory)
    own = Path(mallory.repo.env["XDG_CONFIG_HOME"], "cli-guard", "config.toml")
    own.parent.mkdir(parents=True)
    own.write_text('[approvals]\ntrust = "key"\n')
    assert_not_run(mallory, "evil")


@forgery(at_hook=True, codes=(3,))
def a_cache_that_says_the_file_was_examined(world: World) -> None:
    """Every cache of the state folder, filled by a clean review, with the hash of the risky file put in."""
    many = {f"clean{number}.py": f"x = {number}\n" for number in range(3)}
    world.record("Clean", many)
    world.guard("review", "--commit", "HEAD")
    world.guard("review", "--range", f"{world.base}..HEAD")
    world.start_here()
    world.change()
    blob = world.repo.git("rev-parse", "HEAD:report.py")
    clean = world.repo.git("rev-parse", "HEAD:clean0.py")
    for path in world.state.glob("*.sqlite"):
        with sqlite3.connect(path) as file:
            for (table,) in file.execute(
                "select name from sqlite_master where type = 'table'"
            ).fetchall():
                for row in file.execute(f"select * from {table}").fetchall():
                    other = [
                        each.replace(clean, blob) if isinstance(each, str) else each
                        for each in row
                    ]
                    marks = ",".join("?" * len(other))
                    with suppress(sqlite3.Error):
                        file.execute(f"insert into {table} values ({marks})", other)
        file.close()
