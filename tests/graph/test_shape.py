"""The graph is the one of the requirement: its name, its nodes, its edges, its state."""

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, get_args, get_type_hints

from examples import table
from langgraph.checkpoint.memory import InMemorySaver

from cli_guard.graph import build_graph
from cli_guard.graph.state import State, TaskType

ROOT = Path(__file__).parents[2]

NODES = {
    "prepare_task",
    "classify_task",
    "select_context",
    "collect_context",
    "plan_cli_actions",
    "policy_gate",
    "execute_safe_actions",
    "request_human_review",
    "synthesize_cli_response",
    "handle_failure",
}
EDGES = {
    ("__start__", "prepare_task"),
    ("prepare_task", "classify_task"),
    ("prepare_task", "handle_failure"),
    ("classify_task", "select_context"),
    ("classify_task", "handle_failure"),
    ("select_context", "collect_context"),
    ("collect_context", "plan_cli_actions"),
    ("collect_context", "handle_failure"),
    ("plan_cli_actions", "policy_gate"),
    ("plan_cli_actions", "handle_failure"),
    ("policy_gate", "execute_safe_actions"),
    ("policy_gate", "request_human_review"),
    ("policy_gate", "handle_failure"),
    ("execute_safe_actions", "plan_cli_actions"),
    ("execute_safe_actions", "synthesize_cli_response"),
    ("request_human_review", "execute_safe_actions"),
    ("request_human_review", "__end__"),
    ("synthesize_cli_response", "__end__"),
    ("handle_failure", "__end__"),
}
FIELDS = (
    "input normalized_input task_type requested_paths allowed_paths repo_snapshot context_items plan tool_requests"
    " tool_results blocked_actions requires_human_review review_reason action_log status final_output metadata"
).split()


@table("checkpointer", [None, InMemorySaver()], ids=["plain", "with a checkpointer"])
def test_nodes_and_edges(checkpointer: Any) -> None:
    graph = build_graph(checkpointer=checkpointer)
    drawn = graph.get_graph()
    assert graph.get_name() == "cli_agent_assistant"
    assert set(drawn.nodes) - {"__start__", "__end__"} == NODES
    assert {(edge.source, edge.target) for edge in drawn.edges} == EDGES


def test_state_has_the_fields_of_the_requirement_first() -> None:
    hints = list(get_type_hints(State))
    assert hints[: len(FIELDS)] == FIELDS
    assert set(get_args(TaskType)) == {
        "repo_qna",
        "doc_generation",
        "refactor_plan",
        "command_help",
        "test_workflow",
        "code_change",
        "change_review",
        "unsupported",
    }


def test_langgraph_json_points_to_the_graph() -> None:
    described = json.loads((ROOT / "langgraph.json").read_text())
    path, _, name = described["graphs"]["cli_agent_assistant"].partition(":")
    spec = spec_from_file_location("studio_module", ROOT / path)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    made = getattr(module, name)
    assert set(made.get_graph().nodes) >= NODES
    assert made.checkpointer is None


def test_build_graph_is_importable_without_langgraph() -> None:
    code = "import sys, cli_guard.graph as g; assert g.build_graph; print([m for m in sys.modules if 'lang' in m])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
