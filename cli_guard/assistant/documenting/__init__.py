"""Documentation on request, as a proposed patch: texts in, proposals out, nothing is written.

The request is read (`wanted`), what it names is found (`named`), what the code shows is gathered (`facts`), put
into words (`drafts`, `classes`) and into the file's own style (`python_text`, `block_text`), placed and checked
(`places`); sections of a README have a folder of their own (`readme`).
"""

from cli_guard.assistant.documenting.document import document
from cli_guard.assistant.documenting.model import Documentation, Proposal

__all__ = ["Documentation", "Proposal", "document"]
