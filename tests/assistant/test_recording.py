"""A commit, a push and a pull request are left to the developer: exact commands, and a message from the change."""

import datetime
import json
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.assistant import Proposal
from cli_guard.assistant.ask import ask_request
from cli_guard.assistant.drafting import VERBS, FileDraft, summarise
from cli_guard.assistant.request import read_request
from cli_guard.errors import UsageError
from cli_guard.runtime import Invocation
from tests.repositories import Repo, key

PROJECT = (
    '[project]\nname = "web"\nversion = "1"\ndependencies = [\n    "httpx==0.27.0",\n]\n'
)

CODE = "def slug(text):\n    return text\n\n\nclass Page:\n    def show(self):\n        return 1\n"
CONVENTIONAL = ("feat(web): add a page", "fix(web): keep the title", "docs: say why")


@pytest.mark.parametrize(
    ("request_", "tools"),
    [
        ("commit", ("git_commit",)),
        ("Commit everything with the message 'Tidy the cache'.", ("git_commit",)),
        ("please commit what is staged and push it", ("git_commit", "git_push")),
        ("stage src/a.py only and commit it", ("git_commit",)),
        ("make a new branch fix-zones and commit there", ("git_commit",)),
        ("draft a commit message for what is staged", ("git_commit",)),
        ("push my branch", ("git_push",)),
        ("open a PR against main", ("open_pull_request",)),
        ("create a merge request", ("open_pull_request",)),
        # Near misses: something is to be changed, a thing is named so, it is a question, or more than that is wanted.
        ("rename slug to slugify and commit it", None),
        ("commit and fix the typo in README.md", None),
        ("commit hash should be shown in --version", None),
        ("push notifications should be retried", None),
        ("push the retry code down into client.py", None),
        ("push the tag v1.0", None),
        ("where do we commit the transaction?", None),
        ("amend the last commit message", None),
        ("git commit -m 'x'", None),
        ("commit and force push it", None),
    ],
)
def test_what_only_records_is_known(request_: str, tools: tuple[str, ...] | None) -> None:
    read = read_request(request_)
    assert (read.recorded if read.only_recorded else None) == tools


def started(repo: Repo, history: tuple[str, ...] = ("Start",)) -> Repo:
    repo.commit(
        history[0],
        {"src/web/page.py": CODE, "README.md": "# Web\n", "pyproject.toml": PROJECT},
    )
    for subject in history[1:]:
        repo.commit(subject)
    return repo


def answer(repo: Repo, request: str) -> Proposal:
    with repo.unchanged():
        return ask_request(
            request,
            Invocation(
                repo.path, repo.env, datetime.datetime(2026, 5, 4, tzinfo=datetime.UTC)
            ),
        )


@pytest.mark.parametrize(
    ("files", "history", "subject"),
    [
        ({"src/web/page.py": CODE + "\n\ndef title():\n    return ''\n"}, (), "Add title"),
        ({"src/web/page.py": CODE.replace("return 1", "return 2")}, (), "Change Page.show"),
        (
            {"src/web/page.py": CODE.replace("slug", "slugify")},
            (),
            "Rename slug to slugify",
        ),
        ({"src/web/page.py": CODE.split("class")[0]}, (), "Remove Page"),
        ({"README.md": "# Web pages\n"}, (), "Update README.md"),
        (
            {"pyproject.toml": PROJECT.replace("27.0", "28.1")},
            (),
            "Bump httpx from 0.27.0 to 0.28.1",
        ),
        (
            {"pyproject.toml": PROJECT.replace("27.0", "28.1")},
            CONVENTIONAL,
            "build: bump httpx from 0.27.0 to 0.28.1",
        ),
        ({"README.md": "# Web pages\n"}, CONVENTIONAL, "docs: update README.md"),
        (
            {"src/web/page.py": CODE.replace("return 1", "return 2")},
            CONVENTIONAL,
            "fix(web): change Page.show",
        ),
        (
            {"src/web/page.py": CODE + "\n\ndef title():\n    return ''\n"},
            CONVENTIONAL,
            "feat(web): add title",
        ),
        (
            {"tests/test_page.py": "def test_show():\n    pass\n"},
            CONVENTIONAL,
            "test: add test_page.py",
        ),
        ({".github/workflows/ci.yml": "on: push\n"}, CONVENTIONAL, "ci: add ci.yml"),
        # Half of the history is not most of it.
        ({"README.md": "# Web pages\n"}, ("docs: say why", "Say why"), "Update README.md"),
        ({"README.md": "# Web pages\n"}, ("say why", "say how"), "update README.md"),
    ],
)
def test_the_subject_names_what_is_changed(
    repo: Repo, files: dict[str, str | bytes], history: tuple[str, ...], subject: str
) -> None:
    started(repo, history or ("Start",))
    for name, text in files.items():
        repo.write(name, text)
    repo.git("add", "-A")
    [message] = answer(repo, "commit").data["messages"]
    assert message == subject


def test_what_is_in_many_files_is_in_the_body(repo: Repo) -> None:
    started(repo)
    for number in range(9):
        repo.write(
            f"src/part{number}.py",
            f"def a_function_with_a_long_name_{number}():\n    pass\n",
        )
    repo.write("src/web/page.py", CODE.replace("return 1", "return 2"))
    repo.git("add", "-A")
    [message] = answer(repo, "commit").data["messages"]
    subject, _, *body = message.split("\n")
    assert len(subject) <= 72 and subject.startswith("Add part0.py, part1.py")
    assert len(body) == 6 and body[-1] == "- and 5 more files"


def test_the_configured_style_counts_before_there_is_a_history(repo: Repo) -> None:
    repo.commit(
        "Start",
        {
            "cli-guard.toml": '[message]\nstyle = "conventional"\n',
            "src/shop/web/page.py": CODE,
        },
    )
    repo.write("src/shop/web/page.py", CODE.replace("return 1", "return 2"))
    repo.git("add", "-A")
    assert answer(repo, "commit").data["messages"] == ["fix(web): change Page.show"]


def test_nothing_is_staged(repo: Repo) -> None:
    started(repo)
    assert "There is nothing to commit." in answer(repo, "commit").text
    assert answer(repo, "commit").data["commands"] == []
    repo.write("src/web/page.py", CODE.replace("return 1", "return 2"))
    repo.write("new file.txt", "new\n")
    told = answer(repo, "commit")
    assert (told.status, told.data["commands"]) == (
        "ok",
        ["git add src/web/page.py", "git commit -m 'Change Page.show'"],
    )
    assert "Nothing is staged." in told.text
    assert "Changed in the work tree: src/web/page.py, new file.txt (new)." in told.text
    every = answer(repo, 'commit everything with the message "Show 2"')
    assert every.data["commands"] == ["git add -A", "git commit -m 'Show 2'"]
    one = answer(repo, "stage README.md only and commit it")
    assert one.data["commands"][0] == "git add README.md"


def test_a_stop_of_the_review_comes_instead_of_commands(repo: Repo) -> None:
    started(repo)
    secret = key()
    repo.write("src/web/page.py", CODE + f'KEY = "{secret}"\n')
    for staged in (False, True):
        told = answer(repo, "commit everything")
        assert (told.status, told.data["commands"]) == ("failed", [])
        assert "src/web/page.py:8" in told.text and "git commit" not in told.text
        assert secret not in json.dumps(dict(told.data)) + told.text
        if not staged:
            repo.git("add", "-A")


def test_a_push_names_the_remote_and_the_branch_as_they_are(
    repo: Repo, tmp_path: Path
) -> None:
    started(repo)
    assert "No remote is configured." in answer(repo, "push").text
    bare = tmp_path / "bare.git"
    repo.git("init", "-q", "--bare", str(bare))
    repo.git("remote", "add", "upstream", str(bare))
    assert answer(repo, "push my branch").data["commands"] == ["git push -u upstream main"]
    repo.git("push", "-q", "-u", "upstream", "main")
    assert "upstream/main has every commit of main already." in answer(repo, "push").text
    repo.commit("Say more", {"README.md": "# More\n"})
    told = answer(repo, "push")
    assert told.data["commands"] == ["git push"]
    assert "Commits that upstream/main does not have: 1.\n  Say more" in told.text
    repo.git("checkout", "-q", "--detach")
    assert answer(repo, "push").data["commands"][0] == "git switch -c <name>"


def test_a_pull_request_has_a_text_from_its_commits(repo: Repo) -> None:
    started(repo)
    repo.git("switch", "-q", "-c", "topic")
    repo.commit("Show 2", {"src/web/page.py": CODE.replace("return 1", "return 2")})
    told = answer(repo, "open a pull request")
    assert told.data["commands"] == [
        "git remote add origin <url>",
        "git push -u origin topic",
    ]
    assert "into main on the host, with this text:\n  Show 2" in told.text
    repo.git("remote", "add", "origin", "git@example.org:web.git")
    repo.commit("Show 3", {"src/web/page.py": CODE.replace("return 1", "return 3")})
    told = answer(repo, "open a PR against main")
    assert told.data["commands"][-1].startswith(
        "gh pr create --base main --title 'Change Page.show' --body"
    )
    assert "  - Show 3\n  - Show 2" in told.text
    repo.git("switch", "-q", "main")
    assert "This is main itself: make a branch first." in answer(repo, "open a PR").text


@pytest.mark.parametrize(
    "request_", ["commit", "push", "open a pull request", "commit and push"]
)
def test_before_the_first_commit(repo: Repo, request_: str) -> None:
    assert answer(repo, request_).status == "ok"
    repo.write("a.py", "a = 1\n")
    repo.git("add", "-A")
    assert answer(repo, request_).status == "ok"


def test_a_name_is_one_word_of_a_shell_and_no_control_character_is_shown(
    repo: Repo,
) -> None:
    started(repo)
    repo.write("a'; rm -rf $HOME #\x1b[31m.txt", "x\n")
    for request in ("commit everything", "commit"):
        done = repo.inspect("ask", request)
        assert done.code == 0 and "\x1b" not in done.out
    command = answer(repo, "commit").data["commands"]
    assert shlex.split(command[0])[2:] == ["a'; rm -rf $HOME #\x1b[31m.txt"]


def test_a_bare_repository_has_nothing_to_commit(repo: Repo, tmp_path: Path) -> None:
    repo.git("init", "-q", "--bare", str(tmp_path / "bare.git"))
    with pytest.raises(UsageError, match="bare repository"):
        ask_request(
            "commit",
            Invocation(
                tmp_path / "bare.git", repo.env, datetime.datetime.now(datetime.UTC)
            ),
        )


NAME = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=90)


@given(st.lists(st.tuples(st.sampled_from(VERBS), NAME, NAME), min_size=1, max_size=8))
def test_a_subject_is_never_longer_than_its_room(found: list[tuple[str, str, str]]) -> None:
    drafts = [FileDraft(path, {verb: (name,)}) for verb, name, path in found]
    assert len(summarise(drafts, 72)) <= 72
