"""The model's place in a run of the graph: it may plan calls of tools and word the answer; the gate decides as ever.

Without an answer in time, or without any, the run goes on as it does without a model, and the answer says so.
"""

import json
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import field, replace
from importlib import import_module
from typing import Protocol, cast

from cli_guard.assistant.planning import request_of
from cli_guard.graph.context import Context, Planned
from cli_guard.graph.planning import plan
from cli_guard.graph.state import Data, State, log
from cli_guard.graph.tools.tool import Tool
from cli_guard.lazy import dataclass
from cli_guard.llm.gateway import Gateway, Reply
from cli_guard.llm.ledger import Ledger
from cli_guard.llm.prompts import Message
from cli_guard.llm.providers import ModelError
from cli_guard.llm.routing import Route, route_request
from cli_guard.policy.language_model import ModelSection
from cli_guard.runtime import Invocation

# What a model helps with, by the kind of task.
USES: dict[str, str] = dict.fromkeys(
    ("repo_qna", "doc_generation", "code_change", "refactor_plan"),
    "cli_guard.llm.task:ModelTask",
)


def open_guest(
    request: str,
    config: ModelSection,
    invocation: Invocation,
    *,
    forced: str = "",
    preview: bool = False,
) -> "Guest":
    """Build the guest of a request. `forced` names the one model to use; with `preview` nothing is sent."""
    ledger = Ledger(config, invocation.env, invocation.now)
    gateway = Gateway(config, invocation.env, ledger, forced, preview)
    return Guest(gateway, route_request(request, config.routing))


class Use(Protocol):
    """Something that a model helps with, in one run. Made with the guest as its only argument."""

    def plan(self, state: State, context: Context) -> Planned:
        """Return the next actions; `guest.base` has those of the planner without a model. Raises ModelError."""

    def reply(self, state: State, answer: str) -> str:
        """Return the answer, worded anew or unchanged. Raises ModelError."""


@dataclass
class Guest:
    """A model in one run. `route` is the tier of the request, `failure` why the run went on without the model.

    `tools` are those of the use, `texts` the files that may be looked at.
    """

    gateway: Gateway
    route: Route
    failure: str = ""
    use: Use | None = None
    replies: list[Reply] = field(default_factory=list)
    tools: dict[str, Tool] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    _rounds: int = 0
    _finished: bool = False
    _logged: int = 0
    _worded: dict[str, str] = field(default_factory=dict)

    @property
    def config(self) -> ModelSection:
        """Return the user's configuration."""
        return self.gateway.config

    def show_prompts(self) -> str:
        """Return exactly what would be sent, as JSON; with a preview, the first prompt."""
        return json.dumps(self.gateway.prompts, indent=2, ensure_ascii=False)

    def equip(self, context: Context) -> Context:
        """Return the context of a run with this guest in it."""
        return replace(
            context,
            # Those of the use, once the kind of task is known.
            tools=ChainMap(cast(dict[str, Tool], context.tools), self.tools),
            planner=self.plan,
            narrator=self.narrate,
            # An answer with a denied call, or one that needs a person, takes a round for each.
            rounds=max(context.limits.rounds, 2 * self.config.turn_calls + 8),
        )

    def ask(self, messages: list[Message], *, purpose: str, **options: object) -> Reply:
        """Ask the model of the request's tier; see `Gateway.ask`. Raises ModelError."""
        reply = self.gateway.ask(messages, self.route.tier, purpose=purpose, **options)  # type: ignore[arg-type]
        self.replies.append(reply)
        return reply

    def base(self, state: State, context: Context) -> Planned:
        """Return the next actions of the planner without a model, in its own count of rounds."""
        if self._finished:
            return Planned(())
        self._rounds += 1
        planned = plan({**state, "round": self._rounds}, context)
        self._finished = planned.last or planned.failed is not None
        return planned

    def plan(self, state: State, context: Context) -> Planned:
        """Plan as the use of the model for this kind of task does, or as the planner without one."""
        named = USES.get(str(state["task_type"])) if not self.use else None
        # The call of a server's tool is no work for a model.
        if named and not request_of(state).server_call:
            module, _, name = named.partition(":")
            self.use = getattr(import_module(module), name)(self)
        if not self.use or self.failure:
            return self.base(state, context)
        self.texts = context.world(state).snapshot
        try:
            planned = self.use.plan(state, context)
        except ModelError as error:
            self.failure = str(error)
            planned = self.base(state, context)
        return replace(planned, log=(*planned.log, *self.drain_log()))

    def narrate(self, state: State, answer: str) -> tuple[str, list[Data]]:
        """Word an answer as the use does, with a line about the model."""
        # The node that asks a person runs twice: the first wording counts.
        if answer not in self._worded:
            text = answer
            if self.use and not self.failure:
                try:
                    text = self.use.reply(state, answer)
                except ModelError as error:
                    self.failure = str(error)
            self._worded[answer] = "\n".join(filter(None, (text, self.summary())))
        return self._worded[answer], self.drain_log()

    def drain_log(self) -> list[Data]:
        """Return the entries of the calls since the last time, for the action log."""
        fresh = self.gateway.log[self._logged :]
        self._logged += len(fresh)
        return [entry for each in fresh for entry in log("model", **each)]

    def summary(self) -> str:
        """Return the line about the model below an answer, "" if none was asked."""
        if self.gateway.preview or not (self.failure or self.gateway.log):
            return ""
        names = ", ".join(
            dict.fromkeys(f"{reply.model} ({reply.tier})" for reply in self.replies)
        )
        failed = [
            each["outcome"] for each in self.gateway.log if each["outcome"] != "answered"
        ]
        if self.failure:
            return f"Model: not used: {self.failure}."
        line = f"Model: {names}: {self.gateway.ledger.total}."
        return line + (
            f" Before that: {'; '.join(dict.fromkeys(failed))}." if failed else ""
        )
