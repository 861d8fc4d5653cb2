"""The audit log stands up: its head is signed, it agrees with the state both ways, and it says who approved what."""

import datetime
import hashlib
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from authenticators import PlainKey, SecurityKey, running_agent
from examples import table
from in_process import RISKY, Terminal, approve, guard, records, stage, waiting
from repositories import GUARD, Repo
from terminals import Seat

from cli_guard.approvals.heads import NAMESPACE, payload_of
from cli_guard.approvals.signatures import NAMESPACE as APPROVAL_NAMESPACE
from cli_guard.approvals.signatures import sign
from cli_guard.approvals.signers import Signers
from cli_guard.approvals.statements import Signed, Statement
from cli_guard.git.repository import GitRepository
from cli_guard.state.audit import SCHEMA, START, AuditLog
from cli_guard.state.records import KEPT_APPROVALS, Applied

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs OpenSSH")
Entries = list[dict[str, Any]]
ADA = "ada@example.org"


def make_key(path: Path, passphrase: str = "") -> Path:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    command = (
        "ssh-keygen",
        "-q",
        "-t",
        "ed25519",
        "-N",
        passphrase,
        "-C",
        "",
        "-f",
        str(path),
    )
    subprocess.run(command, check=True, timeout=60)
    return path


def own_key(repo: Repo) -> Path:
    return Path(repo.env["HOME"]) / ".ssh" / "id_ed25519"


def enrol(repo: Repo, *lines: str) -> None:
    """The first of them all is the user's own key."""
    if not lines:
        done = guard(repo, "signers", "init", "--principal", ADA)
        assert done.code == 0, done.err
    for line in lines:
        with repo.write(".cli-guard/signers", b"").open("w") as file:
            file.write(
                f"# repository {repo.git('rev-list', '--max-parents=0', 'HEAD')}\n{line}\n"
            )
    repo.commit("Enrol a key")


@pytest.fixture
def signing(committed: Repo) -> Repo:
    """A repository whose user has a key without a passphrase, which is enrolled."""
    make_key(own_key(committed))
    enrol(committed)
    return committed


def push(repo: Repo) -> None:
    """The hook runs; there is nothing to push."""
    done = guard(repo, "hook", "pre-push", "origin")
    assert (done.code, done.all) == (0, "")


def happen(repo: Repo, times: int = 1) -> None:
    """No two entries are the same."""
    for _ in range(times):
        guard(
            repo,
            "hook",
            "pre-commit",
            env={"CLI_GUARD": "0"} if len(entries(repo)) % 2 else {"SKIP": "cli-guard"},
        )


def entries(repo: Repo) -> Entries:
    return list(records(repo).audit.entries())


def rewrite(repo: Repo, changed: Entries) -> None:
    """Write a log with a valid chain and the head that fits, as somebody would who has the source at hand."""
    folder = records(repo).folder
    for name in ("audit.jsonl", "audit.head"):
        (folder / name).unlink(missing_ok=True)
    for each in changed:
        AuditLog(folder).append(each)
    assert AuditLog(folder).verify().problem is None


def verify(repo: Repo) -> list[str]:
    """The problems; the exit code says whether there are any."""
    done = guard(repo, "audit", "verify")
    problems = done.err.splitlines()
    assert done.code == (1 if problems else 0), done.all
    return problems


def event(repo: Repo, name: str, **details: Any) -> dict[str, Any]:
    at = details.pop(
        "at", datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    )
    return {
        "schema": SCHEMA,
        "at": at,
        "user": "ada",
        "version": "0",
        "event": name,
        **details,
    }


def signature(
    repo: Repo, head: str, number: int, key: Path, namespace: str = NAMESPACE
) -> dict[str, Any]:
    """An entry that signs a head."""
    logged = event(repo, "head-signed", head=head, principal=ADA)
    found = GitRepository.discover(repo.path, repo.env)
    payload = payload_of(logged, number, Signers.at_commit(found, found.head))
    return {**logged, "signature": sign(payload, key, repo.env, namespace)}


def test_each_push_signs_what_is_new(signing: Repo) -> None:
    happen(signing, 2)
    push(signing)
    *_, last = entries(signing)
    assert (last["event"], last["principal"], last["previous"]) == (
        "head-signed",
        ADA,
        last["head"],
    )
    assert {"schema", "at", "user", "version"} <= last.keys()
    push(signing)
    assert len(entries(signing)) == 3
    assert (
        "3 entries, hash chain OK; signed up to entry 2 by ada@example.org"
        in guard(signing, "audit", "verify").out
    )
    happen(signing)
    push(signing)
    assert "signed up to entry 4" in guard(signing, "audit", "verify").out
    happen(signing, 2)
    said = guard(signing, "audit", "verify").out
    assert "signed up to entry 4 by ada@example.org, first at entry 2 on 20" in said
    assert said.endswith("; 2 later entries are not signed\n")
    assert "head-signed" in guard(signing, "audit").out


def test_a_push_that_is_reviewed_is_signed_as_well(signing: Repo, tmp_path: Path) -> None:
    bare = Repo.create(tmp_path / "origin.git", signing.env, "--bare")
    signing.git("remote", "add", "origin", str(bare.path))
    guard(signing, "install")
    stage(signing, {"a.py": RISKY})
    signing.git("commit", "-q", "--no-verify", "-m", "Run it")
    refused = signing.try_git("push", "-q", "origin", "main")
    assert refused.code != 0
    assert [each["event"] for each in entries(signing)][-2:] == ["pre-push", "head-signed"]
    assert verify(signing) == []


def test_without_signers_nothing_is_signed(committed: Repo) -> None:
    make_key(own_key(committed))
    happen(committed)
    push(committed)
    assert [each["event"] for each in entries(committed)] == ["pre-commit"]
    said = guard(committed, "audit", "verify")
    assert said.out.startswith(
        "cli-guard: audit log: 1 entry, hash chain OK; not signed, so nobody can know"
    )
    assert said.code == 0


def without(repo: Repo, log: Entries, number: int) -> Entries:
    return [each for at, each in enumerate(log) if at != number]


def signed_by(who: str, namespace: str = NAMESPACE) -> Callable[[Repo, Entries], Entries]:
    def change(repo: Repo, log: Entries) -> Entries:
        head = hashlib.sha256(
            records(repo).audit.path.read_bytes().splitlines()[1]
        ).hexdigest()
        key = own_key(repo) if who == "ada" else own_key(repo).with_name("stranger")
        return [*log[:2], signature(repo, head, 2, key, namespace)]

    return change


def copied(repo: Repo, log: Entries) -> Entries:
    """The signature of another repository with the same signers, over a log with the same lines."""
    found = GitRepository.discover(repo.path, repo.env)
    signers = Signers((), b"", ("0" * 40,))
    logged = event(repo, "head-signed", head=log[2]["head"], principal=ADA)
    assert found.head
    made = sign(payload_of(logged, 2, signers), own_key(repo), repo.env, NAMESPACE)
    return [*log[:2], {**logged, "signature": made}]


# What is done to two entries, a signature, and one more entry; and what is said of it.
NOT_THERE = "is not in the log: lines before it were changed or removed"
TAMPERINGS: dict[str, tuple[Callable[[Repo, Entries], Entries], str]] = {
    "a line changed": (lambda repo, log: [{**log[0], "skipped": "x"}, *log[1:]], NOT_THERE),
    "a line removed": (lambda repo, log: without(repo, log, 0), NOT_THERE),
    "two lines swapped": (lambda repo, log: [log[1], log[0], *log[2:]], NOT_THERE),
    "a line added": (lambda repo, log: [event(repo, "x"), *log], NOT_THERE),
    "the end before it cut off": (lambda repo, log: without(repo, log, 1)[:2], NOT_THERE),
    "another head": (lambda repo, log: [*log[:2], {**log[2], "head": START}], NOT_THERE),
    "the head before": (
        lambda repo, log: [*log[:2], {**log[2], "head": log[1]["previous"]}],
        "not count",
    ),
    "another time": (
        lambda repo, log: [*log[:2], {**log[2], "at": "2030-01-01"}],
        "does not count",
    ),
    "another person": (
        lambda repo, log: [*log[:2], {**log[2], "principal": "bob@example.org"}],
        "its key is not one of this signer at HEAD",
    ),
    "no signature": (
        lambda repo, log: [*log[:2], {**log[2], "signature": ["x"]}],
        "not an SSH signature",
    ),
    "odd blanks": (
        lambda repo, log: [
            *log[:2],
            {**log[2], "signature": log[2]["signature"].replace("\n", "\u2003")},
        ],
        "does not count",
    ),
    "that of an approval": (
        signed_by("ada", APPROVAL_NAMESPACE),
        "it was made for cli-guard-approval@v1",
    ),
    "a key that is not enrolled": (
        signed_by("stranger"),
        "its key is not one of this signer at HEAD",
    ),
    "of another repository": (copied, "does not count"),
}


@table("name", list(TAMPERINGS))
def test_a_signed_log_is_not_rewritten(signing: Repo, name: str) -> None:
    change, said = TAMPERINGS[name]
    if not entries(signing):
        make_key(own_key(signing).with_name("stranger"))
        happen(signing, 2)
        push(signing)
        happen(signing)
        assert verify(signing) == []
    log = [
        {key: each[key] for key in each if key != "previous"} for each in entries(signing)
    ]
    log[2]["head"], log[1]["previous"] = (
        entries(signing)[2]["head"],
        entries(signing)[1]["previous"],
    )
    rewrite(signing, change(signing, [{**each} for each in log]))
    [problem] = verify(signing)
    assert said in problem, problem
    rewrite(signing, log)
    assert verify(signing) == []


def test_a_log_begun_anew_says_since_when_it_is_signed(signing: Repo) -> None:
    happen(signing, 3)
    push(signing)
    anew = [
        {name: each[name] for name in each if name != "previous"}
        for each in entries(signing)[1:3]
    ]
    rewrite(signing, anew)
    said = guard(signing, "audit", "verify")
    assert (
        said.code,
        "2 entries, hash chain OK; not signed, so nobody can know" in said.out,
    ) == (0, True)
    push(signing)
    assert (
        "signed up to entry 2 by ada@example.org, first at entry 2 on 20"
        in guard(signing, "audit", "verify").out
    )


def test_the_same_signature_again_is_none(signing: Repo) -> None:
    """What the table takes for good is: the tampering alone is what it finds."""
    happen(signing, 2)
    rewrite(signing, signed_by("ada")(signing, entries(signing)))
    assert verify(signing) == []


def test_a_log_from_another_clone_does_not_fit(signing: Repo, tmp_path: Path) -> None:
    happen(signing)
    push(signing)
    other = Repo(Path(shutil.copytree(signing.path, tmp_path / "other")), signing.env)
    rewrite(signing, [event(signing, "pre-commit"), entries(other)[-1]])
    assert [NOT_THERE in each for each in verify(signing)] == [True]


def test_what_is_cut_off_with_its_signature_is_missed_by_the_approvals(
    signing: Repo,
) -> None:
    happen(signing)
    stage(signing, {"a.py": RISKY})
    guard(signing, "hook", "pre-commit")
    assert approve(signing, *waiting(signing)).code == 0
    push(signing)
    assert verify(signing) == []
    rewrite(signing, entries(signing)[:1])
    [problem] = verify(signing)
    assert f"no entry in the audit log for the approval that {ADA} signed" in problem


def test_a_signer_may_leave(signing: Repo) -> None:
    happen(signing)
    push(signing)
    bob = make_key(own_key(signing).with_name("id_rsa"))
    own_key(signing).rename(own_key(signing).with_name("old"))
    own_key(signing).with_name("id_ed25519.pub").unlink()
    enrol(
        signing,
        f'bob@example.org namespaces="cli-guard-approval@v1" {bob.with_suffix(".pub").read_text()}',
    )
    [problem] = verify(signing)
    assert f"the head that {ADA} signed" in problem and "at HEAD" in problem
    happen(signing)
    push(signing)
    assert verify(signing) == []
    assert (
        "signed up to entry 3 by bob@example.org" in guard(signing, "audit", "verify").out
    )


def test_a_revoked_key_signs_nothing(signing: Repo) -> None:
    happen(signing)
    push(signing)
    assert guard(signing, "signers", "revoke", ADA).code == 0
    signing.commit("Revoke it")
    happen(signing)
    push(signing)
    assert entries(signing)[-1]["event"] == "pre-commit"
    [problem] = verify(signing)
    assert "does not count" in problem


def test_a_broken_log_is_not_signed(signing: Repo) -> None:
    happen(signing, 3)
    path = records(signing).audit.path
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[2])
    push(signing)
    assert len(entries(signing)) == 2
    assert ["the audit log was changed" in each for each in verify(signing)] == [True]


@pytest.mark.cold
def test_a_passphrase_is_never_asked_for(committed: Repo, tmp_path: Path) -> None:
    make_key(own_key(committed), "a secret")
    enrol(committed)
    happen(committed)
    asked = tmp_path / "asked"
    asker = committed.write("../asker", f"#!/bin/sh\ntouch {asked}\n")
    asker.chmod(0o755)
    env = {"SSH_ASKPASS": str(asker), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"}
    # Its terminal is there to be opened, as it is under `git push`.
    command = (
        "sh",
        "-c",
        f"printf '' | {GUARD} hook pre-push origin; echo it ended; sleep 60",
    )
    with Seat(command, committed.path, committed.env | env) as seat:
        assert seat.until("it ended").split() == ["it", "ended"]
    assert not asked.exists()
    assert len(entries(committed)) == 1


def test_an_agent_signs_and_a_security_key_is_not_touched(
    committed: Repo, tmp_path: Path
) -> None:
    plain = PlainKey(b"p" * 32)
    touched = SecurityKey(b"s" * 32)
    form = '{} namespaces="cli-guard-approval@v1" {}'
    enrol(
        committed,
        "\n".join(form.format(ADA, each.public_line()) for each in (touched, plain)),
    )
    happen(committed)
    with running_agent([touched], "/tmp") as path:
        committed.env["SSH_AUTH_SOCK"] = path
        push(committed)
        assert len(entries(committed)) == 1
    with running_agent([touched, plain], "/tmp") as path:
        committed.env["SSH_AUTH_SOCK"] = path
        push(committed)
    assert (touched.counter, entries(committed)[-1]["event"]) == (1, "head-signed")
    assert (
        "signed up to entry 1 by ada@example.org" in guard(committed, "audit", "verify").out
    )
    happen(committed)
    with running_agent([plain], "/tmp", refuses=True) as path:
        committed.env["SSH_AUTH_SOCK"] = path
        push(committed)
    assert len(entries(committed)) == 3


def test_a_key_file_is_used_before_an_agent_that_may_ask(signing: Repo) -> None:
    with closing(socket.socket(socket.AF_UNIX)) as hanging:
        path = Path("/tmp", f"agent-{os.getpid()}")
        hanging.bind(str(path))
        hanging.listen()
        hanging.setblocking(False)
        signing.env["SSH_AUTH_SOCK"] = str(path)
        happen(signing)
        push(signing)
        with pytest.raises(BlockingIOError):
            hanging.accept()
        path.unlink()
    assert entries(signing)[-1]["event"] == "head-signed"


def approved(repo: Repo, path: str = "a.py", *options: str) -> str:
    """A commit is approved, here and now; the id of the review."""
    stage(repo, {path: RISKY})
    assert guard(repo, "hook", "pre-commit").code == 3
    [found] = waiting(repo)
    assert approve(repo, found, *options).code == 0
    assert verify(repo) == []
    return found


def forget_approvals(repo: Repo) -> None:
    (records(repo).folder / "approvals.jsonl").unlink()


def test_an_approval_that_is_gone_is_missed(committed: Repo) -> None:
    found = approved(committed)
    forget_approvals(committed)
    [problem] = verify(committed)
    assert f"approved, and the approval is gone: {found}, by " in problem


def test_a_signed_approval_may_be_in_the_notes_alone(signing: Repo) -> None:
    found = approved(signing)
    path = records(signing).folder / "approvals.jsonl"
    line = path.read_text()
    forget_approvals(signing)
    assert verify(signing) == []
    signing.git("update-ref", "-d", "refs/notes/cli-guard")
    [problem] = verify(signing)
    assert f"the approval is gone: {found}, by {ADA}" in problem
    path.write_text(line)
    assert verify(signing) == []


def test_a_signed_line_without_its_event_is_named(signing: Repo) -> None:
    approved(signing)
    rewrite(signing, [each for each in entries(signing) if each["event"] != "approve"])
    assert verify(signing) == [
        each for each in verify(signing) if f"for the approval that {ADA} signed at" in each
    ]
    assert len(verify(signing)) == 1


OLD = "2020-01-01T00:00:00+00:00"
FORGED = {
    "review_id": "f00",
    "content": "c0",
    "policy": "p",
    "fingerprints": ["f"],
    "reason": "",
}
# Events by hand, with a valid chain, and whether they are missed.
BY_HAND: dict[str, tuple[dict[str, Any], bool]] = {
    "at a terminal": (FORGED, True),
    "with a level": ({**FORGED, "level": "key", "approved_rules": ["r"]}, True),
    "of a statement": (
        {**FORGED, "statement": "0" * 64, "principal": ADA, "level": "key"},
        True,
    ),
    "of no shape": ({"review_id": ["x"], "statement": ["y"], "fingerprints": 3}, True),
    "of nothing": ({}, True),
    "of long ago": ({**FORGED, "at": OLD}, False),
    "of a request of `ask`": (
        {**FORGED, "content": "f00", "policy": "", "fingerprints": []},
        False,
    ),
    "of a command of `ask`": (
        {"review_id": "f", "content": "f", "command": "ls", "folder": "/"},
        False,
    ),
}


@table("name", list(BY_HAND))
def test_an_event_by_hand_is_no_approval(committed: Repo, name: str) -> None:
    details, missed = BY_HAND[name]
    rewrite(committed, [event(committed, "approve", **details)])
    assert ["the approval is gone" in each for each in verify(committed)] == [True] * missed
    assert guard(committed, "audit", "show", "--approvals", "--finding", "x").code == 0


def test_a_statement_of_somebody_else_does_not_fit(signing: Repo) -> None:
    approved(signing)
    log = entries(signing)
    [given] = [each for each in log if each["event"] == "approve"]
    for change in (
        {"principal": "bob@example.org"},
        {"fingerprints": ["f"]},
        {"level": "verified"},
    ):
        rewrite(
            signing, [each if each is not given else {**given, **change} for each in log]
        )
        assert ["the approval is gone" in each for each in verify(signing)] == [True]


def test_what_was_dropped_on_purpose_is_not_missed(committed: Repo) -> None:
    given = [
        Signed(made, made.canonical(), "")
        for at in range(KEPT_APPROVALS + 9)
        for made in [Statement("c" * 64, "p", {"f": "r"}, "ada", f"{at:04}", ())]
    ]
    rewrite(
        committed,
        [
            event(committed, "approve", **{**FORGED, **each.audit_details()})
            for each in given
        ],
    )
    lines = "".join(each.line() + "\n" for each in given[9:])
    (records(committed).folder / "approvals.jsonl").write_text(lines)
    assert verify(committed) == []


def test_trust_and_the_log_agree(committed: Repo) -> None:
    def trust(*options: str) -> None:
        assert (
            guard(committed, "trust", "--agents", *options, stdin=Terminal("yes\n")).code
            == 0
        )

    trust()
    assert guard(committed, "allow", "make test", stdin=Terminal("yes\n")).code == 0
    assert verify(committed) == []
    path = Path(committed.env["HOME"]) / ".local/state/cli-guard/trees.json"
    right = path.read_text()
    path.write_text(right.replace("workspace", "floors"))
    assert [
        "the trust in" in each and "not counted" in each for each in verify(committed)
    ] == [True]
    path.unlink()
    assert ["trusted, and the record is gone" in each for each in verify(committed)] == [
        True
    ]
    log = entries(committed)
    rewrite(committed, [*log[:-1], {**log[-1], "user": "somebody else"}])
    assert verify(committed) == []
    rewrite(committed, log)
    path.write_text(right)
    trust("--revoke")
    assert verify(committed) == []
    path.write_text(right)
    assert ["the trust in" in each for each in verify(committed)] == [True]


def test_a_patch_and_the_log_agree(committed: Repo) -> None:
    kept = records(committed)
    log = records(committed).audit
    kept.keep_applied(Applied("abc", OLD, "ada", "request", "patch", {}))
    assert [
        "no entry in the audit log for the patch abc" in each for each in verify(committed)
    ] == [True]
    log.append(event(committed, "approve", review_id="abc", content="abc"))
    assert verify(committed) == []
    log.append(event(committed, "undo", review_id="abc"))
    assert len(verify(committed)) == 1


def shown(repo: Repo, *options: str) -> Any:
    done = guard(repo, "audit", "show", *options, "--format", "json")
    assert (done.code, done.err) == (0, "")
    return done.json


def test_who_let_this_in(committed: Repo) -> None:
    first = approved(committed, "a.py", "--reason", "the name is checked")
    in_a = committed.commit("Add a")
    make_key(own_key(committed))
    enrol(committed)
    second = approved(committed, "b.py", "--reason", "\x1b[31magreed")
    in_b = committed.commit("Add b")
    later = committed.commit("Add c", {"c.py": "c = 1\n"})
    for options, wanted in (
        (("--approvals",), [first, second]),
        (("--commit", in_a), [first]),
        (("--commit", in_b), [second]),
        (("--commit", later), []),
        (("--by", ADA.upper()), [second]),
        (("--by", "nobody"), []),
        (("--finding", "code-python-shell"), [first, second]),
        (("--finding", "secret-"), []),
        (("--commit", in_a, "--by", ADA), []),
    ):
        assert [
            each["review_id"] for each in shown(committed, *options)["approvals"]
        ] == wanted, options
    found = shown(committed, "--commit", in_b)
    [given] = found["approvals"]
    assert (given["level"], given["principal"], given["approved_rules"]) == (
        "key",
        ADA,
        ["code-python-shell"],
    )
    assert (
        shown(committed, "--finding", given["fingerprints"][0][:12])["approvals"][-1]
        == given
    )
    assert (found["commits"], found["levels"]) == (5, {"tty": 1, "key": 1})
    done = guard(committed, "audit", "show", "--approvals")
    one, two, last = done.out.splitlines()
    assert one.endswith(f"  approve  tty  the name is checked  {first}  code-python-shell")
    assert f"  approve  key  {ADA}  \\x1b[31magreed  {second}  code-python-shell" in two
    assert one in guard(committed, "audit").out
    assert last == "2 approvals in 5 commits (40.0 per 100): 1 tty, 1 key"


def test_a_commit_that_was_amended_or_picked_shows_its_approval(signing: Repo) -> None:
    found = approved(signing)
    signing.commit("Add a")
    signing.git("commit", "-q", "--amend", "--no-verify", "-m", "Reword it")
    assert [
        each["review_id"] for each in shown(signing, "--commit", "HEAD")["approvals"]
    ] == [found]
    signing.git("checkout", "-q", "-b", "other", "HEAD~1")
    signing.commit("Something else", {"z.py": "z = 1\n"})
    signing.git("cherry-pick", "main")
    assert [
        each["review_id"] for each in shown(signing, "--commit", "HEAD")["approvals"]
    ] == [found]


def test_what_others_signed_is_in_the_notes(signing: Repo, tmp_path: Path) -> None:
    approved(signing, "a.py", "--reason", "agreed with ops")
    commit = signing.commit("Add a")
    clone = Repo(tmp_path / "clone", signing.env)
    signing.git("clone", "-q", str(signing.path), str(clone.path))
    assert shown(clone, "--commit", commit)["approvals"] == []
    clone.git("fetch", "-q", "origin", "refs/notes/cli-guard:refs/notes/cli-guard")
    for options in (("--commit", commit), ("--approvals",), ("--by", ADA)):
        [given] = shown(clone, *options)["approvals"]
        assert (given["level"], given["reason"], given["principal"]) == (
            "key",
            "agreed with ops",
            ADA,
        )
    assert verify(clone) == []
    # A line beside it with the same statement and another signature takes nothing away.
    tree = clone.git("rev-parse", f"{commit}^{{tree}}")
    [line] = clone.git("notes", "--ref=cli-guard", "show", tree).splitlines()
    other = make_key(own_key(signing).with_name("stranger"))
    payload = json.loads(line)["payload"]
    forged = {"payload": payload, "signature": sign(payload.encode(), other, signing.env)}
    clone.git("notes", "--ref=cli-guard", "append", "-m", json.dumps(forged), tree)
    found = shown(clone, "--commit", commit)
    assert sorted(each["level"] for each in found["approvals"]) == ["key", "refused"]
    assert found["levels"] == {"key": 1}
    clone.git("notes", "--ref=cli-guard", "remove", tree)
    # Of a key that is not enrolled (any more), it says so.
    (clone.path / ".cli-guard/signers").unlink()
    clone.commit("Nobody signs")
    assert shown(clone, "--approvals")["levels"] == {}
    [given] = shown(clone, "--commit", commit)["approvals"]
    assert (
        given["level"] == "refused"
        and "its key is not one of the signers" in given["refused"]
    )


def test_what_is_of_no_file_is_shown_with_its_tree(signing: Repo) -> None:
    tree = signing.git("rev-parse", "HEAD^{tree}")
    roots = (signing.git("rev-list", "--max-parents=0", "HEAD"),)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    made = Statement("c" * 64, "p", {"f": "push-force"}, ADA, now, roots, tree=tree)
    armored = sign(made.canonical(), own_key(signing), signing.env)
    line = Signed(made, made.canonical(), armored).line()
    signing.git("notes", "--ref=cli-guard", "append", "-m", line, tree)
    [given] = shown(signing, "--commit", "HEAD")["approvals"]
    assert (given["approved_rules"], given["level"]) == (["push-force"], "key")
    assert shown(signing, "--commit", "HEAD~1")["approvals"] == []


def test_break_glass_is_an_approval_of_its_commit(signing: Repo) -> None:
    commit = signing.commit("In a hurry", {"a.py": RISKY})
    done = guard(
        signing,
        "approve",
        "--break-glass",
        "--note",
        "production is down",
        stdin=Terminal("yes\n"),
    )
    assert done.code == 0, done.all
    assert verify(signing) == []
    [given] = shown(signing, "--commit", commit)["approvals"]
    assert (given["event"], given["reason"]) == ("break-glass", "production is down")
    assert shown(signing, "--commit", "HEAD~1")["approvals"] == []


def test_of_no_commit_or_repository_it_is_one_line(committed: Repo, tmp_path: Path) -> None:
    assert (
        guard(committed, "audit", "show", "--approvals").out
        == "0 approvals in 1 commit (0.0 per 100): none\n"
    )
    done = guard(committed, "audit", "show", "--commit", "nothing")
    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_every_entry_has_the_one_shape(signing: Repo) -> None:
    approved(signing)
    guard(signing, "trust", "--agents", stdin=Terminal("yes\n"))
    push(signing)
    names = [each["event"] for each in entries(signing)]
    assert names == ["pre-commit", "approve", "tree", "head-signed"]
    assert all(
        list(each)[:1] and {"schema", "at", "user", "version"} <= each.keys()
        for each in entries(signing)
    )
