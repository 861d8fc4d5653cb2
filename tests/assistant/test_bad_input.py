"""Requests and repositories that are hardly ones: one clear line, the right exit code, in bounded time."""

import json

import pytest
from in_process import guard
from repositories import Repo
from watching import cpu_seconds

from cli_guard.assistant.request import find_unreadable

WORDS = "failed: not supported: the request has no words"
ENGLISH = "failed: not supported: requests are read in English only"
SECONDS = 20


@pytest.fixture
def small(repo: Repo) -> Repo:
    repo.commit("Start", {"src/a.py": 'def slug(text):\n    """Cut."""\n    return text\n'})
    return repo


@pytest.mark.parametrize(
    ("request_", "code", "first"),
    [
        ("", 1, "failed: the request is empty"),
        ("  \t ", 1, "failed: the request is empty"),
        ("\x01\x02\x1b[31m", 1, "failed: the request is empty"),
        ("q", 1, WORDS),
        ("?", 1, WORDS),
        ("?!...;;", 1, WORDS),
        ("какая сегодня погода", 1, ENGLISH),
        ("удали все файлы", 1, ENGLISH),
        ("请删除所有文件", 1, ENGLISH),
        ("Wo ist slug definiert?", 1, ENGLISH),
        ("supprime le fichier src/a.py", 1, ENGLISH),
        ("borra todos los archivos", 1, ENGLISH),
        (
            "document ../../etc/passwd",
            1,
            "failed: none of the paths can be read: ../../etc/passwd",
        ),
        ("explain /etc/passwd", 1, "failed: none of the paths can be read: /etc/passwd"),
        ("rename ../x.py to y.py", 1, "failed: none of the paths can be read: ../x.py"),
        ("where is \x1b[31mslug\x1b[0m\x07 defined?", 0, "src/a.py:1: def slug(text):"),
        ("slug", 0, "src/a.py:1: def slug(text):"),
    ],
)
def test_a_bad_request_gets_one_clear_line(
    small: Repo, request_: str, code: int, first: str
) -> None:
    with small.unchanged():
        done = guard(small, "ask", request_)
    assert (done.code, done.err) == (code, "")
    assert done.out.startswith(first)
    assert code == 0 or len(done.out.splitlines()) == 1
    assert not any(ord(each) < 32 for each in done.out.replace("\n", ""))
    as_json = guard(small, "ask", request_, "--format", "json")
    assert as_json.code == code
    assert as_json.json["status"] == ("failed" if code else "ok")


@pytest.mark.parametrize(
    "text",
    ["add the test and " * 6_000, "a" * 100_000, "where is slug " * 7_500, "?" * 100_000],
)
def test_a_request_of_100_kb_is_read_in_part(small: Repo, text: str) -> None:
    with cpu_seconds(SECONDS):
        done = guard(small, "ask", "-", stdin=text)
        assert done.code in (0, 1, 3) and "Traceback" not in done.err
        assert (
            "only the beginning of this long request was read" in done.out
            or done.out.startswith(WORDS)
        )


@pytest.mark.parametrize(
    "text",
    [
        "is café handled",
        "redirect loop",
        "Straße parser",
        'where is "ошибка чтения файла" raised',
        '"не найден"',
    ],
)
def test_english_about_other_languages_is_read(text: str) -> None:
    assert find_unreadable(text) == ""


REQUESTS = (
    "where is slug?",
    "commit",
    "push",
    "rename a to b",
    "run the tests",
    "document everything",
    "review my change",
)
KINDS = ("empty", "unborn", "binary")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("request_", REQUESTS)
def test_a_repository_without_text_is_answered(
    repo: Repo, kind: str, request_: str
) -> None:
    if kind == "unborn":
        repo.write("a.py", "a = 1\n")
        repo.git("add", "-A")
    if kind == "binary":
        repo.commit("Start", {"image.bin": bytes(range(256)) * 20})
    done = guard(repo, "ask", request_)
    assert done.code in (0, 1, 2, 3) and "Traceback" not in done.all
    assert done.all.strip() and len(done.all) < 2_000
    as_json = guard(repo, "ask", request_, "--format", "json")
    assert as_json.code == done.code
    assert (
        json.loads(as_json.out)["final_output"]
        if as_json.code != 2
        else as_json.err.count("\n") == 1
    )


def test_4_000_files_are_searched_in_bounded_time(repo: Repo) -> None:
    for number in range(4_000):
        repo.write(
            f"src/p{number % 100}/m{number}.py",
            f"def function_{number}():\n    return {number}\n",
        )
    repo.git("add", "-A")
    with cpu_seconds(SECONDS):
        done = guard(repo, "ask", "where is function_777 defined?")
        assert done.code == 0 and "src/p77/m777.py:1" in done.out
