"""A chat: turns over the one graph, what a person approves in them, and the session that keeps it all."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, TextIO, cast

from cli_guard.answering.approve import find_pending, reject
from cli_guard.assistant import Proposal, propose
from cli_guard.assistant.approve import approve_request, describe_requests, find_requests
from cli_guard.assistant.ask import OpenServers, context_for, record
from cli_guard.assistant.local import LocalAssistant
from cli_guard.assistant.replies import result_of
from cli_guard.errors import CliGuardError, Interrupted, UsageError
from cli_guard.git.repository import GitRepository
from cli_guard.git.snapshot import list_index
from cli_guard.graph.context import Context, Planned, Planner, Reading
from cli_guard.graph.state import Data, State, TaskType, normalise
from cli_guard.lazy import dataclass, frozen
from cli_guard.llm.chat.permission import ROUNDS, ChatPermission, CoveringTests
from cli_guard.llm.compaction import compact, find_window, measure_scale
from cli_guard.llm.gateway import Gateway, Reply
from cli_guard.llm.guest import Guest
from cli_guard.llm.ledger import Ledger, Total
from cli_guard.llm.loop import ToolLoop, shorten_result
from cli_guard.llm.mapping import draw_map
from cli_guard.llm.patching import PROPOSE, EditLoop, patching_tools, write_action
from cli_guard.llm.prompts import Message, fence, system
from cli_guard.llm.routing import Route, route_request
from cli_guard.llm.session import ChatSession, Sessions
from cli_guard.llm.tools import EDITING, READING, Copy
from cli_guard.model import Action
from cli_guard.policy.language_model import ModelSection
from cli_guard.repository.snapshot import Snapshot
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact
from cli_guard.state.records import ASKED, Records

if TYPE_CHECKING:
    from cli_guard.llm.chat.display import Display
    from cli_guard.llm.chat.keyboard import Keyboard

OFFERED = (*READING, *EDITING, "run_command", "git_commit")
SPARE = 4
TASK = """You talk with a developer in a terminal about their repository. Look with the tools before you say something
about the code, and cite places as path:line. edit_file, create_file and delete_file change a copy. When you have
answered, its changes are reviewed, shown to the developer as one patch, and written only if the developer agrees.
run_command and git_commit ask the developer each time, and work on the files without your edits. If something is
refused, do not ask for it again in another form. Answer in Markdown, briefly."""
SESSIONS = "sessions"
TASK_CHARS = 200
NEXT = "Do what is left, or say in a sentence what is done."


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


@frozen
class Host:
    """Where a chat runs. `now` returns an invocation of this moment; `servers` opens the user's MCP servers.

    `check_person` raises UsageError if no person can answer.
    """

    stdin: TextIO
    stdout: TextIO
    env: Mapping[str, str]
    now: Callable[[], Invocation]
    check_person: Callable[[], None]
    servers: OpenServers | None = None
    colored: bool = True


@dataclass
class Chat:
    """A chat. `open` begins or resumes its session; `turn` answers a message of the person.

    `undone` are the patches that `/redo` can write again, the last one at the end. `edits` are those of the model that
    no patch has written yet.
    """

    host: Host
    config: ModelSection
    display: "Display"
    keyboard: "Keyboard"
    forced: str = ""
    undone: list[Data] = field(default_factory=list)
    stack: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        invocation = self.host.now()
        self.repository = GitRepository.discover(invocation.cwd, invocation.env)
        self.sessions = Sessions(self.repository.state_folder / SESSIONS)
        self.ledger = Ledger(self.config, invocation.env, invocation.now)
        self.gateway = Gateway(
            self.config, invocation.env, self.ledger, on_text=self.display.feed
        )
        self.permission = ChatPermission(
            self.host.check_person, self.ask_person, self.display.say
        )
        self.copy = Copy(self.config)
        self.snapshot = Snapshot.of({})
        self.route = Route("medium")
        self.before = Total()
        # What the model is told with the next message.
        self.note = ""
        # Of the files of the session's first turn in this chat: the first message stays as it is, and can be cached.
        self.map = ""
        self.tests = CoveringTests(
            self.repository, self.host.now, self.ask_person, self.display.say
        )
        # Whether a patch of this turn was written.
        self.is_written = False

    def open(self, name: str = "") -> None:
        """Begin a new session, or resume the one whose id `name` begins; the present one is kept. Raises CliGuardError.

        What was permitted for the session before is forgotten.
        """
        opened = ExitStack()
        held = self.sessions.open(self.repository.root_name, self.host.now().now, name)
        self.session: ChatSession = opened.enter_context(held)
        self.stack.close()
        self.stack = opened
        self.ledger.session = self.session.id
        self.gateway.forced = self.forced or self.session.model
        self.permission.allow_all = False
        self.permission.scopes = set()
        self.copy.edits.clear()
        self.undone.clear()
        self.map = ""
        if not self.session.messages:
            self.session.messages.append(system(TASK))
        self.loop = ToolLoop(self.guest(), self.session.messages, OFFERED, "chat", SPARE)
        self.loop.on_failure = self.display.step

    def paths(self) -> list[str]:
        """Return the paths of the repository, before the first turn those of the index. Raises GitError."""
        return list(self.snapshot) or [path for *_, path in list_index(self.repository)]

    def guest(self) -> ChatGuest:
        """Return the guest of one run."""
        self.gateway.log.clear()
        self.gateway.prompts.clear()
        return ChatGuest(self.gateway, self.route, session=self.session)

    def turn(self, text: str) -> None:
        """Answer a message of the person. Ctrl-C ends the turn, and the session stays whole."""
        session = self.session
        self.before = replace(self.ledger.total)
        session.turn += 1
        if not session.task:
            session.task = normalise(redact(text))[:TASK_CHARS]
            session.add("task", text)
        self.route = route_request(normalise(text), self.config.routing)
        if session.tier:
            self.route = replace(self.route, tier=session.tier)
        self.gateway.start_turn()
        self.loop.called.clear()
        self.tests.rounds = 0
        self.is_written = False
        self.loop.say("\n\n".join(filter(None, (self.note, text))))
        self.note = ""
        try:
            with self.display.busy(self.keyboard):
                self.answer(text)
        except KeyboardInterrupt:
            self.end_turn("ended by the person with Ctrl-C")
        except (CliGuardError, OSError) as error:
            self.end_turn(str(error))
        finally:
            self.save()
        if self.loop.called.intersection(EDITING) and not self.is_written:
            self.display.say("no file was changed by this turn")

    def end_turn(self, why: str) -> None:
        """Leave the messages whole after a turn that has no answer, and say what was left undone."""
        messages = self.session.messages
        done = {each["tool_call_id"] for each in messages if each["role"] == "tool"}
        calls = [
            call
            for each in messages
            for call in each.get("tool_calls") or ()
            if call["id"] not in done
        ]
        left = [call["function"]["name"] for call in calls]
        left += [f"the patch of {path}" for path in self.copy.edits]
        self.copy.edits.clear()
        self.loop.close(f"not run: {why}")
        if not self.loop.is_answered:
            messages.append(
                {
                    "role": "assistant",
                    "content": f"{self.display.safe_text()}\n[{why}]".strip(),
                }
            )
        undone = f"; left undone: {', '.join(left)}" if left else ""
        self.display.say(f"{why}{undone}")

    def save(self) -> None:
        """Store the session; what cannot be written is said, and the chat goes on."""
        try:
            self.sessions.save(self.session, self.host.now().now)
        except CliGuardError as error:
            self.display.say(f"not stored: {error}")

    def answer(self, text: str) -> None:
        """Run the graph until the model has answered and nothing waits. Raises CliGuardError, KeyboardInterrupt."""
        more = True
        while more:
            guest = self.loop.guest = self.guest()
            guest.use = EditLoop(self.loop, self.copy, self.display.step)
            proposal, context = self.run(text, guest.plan, guest)
            self.display.finish()
            if guest.failure:
                self.fall_back(text, guest.failure)
                return
            more = proposal.status == "needs_review" and self.settle(proposal, context)
        if self.loop.stopped:
            self.end_turn(self.loop.stopped)
        elif not self.loop.is_answered:
            self.end_turn(proposal.text or "the turn ended without an answer")

    def run(
        self, text: str, planner: Planner, guest: ChatGuest | None = None
    ) -> tuple[Proposal, Context]:
        """Run the graph once over the work tree; store what waits for a person. Raises CliGuardError."""
        invocation = self.host.now()
        # HEAD may have moved since the last run.
        self.repository.git.forget()
        self.repository = GitRepository.discover(invocation.cwd, invocation.env)
        self.snapshot = self.repository.snapshot(None, worktree=not self.repository.bare)
        if not self.map:
            self.show_map()
        metadata: Data = {
            "event": ASKED,
            "snapshot": self.snapshot.name,
            "chat": self.session.id,
        }
        with context_for(
            self.repository, invocation, self.snapshot, servers=self.host.servers
        ) as given:
            shell = cast(LocalAssistant, given.assistant).shell
            context = replace(given, assistant=Talk(shell), planner=planner)
            if guest and guest.use:
                guest.tools |= patching_tools(self.copy, context)
                self.loop.offered = (
                    *OFFERED,
                    *(each for each in context.tools if each.startswith("mcp:")),
                )
                context = guest.equip(context)
            proposal = propose(text, self.snapshot, context=context, metadata=metadata)
        proposal = record(proposal, self.repository, invocation)
        for note in proposal.notes:
            self.display.say(note)
        return proposal, context

    def show_map(self) -> None:
        """Draw the map of the present files, and put it into the first message."""
        self.map = draw_map(self.copy.over(self.snapshot))
        shown = fence(self.map, "map of the repository")
        self.session.messages[0] = system(f"{TASK}\n\n{shown}")

    def settle(self, proposal: Proposal, context: Context) -> bool:
        """Have the person decide about what waits, and tell the model; return whether the turn goes on."""
        state, problem = self.carry_out(proposal, context)
        self.loop.resume(state, problem)
        if all(each["tool"] != "write_file" for each in state["blocked_actions"]):
            return True
        self.copy.edits.clear()
        if problem:
            self.note = f"[cli-guard: the patch was not written: {problem}]"
            return False
        self.is_written = True
        self.loop.say(self.run_tests(state))
        return True

    def run_tests(self, state: State) -> str:
        """Offer the tests that cover what was written; return what the model is told of both."""
        began = time.monotonic()
        try:
            self.host.check_person()
            ran = self.tests.offer(result_of(state, PROPOSE).get("command", ""))
        except UsageError as error:
            self.display.say(f"the covering tests are not run: {error}")
            ran = None
        finally:
            self.gateway.until += time.monotonic() - began
        if ran is None:
            return f"[cli-guard: the patch was written. {NEXT}]"
        self.session.add("command", str(ran["command"]), exit_code=ran["exit_code"])
        if not ran["problem"]:
            return (
                f"[cli-guard: the patch was written, and its covering tests pass. {NEXT}]"
            )
        shown = fence(shorten_result({"success": False, **ran}, ""), "the covering tests")
        if self.tests.rounds > ROUNDS:
            return f"[cli-guard: the covering tests still fail. Edit nothing more; say what is open.]\n{shown}"
        return f"[cli-guard: the patch was written, and its covering tests fail. Fix that.]\n{shown}"

    def carry_out(self, proposal: Proposal, context: Context) -> tuple[State, str]:
        """Show a run that waits, ask, and resume exactly that one, as `cli-guard approve` does, or reject it.

        Return its state, and why nothing was done, "" if it was. Raises KeyboardInterrupt, Interrupted.
        """
        repository = self.repository
        invocation = self.host.now()
        began = time.monotonic()
        state = proposal.state
        reason = ""
        assert state is not None  # noqa: S101 - what the graph made has one
        problem = f"it cannot be approved now: {state['review_reason']}"
        try:
            if review_id := str(proposal.data["review_id"] or ""):
                review = find_pending(
                    Records(repository.state_folder), review_id, invocation
                )
                requests = find_requests(repository, review, invocation)
                reviewed = [
                    each for each in state["tool_results"] if each["tool"] == PROPOSE
                ]
                made = reviewed[-1] if reviewed else {}
                why = f"why: {state['review_reason']}"
                details = (
                    describe_requests(repository, requests),
                    why,
                    *made.get("findings", ()),
                )
                needs_review = bool(made.get("needs_review"))
                try:
                    reason = self.permission.decide(
                        requests, "\n".join(details), context, needs_review=needs_review
                    )
                finally:
                    if not reason:
                        reject(repository, review, invocation, "chat")
                problem = "" if reason else "a person has rejected it"
            if reason:
                more: Any = {"servers": self.host.servers, "say": self.display.say}
                state = approve_request(
                    repository, review, invocation, reason, requests, **more
                )
                self.keep(requests, state, review_id)
        except Interrupted as error:
            self.loop.resume(state, str(error))
            raise
        except (CliGuardError, OSError) as error:
            problem = str(error)
        if problem:
            self.display.say(problem)
        # The time of the person and of the command is not the model's.
        self.gateway.until += time.monotonic() - began
        return state, problem

    def keep(self, requests: list[Action], state: State, review_id: str) -> None:
        """Record in the session what was approved and done, and show it."""
        for each in requests:
            paths = each.arguments.get("paths", ())
            if each.tool == "write_file":
                for path in paths:
                    self.session.add("file", path, about=path)
                patch = redact(each.arguments["patch"])
                self.session.add("patch", patch, about=" ".join(paths))
                self.display.say(f"written: {', '.join(paths)} (/undo reverts it)")
            elif each.tool == "run_command":
                codes = [
                    r.get("exit_code")
                    for r in state["tool_results"]
                    if r["tool"] == each.tool
                ]
                code = codes[-1] if codes else None
                self.session.add(
                    "command", redact(each.arguments["command"]), exit_code=code
                )
                self.display.say(f"exit code {code}")
            self.session.add("approval", f"{each.tool} ({review_id})", about=review_id)

    def fall_back(self, text: str, why: str) -> None:
        """Answer without a model, as `cli-guard ask --no-model` does. Raises CliGuardError."""
        self.end_turn(f"no answer of the model: {why}")
        with context_for(self.repository, self.host.now(), self.snapshot) as context:
            proposal = propose(
                text, self.snapshot, context=context, metadata={"event": ASKED}
            )
        if proposal.status != "failed":
            proposal = record(proposal, self.repository, self.host.now())
            self.display.say(
                f"Without a model:\n{printable(proposal.text, keep_newlines=True)}"
            )

    def write_again(self) -> None:
        """Write the patch that was reverted last once more, through the gate and its approval. Raises CliGuardError."""
        proposal = self.undone[-1]
        planned = Planned((write_action(proposal),))
        waiting, context = self.run(
            "write a patch again that was reverted", lambda state, context: planned
        )
        if waiting.status != "needs_review":
            raise CliGuardError(waiting.text)
        if not self.carry_out(waiting, context)[1]:
            self.undone.remove(proposal)

    def ask_person(self, details: str, question: str) -> str:
        """Show what needs an approval, and return the line that is typed after that; nothing typed before counts."""
        with self.display.suspend():
            self.display.say(details)
            return self.keyboard.ask(question)
