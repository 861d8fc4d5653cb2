"""Histories that honest people make: what was signed once is not asked again where docs/approvals.md says so.

Each test proves that it is the approval that counts: without the notes, the same range is refused. Where an honest
person is asked again, a test says so. Tests that push through hooks are named `test_pushed_...`: they start processes.
"""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from authenticators import PlainKey, SecurityKey, running_agent
from forging.honest import (
    NOTES,
    POLICY,
    Person,
    approve_range,
    approve_staged,
    assert_clean,
    assert_verified,
    commit_approved,
    install_server_hook,
    make_key,
    needs_ssh_keygen,
    pending,
    rebase,
    refused_today,
    risky,
    set_clock,
    set_origin,
    set_policy,
    stage,
    start,
    verify,
)
from in_process import Terminal, approve, guard
from preloaded import use_preloaded
from repositories import Done, Repo

pytestmark = needs_ssh_keygen

SECOND = '[approvals]\nhigh = "second"\ncritical = "second"\n'
STRICTER = f'{POLICY}[decisions]\nmedium = "review"\n'
THRESHOLD = f'{POLICY}threshold = {{"infra/**" = 2}}\n'
# How a call of cli-guard in a configuration of pre-commit looks; to remove it needs a person.
CALLS_US = (
    "repos:\n- repo: local\n  hooks:\n  - id: cli-guard\n    name: cli-guard\n"
    "    entry: cli-guard hook pre-commit\n    language: system\n"
)


@pytest.fixture
def repo(ada: Person, tmp_path: Path) -> Repo:
    """A repository of Ada's, on the branch `topic`. She and Bob may approve. Her work starts from `base`."""
    repo = Repo(tmp_path / "signed", ada.env)
    repo.git("checkout", "-q", "-b", "topic")
    return repo


@pytest.fixture
def moved(repo: Repo) -> Repo:
    """Ada's repository, where main has moved on meanwhile; it touches other files than topic does."""
    repo.git("checkout", "-q", "main")
    repo.commit("Count other things", {"other.py": "y = 1\n"})
    repo.git("checkout", "-q", "topic")
    return repo


@pytest.fixture
def ci(tmp_path: Path) -> Person:
    """A machine without a key."""
    return Person.create("CI", tmp_path, key=False)


# Commits as they are made.


def test_a_plain_commit(repo: Repo) -> None:
    stage(repo, {"reports.py": risky()})
    assert guard(repo, "hook", "pre-commit").code == 3
    assert approve(repo, pending(repo)).code == 0
    assert guard(repo, "hook", "pre-commit").code == 0
    repo.git("commit", "-q", "--no-verify", "-m", "Render reports")
    assert "verified; 1 finding approved" in assert_verified(repo, "base").out


def test_an_approval_after_the_commit(repo: Repo) -> None:
    repo.commit("Render reports", {"reports.py": risky()})
    assert verify(repo, "base").code == 3
    approve_range(repo, "base")
    assert_verified(repo, "base")


def test_an_approval_in_a_folder_below(repo: Repo) -> None:
    stage(repo, {"infra/deploy.py": risky()})
    below = Repo(repo.path / "infra", repo.env)
    assert guard(below, "approve", stdin=Terminal("yes\n")).code == 0
    repo.git("commit", "-q", "--no-verify", "-m", "Deploy reports")
    assert verify(below, "base").code == 0
    assert_verified(repo, "base")


def approve_stopped(repo: Repo, *git: str) -> None:
    """Approve what a commit was stopped for: at once, or after staging it with a command of Git, if that is said."""
    done = approve(repo, pending(repo))
    if done.code:
        assert (done.code, "stage it" in done.err) == (2, True), done.all
        repo.git(*git)
        done = approve(repo, pending(repo))
    assert done.code == 0, done.all


@pytest.mark.slow
def test_one_file_of_two_is_committed(repo: Repo) -> None:
    """The index that the hook saw was a temporary one."""
    guard(repo, "install", "--hook-type", "pre-commit")
    stage(repo, {"reports.py": risky(), "app.py": "x = 2\n"})
    assert repo.try_git("commit", "-q", "-m", "Render reports", "reports.py").code == 1
    approve_stopped(repo, "reset", "-q", "app.py")
    repo.git("commit", "-q", "-m", "Render reports", "reports.py")
    assert_verified(repo, "base")


@pytest.mark.slow
def test_all_that_changed_is_committed(repo: Repo) -> None:
    """`commit -a` stages nothing when a hook stops it."""
    guard(repo, "install", "--hook-type", "pre-commit")
    repo.write("app.py", risky())
    assert repo.try_git("commit", "-q", "-am", "Render reports").code == 1
    approve_stopped(repo, "add", "-u")
    assert guard(repo, "hook", "pre-commit").code == 0
    repo.git("commit", "-q", "-a", "--no-verify", "-m", "Render reports")
    assert_verified(repo, "base")


def test_something_else_was_staged_when_it_was_approved(repo: Repo) -> None:
    stage(repo, {"reports.py": risky()})
    assert guard(repo, "hook", "pre-commit").code == 3
    stage(repo, {"reports.py": risky() + "\n\nNAME = 'daily'\n"})
    again = repo.write(".git/reports.py", risky())
    approve_stopped(
        repo,
        "update-index",
        "--cacheinfo",
        f"100644,{repo.git('hash-object', '-w', str(again))},reports.py",
    )
    stage(repo, {"reports.py": risky()})
    assert guard(repo, "hook", "pre-commit").code == 0
    repo.git("commit", "-q", "--no-verify", "-m", "Render reports")
    assert_verified(repo, "base")


def test_a_key_of_another_type(repo: Repo, ada: Person) -> None:
    key = ada.ssh / "work key"
    make_key(key, kind="ecdsa")
    assert guard(repo, "signers", "add", str(key)).code == 0
    repo.commit("Enrol another key")
    repo.git("branch", "-f", "base")
    commit_approved(repo, "Render reports", {"reports.py": risky()}, "--key", str(key))
    repo.git("config", "user.signingKey", str(key))
    commit_approved(repo, "Render pages", {"pages.py": risky("page")})
    assert_verified(repo, "base")


def test_a_key_in_an_agent(repo: Repo, ada: Person) -> None:
    shutil.rmtree(ada.ssh)
    key = PlainKey(b"k" * 32, "Ada's agent")
    public = repo.write(".git/agent.pub", key.public_line() + "\n")
    assert guard(repo, "signers", "add", str(public)).code == 0
    repo.commit("Enrol another key")
    repo.git("branch", "-f", "base")
    with tempfile.TemporaryDirectory() as folder, running_agent([key], folder) as socket:
        holder = Repo(repo.path, repo.env | {"SSH_AUTH_SOCK": socket})
        commit_approved(holder, "Render reports", {"reports.py": risky()})
    assert_verified(repo, "base")


@pytest.mark.parametrize(
    ("flags", "level"), [(0x01, "touch"), (0x05, "verified")], ids=["touch", "verified"]
)
def test_a_security_key(repo: Repo, flags: int, level: str) -> None:
    key = SecurityKey(b"s" * 32, flags=flags)
    public = repo.write(".git/token.pub", key.public_line() + "\n")
    assert guard(repo, "signers", "add", str(public)).code == 0
    set_policy(repo, f'[approvals]\nhigh = "{level}"\ncritical = "{level}"\n')
    with tempfile.TemporaryDirectory() as folder, running_agent([key], folder) as socket:
        holder = Repo(repo.path, repo.env | {"SSH_AUTH_SOCK": socket})
        commit_approved(holder, "Render reports", {"reports.py": risky()}, level=level)
        assert_verified(repo, "base")


def test_a_stricter_configuration_of_ones_own(repo: Repo, ada: Person) -> None:
    """It asks Ada for more, and nobody else."""
    own = Path(ada.env["XDG_CONFIG_HOME"], "cli-guard", "config.toml")
    own.parent.mkdir(parents=True)
    own.write_text('[decisions]\nmedium = "review"\n')
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    own.unlink()
    assert_verified(repo, "base")


def test_signers_written_by_hand(repo: Repo, ada: Person) -> None:
    kind, key, *_ = ada.public_key.read_text().split()
    line = f'Ada@Example.org namespaces="cli-guard-approval@v1" {kind} {key}'
    repo.commit(
        "Write the signers anew",
        {".cli-guard/signers": f"# who approves\r\n\r\n{line}\r\n"},
    )
    repo.git("branch", "-f", "base")
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    assert_verified(repo, "base")


NAMES = (
    "all reports.py",
    "Übersicht/日本.py",
    'a "quoted" name.py',
    "it's.py",
    "a\ttab.py",
    "back\\slash.py",
    "-x.py",
    ":(top)x.py",
    "a:b.py",
    "file:x.py",
    "*.py",
)


def test_names_of_files(repo: Repo) -> None:
    """Each has a note on its content, for each has a finding of its own; the tree changes afterwards."""
    commit_approved(
        repo,
        "Render reports",
        {name: risky(f"report{at}") for at, name in enumerate(NAMES)},
    )
    repo.commit("Count up", {"app.py": "x = 2\n"})
    rebase(repo, "base", "pick-2", "pick-1")
    assert f"verified; {len(NAMES)} findings approved" in assert_verified(repo, "base").out


def test_a_name_that_is_not_utf8(repo: Repo) -> None:
    try:
        repo.write(b"caf\xe9.py", risky())
    except OSError as error:
        pytest.skip(f"this file system has no such name: {error.strerror}")
    repo.git("add", "-A")
    approve_staged(repo)
    repo.git("commit", "-q", "--no-verify", "-m", "Render reports")
    assert_verified(repo, "base")


def test_lines_that_end_as_on_windows(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    commit_approved(repo, "Render reports", {"reports.py": risky().replace("\n", "\r\n")})
    assert_verified(repo, "base")


def test_ids_of_sha256(tmp_path: Path, ada: Person, ci: Person) -> None:
    repo = Repo.create(tmp_path / "longer ids", ada.env, "--object-format=sha256")
    base = start(repo, ada)
    bare = set_origin(repo, tmp_path / "origin.git")
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    commit_approved(repo, "Render pages", {"pages.py": risky("page")})
    rebase(repo, base, "pick-2", "pick-1")
    assert_verified(repo, base)
    repo.git("push", "-q", "origin", "HEAD:topic", NOTES)
    clone = ci.clone(bare.path, tmp_path / "clone")
    assert guard(clone, "fetch").code == 0
    assert_verified(clone, "origin/main", "origin/topic")


def test_nine_commits_with_three_approvals(repo: Repo) -> None:
    for number in range(9):
        if number % 3:
            repo.commit(f"Count to {number}", {"app.py": f"x = {number}\n"})
        else:
            stage(repo, {f"report{number}.py": risky(f"report{number}")})
            assert guard(repo, "approve", stdin=Terminal("yes\n")).code == 0
            repo.commit(f"Render report {number}")
    assert "verified; 3 findings approved" in assert_verified(repo, "base").out


def test_three_hundred_other_notes(repo: Repo) -> None:
    """Git puts the notes into folders when there are many."""
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    source = repo.git("notes", f"--ref={NOTES}", "list").split()[1]
    lines = [f"{source} {hashlib.sha1(bytes(at)).hexdigest()}" for at in range(300)]
    repo.git("notes", f"--ref={NOTES}", "copy", "--stdin", stdin="\n".join(lines) + "\n")
    assert "/" in repo.git("ls-tree", "-r", "--name-only", NOTES)
    commit_approved(repo, "Render pages", {"pages.py": risky("page")})
    assert_verified(repo, "base")


# Commits as they are made anew.


def test_amended(repo: Repo) -> None:
    """Another message, date or file beside it needs nobody; the approved file itself is asked again."""
    before = commit_approved(repo, "Render reports", {"reports.py": risky()})
    amend = ("commit", "-q", "--amend", "--no-verify")
    repo.git(*amend, "--date", "2026-01-02T03:04:05Z", "-m", "Render the reports of a name")
    assert repo.git("rev-parse", "HEAD") != before
    assert_verified(repo, "base")
    stage(repo, {"app.py": "x = 2\n"})
    repo.git(*amend, "--no-edit")
    assert_verified(repo, "base")
    stage(repo, {"reports.py": risky() + "\n\nNAME = 'daily'\n"})
    repo.git(*amend, "--no-edit")
    assert verify(repo, "base").code == 3
    approve_range(repo, "base")
    assert_verified(repo, "base")


def test_rebased_onto_a_base_that_moved(moved: Repo) -> None:
    commit_approved(moved, "Render reports", {"reports.py": risky()})
    moved.git("rebase", "-q", "main")
    assert_verified(moved, "main")


def test_reordered_squashed_and_split(repo: Repo) -> None:
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    commit_approved(repo, "Render pages", {"pages.py": risky("page")})
    repo.commit("Count up", {"app.py": "x = 2\n"})
    tree = repo.git("rev-parse", "HEAD^{tree}")
    rebase(repo, "base", "pick-3", "pick-2", "pick-1")
    subjects = repo.git("log", "--format=%s", "base..").splitlines()
    assert subjects == ["Render reports", "Render pages", "Count up"]
    assert_verified(repo, "base")
    rebase(repo, "base", "pick-1", "squash-2", "fixup-3")
    assert repo.git("rev-list", "--count", "base..") == "1"
    assert repo.git("rev-parse", "HEAD^{tree}") == tree
    assert_verified(repo, "base")
    repo.git("reset", "-q", "HEAD^")
    for name in ("reports.py", "pages.py", "app.py"):
        repo.git("add", name)
        repo.git("commit", "-q", "--no-verify", "-m", f"Render with {name}")
    assert_verified(repo, "base")


def test_squashed_by_a_merge(moved: Repo) -> None:
    commit_approved(moved, "Render reports", {"reports.py": risky()})
    commit_approved(moved, "Render pages", {"pages.py": risky("page")})
    moved.git("checkout", "-q", "-b", "landing", "main")
    moved.git("merge", "-q", "--squash", "topic")
    moved.git("commit", "-q", "--no-verify", "-m", "Render reports and pages")
    assert_verified(moved, "main")


def test_picked_to_another_branch(repo: Repo) -> None:
    commit = commit_approved(repo, "Render reports", {"reports.py": risky()})
    repo.git("checkout", "-q", "-b", "release", "base")
    repo.commit("Number the release", {"version.txt": "1\n"})
    repo.git("branch", "released")
    repo.git("cherry-pick", "-x", commit)
    assert_verified(repo, "released")


def test_sent_by_mail(moved: Repo, bob: Person) -> None:
    commit_approved(moved, "Render reports", {"reports.py": risky()})
    patch = moved.git("format-patch", "--stdout", "base..topic")
    moved.git("checkout", "-q", "-b", "applied", "main")
    bob.at(moved).git("am", "-q", stdin=patch + "\n")
    assert moved.git("log", "-1", "--format=%an %cn") == "Ada Bob"
    assert_verified(moved, "main")


def test_reverted_and_brought_back(repo: Repo) -> None:
    """To take it out needs nobody; what is brought back is the very file that was approved."""
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    repo.git("branch", "landed")
    repo.git("revert", "--no-edit", "HEAD")
    repo.git("branch", "reverted")
    assert_clean(repo, "landed", "reverted")
    repo.git("revert", "--no-edit", "HEAD")
    assert_verified(repo, "reverted")
    assert_clean(repo, "landed")
    assert_verified(repo, "base")


# Merges.


def test_merged_by_a_queue(moved: Repo, ci: Person) -> None:
    """A bot merges the branch into the base that moved; it has no key."""
    commit_approved(moved, "Render reports", {"reports.py": risky()})
    bot = ci.at(moved)
    bot.git("checkout", "-q", "--detach", "main")
    bot.git("merge", "-q", "--no-ff", "-m", "Merge topic into main", "topic")
    assert bot.git("rev-list", "--parents", "-1", "HEAD").split()[1:] == [
        moved.git("rev-parse", each) for each in ("main", "topic")
    ]
    assert_verified(bot, "main")


def test_merged_with_a_conflict_in_another_file(repo: Repo) -> None:
    commit_approved(repo, "Render reports", {"reports.py": risky(), "app.py": "x = 2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("Count further", {"app.py": "x = 3\n"})
    assert repo.try_git("merge", "-q", "topic").code == 1
    stage(repo, {"app.py": "x = 5\n"})
    repo.git("commit", "-q", "--no-verify", "--no-edit")
    assert_verified(repo, "HEAD^1")


def test_what_a_merge_itself_adds_is_approved(repo: Repo) -> None:
    repo.commit("Count to two", {"app.py": "x = 2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("Count to three", {"app.py": "x = 3\n"})
    assert repo.try_git("merge", "-q", "topic").code == 1
    commit_approved(repo, "Merge topic, and render reports", {"app.py": risky()})
    assert repo.try_git("rev-parse", "HEAD^2").code == 0
    assert_verified(repo, "HEAD^1")


def test_main_merged_into_the_branch(moved: Repo) -> None:
    commit_approved(moved, "Render reports", {"reports.py": risky()})
    moved.git("merge", "-q", "--no-edit", "main")
    commit_approved(moved, "Render pages", {"pages.py": risky("page")})
    assert_verified(moved, "main")


# Later commits of the same range.


@refused_today(
    "an approval is of one content of the file: after a later commit to it, approve the range"
)
def test_edited_harmlessly_later(repo: Repo) -> None:
    """The hook asks nothing about the second commit, so nothing should be missing in the end."""
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    stage(repo, {"reports.py": risky() + "\n\nNAME = 'daily'\n"})
    assert guard(repo, "hook", "pre-commit").code == 0
    repo.git("commit", "-q", "--no-verify", "-m", "Name the daily report")
    assert_verified(repo, "base")


@refused_today(
    "an approval is of one content of the file: after a later commit to it, approve the range"
)
def test_two_approved_commits_in_one_file(repo: Repo) -> None:
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    more = risky() + '    subprocess.run("print-report " + name, shell=True)\n'
    commit_approved(repo, "Print reports", {"reports.py": more})
    assert_verified(repo, "base")


def test_renamed_later_is_asked_again(repo: Repo) -> None:
    """The hook sees a rename without a line, verify sees a new file: at the latest, the push asks."""
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    repo.git("mv", "reports.py", "printed.py")
    assert guard(repo, "hook", "pre-commit").code == 0
    repo.git("commit", "-q", "--no-verify", "-m", "Rename the module of reports")
    assert verify(repo, "base").code == 3
    assert verify(repo, "HEAD^").code == 0
    approve_range(repo, "base")
    assert_verified(repo, "base")


@refused_today("an approval of another name of the file is passed over without a word")
def test_a_refusal_says_which_approval_does_not_fit(repo: Repo) -> None:
    """`cli-guard verify --help`: approvals are missing or refused, each with the reason in one line."""
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    repo.git("mv", "reports.py", "printed.py")
    repo.commit("Rename the module of reports")
    assert "the approval by ada@example.org does not count: " in verify(repo, "base").out


# What has no file to be bound to.


@pytest.mark.parametrize("name", [".pre-commit-config.yaml", "cli-guard.toml"])
def test_a_file_is_removed(repo: Repo, name: str) -> None:
    repo.commit("Call the guard", {".pre-commit-config.yaml": CALLS_US})
    repo.git("branch", "-f", "base")
    commit_approved(repo, "Remove what calls the guard", {name: None})
    assert_verified(repo, "base")


@refused_today(
    "a file beyond the limit is not among those of the change, so the approval fits no finding"
)
def test_more_files_than_the_limit(repo: Repo) -> None:
    set_policy(repo, f"{POLICY}[limits]\nfiles = 2\n")
    commit_approved(
        repo, "Add tables", {f"table{number}.py": "x = 1\n" for number in range(4)}
    )
    assert_verified(repo, "base")


def test_a_file_over_the_limit(moved: Repo) -> None:
    moved.git("rebase", "-q", "main")
    set_policy(moved, f"{POLICY}[limits]\nfile_chars = 1000\n")
    commit_approved(moved, "Add a table", {"table.py": "x = 1\n" * 500})
    moved.git("commit", "-q", "--amend", "--no-verify", "-m", "Add the table of numbers")
    assert_verified(moved, "base")


def approve_message(repo: Repo, message: str) -> None:
    """The hook stops a message, somebody approves it, and it is recorded with what is staged."""
    file = repo.write(".git/COMMIT_EDITMSG", f"{message}\n")
    assert guard(repo, "hook", "commit-msg", str(file)).code == 3
    assert approve(repo, pending(repo)).code == 0
    assert guard(repo, "hook", "commit-msg", str(file)).code == 0
    repo.git("commit", "-q", "--no-verify", "-F", str(file))


def test_the_message_of_a_commit(repo: Repo) -> None:
    set_policy(repo, f'{POLICY}[rules]\n"message-says-nothing" = "review"\n')
    stage(repo, {"reports.py": risky()})
    approve_staged(repo)
    approve_message(repo, "wip")
    assert "verified; 2 findings approved" in assert_verified(repo, "base").out
    repo.git(
        "commit",
        "-q",
        "--amend",
        "--no-edit",
        "--no-verify",
        "--date",
        "2026-01-02T03:04:05Z",
    )
    assert_verified(repo, "base")
    repo.git("commit", "-q", "--amend", "--no-verify", "-m", "stuff")
    assert verify(repo, "base").code == 3, "another message, which nobody has seen"


@refused_today(
    "an approval of a message is bound to the tree, which a rebase changes, and not to the message"
)
def test_the_message_of_a_commit_that_is_rebased(repo: Repo) -> None:
    set_policy(repo, f'{POLICY}[rules]\n"message-says-nothing" = "review"\n')
    stage(repo, {"app.py": "x = 2\n"})
    approve_message(repo, "wip")
    repo.git("checkout", "-q", "-b", "moved", "base")
    repo.commit("Count other things", {"other.py": "y = 1\n"})
    repo.git("checkout", "-q", "topic")
    repo.git("rebase", "-q", "moved")
    assert_verified(repo, "moved")


# Policies that change.


def test_a_policy_that_moved_with_the_base_is_asked_again(repo: Repo) -> None:
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    repo.git("checkout", "-q", "main")
    repo.commit("Ask for more", {"cli-guard.toml": STRICTER})
    repo.git("checkout", "-q", "topic")
    repo.git("rebase", "-q", "main")
    done = verify(repo, "main")
    assert done.code == 3
    said = " ".join(done.out.split())
    assert (
        "the approval by ada@example.org does not count: it was given under another policy"
        in said
    )
    approve_range(repo, "main")
    assert_verified(repo, "main")


def test_approvals_before_and_after_a_stricter_policy_of_the_same_range(repo: Repo) -> None:
    commit_approved(repo, "Render pages", {"pages.py": risky("page")})
    stage(repo, {"cli-guard.toml": STRICTER})
    assert guard(repo, "hook", "pre-commit").code == 0
    repo.git("commit", "-q", "--no-verify", "-m", "Ask for more")
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    assert_verified(repo, "base")


@pytest.mark.parametrize(
    "policy", [POLICY, STRICTER], ids=["same policy", "stricter policy"]
)
def test_an_approval_at_the_push(repo: Repo, tmp_path: Path, policy: str) -> None:
    set_origin(repo, tmp_path / "origin.git")
    repo.commit("Render reports", {"reports.py": risky(), "cli-guard.toml": policy})
    tip = repo.git("rev-parse", "HEAD")
    line = f"refs/heads/topic {tip} refs/heads/topic {'0' * len(tip)}\n"
    assert guard(repo, "hook", "pre-push", "origin", stdin=line).code == 3
    assert approve(repo, pending(repo)).code == 0
    assert guard(repo, "hook", "pre-push", "origin", stdin=line).code == 0
    assert_verified(repo, "origin/main")


# Changes of the guard itself count only in the commit in which they were approved.


def enrol_carol(repo: Repo, tmp_path: Path) -> Person:
    """A commit that enrols somebody, approved; who that is."""
    carol = Person.create("Carol", tmp_path)
    assert (
        guard(repo, "signers", "add", str(carol.public_key), "--principal", carol.mail).code
        == 0
    )
    stage(repo, {})
    approve_staged(repo)
    repo.git("commit", "-q", "--no-verify", "-m", "Enrol Carol")
    return carol


def test_a_change_of_the_guard_is_merged_by_a_queue(
    moved: Repo, ci: Person, tmp_path: Path
) -> None:
    enrol_carol(moved, tmp_path)
    moved.git("commit", "-q", "--amend", "--no-verify", "-m", "Enrol Carol, who is new")
    bot = ci.at(moved)
    bot.git("checkout", "-q", "--detach", "main")
    bot.git("merge", "-q", "--no-ff", "-m", "Merge topic into main", "topic")
    assert_verified(bot, "main")


def test_a_change_of_the_guard_that_is_rebased_on_others_is_asked_again(
    moved: Repo, tmp_path: Path
) -> None:
    enrol_carol(moved, tmp_path)
    assert_verified(moved, "base")
    moved.git("rebase", "-q", "main")
    assert_verified(moved, "main")
    moved.git("branch", "-f", "base", "main")
    moved.git("checkout", "-q", "main")
    text = moved.git("show", "HEAD:.cli-guard/signers")
    moved.commit(
        "Mind the guard", {".cli-guard/signers": f"# Whoever may approve.\n{text}\n"}
    )
    moved.git("checkout", "-q", "-")
    moved.git("rebase", "-q", "main")
    assert verify(moved, "main").code == 3
    approve_range(moved, "main")
    assert_verified(moved, "main")


# Time.


def test_an_approval_that_expires(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    commit_approved(repo, "Render reports", {"reports.py": risky()}, "--expires", "30d")
    set_clock(monkeypatch, days=29.9)
    assert_verified(repo, "base")
    set_clock(monkeypatch, days=30.1)
    done = verify(repo, "base")
    assert done.code == 3
    assert "the approval by ada@example.org does not count: it expired on " in done.out


def test_a_clock_that_is_some_minutes_slow(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    set_clock(monkeypatch, days=-5 / (24 * 60))
    assert_verified(repo, "base")


# Several people.


def test_each_approves_a_part(repo: Repo, bob: Person) -> None:
    stage(repo, {"infra/deploy.py": risky(), "web/page.py": risky("page")})
    assert guard(repo, "approve", "--for", "infra", stdin=Terminal("yes\n")).code == 0
    assert guard(repo, "hook", "pre-commit").code == 3
    assert guard(bob.at(repo), "approve", "--for", "web", stdin=Terminal("yes\n")).code == 0
    assert guard(repo, "hook", "pre-commit").code == 0
    repo.git("commit", "-q", "--no-verify", "-m", "Deploy a page")
    assert_verified(repo, "base")


def test_a_person_is_enrolled_and_approves(repo: Repo, tmp_path: Path) -> None:
    carol = enrol_carol(repo, tmp_path)
    assert_verified(repo, "base")
    commit_approved(carol.at(repo), "Render reports", {"reports.py": risky()})
    assert_verified(repo, "HEAD^")
    done = verify(repo, "base")
    assert done.code == 3, "who is enrolled in a range does not approve in it"
    assert "its key is not one of the signers before this change" in " ".join(
        done.out.split()
    )


@contextmanager
def team(
    repo: Repo, bob: Person, tmp_path: Path, policy: str
) -> Iterator[tuple[Repo, Repo]]:
    """Ada has pushed an approved commit and her approvals; yields Bob's clone and the bare repository."""
    set_policy(repo, policy)
    bare = set_origin(repo, tmp_path / "origin.git", main="topic")
    commit_approved(repo, "Deploy reports", {"infra/deploy.py": risky()})
    done = verify(repo, "origin/main")
    assert done.code == 3
    assert "code-python-shell at infra/deploy.py: 1 of 2 people approved" in done.out
    repo.git("push", "-q", "origin", "topic", NOTES)
    yield bob.clone(bare.path, tmp_path / "bob's clone"), bare


@pytest.mark.parametrize(
    "policy",
    [THRESHOLD, SECOND, f"{POLICY}author_may_approve = false\n"],
    ids=["threshold", "second", "author_may_approve"],
)
def test_a_second_person_as_documented(
    repo: Repo, bob: Person, ci: Person, tmp_path: Path, policy: str
) -> None:
    """docs/approvals.md: fetch, review the range, approve, push the notes."""
    with team(repo, bob, tmp_path, policy) as (clone, bare):
        clone.git("fetch", "-q", "origin")
        assert guard(clone, "fetch").code == 0
        approve_range(clone, "origin/main", "origin/topic")
        clone.git("push", "-q", "origin", NOTES)
        machine = ci.clone(bare.path, tmp_path / "machine", "--branch", "topic")
        assert guard(machine, "fetch").code == 0
        assert_verified(machine, "origin/main")


def test_a_second_person_who_fetches_later(
    repo: Repo, bob: Person, ci: Person, tmp_path: Path
) -> None:
    with team(repo, bob, tmp_path, SECOND) as (clone, bare):
        approve_range(clone, "origin/main", "origin/topic")
        assert clone.try_git("push", "-q", "origin", NOTES).code == 1, (
            "Ada's are there already"
        )
        assert guard(clone, "fetch").code == 0
        clone.git("push", "-q", "origin", NOTES)
        machine = ci.clone(bare.path, tmp_path / "machine", "--branch", "topic")
        assert verify(machine, "origin/main").code == 3
        assert guard(machine, "fetch").code == 0
        assert_verified(machine, "origin/main")


# Clones.


def test_a_fresh_clone(repo: Repo, ci: Person, tmp_path: Path) -> None:
    bare = set_origin(repo, tmp_path / "origin.git")
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    repo.git("push", "-q", "origin", "topic", NOTES)
    clone = ci.clone(bare.path, tmp_path / "clone", "--branch", "topic")
    missing = verify(clone, "origin/main")
    assert missing.code == 3
    assert "cli-guard fetch" in missing.all
    clone.git("fetch", "-q", "origin", "main")
    done = guard(clone, "fetch")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"cli-guard: merged the approvals of origin ({NOTES})\n"
    assert guard(clone, "fetch").code == 0
    assert_verified(
        clone, "FETCH_HEAD"
    )  # what Git fetched before is still named by it, as CI jobs rely on


def test_a_remote_without_approvals(repo: Repo, tmp_path: Path) -> None:
    set_origin(repo, tmp_path / "origin.git")
    done = guard(repo, "fetch")
    assert (done.code, done.out) == (
        0,
        f"cli-guard: there are no approvals of origin ({NOTES})\n",
    )


@refused_today(
    "it names `git fsck` and `git fetch`, neither of which gets the files of a partial clone"
)
def test_a_clone_without_files(repo: Repo, ci: Person, tmp_path: Path) -> None:
    """A review never fetches files by itself: it says that they are missing, and how to get them."""
    bare = set_origin(repo, tmp_path / "origin.git")
    bare.git("config", "uploadpack.allowFilter", "true")
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    repo.git("push", "-q", "origin", "topic", NOTES)
    clone = ci.clone(
        bare.path, tmp_path / "clone", "--filter=blob:none", "--branch", "topic"
    )
    assert guard(clone, "fetch").code == 0
    done = verify(clone, "origin/main")
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "partial clone" in done.err


def test_a_shallow_clone(repo: Repo, ci: Person, tmp_path: Path) -> None:
    """What is between tip and base is not there, which is said, not reviewed; with the range it is verified."""
    bare = set_origin(repo, tmp_path / "origin.git")
    repo.commit("Count up", {"app.py": "x = 2\n"})
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    repo.git("push", "-q", "origin", "topic", NOTES)
    clone = ci.clone(bare.path, tmp_path / "clone", "--depth", "1", "--branch", "topic")
    clone.git("fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main")
    assert guard(clone, "fetch").code == 0
    done = verify(clone, "origin/main")
    assert (done.code, done.out) == (2, "")
    assert "cannot be verified" in done.err
    assert "git fetch --unshallow" in done.err
    clone.git("fetch", "-q", "--depth", "2", "origin", "topic")
    assert_verified(clone, "HEAD^")


def test_a_linked_work_tree(repo: Repo, tmp_path: Path) -> None:
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"), "base")
    linked = Repo(tmp_path / "linked", repo.env)
    stage(linked, {"reports.py": risky()})
    assert guard(linked, "approve", stdin=Terminal("yes\n")).code == 0
    assert guard(linked, "hook", "pre-commit").code == 0
    linked.git("commit", "-q", "--no-verify", "-m", "Render reports")
    assert_verified(linked, "base")
    assert_verified(repo, "base", "side")


def test_two_people_push_their_approvals_by_hand(
    repo: Repo, bob: Person, tmp_path: Path
) -> None:
    bare = set_origin(repo, tmp_path / "origin.git")
    clone = bob.clone(bare.path, tmp_path / "bob's clone")
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    commit_approved(clone, "Render pages", {"pages.py": risky("page")})
    repo.git("push", "-q", "origin", "topic", NOTES)
    assert clone.try_git("push", "-q", "origin", NOTES).code == 1
    assert guard(clone, "fetch").code == 0
    clone.git("push", "-q", "origin", "HEAD:pages", NOTES)
    assert guard(repo, "fetch").code == 0
    repo.git("fetch", "-q", "origin")
    for each, branch in ((clone, "main"), (repo, "topic"), (repo, "origin/pages")):
        assert_verified(each, "origin/main", branch)


# Pushes through hooks.

# A hook of the remote: the approvals of another person arrive a moment before those that are pushed.
LATE = """#!/bin/sh
if [ "$1" = refs/notes/cli-guard ] && [ -n "$(git for-each-ref refs/late)" ]; then
    git update-ref refs/notes/cli-guard refs/late/notes && git update-ref -d refs/late/notes && exit 1
fi
"""


@pytest.mark.slow
def test_pushed_with_the_branch(repo: Repo, ci: Person, tmp_path: Path) -> None:
    """`push = true` and a server that verifies: `git push` is enough, for the notes are there first."""
    set_policy(repo, f"{POLICY}push = true\n")
    bare = set_origin(repo, tmp_path / "origin.git", main="topic")
    install_server_hook(bare)
    guard(repo, "install", "--hook-type", "pre-push")
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    done = repo.try_git("push", "-q", "origin", "topic")
    assert done.code == 0, done.all
    assert "cli-guard: the signed approvals were pushed as well" in done.err
    assert "cli-guard: refs/heads/topic: verified" in done.err
    machine = ci.clone(bare.path, tmp_path / "machine")
    assert guard(machine, "fetch").code == 0
    assert_verified(machine, "origin/main", "origin/topic")


@pytest.mark.slow
def test_pushed_while_the_notes_moved(
    repo: Repo, bob: Person, ci: Person, tmp_path: Path
) -> None:
    set_policy(repo, f"{POLICY}push = true\n")
    bare = set_origin(repo, tmp_path / "origin.git", main="topic")
    clone = bob.clone(bare.path, tmp_path / "bob's clone")
    commit_approved(clone, "Render pages", {"pages.py": risky("page")})
    clone.git("push", "-q", "origin", "HEAD:pages", f"{NOTES}:refs/late/notes")
    hook = bare.write("hooks/update", LATE)
    hook.chmod(0o755)
    guard(repo, "install", "--hook-type", "pre-push")
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    done = repo.try_git("push", "-q", "origin", "topic")
    assert done.code == 0, done.all
    assert bare.git("for-each-ref", "refs/late") == "", "the race took place"
    machine = ci.clone(bare.path, tmp_path / "machine")
    assert guard(machine, "fetch").code == 0
    for name in ("topic", "pages"):
        assert_verified(machine, "origin/main", f"origin/{name}")


@pytest.mark.slow
@refused_today(
    "Git runs pre-push for a dry run as well, and the hook pushes the notes then"
)
def test_pushed_as_a_dry_run(repo: Repo, tmp_path: Path) -> None:
    set_policy(repo, f"{POLICY}push = true\n")
    bare = set_origin(repo, tmp_path / "origin.git", main="topic")
    guard(repo, "install", "--hook-type", "pre-push")
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    assert repo.try_git("push", "-q", "--dry-run", "origin", "topic").code == 0
    assert bare.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


@pytest.fixture
def served(repo: Repo, tmp_path: Path, preloaded: Path) -> Repo:
    """The bare repository that Ada pushes to; it verifies what it gets."""
    bare = set_origin(repo, tmp_path / "origin.git")
    install_server_hook(bare)
    use_preloaded(bare.path / "hooks/pre-receive", preloaded)
    return bare


@pytest.mark.slow
def test_pushed_to_a_server_that_verifies(repo: Repo, served: Repo) -> None:
    """The branch alone is refused; branch and notes in one push are not, and a merge of them needs nothing more."""
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    done = repo.try_git("push", "origin", "topic")
    assert done.code == 1
    assert (
        "cli-guard: refused: refs/heads/topic: 1 finding to approve (code-python-shell)"
        in done.err
    )
    done = repo.try_git("push", "origin", "topic", NOTES)
    assert done.code == 0, done.all
    assert "cli-guard: refs/heads/topic: verified" in done.err
    assert served.git("rev-parse", "topic") == repo.git("rev-parse", "topic")
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-ff", "--no-edit", "topic")
    assert repo.try_git("push", "origin", "main").code == 0


@pytest.mark.slow
def test_pushed_by_breaking_the_glass(repo: Repo, served: Repo) -> None:
    served.git("config", "receive.advertisePushOptions", "true")
    repo.git("checkout", "-q", "main")
    repo.commit("Render reports", {"reports.py": risky()})
    note = ("--note", "production is down, ticket 812")
    done = guard(repo, "approve", "--break-glass", *note, stdin=Terminal("yes\n"))
    assert done.code == 0, done.all
    assert repo.try_git("push", "origin", "main", NOTES).code == 1, (
        "the notes alone do not break it"
    )
    done = repo.try_git("push", "-o", "cli-guard=break-glass", "origin", "main", NOTES)
    assert done.code == 0, done.all
    assert (
        "break-glass by ada@example.org (key): production is down, ticket 812" in done.err
    )
    log = (served.path / "cli-guard" / "audit.jsonl").read_text().splitlines()
    assert [json.loads(line)["decision"] for line in log] == [
        "refused",
        "allow",
        "break-glass",
        "allow",
    ]
    repo.commit("Count up", {"app.py": "x = 2\n"})
    assert repo.try_git("push", "origin", "main").code == 0, (
        "what passed is the base of what comes next"
    )


def received(repo: Repo, served: Repo) -> Done:
    """What the server answers to a push of topic, in this process; Git's quarantine is left out."""
    repo.git(
        "push",
        "-q",
        "--no-verify",
        "--receive-pack=git -c core.hooksPath=/dev/null receive-pack",
        "origin",
        "topic",
    )
    tip = repo.git("rev-parse", "topic")
    return guard(
        served, "hook", "pre-receive", stdin=f"{'0' * len(tip)} {tip} refs/heads/topic\n"
    )


def test_pushed_to_a_server_that_is_busy(
    repo: Repo, served: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit("Count up", {"app.py": "x = 2\n"})
    # What is loaded now is not loaded under the clock: an import that is cut short would be felt by other tests.
    assert received(repo, served).code == 0
    monkeypatch.setattr("cli_guard.cli.pre_receive.SECONDS", 0.001)
    done = received(repo, served)
    assert (done.code, done.out) == (2, "")
    assert "internal error: not done within 0.001 s" in done.err


@refused_today("a push without the notes is refused without a word about them")
def test_pushed_without_the_notes_says_how_to_push_them(repo: Repo, served: Repo) -> None:
    commit_approved(repo, "Render reports", {"reports.py": risky()})
    done = received(repo, served)
    assert done.code == 3
    assert NOTES in done.err
