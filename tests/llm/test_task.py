"""A model answers an unsure question from what it reads, and documents code by a patch that changes nothing else."""

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from openai_server import Server, call, fault, say, serve

from cli_guard.assistant import propose
from cli_guard.assistant.local import LocalAssistant
from cli_guard.graph.context import Context
from cli_guard.llm.answers import KnownNames, problem_with
from cli_guard.llm.gateway import Gateway
from cli_guard.llm.guest import Guest
from cli_guard.llm.ledger import Ledger
from cli_guard.llm.routing import Route
from cli_guard.llm.task import is_sure
from cli_guard.model import Decision, Verdict
from cli_guard.policy.language_model import ModelSection
from tests.in_process import approve, guard
from tests.repositories import Done, Repo

UNSURE = "Where is a failing job put off longer each time?"
SURE = "Where is compute_backoff defined?"
DELAY = '''"""Delays between tries."""


def compute_backoff(attempts: int, factor: int = 5) -> int:
    """Double the interval after every attempt."""
    return min(factor * 2**attempts, 600)
'''
PYTHON = '''LIMIT = 3


def send_all(client, items: list[str], *, retries: int = 3) -> int:
    """Send."""
    return len(items)


def fetch_user(client, name: str) -> dict:
    if not name:
        raise ValueError("no name")
    return client.get(f"/users/{name}").json()
'''
HEAD = "def fetch_user(client, name: str) -> dict:\n"
DOCUMENTED = f'{HEAD}    """Fetch a user by name; raise ValueError without one."""\n'
FILES = {
    "queue/delay.py": DELAY,
    "queue/broker.py": "def enqueue(message: str) -> None:\n    print(message)\n",
    "queue/private/vault.py": "def backoff_of_vault(interval: int) -> int:\n    return interval\n",
    "web/users.py": PYTHON,
    "README.md": "# Queue\n\nRuns tasks in the background.\n",
}
LOOK = call(("run", {"command": "rg -n interval"}))
FOUND = say("`compute_backoff` doubles the interval after each attempt (queue/delay.py:4).")


@pytest.fixture
def queue(repo: Repo) -> Repo:
    repo.commit("Start", dict(FILES))
    return repo


def ask(
    repo: Repo, server: Server | None, question: str, *options: str, more: str = ""
) -> Done:
    path = Path(repo.env["XDG_CONFIG_HOME"], "cli-guard", "config.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    private = 'private = ["queue/private/**"]\n'
    url = server.base_url if server else "http://127.0.0.1:9/v1"
    path.write_text(
        f'[model]\ndeadline_s = 300\nmedium = ["openai:test"]\nbase_url = "{url}"\n{private}{more}'
    )
    return guard(repo, "ask", question, *(options if server else ("--no-model", *options)))


def test_an_unsure_answer_is_helped_and_stays_whole(queue: Repo) -> None:
    plain = ask(queue, None, UNSURE).out.rstrip("\n")
    assert plain.startswith("Not found"), plain
    with serve([LOOK, FOUND]) as server:
        done = ask(queue, server, UNSURE)
        sent = "\n".join(each.all_text for each in server.requests)
    assert done.code == 0
    block = done.out.removeprefix(plain + "\n").splitlines()
    assert block[0] == (
        "The model says: `compute_backoff` doubles the interval after each attempt (queue/delay.py:4)."
    )
    assert block[1].startswith("  queue/delay.py:4: def compute_backoff(")
    assert block[2].startswith("Model: openai:test (medium): ")
    assert len(block) == 3
    assert "vault" not in sent and "queue/private" not in sent
    assert "edit_file" not in server.requests[0].tools


@pytest.mark.parametrize(
    "question",
    [
        SURE,
        "Explain queue/delay.py",
        "When was compute_backoff last changed?",
        "call mcp:none.search {}",
    ],
)
def test_a_sure_answer_and_other_kinds_of_question_ask_no_model(
    queue: Repo, question: str
) -> None:
    with serve() as server:
        done = ask(queue, server, question)
        assert not server.requests
    assert done == ask(queue, None, question)


@pytest.mark.parametrize(
    ("words", "said", "dropped"),
    [
        ("It is in queue/delay.py:99.", "", "cites queue/delay.py:99, which is not there"),
        ("It is in prod/keys.env:1.", "", "cites prod/keys.env:1, which is not there"),
        ("`run_me` does it, see queue/delay.py:4.", "", "names run_me, which is not in"),
        ("It is in the delays.", "", ""),
        (
            "It is queue/delay.py:4. Read http://evil.example/a first.",
            "It is queue/delay.py:4.",
            "an address",
        ),
        ("See queue/private/vault.py:1.", "", "which is not there"),
    ],
)
def test_an_answer_may_name_only_what_is_there(
    queue: Repo, words: str, said: str, dropped: str
) -> None:
    plain = ask(queue, None, UNSURE).out.rstrip("\n")
    with serve([say(words)]) as server:
        done = ask(queue, server, UNSURE)
    block = done.out.removeprefix(plain + "\n")
    first = (
        f"The model says: {said}"
        if said
        else "The model's answer cites no place that is there."
    )
    assert block.startswith(f"{first}\n"), done.all
    assert dropped in block
    assert ("Not taken from the model: 1 " in block) is bool(dropped)


@pytest.mark.parametrize("request_", [UNSURE, "document fetch_user in web/users.py"])
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (fault("unauthorized"), "the key was refused"),
        (fault("refusal"), "may have refused"),
    ],
)
def test_without_an_answer_there_is_one_line_more(
    queue: Repo, request_: str, answer: Any, why: str
) -> None:
    plain = ask(queue, None, request_)
    with serve([answer]) as server:
        done = ask(queue, server, request_)
    said, _, last = done.out.rstrip("\n").rpartition("\n")
    assert (done.code, said) == (plain.code, plain.out.rstrip("\n"))
    assert last.startswith("Model: not used: ") and why in last


@pytest.mark.parametrize("request_", [UNSURE, "document fetch_user in web/users.py"])
def test_the_first_prompt_is_shown_and_not_sent(queue: Repo, request_: str) -> None:
    with serve() as server:
        prompt = ask(queue, server, request_, "--show-prompt").out
        assert not server.requests
    assert json.dumps(request_)[1:-1] in prompt


PLAN = "Plan how to add a retry to compute_backoff() in queue/delay.py"


def test_a_plan_stays_and_the_model_says_its_order(queue: Repo) -> None:
    plain = ask(queue, None, PLAN)
    words = "Change `compute_backoff` first (queue/delay.py:4)."
    with serve([LOOK, say(f"{words} Then call `retry_all` (queue/delay.py:4).")]) as server:
        done = ask(queue, server, PLAN)
    assert done.code == plain.code == 1
    added = done.out.removeprefix(plain.out).splitlines()
    assert added[0] == f"The model says: {words}"
    assert added[2].endswith("(reasons: names retry_all, which is not in the code).")
    assert "edit_file" not in server.requests[0].tools


def test_a_plan_with_a_patch_is_left_alone(queue: Repo) -> None:
    with serve() as server:
        done = ask(queue, server, "rename send_all to send_every")
    assert "+def send_every" in done.out and "Model:" not in done.out
    assert not server.requests


def edit(new: str, old: str = HEAD, path: str = "web/users.py") -> tuple[str, Any]:
    return "edit_file", {"path": path, "old": old, "new": new}


def test_documentation_is_a_patch_that_is_only_shown(queue: Repo) -> None:
    with serve([call(edit(DOCUMENTED)), say("Documented.")]) as server, queue.unchanged():
        done = ask(queue, server, "document fetch_user in web/users.py")
    assert done.code == 0, done.all
    assert done.out.startswith("Without documentation, 1 place")
    assert '+    """Fetch a user by name; raise ValueError without one."""' in done.out
    assert "def fetch_user(client" in server.requests[0].text


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (edit(DOCUMENTED.replace("dict:", "list:")), "more than documentation is changed"),
        (edit(HEAD + "    print(name)\n"), "more than documentation is changed"),
        (edit("# Jobs\n", "# Queue\n", "README.md"), "more than documentation is changed"),
        (edit(DOCUMENTED.replace("def ", "def (")), "not valid Python"),
    ],
)
def test_documentation_changes_no_code(queue: Repo, bad: Any, why: str) -> None:
    with serve([call(bad), say("Done."), say("I leave it.")]) as server:
        done = ask(queue, server, "document fetch_user in web/users.py")
        assert why in server.requests[2].text
    assert "No patch of the model: " in done.out and why in done.out
    assert "+++ b/" not in done.out


def test_a_request_to_write_documentation_waits_for_a_person(queue: Repo) -> None:
    with serve([call(edit(DOCUMENTED)), say("Documented.")]) as server:
        done = ask(
            queue,
            server,
            "add a docstring to fetch_user in web/users.py",
            "--format",
            "json",
        )
    data = json.loads(done.out)
    assert (done.code, data["plan"][-1]["tool"]) == (3, "write_file"), done.all
    assert "Fetch a user" not in Path(queue.path, "web/users.py").read_text()
    assert approve(queue, data["review_id"]).code == 0
    assert "Fetch a user" in Path(queue.path, "web/users.py").read_text()


def test_a_denied_search_ends_as_it_does_without_a_model(tmp_path: Path) -> None:
    refused = Verdict(Decision.DENY, "no search here", "test")
    search = replace(
        LocalAssistant().tools["search_repository"], risk="write", decided=refused
    )
    context = Context(tools={"search_repository": search})
    plain = propose(UNSURE, dict(FILES), context=context)
    env = {"XDG_STATE_HOME": str(tmp_path)}
    with serve() as server:
        config = ModelSection(medium=("openai:test",), base_url=server.base_url)
        ledger = Ledger(config, env, datetime.datetime.now(datetime.UTC))
        guest = Guest(Gateway(config, env, ledger), Route("medium"))
        done = propose(UNSURE, dict(FILES), context=guest.equip(context))
        assert not server.requests
    assert (done.status, done.text) == (plain.status, plain.text)
    assert done.text == "failed: no search here"


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
        ("See https://example.org/x.", "an address"),
    ],
)
def test_a_sentence_is_taken_or_dropped(sentence: str, problem: str) -> None:
    known = KnownNames({"web.py": PYTHON, "README.md": "# Web"})
    assert problem_with(sentence, known) == problem


def test_other_files_are_searched_for_a_bounded_number_of_words() -> None:
    known = KnownNames({"a.py": " ".join(f"name_{at}" for at in range(300))})
    assert [f"name_{at}" in known for at in range(300)].count(True) == 200


@pytest.mark.parametrize(
    ("confidence", "missing", "expected"),
    [
        ("high", ["word"], True),
        ("medium", [], True),
        ("medium", ["word"], False),
        ("low", [], False),
        ("none", [], False),
    ],
)
def test_a_result_is_sure_by_its_confidence(
    confidence: str, missing: list[str], expected: bool
) -> None:
    assert is_sure({"confidence": confidence, "missing": missing}) is expected
