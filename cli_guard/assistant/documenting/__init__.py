"""Repairs of documentation as a patch, and what lacks documentation; nothing is written, and no word is invented.

`source` reads a file, guards its code and mends stale parameters, `document` finds what a request is about.
"""

from cli_guard.assistant.documenting.document import Documentation, document

__all__ = ["Documentation", "document"]
