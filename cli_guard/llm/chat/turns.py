"""The model's part in one run of the graph for a chat: any text is for it, and its prompts are kept within bounds."""

from collections.abc import Collection, Sequence
from dataclasses import field, replace
from typing import Any

from cli_guard.assistant.local import LocalAssistant
from cli_guard.graph.context import Context, Planned, Reading
from cli_guard.graph.state import Data, State, TaskType
from cli_guard.lazy import dataclass
from cli_guard.llm.compaction import compact, find_window, measure_scale
from cli_guard.llm.gateway import Reply
from cli_guard.llm.guest import Guest
from cli_guard.llm.prompts import Message
from cli_guard.llm.session import ChatSession
from cli_guard.llm.tools import EDITING, READING

OFFERED = (*READING, *EDITING, "run_command", "git_commit")
SPARE = 4
TASK = """You talk with a developer in a terminal about their repository. Look with the tools before you say something
about the code, and cite places as path:line. edit_file, create_file and delete_file change a copy. When you have
answered, its changes are reviewed, shown to the developer as one patch, and written only if the developer agrees.
run_command and git_commit ask the developer each time, and work on the files without your edits. If something is
refused, do not ask for it again in another form. Answer in Markdown, briefly."""


class Talk(LocalAssistant):
    """The assistant of a chat: any text is for the model, and nothing is refused."""

    def read(self, request: str, paths: Collection[str], kind: TaskType | None) -> Reading:
        return Reading("repo_qna", "chat", {"chat": True})

    def select_paths(self, state: State, context: Context) -> Sequence[str]:
        return ()

    def plan(self, state: State, context: Context) -> Planned:
        return Planned((), answered=True)


@dataclass
class ChatGuest(Guest):
    """A guest whose prompts are kept within the model's window."""

    session: ChatSession = field(kw_only=True)

    def ask(self, messages: list[Message], *, purpose: str, **options: Any) -> Reply:
        """Ask the model with as much of the session as fits. Raises ModelError."""
        tools = options.get("tools", ())
        self.fit(messages, tools)
        reply = super().ask(messages, purpose=purpose, **options)
        self.session.scale = max(self.session.scale, measure_scale(messages, tools, reply))
        return reply

    def fit(
        self, messages: list[Message], tools: Sequence[Data] = (), *, forced: bool = False
    ) -> None:
        """Compact messages in place if they no longer fit, or if that is `forced`. Raises ModelError."""
        silent = replace(self.gateway, on_text=None)
        config = self.config
        session = self.session
        named = silent.forced or next(
            (name for _, name in config.models_for(self.route.tier)), ""
        )
        messages[:] = compact(
            messages,
            session.artefacts,
            find_window(named, config, silent.env),
            config.answer_tokens,
            lambda prompt: silent.ask(prompt, "light", purpose="summary").text,
            tools=tools,
            scale=session.scale,
            forced=forced,
        )
