"""Repairs of documentation as a patch, and what lacks documentation; nothing is written, and no word is invented.

`source` reads a file and guards its code, `repair` mends stale parameters, `skeleton` puts the facts of a signature
into the style of the file, for the sentences of a model (`wording`).
"""

from cli_guard.assistant.documenting.document import DocProposal, Documentation, document

__all__ = ["DocProposal", "Documentation", "document"]
