"""Where commands come from, one module a family; each gives `Found`s in the order in which its files hold them."""

from collections.abc import Iterator

from cli_guard.assistant.projects.files import Files
from cli_guard.assistant.projects.sources.ci import ci
from cli_guard.assistant.projects.sources.conventions import conventions, scripts
from cli_guard.assistant.projects.sources.documents import documents
from cli_guard.assistant.projects.sources.found import Found
from cli_guard.assistant.projects.sources.javascript import javascript
from cli_guard.assistant.projects.sources.php import composer
from cli_guard.assistant.projects.sources.python import python
from cli_guard.assistant.projects.sources.recipes import recipes

__all__ = ["Found", "all_found"]

SOURCES = (documents, recipes, scripts, python, javascript, composer, conventions, ci)


def all_found(files: Files) -> Iterator[Found]:
    """What every source gives."""
    for source in SOURCES:
        yield from source(files)
