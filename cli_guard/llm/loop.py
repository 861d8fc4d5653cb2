"""The model's calls of tools, round by round of the graph: each is planned as an action, and the gate decides.

reply of the model -> calls -> Planned -> (gate, tools) -> results as messages -> the next reply
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from cli_guard.graph.context import Context, Planned
from cli_guard.graph.state import Data, State, log
from cli_guard.graph.tools.tool import Arguments, Tool
from cli_guard.lazy import dataclass
from cli_guard.llm.gateway import ToolCall, message_of
from cli_guard.llm.prompts import Message, fence
from cli_guard.llm.tools import FORMS, action_of, with_plain_path
from cli_guard.model import Decision
from cli_guard.policy.gate import READ_ONLY, paths_in
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from cli_guard.llm.guest import Guest

CALLS = 8
SAME_RESULTS = 3
# Of all answers to one message of the person, prompts included.
TURN_TOKENS = 1_000_000
# As much as the run tool shows, which says how to see the rest.
RESULT_CHARS = 60_000
# Texts and lists of a result are cut to the first of these that makes it short enough.
TEXT_CHARS = (54_000, 16_000, 4_000, 800, 100)
LISTED = 100
# A call that a model wrote into its answer.
WRITTEN_CALL = re.compile(r'"name"\s*:\s*"([\w-]+)"')
# What OpenAI does not take in the name of a function, and what is no UTF-8.
NO_NAME = re.compile(r"[^\w-]", re.ASCII)
NO_TEXT = re.compile("[\ud800-\udfff]")


@dataclass
class ToolLoop:
    """A task or a session in which a model calls tools, over one run of the graph or several.

    `messages` grows: the system message first, then what the person, the model and the tools say. `offered` are the
    names of the tools in the run context that the model may call. `spare` rounds of the run are left to the caller.
    `answer` is the model's last text; `stopped` is the reason why the loop ended before the model had, "" if it had.
    `on_failure` gets a line about each call that failed; `called` are the names that were called since it was cleared.

    `plan` is a planner of the graph. Every call of the model gets exactly one message with its result. Calls that only
    read are planned together; each other call is planned alone, as one approval is for one thing. If the gate asks for
    a person, the run ends as `needs_review` and the loop waits: carry the person's answer out as for any paused run
    (`resume_review`, `approve_request`), then call `resume` with the state at its end and run the graph with this loop
    again: the model goes on with the result. `say` begins the next turn, also without an answer or after Ctrl-C.
    """

    guest: "Guest"
    messages: list[Message]
    offered: Sequence[str]
    purpose: str = "tools"
    spare: int = 0
    answer: str = ""
    stopped: str = ""
    on_failure: Callable[[str], None] = field(default=lambda line: None)
    called: set[str] = field(default_factory=set)
    _queue: list[ToolCall] = field(default_factory=list)
    _running: list[ToolCall] = field(default_factory=list)
    # How many results and log entries the run had when the running calls were planned.
    _seen: tuple[int, int] = (0, 0)
    _repeats: Counter[str] = field(default_factory=Counter)
    _tokens: int = 0

    def say(self, text: str) -> None:
        """Begin a turn with a message of the person. Calls that are still open are answered as not run."""
        self.close("not run: the person has gone on")
        self.messages.append({"role": "user", "content": text})
        self.answer = ""
        self.stopped = ""
        self._tokens = 0
        self._repeats.clear()

    def plan(self, state: State, context: Context) -> Planned:
        """Return the next calls of the model; none, and `last`, when it has answered or a bound is reached.

        What is wrong with a call is told to the model. Raises ModelError for the model itself; the messages are whole
        then, and the next turn can begin.
        """
        self.settle(state)
        bound = (context.rounds or context.limits.rounds) - self.spare
        if state["round"] >= bound:
            self.stopped = self.stopped or f"the work was not done within {bound} rounds"
        # An answer of malformed calls alone leaves the queue empty: the model has been told, and is asked again.
        while not (self.stopped or self._queue or self.is_answered):
            self.ask(context)
        if self.stopped or not self._queue:
            self.close(f"not run: {self.stopped}")
            return Planned(
                (),
                answered=True,
                log=tuple(log("tool_loop", stopped=self.stopped or "answered")),
            )
        self._running, self._queue = split_batch(self._queue, context.tools)
        self._seen = (len(state["tool_results"]), len(state["action_log"]))
        actions = tuple(
            action_of(call.name, call.arguments, context.tools) for call in self._running
        )
        calls = [call.name for call in self._running]
        return Planned(actions, last=False, log=tuple(log("tool_loop", calls=calls)))

    @property
    def is_answered(self) -> bool:
        """Return whether the last message is the model's answer."""
        return self.messages[-1]["role"] == "assistant" and not self.messages[-1].get(
            "tool_calls"
        )

    def resume(self, state: State, problem: str = "") -> None:
        """Tell the model what became of the call that needed a person.

        `state` is that at the end of the resumed run, or that in which it paused if nobody has approved. `problem` is
        why an approved call could not be carried out, in one line.
        """
        if self._running and len(state["tool_results"]) <= self._seen[0]:
            waiting, *_ = self._running
            self._running = []
            self.tell(waiting, {"success": False, "error": problem or why_not(state)})
        self.settle(state)
        self._seen = (0, 0)

    def settle(self, state: State) -> None:
        """Append the result of each call of the last round, or the denial of the one that the gate has denied.

        With a denial nothing of a round is run: the other calls are planned again.
        """
        running = self._running
        self._running = []
        results = state["tool_results"][self._seen[0] :]
        if results:
            for call, result in zip(running, results, strict=False):
                self.tell(call, result_of(result))
                self.report(call, result_of(result))
            return
        decided = [
            each
            for each in state["action_log"][self._seen[1] :]
            if each["node"] == "policy_gate"
        ]
        for number, call in enumerate(running, 1):
            if number == len(decided):
                self.tell(
                    call,
                    {
                        "success": False,
                        "error": f"denied by policy: {decided[-1]['reason']}",
                    },
                )
            else:
                self._queue.insert(number - 1 - (number > len(decided)), call)

    def report(self, call: ToolCall, result: Data) -> None:
        """Say that a call failed, and why; nothing for one that did not."""
        if not result["success"]:
            code = f"exit code {result.get('exit_code')}"
            why = result.get("error") or result.get("problem") or code
            self.on_failure(f"failed: {call.name}: {why}")

    def close(self, why: str) -> None:
        """Answer the calls that are open as not run."""
        for call in (*self._running, *self._queue):
            self.tell(call, {"success": False, "error": why})
        self._running = []
        self._queue = []

    def tell(self, call: ToolCall, result: Data) -> None:
        """Append the result of a call. The same one SAME_RESULTS times is no progress."""
        path = next(iter(paths_in(call.arguments)), "")
        content = fence(shorten_result(result, path), f"result of {call.name}", path)
        self.messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
        key = f"{call.name} {json.dumps(call.arguments, sort_keys=True, default=str)} {content}"
        self._repeats[key] += 1
        if self._repeats[key] >= SAME_RESULTS:
            self.stopped = f"{call.name} was called {SAME_RESULTS} times with the same result: no progress"

    def ask(self, context: Context) -> None:
        """Ask the model; queue the calls of its answer, and answer those that cannot be made. Raises ModelError."""
        if self._tokens > TURN_TOKENS:
            self.stopped = f"more than {TURN_TOKENS:,} tokens were used"
            return
        names = {
            function_name(name): name for name in self.offered if name in context.tools
        }
        functions = [function_of(made, context.tools[name]) for made, name in names.items()]
        reply = self.guest.ask(self.messages, purpose=self.purpose, tools=functions)
        self._tokens += reply.usage.input + reply.usage.output
        self.answer = reply.text
        calls = make_sendable(reply.calls, self.messages)
        self.messages.append(message_of(reply.text, calls))
        for number, call in enumerate(calls):
            name = names.get(call.name, call.name)
            named = replace(
                call, name=name, arguments=with_plain_path(name, call.arguments)
            )
            self.called.add(named.name)
            problem = self.problem_with(named, names, context)
            if number >= CALLS:
                problem = f"not run: at most {CALLS} calls in one answer"
            if problem:
                result = {"success": False, "error": problem}
                self.tell(call, result)
                self.report(named, result)
            else:
                self._queue.append(named)
        written = WRITTEN_CALL.search(reply.text)
        if not calls and written and written[1] in names:
            told = (
                f"[cli-guard: {written[1]} was written as text, not called. Call the tool.]"
            )
            self._repeats[told] += 1
            # Told once: the next such answer is taken for one.
            if self._repeats[told] == 1:
                self.messages.append({"role": "user", "content": told})

    def problem_with(
        self, call: ToolCall, names: Mapping[str, str], context: Context
    ) -> str:
        """Return why a call cannot be made, "" if it can; the gate decides whether it may."""
        if call.name not in names.values():
            forms = (form_of(made, context.tools[name]) for made, name in names.items())
            return f"there is no tool {call.name}; there are: {', '.join(forms)}"
        tool = context.tools[call.name]
        private = [
            path for path in paths_in(call.arguments) if self.guest.config.is_private(path)
        ]
        if private:
            return f"{private[0]} is private: nothing of it is shown to a model"
        checked = replace(tool, schema=schema_of(tool))
        problem = call.problem or checked.problem_with(call.arguments)
        return f"{problem}; it takes {form_of(call.name, tool)}" if problem else ""


def function_name(name: str) -> str:
    """Return the name under which a model knows a tool."""
    return NO_NAME.sub("_", name)[:64]


def schema_of(tool: Tool) -> type[Arguments]:
    """Return the arguments of a tool as a model is offered them."""
    return FORMS.get(tool.name, tool.schema)


def form_of(name: str, tool: Tool) -> str:
    """Return the names of a tool's arguments as in a call of it."""
    return f"{name}({', '.join(schema_of(tool).model_fields)})"


def function_of(name: str, tool: Tool) -> Data:
    """Return a tool as a function of the OpenAI protocol."""
    schema = schema_of(tool)
    summary = schema.__doc__ if tool.name in FORMS else tool.summary
    made = {"name": name, "description": summary, "parameters": schema.model_json_schema()}
    return {"type": "function", "function": made}


def make_sendable(calls: Sequence[ToolCall], messages: Sequence[Message]) -> list[ToolCall]:
    """Return calls that can be sent back to a server: with ids of their own, a plain name, and arguments of text."""
    known = {call["id"] for message in messages for call in message.get("tool_calls", ())}
    made: list[ToolCall] = []
    for call in calls:
        identity = (
            call.id
            if call.id and call.id not in known
            else f"call_{len(messages)}_{len(made)}"
        )
        known.add(identity)
        if NO_TEXT.search(json.dumps(call.arguments, ensure_ascii=False)):
            call = replace(
                call,
                arguments={},
                problem="the arguments hold half a character (U+D800-DFFF)",
            )
        made.append(replace(call, id=identity, name=function_name(call.name) or "none"))
    return made


def split_batch(
    calls: list[ToolCall], tools: Mapping[str, Tool]
) -> tuple[list[ToolCall], list[ToolCall]]:
    """Return the calls to plan now, in their order, and those for later: one that may need a person is alone."""
    for number, call in enumerate(calls):
        tool = tools[call.name]
        allowed = tool.decided is not None and tool.decided.decision is Decision.ALLOW
        if tool.risk != READ_ONLY and not allowed:
            number = max(number, 1)
            return calls[:number], calls[number:]
    return calls, []


def why_not(state: State) -> str:
    """Return why what needed a person was not done."""
    for entry in reversed(state["action_log"]):
        if "denied" in entry:
            return f"denied by policy: {entry['denied']}"
        if "rejected_by" in entry:
            return f"a person has rejected it: {entry.get('reason') or 'no reason given'}"
    return f"not done: it waits for a person ({state['review_reason']})"


def result_of(result: Data) -> Data:
    """Return the result of a tool as the model gets it."""
    data = {
        key: value
        for key, value in result.items()
        if key not in ("tool", "status", "images")
    }
    return {"success": result["status"] == "ok" and not data.get("exit_code"), **data}


def shorten_result(result: Data, path: str) -> str:
    """Return a result as JSON, and below it its texts of several lines as they are, so that they can be quoted exactly.

    It has no secrets and about RESULT_CHARS characters at most; what is left out is said.
    """
    for chars in TEXT_CHARS:
        data = shorten(result, chars, path)
        texts = {
            key: value
            for key, value in data.items()
            if isinstance(value, str) and "\n" in value
        }
        facts = {key: value for key, value in data.items() if key not in texts}
        head = json.dumps(facts, ensure_ascii=False, default=str)
        text = "\n".join((head, *(f"{key}:\n{value}" for key, value in texts.items())))
        if len(text) <= RESULT_CHARS:
            return text
    kept = {
        "success": result["success"],
        "error": "the result is too long to show: ask for less",
    }
    return json.dumps(kept)


def shorten(value: Any, chars: int, path: str) -> Any:
    """Return data with masked texts of at most so many characters, and lists of at most LISTED items."""
    if isinstance(value, str):
        masked = redact(value, path)
        return (
            masked
            if len(masked) <= chars
            else f"{masked[:chars]} [{len(masked) - chars:,} more characters]"
        )
    if isinstance(value, Mapping):
        return {str(key): shorten(each, chars, path) for key, each in value.items()}
    if isinstance(value, list | tuple):
        more = [f"[{len(value) - LISTED:,} more]"] if len(value) > LISTED else []
        return [*(shorten(each, chars, path) for each in value[:LISTED]), *more]
    return value
