"""A working day in every form of commit that Git knows: each block is left by the words that it prints, and none
returns.

A form prepares what Git is to record and names the command; it is stopped once, answered with the printed line by
somebody at a terminal, and passes. Then nothing is asked again: at the push, at another remote, after a rebase.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from in_process import Terminal, call
from repositories import Done, Repo
from sampling import choose_rows

PRINTED = re.compile(r"^\s*(?:\S*/)?cli-guard (approve [0-9a-f]{10})\b", re.M)
FRAMEWORK = """repos:
- repo: local
  hooks:
  - {id: one, name: one, entry: GUARD hook pre-commit --framework, language: system, always_run: true,
     pass_filenames: false, verbose: true, stages: [pre-commit, pre-merge-commit]}
  - {id: two, name: two, entry: GUARD hook commit-msg --framework, language: system, always_run: true,
     stages: [commit-msg]}
  - {id: three, name: three, entry: GUARD hook pre-push --framework, language: system, always_run: true,
     pass_filenames: false, stages: [pre-push]}
"""
NUMBERS = count()


def risky() -> str:
    """A function that needs an approval, and is like no other."""
    name = f"render_{next(NUMBERS)}"
    return (
        f"\n\ndef {name}(name):\n"
        f'    """Renders the report of a name."""\n'
        f'    subprocess.run("{name} " + name, shell=True)\n'
    )


@dataclass
class Step:
    """The command that records the change, and how it is run."""

    command: tuple[str, ...]
    at: str = "."
    stdin: str = ""
    env: dict[str, str] = field(default_factory=dict)


Form = Callable[[Repo], Step]


def change(repo: Repo, name: str = "reports.py") -> None:
    """Append what needs an approval to a tracked file; nothing is staged."""
    path = repo.path / name
    repo.write(name, path.read_text() + risky())


def staged(repo: Repo) -> Step:
    change(repo)
    repo.git("add", "reports.py")
    return Step(("commit", "-qm", "Render it"))


def all_changes(repo: Repo) -> Step:
    change(repo)
    return Step(("commit", "-qam", "Render it"))


def one_path(repo: Repo) -> Step:
    change(repo)
    return Step(("commit", "-qm", "Render it", "reports.py"))


def one_path_beside_others_that_are_staged(repo: Repo) -> Step:
    change(repo)
    repo.write("other.py", f"x = {next(NUMBERS)}\n")
    repo.git("add", "other.py")
    return Step(("commit", "-qm", "Render it", "--only", "--", "reports.py"))


def a_path_from_a_folder_below(repo: Repo) -> Step:
    change(repo, "deep/more.py")
    return Step(("commit", "-qm", "Render it", "more.py"), at="deep")


def all_from_a_folder_below(repo: Repo) -> Step:
    change(repo)
    return Step(("commit", "-qam", "Render it"), at="deep")


def included(repo: Repo) -> Step:
    repo.write("other.py", f"x = {next(NUMBERS)}\n")
    repo.git("add", "other.py")
    change(repo)
    return Step(("commit", "-qm", "Render it", "--include", "reports.py"))


def hunk_by_hunk(repo: Repo) -> Step:
    change(repo)
    return Step(("commit", "-qm", "Render it", "--patch"), stdin="y\n" * 5)


def in_an_editor(repo: Repo) -> Step:
    change(repo)
    editor = repo.write("../editor", '#!/bin/sh\necho "Render it" > "$1"\n')
    editor.chmod(0o755)
    return Step(("commit", "-q", "-a", "-v"), env={"GIT_EDITOR": str(editor)})


def with_a_message_from_a_file(repo: Repo) -> Step:
    change(repo)
    message = repo.write("../message", "Render it\n")
    return Step(("commit", "-qaF", str(message)))


def amended(repo: Repo) -> Step:
    repo.commit("Begin", {"other.py": f"x = {next(NUMBERS)}\n"})
    change(repo)
    repo.git("add", "reports.py")
    return Step(("commit", "-q", "--amend", "--no-edit"))


def amended_with_all(repo: Repo) -> Step:
    repo.commit("Begin", {"other.py": f"x = {next(NUMBERS)}\n"})
    change(repo)
    return Step(("commit", "-qa", "--amend", "-m", "Render it"))


def by_another_author(repo: Repo) -> Step:
    change(repo)
    return Step(("commit", "-qam", "Render it", "--author", "Ada <ada@example.org>"))


def with_a_variable_for_the_repository(repo: Repo) -> Step:
    change(repo)
    env = {"GIT_DIR": str(repo.path / ".git"), "GIT_WORK_TREE": str(repo.path)}
    return Step(("commit", "-qam", "Render it"), env=env)


def on_no_branch(repo: Repo) -> Step:
    repo.git("checkout", "-q", "--detach")
    change(repo)
    return Step(("commit", "-qam", "Render it"))


def out_of_the_stash(repo: Repo) -> Step:
    change(repo)
    repo.git("stash", "-q")
    repo.git("stash", "pop", "-q")
    return Step(("commit", "-qam", "Render it"))


def a_merge_with_a_conflict(repo: Repo) -> Step:
    diverge(repo)
    assert repo.try_git("merge", "-q", "side").code == 1
    resolve(repo)
    return Step(("commit", "-q", "--no-edit"))


def a_merge_with_a_conflict_that_goes_on(repo: Repo) -> Step:
    diverge(repo)
    assert repo.try_git("merge", "-q", "side").code == 1
    resolve(repo)
    return Step(("merge", "--continue"))


def a_pick_with_a_conflict(repo: Repo) -> Step:
    diverge(repo)
    assert repo.try_git("cherry-pick", "side").code == 1
    resolve(repo)
    return Step(("commit", "-q", "--no-edit"))


def a_revert_with_a_conflict(repo: Repo) -> Step:
    one = repo.commit("One", {"both.py": f"x = {next(NUMBERS)}\n"})
    repo.commit("Two", {"both.py": f"x = {next(NUMBERS)}\n"})
    assert repo.try_git("revert", "--no-edit", one).code == 1
    resolve(repo)
    return Step(("commit", "-q", "--no-edit"))


def a_pick_that_is_not_recorded_yet(repo: Repo) -> Step:
    diverge(repo, conflict=False)
    repo.git("cherry-pick", "--no-commit", "side")
    change(repo)
    return Step(("commit", "-qam", "Render it"))


def a_squashed_merge(repo: Repo) -> Step:
    diverge(repo, conflict=False)
    repo.git("merge", "-q", "--squash", "side")
    change(repo)
    return Step(("commit", "-qam", "Render it"))


def a_rebase_that_stops_to_edit(repo: Repo) -> Step:
    repo.commit("One", {"one.py": f"x = {next(NUMBERS)}\n"})
    repo.git(
        "rebase", "-q", "-i", "HEAD~1", env={"GIT_SEQUENCE_EDITOR": "sed -i s/^pick/edit/"}
    )
    change(repo)
    repo.git("add", "-A")
    return Step(("commit", "-q", "--amend", "--no-edit"))


def a_new_file(repo: Repo) -> Step:
    repo.write(f"new_{next(NUMBERS)}.py", "import subprocess\n" + risky())
    repo.git("add", "-A")
    return Step(("commit", "-qm", "Render it"))


def a_file_under_a_new_name(repo: Repo) -> Step:
    repo.git("mv", "reports.py", f"reports_{next(NUMBERS)}.py")
    [name] = [path.name for path in repo.path.glob("reports_*.py")]
    change(repo, name)
    return Step(("commit", "-qam", "Rename it"))


def an_odd_name(repo: Repo) -> Step:
    repo.write("dé f\t'x.py", "import subprocess\n" + risky())
    repo.git("add", "-A")
    return Step(("commit", "-qm", "Render it"))


def an_ignored_finding(repo: Repo) -> Step:
    line = risky().rstrip()
    text = (repo.path / "reports.py").read_text()
    ignored = f"{line}  # cli-guard: ignore[code-python-shell] names are checked\n"
    repo.write("reports.py", text + ignored)
    return Step(("commit", "-qam", "Render it"))


def a_looser_policy(repo: Repo) -> Step:
    repo.write("cli-guard.toml", '[rules]\n"code-python-eval" = "advise"\n')
    repo.git("add", "-A")
    return Step(("commit", "-qm", "Loosen it"))


def an_ignore_entry(repo: Repo) -> Step:
    entry = '[[ignore]]\nrule = "secret-*"\npath = "old/**"\nreason = "keys of tests"\n'
    repo.write("cli-guard.toml", entry)
    repo.git("add", "-A")
    return Step(("commit", "-qm", "Ignore them"))


def a_message(repo: Repo) -> Step:
    repo.commit(
        "Mind messages", {"cli-guard.toml": '[rules]\n"message-says-nothing" = "review"\n'}
    )
    repo.git("push", "-q", "--no-verify", "origin", "HEAD:refs/heads/main")
    repo.git("push", "-q", "--no-verify", "second", "HEAD:refs/heads/main")
    change(repo, "app.py")
    repo.write("app.py", f"x = {next(NUMBERS)}\n")
    return Step(("commit", "-qam", "fix"))


def diverge(repo: Repo, *, conflict: bool = True) -> None:
    """A branch `side` beside the one that is checked out."""
    repo.git("checkout", "-q", "-b", "side")
    name = "both.py" if conflict else "side.py"
    repo.commit("Aside", {name: f"x = {next(NUMBERS)}\n"})
    repo.git("checkout", "-q", "main")
    repo.commit("Ahead", {"both.py": f"x = {next(NUMBERS)}\n"})


def resolve(repo: Repo) -> None:
    repo.write("both.py", "import subprocess\n" + risky())
    repo.git("add", "-A")


FORMS: list[Form] = [
    staged,
    all_changes,
    one_path,
    one_path_beside_others_that_are_staged,
    a_path_from_a_folder_below,
    all_from_a_folder_below,
    included,
    hunk_by_hunk,
    in_an_editor,
    with_a_message_from_a_file,
    amended,
    amended_with_all,
    by_another_author,
    with_a_variable_for_the_repository,
    on_no_branch,
    out_of_the_stash,
    a_merge_with_a_conflict,
    a_merge_with_a_conflict_that_goes_on,
    a_pick_with_a_conflict,
    a_revert_with_a_conflict,
    a_pick_that_is_not_recorded_yet,
    a_squashed_merge,
    a_rebase_that_stops_to_edit,
    a_new_file,
    a_file_under_a_new_name,
    an_odd_name,
    an_ignored_finding,
    a_looser_policy,
    an_ignore_entry,
    a_message,
]


def answer_as_printed(repo: Repo, done: Done) -> None:
    """Type the line that a stopped hook has printed, and yes."""
    lines = PRINTED.findall(done.all)
    assert lines, done.all
    answered = call(repo.path, repo.env, *lines[-1].split(), stdin=Terminal("y\n"))
    assert answered.code == 0, answered.all


def record(repo: Repo, form: Form) -> None:
    """Record a change in some form, stopped and answered once."""
    step = form(repo)
    head = repo.head()
    options = {"at": step.at, "stdin": step.stdin, "env": step.env}
    done = repo.try_git(*step.command, **options)
    assert done.code != 0 and repo.head() == head, (form.__name__, done.all)
    index = (repo.path / ".git/index").read_bytes()
    answer_as_printed(repo, done)
    assert (repo.path / ".git/index").read_bytes() == index and repo.head() == head
    done = repo.try_git(*step.command, **options)
    assert done.code == 0 and repo.head() != head, (form.__name__, done.all)


def push_everywhere(repo: Repo, *options: str) -> None:
    for remote in ("origin", "second"):
        done = repo.try_git("push", "-q", *options, remote, "HEAD:refs/heads/main")
        assert done.code == 0, (remote, done.all)


@pytest.fixture
def day(forked: Repo, tmp_path: Path) -> Repo:
    """A repository with our hooks, two remotes that have all, and files to change."""
    repo = forked
    text = "import subprocess\n"
    repo.commit("Begin", {"reports.py": text, "deep/more.py": text})
    for name in ("origin", "second"):
        bare = Repo.create(tmp_path / name, repo.env, "--bare")
        repo.git("remote", "add", name, str(bare.path))
        repo.git("push", "-q", "--no-verify", name, "main")
    return repo


EVERY_DAY = (all_changes, one_path, an_ignored_finding)
# A hook sees the index, the work tree and what Git is in the middle of: in these, what it sees in another form.
SAME_TO_A_HOOK = (
    included,
    a_pick_with_a_conflict,
    all_from_a_folder_below,
    in_an_editor,
    with_a_message_from_a_file,
    amended_with_all,
    by_another_author,
    out_of_the_stash,
    a_merge_with_a_conflict_that_goes_on,
    a_pick_that_is_not_recorded_yet,
    a_squashed_merge,
)
# To a framework it is nothing, besides, what is in the files.
SAME_TO_A_FRAMEWORK = (
    *SAME_TO_A_HOOK,
    one_path,
    a_new_file,
    a_file_under_a_new_name,
    an_ignored_finding,
    a_looser_policy,
    an_ignore_entry,
)


def kinds_of(form: Form) -> list[str]:
    return ["any"] if form in SAME_TO_A_HOOK else [form.__name__]


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(each, marks=() if each in EVERY_DAY else pytest.mark.slow)
        for each in choose_rows(FORMS, kinds_of, lambda form: form.__name__)
    ],
    ids=lambda form: form.__name__,
)
def test_a_block_is_left_by_the_words_that_it_prints(day: Repo, form: Form) -> None:
    record(day, form)
    push_everywhere(day)


def test_a_rebase_of_the_same_lines_is_not_asked_again(day: Repo) -> None:
    for form in (all_changes, a_looser_policy, an_ignored_finding, a_new_file):
        record(day, form)
    day.git("checkout", "-q", "-b", "moved", "origin/main")
    day.commit(
        "Go on", {"reports.py": "# Reports.\n\nimport subprocess\n", "z.py": "z = 1\n"}
    )
    day.git("push", "-q", "--no-verify", "origin", "HEAD:refs/heads/main")
    day.git("checkout", "-q", "main")
    day.git("rebase", "-q", "moved")
    push_everywhere(day)


def test_a_fixup_that_is_squashed_is_not_asked_again(day: Repo) -> None:
    record(day, a_new_file)
    step = all_changes(day)
    fixup = Step(("commit", "-qa", "--fixup", "HEAD"))
    done = day.try_git(*fixup.command)
    assert done.code != 0 and step
    answer_as_printed(day, done)
    day.git(*fixup.command)
    day.git("rebase", "-q", "-i", "--autosquash", "origin/main")
    push_everywhere(day)


def test_an_edit_of_an_approved_query_is_not_asked_again_at_the_push(day: Repo) -> None:
    start = (
        "from flask import request\n\n\n"
        'def find(cursor):\n    """Find users."""\n    name = request.args["name"]\n'
    )
    for column in ("id", "mail"):
        query = f"SELECT {column} FROM users WHERE name = '"
        day.write("find.py", f'{start}    cursor.execute("{query}" + name + "\'")\n')
        day.git("add", "find.py")
        done = day.try_git("commit", "-qm", f"Find the {column} of users")
        assert done.code != 0 and "code-flow-sql" in done.all
        answer_as_printed(day, done)
        day.git("commit", "-qm", f"Find the {column} of users")
    push_everywhere(day)


def test_a_linked_work_tree_and_a_submodule(day: Repo, tmp_path: Path) -> None:
    day.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked", day.env)
    step = all_changes(linked)
    done = linked.try_git(*step.command)
    assert done.code != 0
    [asked] = PRINTED.findall(done.all)
    elsewhere = call(day.path, day.env, *asked.split(), stdin=Terminal("y\n"))
    assert elsewhere.code == 2 and "of another work tree" in elsewhere.err
    answer_as_printed(linked, done)
    linked.git(*step.command)
    source = day.git("config", "remote.origin.url")
    allowed = ("-c", "protocol.file.allow=always")
    day.git(*allowed, "submodule", "add", "-q", source, "sub")
    inner = Repo(day.path / "sub", day.env)
    (day.path / ".git/modules/sub/hooks").mkdir(exist_ok=True)
    for hook in (day.path / ".git/hooks").iterdir():
        (day.path / ".git/modules/sub/hooks" / hook.name).write_bytes(hook.read_bytes())
        (day.path / ".git/modules/sub/hooks" / hook.name).chmod(0o755)
    step = all_changes(inner)
    done = inner.try_git(*step.command)
    assert done.code != 0
    answer_as_printed(inner, done)
    inner.git(*step.command)


@pytest.mark.slow
def test_a_day_under_a_framework(day: Repo, preloaded: Path) -> None:
    for hook in (day.path / ".git/hooks").iterdir():
        hook.unlink()
    configuration = FRAMEWORK.replace("GUARD", str(preloaded / "cli-guard"))
    day.commit("Set it up", {".pre-commit-config.yaml": configuration})
    push_everywhere(day, "--no-verify")
    stages = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push")
    hooks = [word for each in stages for word in ("--hook-type", each)]
    # Its hooks call the Python that installs them.
    python = str(preloaded / "python")
    done = day.run(python, "-m", "pre_commit", "install", *hooks)
    assert done.code == 0, done.all
    for form in FORMS:
        if form in SAME_TO_A_FRAMEWORK:
            continue
        day.git("checkout", "-q", "-B", "main")
        day.try_git("branch", "-qD", "side")
        if not (day.path / "reports.py").exists():
            day.commit("Begin again", {"reports.py": "import subprocess\n"})
        record(day, form)
        push_everywhere(day)
