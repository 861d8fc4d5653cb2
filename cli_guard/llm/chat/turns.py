"""The model's part in one run of the graph for a chat: it talks, calls tools, and proposes what it has edited."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import field, replace
from typing import Any

from cli_guard.assistant.local import LocalAssistant
from cli_guard.graph.context import Context, Planned, Reading
from cli_guard.graph.state import Data, State, TaskType
from cli_guard.graph.tools.tool import Tool
from cli_guard.lazy import dataclass
from cli_guard.llm.compaction import compact, find_window, measure_scale
from cli_guard.llm.gateway import Reply
from cli_guard.llm.guest import Guest
from cli_guard.llm.loop import ToolLoop
from cli_guard.llm.patching import (
    PROPOSE,
    REVIEW,
    find_syntax_errors,
    patching_tools,
    write_action,
)
from cli_guard.llm.prompts import Message
from cli_guard.llm.session import ChatSession
from cli_guard.llm.tools import EDITING, READING, Copy
from cli_guard.model import Action

OFFERED = (*READING, *EDITING, "run_command", "git_commit")
SPARE = 4
TOLD = ("path", "paths", "query", "command")
# So often it is told what is wrong with its edits.
MENDS = 2
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


@dataclass
class Talking:
    """Implements `cli_guard.llm.guest.Use`: the calls of a model, then the patch of its edits; `on_step` gets each."""

    loop: ToolLoop
    copy: Copy
    on_step: Callable[[str], None]
    _blocked: int = 0
    _reviewed: int = 0
    _mended: int = 0

    def tools(self, context: Context) -> dict[str, Tool]:
        """Return the tools over the copy, and the one that reviews its patch."""
        return patching_tools(self.copy, context)

    def plan(self, state: State, context: Context) -> Planned:
        """Return the next calls of the model; when it has answered, the review of its edits, then their write."""
        for each in state["blocked_actions"][self._blocked :]:
            self.on_step(f"denied by policy: {each['tool']}: {each['reason']}")
        self._blocked = len(state["blocked_actions"])
        reviews = [each for each in state["tool_results"] if each["tool"] == PROPOSE]
        if len(reviews) > self._reviewed:
            self._reviewed = len(reviews)
            if denied := reviews[-1].get("denied"):
                return self.ask_to_fix(
                    f"policy denies the patch: {'; '.join(denied)}", state, context
                )
            return Planned((write_action(state["proposal"]),))
        planned = self.loop.plan(state, context)
        for action in planned.actions:
            self.on_step(describe_call(action))
        if not planned.answered or self.loop.stopped:
            return planned
        snapshot = context.world(state).snapshot
        if lost := self.copy.drop_overtaken(snapshot):
            problem = f"{', '.join(lost)} changed since you edited it, so that your edit of it is dropped"
            return self.ask_to_fix(problem, state, context)
        old, new = self.copy.changes(snapshot)
        if not {**old, **new}:
            return planned
        if broken := find_syntax_errors(old, new):
            return self.ask_to_fix(
                f"this does not parse: {'; '.join(broken)}", state, context
            )
        return Planned((REVIEW,), last=False, log=planned.log)

    def ask_to_fix(self, problem: str, state: State, context: Context) -> Planned:
        """Tell the model what is wrong with its edits, and go on; drop them if it has been told often enough."""
        self._mended += 1
        self.on_step(problem)
        if self._mended > MENDS:
            self.copy.edits.clear()
            self.on_step("the edits are dropped")
            return Planned((), answered=True)
        self.loop.say(
            f"{problem}. Fix it, or take the edit back, and say what you have done."
        )
        return self.plan(state, context)

    def reply(self, state: State, answer: str) -> str:
        """Return the model's words before the rest of the answer."""
        return "\n".join(filter(None, (self.loop.answer, answer)))


def describe_call(action: Action) -> str:
    """Return a call on one line."""
    told = (str(each) for key, each in action.arguments.items() if key in TOLD)
    return " ".join((action.tool, *told))
