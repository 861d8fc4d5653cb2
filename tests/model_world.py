"""A gateway and a user's own file that point at the scripted server, and the plainest use of a model."""

import datetime
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from repositories import Done, Repo

from cli_guard.graph.context import Context, Planned
from cli_guard.graph.state import State
from cli_guard.graph.tools.tool import Tool
from cli_guard.llm.gateway import Gateway
from cli_guard.llm.guest import Guest
from cli_guard.llm.ledger import Ledger
from cli_guard.llm.prompts import fence, sendable, system, user
from cli_guard.policy.config import parse_config
from cli_guard.policy.language_model import ModelSection

NOON = datetime.datetime(2026, 11, 23, 12, 0, tzinfo=datetime.UTC)
PROMPT = [system("Answer in one word."), user("Which colour?")]


def section(**model: Any) -> ModelSection:
    """The section [model] as it is read from a file."""
    return parse_config({"model": {"light": ["openai:a"], **model}}, "config.toml").model


def gateway_at(
    folder: Path,
    base_url: str,
    /,
    env: Mapping[str, str] | None = None,
    now: Any = NOON,
    **model: Any,
) -> Gateway:
    """A gateway whose ledger is in a folder."""
    config = section(**{"base_url": base_url, "deadline_s": 300, **model})
    variables = {"XDG_STATE_HOME": str(folder), **(env or {})}
    return Gateway(config, variables, Ledger(config, variables, now))


def write_config(env: Mapping[str, str], **model: Any) -> None:
    """Write [model] into the user's own file."""
    lines = [
        f"{key} = {json.dumps(value)}"
        for key, value in {"deadline_s": 300, **model}.items()
        if not isinstance(value, dict)
    ]
    for name, table in model.get("prices", {}).items():
        lines += [
            f"[model.prices.{json.dumps(name)}]",
            *(f"{k} = {v}" for k, v in table.items()),
        ]
    for name, table in model.get("servers", {}).items():
        lines += [
            f"[model.servers.{json.dumps(name)}]",
            *(f"{k} = {json.dumps(v)}" for k, v in table.items()),
        ]
    path = Path(env["XDG_CONFIG_HOME"], "cli-guard/config.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["[model]", *lines, ""]), "utf-8")


class PlainUse:
    """Sends every file that may be sent with the answer, and puts the model's words below it."""

    def __init__(self, guest: Guest) -> None:
        self.guest = guest
        self.texts = {}

    def tools(self, context: Context) -> Mapping[str, Tool]:
        return {}

    def plan(self, state: State, context: Context) -> Planned:
        self.texts = sendable(context.texts, self.guest.config)
        return self.guest.base(state, context)

    def reply(self, state: State, answer: str) -> str:
        files = [fence(text, path, path) for path, text in self.texts.items()]
        said = self.guest.ask([system("Answer."), user(answer, *files)], purpose="plain")
        return f"{answer}\nPlain: {said.text}"


# Runs the front door as a process would, with PlainUse for every kind of task. What BLOCKED names is not installed;
# each address is written down that is looked up or connected to, but that of loopback.
DRIVER = f"""
import os, sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
blocked = set(filter(None, os.environ.pop("BLOCKED", "").split(",")))

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())

def watch(event, arguments):
    if event == "socket.getaddrinfo" and arguments[0] not in ("127.0.0.1", b"127.0.0.1", "localhost", None):
        os.write(2, f"LOOKED UP {{arguments[0]}}\\n".encode())
    if event == "socket.connect" and isinstance(arguments[1], tuple) and arguments[1][0] not in ("127.0.0.1", "::1"):
        os.write(2, f"CONNECTED TO {{arguments[1][0]}}\\n".encode())

sys.addaudithook(watch)
from cli_guard.graph.deferred import defer
defer()
from cli_guard.llm import guest
kinds = ("repo_qna", "doc_generation", "refactor_plan", "command_help", "test_workflow", "code_change")
guest.USES.update(dict.fromkeys(kinds, "model_world:PlainUse"))
from cli_guard.__main__ import main
code = main(sys.argv[1:], sys.stdin, sys.stdout, sys.stderr, Path.cwd(), dict(os.environ))
sys.stdout.flush()
sys.exit(int(code))
"""


def ask_with_a_model(repo: Repo, *argv: str, **env: str) -> Done:
    """Run `cli-guard ask` in a process of its own; every kind of task has the model word the answer."""
    return repo.run(
        sys.executable,
        "-W",
        "ignore",
        "-c",
        DRIVER,
        "ask",
        *argv,
        env={"CLI_GUARD_SERVER": "0", **env},
    )
