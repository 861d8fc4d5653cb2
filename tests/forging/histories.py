"""Forged histories: a change that is not in the range, or that the range loosens the guard for."""

import stat
import subprocess

from forging.table import forgery
from forging.world import (
    ADA,
    BOB_MAIL,
    KEY,
    MALLORY,
    MALLORY_MAIL,
    SIGNERS,
    World,
    changed,
    signed,
    signer,
)
from in_process import RISKY
from repositories import Repo

LOOSE = '[approvals]\ncritical = "tty"\nhigh = "tty"\n'
MARK = "cli-guard: ignore"
WHY = "names are checked before"
SHELL = 'subprocess.run("render-report " + name, shell=True)'


@forgery(codes=(3,))
def a_merge_that_brings_more_than_its_parents(world: World) -> None:
    repo = world.repo
    repo.git("switch", "-q", "-c", "topic")
    world.record("Harmless", {"topic.py": "x = 1\n"})
    repo.git("switch", "-q", "main")
    world.record("Harmless too", {"main.py": "x = 1\n"})
    repo.git("merge", "-q", "--no-commit", "--no-ff", "topic")
    world.record("Merge", {"report.py": RISKY})
    assert len(repo.git("rev-list", "--parents", "-1", "HEAD").split()) == 3


@forgery(codes=(3,))
def a_merge_that_takes_the_fix_back(world: World) -> None:
    """The base has the risk removed; the branch merges it with `-s ours` and keeps the risk."""
    repo = world.repo
    world.record("Add the report", {"report.py": RISKY})
    repo.git("branch", "topic")
    repo.git("rm", "-q", "report.py")
    world.set_base({"app.py": "x = 2\n"})
    repo.git("switch", "-q", "topic")
    repo.git("merge", "-q", "-s", "ours", "-m", "Merge main", "main")


@forgery("policy-signers-changed", codes=(3,))
def a_merge_that_takes_a_revocation_back(world: World) -> None:
    """A branch from before it merges the base with `-s ours`: no commit but the merge is new, the list is gone."""
    world.repo.git("branch", "topic")
    done = world.guard("signers", "revoke", BOB_MAIL)
    assert done.code == 0, done.all
    world.set_base({})
    world.repo.git("switch", "-q", "topic")
    world.repo.git("merge", "-q", "-s", "ours", "-m", "Merge main", "main")


@forgery("policy-weakened", codes=(3,))
def a_merge_that_takes_a_stricter_policy_back(world: World) -> None:
    world.repo.git("branch", "topic")
    world.set_policy('[approvals]\ncritical = "verified"\nhigh = "verified"\n')
    world.repo.git("switch", "-q", "topic")
    world.repo.git("merge", "-q", "-s", "ours", "-m", "Merge main", "main")


@forgery("policy-signers-changed", codes=(3,))
def a_merge_with_signers_of_its_own(world: World) -> None:
    """Neither parent has this file: it is written in the merge alone."""
    repo = world.repo
    repo.git("switch", "-q", "-c", "topic")
    world.record("Harmless", {"topic.py": "x = 1\n"})
    repo.git("switch", "-q", "main")
    world.set_base({"main.py": "x = 1\n"})
    repo.git("switch", "-q", "topic")
    repo.git("merge", "-q", "--no-commit", "--no-ff", "main")
    text = repo.git("show", f"HEAD:{SIGNERS}")
    world.record("Merge", {SIGNERS: f"{text}\n{signer(MALLORY_MAIL, MALLORY)}\n"})


@forgery("code-python-shell", codes=(3,))
def a_merge_of_a_side_branch_that_had_the_file_before_the_base(world: World) -> None:
    """An abandoned branch that somebody fetched once is merged: its commits are new, their files are old."""
    repo = world.repo
    repo.git("switch", "-q", "-c", "side")
    world.record("Add the report", {"report.py": RISKY})
    repo.git("switch", "-q", "main")
    world.set_base({"main.py": "x = 1\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "Merge side", "side")


@forgery("code-python-shell", codes=(3,))
def a_revert_of_the_fix(world: World) -> None:
    world.record("Add the report", {"report.py": RISKY})
    world.repo.git("rm", "-q", "report.py")
    world.set_base({})
    world.repo.git("revert", "--no-edit", "HEAD")


@forgery(codes=(3,))
def a_merge_of_two_histories_that_crossed(world: World) -> None:
    """Two merge bases: one of them has the risk, and a review that starts there finds nothing new."""
    repo = world.repo
    start = world.base
    repo.git("switch", "-q", "-c", "left", start)
    world.record("Left", {"report.py": RISKY})
    repo.git("switch", "-q", "-c", "right", start)
    world.record("Right", {"right.py": "x = 1\n"})
    repo.git("switch", "-q", "-c", "one", "left")
    repo.git("merge", "-q", "--no-ff", "-m", "Cross", "right")
    repo.git("switch", "-q", "-c", "two", "right")
    repo.git("merge", "-q", "--no-ff", "--no-commit", "left")
    repo.git("rm", "-q", "-f", "report.py")
    world.record("Cross, without the report")
    world.start_here()
    repo.git("switch", "-q", "one")


@forgery(codes=(1, 2, 3))
def a_branch_without_a_common_commit(world: World) -> None:
    """It has signers of its own, from its first commit on."""
    world.repo.git("checkout", "-q", "--orphan", "other")
    line = f"{signer(MALLORY_MAIL, MALLORY)}\n"
    world.record("Start anew", {"cli-guard.toml": LOOSE, SIGNERS: line, "report.py": RISKY})


def toy(world: World) -> tuple[str, str]:
    """A repository with the same file, where Ada approved it: its line, and its commit, fetched here."""
    other = World(Repo.create(world.folder / "toy", world.repo.env), world.folder)
    for name in ("cli-guard.toml", SIGNERS):
        other.repo.write(
            name, (world.repo.path / name).read_bytes().replace(world.root().encode(), b"")
        )
    other.record("A toy")
    text = world.repo.git("show", f"{world.base}:{SIGNERS}").replace(
        world.root(), other.root()
    )
    other.set_base({SIGNERS: f"{text}\n"})
    statement = other.change()
    line = signed(statement, ADA)
    other.note(line)
    assert other.verify().code == 0, other.verify().all
    world.repo.git("fetch", "-q", str(other.repo.path), "main:refs/heads/toy")
    return line, other.root()


@forgery("another repository", codes=(3,))
def a_foreign_history_is_merged_and_its_approval_with_it(world: World) -> None:
    """Now the root commit of the toy is one of this repository as well."""
    line, _ = toy(world)
    world.repo.git(
        "merge",
        "-q",
        "-s",
        "ours",
        "--allow-unrelated-histories",
        "-m",
        "Merge a toy",
        "toy",
    )
    world.record("Add the report", {"report.py": RISKY})
    world.note(line)


@forgery(codes=(2, 3))
def a_foreign_history_was_merged_before(world: World) -> None:
    """As above, recorded before the range; the signers file names no repository."""
    line, _ = toy(world)
    text = world.repo.git("show", f"{world.base}:{SIGNERS}")
    plain = "\n".join(each for each in text.splitlines() if not each.startswith("#"))
    world.repo.git(
        "merge",
        "-q",
        "-s",
        "ours",
        "--allow-unrelated-histories",
        "-m",
        "Merge a toy",
        "toy",
    )
    world.set_base({SIGNERS: f"{plain}\n"})
    world.record("Add the report", {"report.py": RISKY})
    world.note(line)


@forgery(codes=(2, 3))
def a_shallow_clone_that_has_lost_its_first_commit(world: World) -> None:
    """The statement names what is the first commit of the clone, which anybody can make."""
    statement = world.change()
    clone = world.folder / "clone"
    subprocess.run(
        ("git", "clone", "-q", "--depth", "2", world.repo.path.as_uri(), str(clone)),
        env=world.repo.env, check=True, timeout=60, capture_output=True,
    )  # fmt: skip
    shallow = World(Repo(clone, world.repo.env), world.folder, world.marks)
    shallow.note(signed(changed(statement, repository=[world.base]), ADA))
    shallow.note(signed(changed(statement, repository=["0" * 40]), ADA))
    done = shallow.verify()
    assert done.code != 0, done.all
    shallow.repo.git("config", "core.worktree", str(clone))
    world.note(signed(changed(statement, repository=[world.base]), ADA))


@forgery("code-python-shell", at_hook=True, codes=(3,))
def a_text_that_becomes_a_program_by_its_new_name(world: World) -> None:
    world.set_base({"notes.txt": RISKY})
    world.repo.git("mv", "notes.txt", "report.py")
    world.record("Rename it")


@forgery("code-python-shell", codes=(3,))
def an_example_that_becomes_a_program_by_its_new_folder(world: World) -> None:
    """In a test it is advice; where it is moved to, it needs a person."""
    world.set_base({"tests/test_report.py": RISKY})
    world.repo.git("mv", "tests/test_report.py", "report.py")
    world.record("Rename it")


def add_submodule(world: World, address: str) -> None:
    repo = world.repo
    repo.write(".gitmodules", f'[submodule "lib"]\n\tpath = lib\n\turl = {address}\n')
    repo.git("add", ".gitmodules")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{world.base},lib")
    repo.git("commit", "-q", "--no-verify", "-m", "Add a library")


@forgery(codes=(1, 2, 3))
def a_submodule_comes_with_the_change(world: World) -> None:
    add_submodule(world, "https://mallory.example.org/lib.git")


@forgery(codes=(1, 2, 3))
def a_submodule_moves_to_another_commit(world: World) -> None:
    """The range holds one line; what it brings is in another repository."""
    repo = world.repo
    add_submodule(world, "https://example.org/lib.git")
    world.start_here()
    repo.git("update-index", "--cacheinfo", f"160000,{'1' * 40},lib")
    repo.git("commit", "-q", "--no-verify", "-m", "Update it")


@forgery(codes=(1, 2, 3))
def a_program_that_a_link_brings_in(world: World) -> None:
    """The text of the link is the path of a file outside."""
    (world.repo.path / "deploy.sh").symlink_to("/tmp/mallory/deploy.sh")
    world.set_policy(f'{KEY}[rules]\n"code-symlink" = "review"\n')
    (world.repo.path / "run.sh").symlink_to("../../mallory.sh")
    world.record("Add a link")


def forged_tree(world: World, entries: list[tuple[str, bytes, str]]) -> str:
    """A tree of any entries, in any order."""
    raw = b"".join(
        mode.encode() + b" " + name + b"\0" + bytes.fromhex(at)
        for mode, name, at in entries
    )
    return world.repo.git(
        "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw
    )


def entries_of(world: World) -> list[tuple[str, bytes, str]]:
    lines = world.repo.git("ls-tree", "HEAD").splitlines()
    return [
        (line.split()[0].lstrip("0"), line.split("\t")[1].encode(), line.split()[2])
        for line in lines
    ]


def commit_tree(world: World, tree: str) -> None:
    commit = world.repo.git("commit-tree", "-p", "HEAD", "-m", "Forged", tree)
    world.repo.git("update-ref", "HEAD", commit)


@forgery(codes=(1, 2, 3))
def a_tree_with_the_same_name_twice(world: World) -> None:
    """The first entry is harmless and hides the second from some readers."""
    harmless, risky = (
        world.repo.git("hash-object", "-w", "--stdin", stdin=text)
        for text in ("x = 1\n", RISKY)
    )
    world.set_base({"report.py": "x = 1\n"})
    entries = [each for each in entries_of(world) if each[1] != b"report.py"]
    commit_tree(
        world,
        forged_tree(
            world,
            [*entries, ("100644", b"report.py", harmless), ("100644", b"report.py", risky)],
        ),
    )


@forgery(codes=(1, 2, 3))
def a_tree_in_the_wrong_order(world: World) -> None:
    risky = world.repo.git("hash-object", "-w", "--stdin", stdin=RISKY)
    commit_tree(
        world,
        forged_tree(
            world,
            [("100644", b"zz.py", risky), *entries_of(world), ("100644", b"a.py", risky)],
        ),
    )


@forgery(codes=(1, 2, 3))
def a_tree_with_a_path_as_a_name(world: World) -> None:
    risky = world.repo.git("hash-object", "-w", "--stdin", stdin=RISKY)
    names = (b"src/report.py", b"../report.py", b"./report.py", b".git/hooks/x.py")
    commit_tree(
        world,
        forged_tree(
            world, [*entries_of(world), *(("100644", name, risky) for name in names)]
        ),
    )


@forgery(codes=(1, 2, 3))
def a_name_that_is_not_utf8_and_has_line_ends(world: World) -> None:
    risky = world.repo.git("hash-object", "-w", "--stdin", stdin=RISKY)
    names = (b"re\xff\nport.py", b"\x1b[2K\rcli-guard: verified\n.py", b"a\tb.py")
    commit_tree(
        world,
        forged_tree(
            world,
            sorted(
                [*entries_of(world), *(("100644", name, risky) for name in names)],
                key=lambda each: each[1],
            ),
        ),
    )


@forgery("code-python-shell", codes=(1, 2, 3))
def the_change_is_replaced_by_a_harmless_one(world: World) -> None:
    """`git replace`: whoever reads without `--no-replace-objects` sees another tree."""
    world.change()
    head = world.repo.git("rev-parse", "HEAD")
    world.repo.git(
        "replace",
        head,
        world.repo.git(
            "commit-tree", "-p", world.base, "-m", "x", f"{world.base}^{{tree}}"
        ),
    )


@forgery("code-python-shell", codes=(1, 2, 3))
def the_file_is_replaced_by_a_harmless_one(world: World) -> None:
    world.change()
    harmless = world.repo.git("hash-object", "-w", "--stdin", stdin='"""Runs reports."""\n')
    world.repo.git("replace", world.repo.git("rev-parse", "HEAD:report.py"), harmless)


@forgery(codes=(1, 2, 3))
def the_base_is_replaced_by_one_with_other_signers(world: World) -> None:
    statement = world.change()
    world.note(signed(changed(statement, principal=MALLORY_MAIL), MALLORY))
    head = world.repo.git("rev-parse", "HEAD")
    world.repo.git("reset", "-q", "--hard", world.base)
    other = world.record(
        "x", {SIGNERS: f"{world.repository_line()}\n{signer(MALLORY_MAIL, MALLORY)}\n"}
    )
    world.repo.git("reset", "-q", "--hard", head)
    world.repo.git("replace", world.base, other)
    blob = world.repo.git("rev-parse", f"{other}:{SIGNERS}")
    world.repo.git(
        "replace",
        world.repo.git("--no-replace-objects", "rev-parse", f"{world.base}:{SIGNERS}"),
        blob,
    )


@forgery("code-python-shell", codes=(1, 2, 3))
def a_graft_that_puts_the_change_before_the_base(world: World) -> None:
    world.change()
    head = world.repo.git("rev-parse", "HEAD")
    grafts = world.repo.path / ".git" / "info" / "grafts"
    grafts.parent.mkdir(exist_ok=True)
    grafts.write_text(f"{world.base} {head}\n{head}\n")


@forgery(codes=(2, 3))
def the_change_is_named_as_the_border_of_a_shallow_clone(world: World) -> None:
    world.change()
    (world.repo.path / ".git" / "shallow").write_text(
        world.repo.git("rev-parse", "HEAD") + "\n"
    )


@forgery(codes=(2, 3))
def a_tag_with_the_name_of_the_remote_branch(world: World) -> str:
    """`origin/main` in the range is then the tag, which anybody who may push tags can set."""
    world.repo.git("update-ref", "refs/remotes/origin/main", world.base)
    world.change()
    assert world.verify("origin/main..HEAD").code == 3
    world.repo.git("tag", "origin/main", "HEAD")
    return "origin/main..HEAD"


@forgery(codes=(2, 3))
def a_branch_with_the_name_of_the_remote_branch(world: World) -> str:
    world.repo.git("update-ref", "refs/remotes/origin/main", world.base)
    world.change()
    world.repo.git("branch", "origin/main", "HEAD")
    return "origin/main..HEAD"


@forgery(codes=(2, 3))
def a_tag_with_the_name_of_the_base_branch(world: World) -> str:
    world.repo.git("switch", "-q", "-c", "topic")
    world.change()
    world.repo.git("tag", "main", "HEAD")
    return "main..topic"


@forgery(codes=(2, 3))
def a_tag_with_the_id_of_the_base(world: World) -> str:
    """A name of forty digits, or of its first ones."""
    world.change()
    head = world.repo.git("rev-parse", "HEAD")
    world.repo.git("update-ref", f"refs/tags/{world.base[:12]}", head)
    return f"{world.base[:12]}..HEAD"


@forgery(codes=(2, 3))
def a_harmless_head(world: World) -> str:
    """A tag called HEAD, and a branch called HEAD, that point to the base."""
    world.change()
    world.repo.git("update-ref", "refs/tags/HEAD", world.base)
    world.repo.git("update-ref", "refs/heads/HEAD", world.base)
    return f"{world.base}..HEAD"


@forgery(codes=(2, 3))
def ranges_that_are_none(world: World) -> str:
    world.change()
    for where in (
        "HEAD",
        "..HEAD",
        f"{world.base}..",
        f"{world.base}...HEAD",
        "..",
        "--all",
        f"^{world.base}..HEAD",
        "",
    ):
        done = world.guard("verify", "--range", where)
        assert done.code != 0 or where == "..HEAD", (where, done.all)
        assert "Traceback" not in done.all
    return f"{world.base}...HEAD"


@forgery("code-python-shell", codes=(3,))
def the_approval_of_half_of_the_change(world: World) -> None:
    """The commit is approved, and amended with one more file."""
    world.note(signed(world.change(), ADA))
    world.repo.write("other.py", RISKY.replace("render-report", "rm"))
    world.repo.git("add", "-A")
    world.repo.git("commit", "-q", "--no-verify", "--amend", "--no-edit")
    [line] = world.lines()
    world.note(
        line,
        world.repo.git("rev-parse", "HEAD^{tree}"),
        world.repo.git("rev-parse", "HEAD:other.py"),
    )


@forgery(codes=(3,))
def the_approval_of_a_deletion_for_a_larger_one(world: World) -> None:
    """A finding without a file behind it holds for the tree alone."""
    calls = "".join(
        f"      - run: cli-guard {word} --range a..b\n" for word in ("verify", "review")
    )
    files = {".github/workflows/ci.yml": f"jobs:\n  a:\n    steps:\n{calls}"}
    world.set_base({**files, "other.py": "x = 1\n"})
    world.repo.git("rm", "-q", ".github/workflows/ci.yml")
    statement = world.statement()
    world.record("Remove the job")
    world.note(signed(statement, ADA))
    assert world.verify().code == 0, world.verify().all
    world.repo.git("rm", "-q", "other.py")
    world.repo.git("commit", "-q", "--no-verify", "--amend", "-m", "Remove more")
    [line] = world.lines()
    world.note(line, world.repo.git("rev-parse", "HEAD^{tree}"))


@forgery(codes=(3,))
def the_approval_of_one_weaker_policy_for_another(world: World) -> None:
    """The same finding at the same path; the file says something else."""
    world.stage({"cli-guard.toml": f'{KEY}[rules]\n"code-sql-*" = "advise"\n'})
    line = signed(world.statement(), ADA)
    world.stage({"cli-guard.toml": f'{KEY}[rules]\n"code-python-*" = "advise"\n'})
    world.record("Loosen it")
    world.note(line)


@forgery("code-python-shell", codes=(3,))
def a_program_with_the_executable_bit_and_no_extension(world: World) -> None:
    path = world.repo.write("report", f"#!/usr/bin/env python3\n{RISKY}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    world.record("Add a program")
