"""Plans worded by a model: steps and places stay those of the code, below them its order, and at most three more."""

from pathlib import Path
from typing import Any

import pytest

from tests.in_process import guard
from tests.openai_server import Server, fault, say, say_json, serve
from tests.repositories import Repo, key

CLIENT = '''def send(url, body):
    """Send a body."""
    return open_url(url, body)


def open_url(url, body):
    return (url, body)
'''
FILES = {
    "web/client.py": CLIENT,
    "web/jobs.py": "from web.client import send\n\n\ndef run_jobs(urls):\n    return [send(u, b'') for u in urls]\n",
    "tests/test_client.py": "from web.client import send\n\n\ndef test_send():\n    assert send('u', b'')\n",
    "README.md": "# Web\n\nCall `send(url, body)`.\n",
}
REQUEST = "Plan how to add a retry to send() in web/client.py"
HEAD = "Plan, ordered by the model (in brackets the steps above, or the place of a further one):"


def step(at: Any, sentence: str = "Do it.") -> dict[str, Any]:
    return {"id": at, "sentence": sentence}


@pytest.fixture
def web(repo: Repo) -> Repo:
    repo.commit("Start", dict(FILES))
    return repo


def ask(repo: Repo, server: Server, *words: str, more: str = "") -> Any:
    path = Path(repo.env["XDG_CONFIG_HOME"], "cli-guard", "config.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'[model]\nmedium = ["openai:test"]\nbase_url = "{server.base_url}"\n{more}'
    )
    return guard(repo, "ask", *words)


def test_the_model_orders_the_steps_and_the_plan_stays(web: Repo) -> None:
    plain = guard(web, "ask", REQUEST)
    steps = [
        step(2, "Let `send` call `open_url` again."),
        step("web/jobs.py:5", "Say how often."),
        step("1", "Run it."),
    ]
    with serve([say_json({"steps": steps})]) as server:
        done = ask(web, server, REQUEST)
    assert done.code == plain.code == 3
    assert done.out.startswith(plain.out)
    assert done.out[len(plain.out) :].splitlines()[:-1] == [
        HEAD,
        "1. (2) Let `send` call `open_url` again.",
        "2. (web/jobs.py:5) Say how often.",
        "3. (1) Run it.",
        "4. (3) Follow in 2 uses in 1 file",
        "5. (4) Bring up to date what names it",
    ]
    sent = server.requests[0].text
    assert (
        "web/jobs.py:5: return [send(u, b'') for u in urls]" in sent
        and "web/client.py:3: return open_url" in sent
    )


@pytest.mark.parametrize(
    ("steps", "kept", "reasons"),
    [
        ([step(9)], [], ["cites a step or a line that it was not shown"]),
        ([step("web/jobs.py:4")], [], ["cites a step or a line that it was not shown"]),
        ([step("web/none.py:1")], [], ["cites a step or a line that it was not shown"]),
        ([step("web/client.py:77")], [], ["cites a step or a line that it was not shown"]),
        ([step(1), step(1)], ["1"], ["a step twice"]),
        ([step(1, "Call `retry_all`.")], [], ["names retry_all, which is not in the code"]),
        ([step(1, "Use web/retry.py.")], [], ["names retry.py, which is not in the code"]),
        ([step(1, "See https://example.org."), step(2)], ["2"], ["an address"]),
        ([step(1, "One.\nPlan: two.")], [], ["several lines"]),
        (
            [step(f"web/client.py:{at}") for at in (1, 2, 3)] + [step("web/jobs.py:1")],
            ["web/client.py:1", "web/client.py:2", "web/client.py:3"],
            ["more than 3 further steps"],
        ),
        ([], [], []),
    ],
)
def test_what_the_plan_does_not_bear_out_is_dropped(
    web: Repo, steps: Any, kept: Any, reasons: list[str]
) -> None:
    plain = guard(web, "ask", REQUEST)
    with serve([say_json({"steps": steps})]) as server:
        added = ask(web, server, REQUEST).out.removeprefix(plain.out).splitlines()[:-1]
    dropped = f"Not taken from the model: {len(reasons)} (reasons: {'; '.join(reasons)})."
    assert [each for each in added if each.startswith("Not taken")] == (
        [dropped] if reasons else []
    )
    assert [
        each.split("(")[1].split(")")[0] for each in added[1:] if "Do it." in each
    ] == kept


@pytest.mark.parametrize(
    "answer", [say("First the tests."), say_json({"steps": [1]}), fault("stall")]
)
def test_without_an_answer_the_plan_stays(web: Repo, answer: Any) -> None:
    plain = guard(web, "ask", REQUEST)
    with serve([answer] * 2) as server:
        done = ask(web, server, REQUEST, more="deadline_s = 4\n")
    assert done.out.removeprefix(plain.out).startswith("Model: not used: ")
    assert (done.code, guard(web, "ask", REQUEST, "--no-model").out) == (
        plain.code,
        plain.out,
    )


def test_secrets_and_private_files_stay_here(web: Repo) -> None:
    web.write(
        "web/inner.py",
        f"from web.client import send\n\n\ndef hidden():\n    send(1, '{key()}')\n",
    )
    web.write(
        "web/jobs.py",
        f"from web.client import send\n\n\ndef run():\n    send(1, '{key()}')\n",
    )
    web.git("add", "-A")
    with serve([say_json({"steps": [step(2)]})]) as server:
        done = ask(web, server, REQUEST, more='private = ["web/inner.py"]\n')
    sent = server.requests[0].all_text
    assert (
        "web/inner.py" in done.out
        and "inner" not in sent
        and "hidden" not in sent
        and key() not in sent
    )


def test_a_plan_with_a_patch_is_left_alone(web: Repo) -> None:
    with serve() as server:
        done = ask(web, server, "rename open_url to open_address")
    assert (
        "+def open_address" in done.out and "Model:" not in done.out and not server.requests
    )
