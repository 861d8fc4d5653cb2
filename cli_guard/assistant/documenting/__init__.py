"""Repairs of documentation as a patch, and what lacks documentation; nothing is written, and no word is invented.

`source` reads a file and guards its code, `repair` mends stale parameters, `document` finds both for a request.
"""

from cli_guard.assistant.documenting.document import DocProposal, Documentation, document

__all__ = ["DocProposal", "Documentation", "document"]
