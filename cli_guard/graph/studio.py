"""The graph for LangGraph Studio (`langgraph.json`), which adds its own checkpointer."""

from cli_guard.graph.build import build_graph

graph = build_graph()
