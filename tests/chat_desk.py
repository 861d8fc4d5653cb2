"""A chat over a real repository, with a scripted model, and a person whose answers are scripted."""

import datetime
import io
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from repositories import Repo, isolated_environment

from cli_guard.llm.chat.chat import Chat, Host
from cli_guard.llm.chat.commands import run_command
from cli_guard.llm.chat.display import Display
from cli_guard.llm.chat.keyboard import Keyboard
from cli_guard.policy.language_model import ModelSection
from cli_guard.runtime import Invocation

CODE = "def send():\n    return 1\n"


def write_one_certificate(folder: Path) -> str:
    """Write the first certificate of the system's, and return its path.

    A model on loopback needs none, and to load them all takes 40 ms a client.
    """
    path = folder / "one.pem"
    found = ssl.create_default_context().get_ca_certs(binary_form=True)
    path.write_text("".join(map(ssl.DER_cert_to_PEM_cert, found[:1])))
    return str(path)


class Typist(Keyboard):
    """Answers questions from a list, without a terminal."""

    def __init__(self) -> None:
        super().__init__(io.StringIO(), io.StringIO(), {}, tuple)
        self.replies: list[str] = []
        self.asked: list[str] = []

    @contextmanager
    def reading(self, on_tick: Any) -> Iterator[None]:
        yield

    def ask(self, question: str) -> str:
        self.asked.append(question)
        return self.replies.pop(0)


class Desk:
    """A chat in `folder`/repo, made with these files unless it is there, and what it has shown."""

    def __init__(
        self,
        folder: Path,
        base_url: str,
        files: Mapping[str, str] = {"a.py": CODE},
        **model: Any,
    ) -> None:
        env = isolated_environment(folder / "home") | {
            "XDG_STATE_HOME": str(folder / "state"),
            "TERM": "xterm",
            # Plugins of the developer would take seconds to load.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        if not (folder / "repo").exists():
            Repo.create(folder / "repo", env).commit("First", dict(files))
        self.repo = Repo(folder / "repo", env)
        models = {"medium": ("openai:test-model",), "context_tokens": 100_000} | model
        config = ModelSection(base_url=base_url, **models)
        self.stream = io.StringIO()
        self.typist = Typist()
        display = Display(self.stream, env, colored=False)

        def now() -> Invocation:
            return Invocation(self.repo.path, env, datetime.datetime.now(datetime.UTC))

        host = Host(io.StringIO(), self.stream, env, now, lambda: None)
        self.chat = Chat(host, config, display, self.typist)
        self.chat.open()

    def turn(self, text: str, *replies: str) -> str:
        self.typist.replies += replies
        return self.shown(lambda: self.chat.turn(text))

    def command(self, line: str, *replies: str) -> str:
        self.typist.replies += replies
        return self.shown(lambda: run_command(self.chat, line))

    def shown(self, act: Any) -> str:
        at = len(self.stream.getvalue())
        act()
        assert not self.typist.replies
        messages = self.chat.session.messages
        calls = [each["id"] for one in messages for each in one.get("tool_calls") or ()]
        assert calls == [
            each["tool_call_id"] for each in messages if each["role"] == "tool"
        ]
        return self.stream.getvalue()[at:]

    @property
    def code(self) -> str:
        return (self.repo.path / "a.py").read_text()
