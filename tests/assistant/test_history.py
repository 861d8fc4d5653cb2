"""Requests about the recorded history, answered from a real repository; and those that ask for something else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_process import guard
from repositories import Repo, isolated_environment, key
from watching import cpu_seconds

from cli_guard.assistant.history_request import read_history_request
from cli_guard.assistant.request_names import NO_NAMES, find_names

SLUG = '"""Names."""\n\n\ndef slug(title):\n    """Make an address of a title."""\n    return title.lower()\n'
CLIENT = '"""Talks to the provider."""\n\nTIMEOUT = 30\n\n\ndef fetch(url):\n    """Get a page."""\n    return url\n'
RETRY = CLIENT.replace("TIMEOUT = 30", "TIMEOUT = 5").replace(
    "    return url\n",
    "    for attempt in range(3):\n        url = url.strip()\n    return url\n",
)
LEGACY = "def export_csv(rows):\n    return ','.join(rows)\n"
STEPS = (
    (
        "Ada Byron", "2026-01-05", "Add the slug and the client",
        {"src/slug.py": SLUG, "src/client.py": CLIENT, "src/legacy.py": LEGACY, "src/cart.py": "class Cart: ...\n"},
    ),
    (
        "Bob Kahn", "2026-01-12",
        "Lower the timeout to 5 s\n\nThe provider drops the connection after six seconds.\nFixes #12",
        {"src/client.py": CLIENT.replace("30", "5"), "tests/test_client.py": "from src.client import fetch\n"},
    ),
    ("Ada Byron", "2026-02-02", "Retry a failed fetch", {"src/client.py": RETRY, "docs/client.md": "# Client\n"}),
    ("Bob Kahn", "2026-02-10", "Remove the old export", {"src/legacy.py": None}),
    (
        "Ada Byron", "2026-03-01", "Strip accents in the slug",
        {"src/slug.py": "import unicodedata\n" + SLUG.replace("title.lower()", "unicodedata.normalize('NFKD', title)")},
    ),
)  # fmt: skip
# The request, what its answer shows, and what it does not show.
CASES = (
    ("what changed in src/client.py lately", "Retry a failed fetch|Lower the timeout", "accents"),
    ("what changed in src/client.py since v1.0?", "Retry a failed fetch|changes fetch", "timeout to"),
    ("what changed in the last commit", "Strip accents|src/slug.py|changes slug", "Retry"),
    ("what changed between v1.0 and HEAD~1", "Retry a failed|Remove the old export", "accents"),
    ("who last touched slug()", "2026-03-01|Ada Byron|Strip accents", "Retry"),
    ("Who last changed src/client.py?", "Ada Byron: Retry", "accents"),
    ("why is TIMEOUT here", "Lower the timeout|drops the connection|tests/test_client.py", "accents"),
    ("why is src/client.py:3 here", "TIMEOUT = 5|Lower the timeout|six seconds", "Retry"),
    ("when was export_csv removed?", "2026-02-10|Bob Kahn: Remove the old export", "accents"),
    ("when was src/legacy.py added", "2026-01-05|Ada Byron", "accents"),
    ('which commit introduced "unicodedata"', "Strip accents in the slug", "Retry"),
    ("list the last 2 commits", "Strip accents|Remove the old", "Retry a failed"),
    ("list the last 5 commits of Bob", "Remove the old|Lower the timeout", "Ada"),
    # Written at the same time and not looked at while the code was written.
    ("show me the history of fetch()", "Retry a failed fetch|Add the slug", "accents"),
    ("what did Ada change since v1.0", "Strip accents|Retry a failed", "Bob"),
    ("when was the retry introduced", "2026-02-02", "accents"),
    ("who wrote src/cart.py", "Ada Byron: Add the slug and the client", "Bob"),
    ("which commit removed src/legacy.py?", "Remove the old export|removed src/legacy.py", "accents"),
    ("what changed last week", "No commit", "accents"),
    ("git blame src/client.py line 3", "TIMEOUT = 5|Bob Kahn", "Retry"),
    ("what happened to src/legacy.py", "Remove the old export", "accents"),
    ("why was the timeout lowered?", "Lower the timeout to 5 s|drops the connection", "accents"),
    ("explain HEAD~1", "Remove the old export|removes export_csv", "accents"),
    ("which files were changed since v1.0", "src/slug.py|src/client.py|docs/client.md", "cart"),
    ("show commits between 2026-02-01 and 2026-02-28", "Retry a failed|Remove the old", "accents"),
)  # fmt: skip


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    repo = Repo.create(
        tmp_path_factory.mktemp("history") / "shop", isolated_environment(Path("/nowhere"))
    )
    for number, (author, date, message, files) in enumerate(STEPS):
        for name, content in files.items():
            if content is None:
                (repo.path / name).unlink()
            else:
                repo.write(name, content)
        repo.git("add", "-A")
        day = f"{date}T12:00:00+0000"
        env = {
            "GIT_AUTHOR_NAME": author,
            "GIT_AUTHOR_EMAIL": "dev@example.org",
            "GIT_AUTHOR_DATE": day,
            "GIT_COMMITTER_DATE": day,
        }
        repo.git("commit", "-q", "-m", message, env=env)
        if number == 1:
            repo.git("tag", "v1.0")
    return repo


@pytest.mark.parametrize(("request_", "shows", "never"), CASES)
def test_answers(shop: Repo, request_: str, shows: str, never: str) -> None:
    with shop.unchanged():
        done = guard(shop, "ask", request_)
    assert (done.code, done.err) == (0, ""), done.all
    for text in shows.split("|"):
        assert text in done.out, done.out
    assert never not in done.out, done.out
    assert len(done.out.splitlines()) <= 40


def test_on_a_revision_and_in_a_folder(shop: Repo) -> None:
    out = guard(shop, "ask", "who last changed src/client.py?", "--rev", "v1.0").out
    assert "Bob Kahn: Lower the timeout" in out and "Retry" not in out
    assert (
        "Strip accents"
        not in guard(shop, "ask", "list the last 9 commits", "--path", "docs").out
    )
    narrowed = guard(shop, "ask", "what changed in the last commit", "--path", "docs").out
    assert "slug.py" not in narrowed and "1 file outside of --path" in narrowed
    assert "no commit 'v9.9'" in guard(shop, "ask", "what changed since v9.9").out
    assert "there is no line 99" in guard(shop, "ask", "why is src/client.py:99 here").out


@pytest.mark.parametrize(
    "request_",
    (
        "where are commits listed?",
        "which function lists commits",
        "who calls fetch?",
        "why is the cache disabled by default?",
        "when is a session removed from the cache?",
        "how do I see who changed a file",
        "what does fetch change in the session?",
        "which version does it support",
        "what changed?",
        "review my change",
        "write the changelog since v1.0",
        "undo the last commit",
        "changelog for 1.4",
        "annotate the exported functions in math.ts",
        "squash the last 3 commits",
        "rename slug to slugify",
        "add a list of commits to the page",
        "Who last touched fetch? Then rename it to get.",
    ),
)
def test_what_is_not_about_the_history(request_: str) -> None:
    assert read_history_request(request_, find_names(request_, ("src/client.py",))) is None


def test_hostile_history_is_shown_as_text(shop: Repo, tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "hostile", shop.env)
    ran = tmp_path / "ran"
    secret = key()
    repo.write("a.py", "MAX_A = 1\n")
    repo.write(".gitattributes", "*.py diff=evil\n")
    repo.git("add", "-A")
    message = (
        f"Set A\x1b[2J\u202e {secret}\n\n{'x' * 9_000}\n:100644 100644 a b M\n1\t1\tfake.py"
    )
    repo.git("commit", "-q", "-m", message, env={"GIT_AUTHOR_NAME": "Eve\x1b]0;x\x07"})
    for name in (
        "diff.evil.textconv",
        "diff.external",
        "core.pager",
        "gpg.program",
        "blame.ignoreRevsFile",
    ):
        repo.git("config", name, f"touch {ran}")
    repo.git("config", "log.showSignature", "true")
    for request_ in (
        "list the last 3 commits",
        "who last touched a.py",
        "why is a.py:1 here",
        "when was MAX_A added",
    ):
        done = guard(repo, "ask", request_)
        assert done.code == 0 and "Set A" in done.out, done.all
        assert not {"\x1b", "\x07", "\u202e"} & set(done.all) and secret not in done.all
        assert "fake.py (" not in done.out
        assert max(map(len, done.out.splitlines())) < 500
    assert not ran.exists()


def test_a_shallow_clone_and_no_commit_say_so(shop: Repo, tmp_path: Path) -> None:
    shop.git(
        "clone", "-q", "--depth", "1", f"file://{shop.path}", str(tmp_path / "shallow")
    )
    shallow = Repo(tmp_path / "shallow", shop.env)
    assert (
        "This clone is shallow"
        in guard(shallow, "ask", "who last changed src/client.py?").out
    )
    unborn = Repo.create(tmp_path / "unborn", shop.env)
    unborn.write("a.py", "A = 1\n")
    unborn.git("add", "a.py")
    assert guard(unborn, "ask", "who last changed a.py?").out.startswith(
        "There is no commit yet"
    )


@given(
    st.text(max_size=120),
    st.sampled_from(("who wrote ", "what changed in ", "list commits by ", "since ", "")),
)
def test_any_text_is_read(text: str, start: str) -> None:
    read_history_request(start + text, NO_NAMES)


def test_long_requests_are_read_in_time() -> None:
    with cpu_seconds(2):
        for word in (
            "why is ",
            "when was ",
            "added ",
            "last ",
            "between a and ",
            "since ",
            "by Ada ",
        ):
            read_history_request(word * 300, NO_NAMES)
            read_history_request((word * 300)[:399], NO_NAMES)
