"""What each word of a command means, and that no word is dropped, whatever the command is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.assistant.projects.explaining import TOKEN, explained, words

WORDS = st.sampled_from(
    "git rebase -i HEAD~3 pytest -k 'a b' && | > 2>&1 uv run make -j4 test -- $(x) \"q cd ; -".split(" ")
)


def meaning(command: str, text: str) -> str:
    return next(part.meaning for part in explained(command) if part.text == text)


@pytest.mark.parametrize(
    ("command", "text", "expected"),
    [
        ("git rebase -i HEAD~3", "HEAD~3", "the commit 3 before HEAD"),
        (
            "git rebase -i HEAD~3",
            "-i",
            "choose for each commit in an editor: keep, reword, squash, drop, reorder",
        ),
        ("git log main..topic", "main..topic", "the commits of topic that main does not have"),
        ("git reset --soft HEAD~1", "HEAD~1", "the commit one before HEAD"),
        ("git reset --hard", "--hard", "throw the changes in index and files away"),
        ("pytest -k 'a b' tests", "-k 'a b'", "only the tests whose names match"),
        ("pytest -xq", "-xq", "stop at the first failure; say less"),
        ("pytest --maxfail=2", "--maxfail=2", "stop after so many failures"),
        ("uv run pytest -x", "-x", "stop at the first failure"),
        ("python -m pytest -x", "-x", "stop at the first failure"),
        ("npx jest --ci", "--ci", "write no new snapshots"),
        ("make -j4 all", "-j4", "so many recipes at once: 4"),
        ("tar -xzf a.tgz", "-xzf a.tgz", "unpack this archive, compressed with gzip"),
        ("X=1 pytest", "X=1", "sets a variable of the environment for this command"),
        ("a && b", "&&", "and then, if that succeeds"),
        ("a > out.txt", "out.txt", "that file"),
        ("docker compose up -d web", "web", "a service"),
        ("pytest --unheard-of", "--unheard-of", "an option of pytest that we have no words for"),
        ("sort -u names", "-u", "an option of sort"),
        ("frobnicate x", "frobnicate", "a program that we have no table of"),
        ("./deploy.sh", "./deploy.sh", "a script of the repository"),
        ("npm run nothing", "nothing", "a script; no file that we read defines it"),
    ],
)
def test_a_word_has_its_meaning(command: str, text: str, expected: str) -> None:
    assert meaning(command, text) == expected


def test_the_task_of_a_repository_is_named_where_it_is_run() -> None:
    parts = explained("make -j2 check", {"make check": "defined in Makefile:3: pytest"})
    assert parts[-1].meaning == "defined in Makefile:3: pytest"


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_every_word_is_in_exactly_one_part(command: str) -> None:
    told = " ".join(part.text for part in explained(command)).split()
    assert told == " ".join(found[0] for found in TOKEN.finditer(command)).split()


@given(st.text(max_size=200))
def test_any_text_is_explained_without_an_error(command: str) -> None:
    assert all(part.meaning for part in explained(command))


def test_a_long_command_says_that_it_is_cut() -> None:
    parts = explained("echo " + "x " * 5_000)
    assert len(parts) <= 82
    assert parts[-1].meaning == "more words, which are not explained"


def test_at_least_forty_programs_have_words() -> None:
    assert len({name.split(" ")[0] for name in words()}) >= 40
    for name, table in words().items():
        assert table.does, name
        assert all(text and not text.endswith(".") for _, text in table.options.values()), name
