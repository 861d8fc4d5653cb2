"""Documentation worded by a model: the skeleton stays what the code says, a sentence is taken only if it passes."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.assistant.documenting import document
from cli_guard.assistant.documenting.wording import Filling, read_slots
from cli_guard.assistant.sentences import KnownNames, problem_with
from tests.in_process import approve, guard
from tests.openai_server import Server, fault, say, say_json, serve
from tests.repositories import Repo, key

PYTHON = '''import httpx

LIMIT = 3


def send_all(client, items: list[str], *, retries: int = 3) -> int:
    """Send."""
    return len(items)


def fetch_user(client: httpx.Client, name: str, retries: int = 3) -> dict:
    if not name:
        raise ValueError("no name")
    for _ in range(retries):
        answer = client.get(f"/users/{name}")
    return answer.json()
'''
SCRIPT = """export function fetchUser(client, name) {
  if (!name) {
    throw new RangeError("no name");
  }
  return client.get(name);
}
"""
GO = "package web\n\nfunc FetchUser(name string) string {\n\treturn name\n}\n"
FILES = {"web/users.py": PYTHON, "web/users.js": SCRIPT, "web/users.go": GO}
GOOD = {
    "summary": "Fetch a user by name.",
    "params": {
        "client": "Sends the request",
        "name": "The name, not empty.",
        "retries": "How often to ask.",
    },
    "returns": "The user as `answer.json()` gives it.",
    "raises": {"ValueError": "If the name is empty."},
}


def configure(repo: Repo, server: Server, more: str = "") -> None:
    path = Path(repo.env["XDG_CONFIG_HOME"], "cli-guard", "config.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'[model]\nmedium = ["openai:test"]\nbase_url = "{server.base_url}"\n{more}'
    )


def ask(repo: Repo, server: Server, *words: str, more: str = "") -> Any:
    configure(repo, server, more)
    return guard(repo, "ask", *words)


@pytest.fixture
def web(repo: Repo) -> Repo:
    repo.commit("Start", dict(FILES))
    return repo


def test_the_sentences_fill_the_skeleton_of_the_signature(web: Repo) -> None:
    with serve([say_json({"fetch_user": GOOD})]) as server:
        done = ask(web, server, "document fetch_user in web/users.py", "--patch")
    assert done.code == 0, done.all
    subprocess.run(["git", "apply", "-"], input=done.out.encode(), cwd=web.path, check=True)
    text = Path(web.path, "web/users.py").read_text()
    assert (
        '    """Fetch a user by name.\n\n    Args:\n        client (httpx.Client): Sends the request.\n'
        "        name (str): The name, not empty.\n        retries (int): How often to ask. Defaults to 3.\n\n"
        "    Returns:\n        dict: The user as `answer.json()` gives it.\n\n"
        '    Raises:\n        ValueError: If the name is empty.\n    """\n' in text
    )
    sent = server.requests[0].text
    assert "client.get(f" in sent and "LIMIT" not in sent, (
        "the definition, and no more of its file"
    )


@pytest.mark.parametrize(
    ("path", "name", "words", "expected"),
    [
        (
            "web/users.js",
            "fetchUser",
            GOOD
            | {
                "returns": "What the client gets.",
                "raises": {"RangeError": "If it is empty."},
            },
            "/**\n * Fetch a user by name.\n *\n * @param client - Sends the request.\n"
            " * @param name - The name, not empty.\n * @returns What the client gets.\n"
            " * @throws {RangeError} If it is empty.\n */\n",
        ),
        (
            "web/users.go",
            "FetchUser",
            {"summary": "FetchUser fetches a user."},
            "// FetchUser fetches a user.\n",
        ),
        (
            "web/users.go",
            "FetchUser",
            {"summary": "Fetches a user."},
            "// FetchUser fetches a user.\n",
        ),
    ],
)
def test_each_language_keeps_its_form(
    web: Repo, path: str, name: str, words: Any, expected: str
) -> None:
    with serve([say_json({name: words})]) as server:
        done = ask(web, server, f"document {name} in {path}", "--patch")
    subprocess.run(["git", "apply", "-"], input=done.out.encode(), cwd=web.path, check=True)
    assert expected in Path(web.path, path).read_text(), done.all


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ("Fetch a user with the client's `get`.", ""),
        ("Fetch a user (e.g. by name, i.e. its key), as JSON and/or text.", ""),
        ("Ask up to LIMIT times; the URLs and file(s) are kept.", ""),
        ("Return None or `True`; see README.md.", ""),
        ("Raise `ValueError` where `fetch_user` has no name.", ""),
        ("Named by GitHub, 3.5 times as fast: a well-known case.", ""),
        ("Call `fetch_account` first.", "names fetch_account, which is not in the code"),
        ("Call fetch_account first.", "names fetch_account, which is not in the code"),
        ("Raise TimeoutError in the end.", "names TimeoutError, which is not in the code"),
        (
            "Read it through requests.Session then.",
            "names requests.Session, which is not in the code",
        ),
        ("Read it by urlopen() then.", "names urlopen, which is not in the code"),
        ("Kept in accounts.py too.", "names accounts.py, which is not in the code"),
        ("Set with --retry-all too.", "names --retry-all, which is not in the code"),
        ("One.\nTwo.", "several lines"),
        ("One.\x85Two.", "several lines"),
        ("Reads \x1b[31mred.", "a control character"),
        ("Turned \u202e around.", "a control character"),
        ("A surrogate \ud800.", "a control character"),
        (f"The key is {key()}.", "a secret"),
        ("See https://example.org/x.", "an address"),
        ('Ends it. """', "markup"),
        ("Ends it. */", "markup"),
        ("Runs >>> import os", "markup"),
        ("Escapes \\N{BULLET}", "markup"),
        ("A <script>x</script> runs.", "markup"),
        (":raises KeyError: always", "markup"),
        ("Thanks to @ada.", "a mention or a tag"),
        ("Skips it: cli-guard: ignore[secret-aws] known", "a directive to a program"),
        ("Quiet now: noqa", "a directive to a program"),
        ("Builds nothing [skip ci]", "a directive to a program"),
        ("x" * 201, "longer than 200 characters"),
    ],
)
def test_a_sentence_is_taken_or_dropped(sentence: str, problem: str) -> None:
    known = KnownNames(PYTHON, {"README.md": "# Web"})
    assert problem_with(sentence, known) == problem


def test_other_files_are_searched_for_a_bounded_number_of_words() -> None:
    known = KnownNames("", {"a.py": " ".join(f"name_{at}" for at in range(300))})
    assert [f"name_{at}" in known for at in range(300)].count(True) == 200


def test_what_is_dropped_is_said_and_its_place_stays_open(web: Repo) -> None:
    hostile = {
        "summary": "Fetch a user.",
        "params": {
            "client": "Calls `os.system`.",
            "timeout": "Seconds.",
            "name": f"Like {key()}.",
            "retries": "Turned \u202e around.",
        },
        "returns": "See https://example.org.",
        "raises": {"ValueError": None, "KeyError": "Never."},
    }
    with serve([say_json({"fetch_user": hostile, "other": GOOD})]) as server:
        done = ask(web, server, "document fetch_user in web/users.py", "--explain")
    assert (
        "Fetch a user." in done.out and "client (httpx.Client): TODO: describe." in done.out
    )
    (line,) = [each for each in done.out.splitlines() if each.startswith("Not taken")]
    assert line == (
        "Not taken from the model: 7 (reasons: a control character or a secret; of no definition that was asked"
        " about; the skeleton has no place for it; names os.system, which is not in the code; a masked secret)."
    )
    assert key() not in done.all and "example.org" not in done.out.partition("plan:")[0]


def test_secrets_and_private_files_stay_here(web: Repo) -> None:
    web.write("web/users.py", PYTHON.replace('"no name"', f'"{key()}"'))
    web.write("web/inner.py", "def hidden_part(seed):\n    return seed\n")
    web.git("add", "-A")
    with serve([say_json({"fetch_user": {"summary": "Fetch."}})]) as server:
        done = ask(
            web,
            server,
            "document web/users.py and web/inner.py",
            more='private = ["web/inner.py"]\n',
        )
    assert "Not sent to the model: 2, in private files." in done.out
    sent = server.requests[0].all_text
    assert (
        "fetch_user" in sent
        and key() not in sent
        and "hidden_part" not in sent
        and "inner" not in sent
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (say("Here are the sentences."), "the model's answer is no JSON"),
        (say_json([1, 2]), "the model's answer is not the data that was asked for"),
        (
            say_json({"fetch_user": {"summary": {"a": 1}}}),
            "the model's answer is not the data that was asked for",
        ),
        (fault("stall"), "after 4 s"),
        (fault("unauthorized"), "the key was refused"),
    ],
)
def test_without_an_answer_the_skeleton_stays(web: Repo, answer: Any, reason: str) -> None:
    request = "document fetch_user in web/users.py"
    with serve([answer] * 2) as server:
        done = ask(
            web, server, request, more="deadline_s = 4\n" if "after" in reason else ""
        )
    plain = guard(web, "ask", request, "--no-model")
    said, _, last = done.out.rstrip("\n").rpartition("\n")
    assert (done.code, said) == (plain.code, plain.out.rstrip("\n"))
    assert last.startswith("Model: not used: ") and reason in last


def test_a_request_to_write_still_waits_for_a_person(web: Repo) -> None:
    with serve([say_json({"fetch_user": GOOD})]) as server:
        configure(web, server)
        done = guard(
            web, "ask", "add a docstring to fetch_user in web/users.py", "--format", "json"
        )
    data = json.loads(done.out)
    tools = [each["tool"] for each in data["plan"]]
    assert (done.code, tools) == (
        3,
        ["propose_documentation", "word_documentation", "write_file"],
    )
    assert "If the name is empty." not in Path(web.path, "web/users.py").read_text()
    assert approve(web, data["review_id"]).code == 0
    assert "ValueError: If the name is empty." in Path(web.path, "web/users.py").read_text()


def test_show_prompt_sends_nothing(web: Repo) -> None:
    with serve() as server:
        done = ask(web, server, "document fetch_user in web/users.py", "--show-prompt")
    assert "fetch_user" in done.out and not server.requests


STYLES = {
    "google": '"""A.\n\n    Args:\n        x: B.\n    """',
    "numpy": '"""A.\n\n    Parameters\n    ----------\n    x : int\n        B.\n    """',
    "sphinx": '"""A.\n\n    :param x: B.\n    """',
}


@pytest.mark.parametrize("style", STYLES)
def test_the_places_of_every_style_are_found(style: str) -> None:
    texts = {"a.py": f"def one(x):\n    {STYLES[style]}\n\n\n{PYTHON}"}
    (made,) = document("document fetch_user in a.py", texts).proposals
    assert [slot for _, slot in read_slots(made.text.split("\n"))] == [
        ("summary", ""),
        *(("params", each) for each in ("client", "name", "retries")),
        ("returns", ""),
        ("raises", "ValueError"),
    ]


def test_a_long_sentence_is_wrapped_below_its_entry() -> None:
    long = "The client that sends the request; it must be open, and it is not closed here, since callers keep it"
    words = {
        ("web/users.py", "fetch_user"): {("summary", ""): long, ("params", "client"): long}
    }
    (made,) = document(
        "document fetch_user in web/users.py", FILES, Filling(words, FILES).fill
    ).proposals
    assert made.text.startswith(
        '    """The client that sends the request; it must be open, and it is not closed here,\n'
        "    since callers keep it.\n\n    Args:\n"
        "        client (httpx.Client): The client that sends the request; it must be open, and\n"
        "            it is not closed here, since callers keep it.\n        name (str): TODO: describe.\n"
    )


@given(st.lists(st.text(max_size=220), min_size=4, max_size=4))
def test_no_sentence_loses_a_skeleton_or_changes_code(sentences: list[str]) -> None:
    slots = [("summary", ""), ("params", "name"), ("returns", ""), ("raises", "ValueError")]
    given_ = {("web/users.py", "fetch_user"): dict(zip(slots, sentences, strict=True))}
    for symbol, path in (("fetchUser", "web/users.js"), ("FetchUser", "web/users.go")):
        given_[path, symbol] = {
            ("summary", ""): sentences[0],
            ("params", "name"): sentences[1],
        }
    for path, name in (
        ("web/users.py", "fetch_user"),
        ("web/users.js", "fetchUser"),
        ("web/users.go", "FetchUser"),
    ):
        request = f"document {name} in {path}"
        made = document(request, FILES, Filling(given_, FILES).fill)
        assert len(made.proposals) == len(document(request, FILES).proposals) == 1
