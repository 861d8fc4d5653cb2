"""The whole flow of `cli_agent_assistant`, on one page.

    START -> prepare_task -> classify_task -> select_context -> collect_context -> plan_cli_actions -> policy_gate
    policy_gate -> execute_safe_actions | request_human_review | handle_failure
    execute_safe_actions -> plan_cli_actions (the next round) | synthesize_cli_response -> END
    request_human_review -> END, or, resumed with an approval, -> execute_safe_actions

A change review takes two rounds: the reviewers, then the action that Git takes if the hook allows it. So does
a request: first it reads what it needs, then it does what was asked.
"""

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from cli_guard.graph import actions, context_nodes, gate
from cli_guard.graph.actions import Node
from cli_guard.graph.context import Context
from cli_guard.graph.state import KEPT_TYPES, State

NAME = "cli_agent_assistant"

Route = Callable[[State], str]
Graph = CompiledStateGraph[State, Context, State, State]


def with_route(node: Node, route: Route) -> Callable[..., Command[str]]:
    """Add to a node the choice of the next one: a conditional edge would copy the whole state to read one field."""

    def step(state: State, runtime: Runtime[Context]) -> Command[str]:
        update = node(state, runtime)
        following = route({**state, **update})
        return Command(update=update, goto=following)

    return step


def or_failure(onward: str) -> Route:
    """Build the route of a node that may fail: to the next node, or to `handle_failure`."""

    def route(state: State) -> str:
        return "handle_failure" if state["status"] == "failed" else onward

    return route


def after_gate(state: State) -> str:
    """Choose the node for the gate's decision."""
    return {"needs_review": "request_human_review", "failed": "handle_failure"}.get(
        state["status"], "execute_safe_actions"
    )


def after_execution(state: State) -> str:
    """Choose another round, unless this was the last."""
    return "synthesize_cli_response" if state["last_round"] else "plan_cli_actions"


def after_review(state: State) -> str:
    """Choose to execute what was approved, or to end."""
    return "execute_safe_actions" if state["decision"] == "allow" else END


def build_graph(*, checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """Return the compiled graph. With a checkpointer, a run that needs a person pauses and can be resumed.

    Invoked with `{"input": ..., "repo_snapshot": {...}}` and no context, it works on that snapshot alone.
    The library's default serializer of a checkpointer is replaced by one that reads only the types of the state.
    """
    strict = checkpointer and with_kept_types(checkpointer)
    return compile_graph(pause=checkpointer is not None).copy({"checkpointer": strict})


@cache
def compile_graph(*, pause: bool) -> Graph:
    """Return the compiled graph without a checkpointer; with `pause` it waits for a person."""
    graph = StateGraph(State, context_schema=Context)

    def add(name: str, node: Node, route: Route, *onward: str) -> None:
        graph.add_node(name, with_route(node, route), destinations=onward)

    def add_fallible(name: str, node: Node, onward: str) -> None:
        add(name, node, or_failure(onward), onward, "handle_failure")

    graph.add_edge(START, "prepare_task")
    add_fallible("prepare_task", context_nodes.prepare_task, "classify_task")
    add_fallible("classify_task", context_nodes.classify_task, "select_context")
    graph.add_node("select_context", context_nodes.select_context)
    graph.add_edge("select_context", "collect_context")
    add_fallible("collect_context", context_nodes.collect_context, "plan_cli_actions")
    add_fallible("plan_cli_actions", actions.plan_cli_actions, "policy_gate")
    outcomes = ("execute_safe_actions", "request_human_review", "handle_failure")
    add("policy_gate", gate.policy_gate, after_gate, *outcomes)
    execution = ("plan_cli_actions", "synthesize_cli_response")
    add("execute_safe_actions", actions.execute_safe_actions, after_execution, *execution)
    asking = actions.request_human_review(pause=pause)
    add("request_human_review", asking, after_review, "execute_safe_actions", END)
    graph.add_node("synthesize_cli_response", actions.synthesize_cli_response)
    graph.add_edge("synthesize_cli_response", END)
    graph.add_node("handle_failure", actions.handle_failure)
    graph.add_edge("handle_failure", END)
    return graph.compile(name=NAME)


def with_kept_types(checkpointer: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """Return a copy of a checkpointer that rebuilds only the types of the state when it reads.

    The library's default serializer would import and call anything that a checkpoint names.
    """
    strict = copy(checkpointer)
    if strict.serde is BaseCheckpointSaver.serde:
        strict.serde = JsonPlusSerializer(allowed_msgpack_modules=None)
    return strict.with_allowlist(KEPT_TYPES)
