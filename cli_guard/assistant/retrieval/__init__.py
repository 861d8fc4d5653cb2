"""Questions about a repository, answered by ranked retrieval: locations, facts, and a confidence.

A question becomes concepts (`request_question`), all texts are counted by substring search, the promising ones are
parsed and ranked by their definitions (`scoring`); `search` answers with the best places.
"""

from cli_guard.assistant.retrieval.search import find
from cli_guard.assistant.retrieval.types import SearchResult
from cli_guard.assistant.retrieval.uses import find_references

__all__ = ["SearchResult", "find", "find_references"]
