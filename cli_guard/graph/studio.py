"""The graph as LangGraph Studio loads it (`langgraph.json`): it brings a checkpointer of its own."""

from cli_guard.graph.build import build_graph

graph = build_graph()
