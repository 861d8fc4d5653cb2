"""Questions about a repository, answered by ranked retrieval: locations, facts, and a confidence.

A question becomes concepts (`request_question`), all texts are counted by substring search (`survey`), the promising
ones are parsed and ranked twice, by definitions (`scoring`) and by windows of lines (`windows`); `search` fuses both
rankings.
"""

from cli_guard.assistant.retrieval.search import find
from cli_guard.assistant.retrieval.types import (
    FoundFact,
    FoundPlace,
    NameReference,
    ReferenceList,
    SearchResult,
)
from cli_guard.assistant.retrieval.uses import find_references

__all__ = [
    "FoundFact",
    "FoundPlace",
    "NameReference",
    "ReferenceList",
    "SearchResult",
    "find",
    "find_references",
]
