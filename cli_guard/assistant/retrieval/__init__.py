"""Questions about a repository, answered by ranked retrieval: where it stands, what stands there, how sure that is.

A question becomes concepts (`question`), all texts are counted at the speed of substring search (`survey`), the
promising ones are read by syntax tree (`symbols`) and scored (`scoring`), the best become places and facts (`finding`).
"""

from cli_guard.assistant.retrieval.finding import find
from cli_guard.assistant.retrieval.model import Fact, Found, Place, Reference
from cli_guard.assistant.retrieval.references import Looked, look_up, references

__all__ = [
    "Fact",
    "Found",
    "Looked",
    "Place",
    "Reference",
    "find",
    "look_up",
    "references",
]
