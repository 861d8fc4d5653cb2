"""Docstring skeletons and repairs as a patch; the words are left to a person, and nothing is written.

`definitions` finds what is asked for, `source` reads a file and guards its code, `python_skeleton` and
`comment_skeleton` put the facts of a signature into the style of the file, `repair` mends stale parameters.
"""

from cli_guard.assistant.documenting.document import Documentation, Proposal, document

__all__ = ["Documentation", "Proposal", "document"]
