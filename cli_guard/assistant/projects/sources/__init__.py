"""Where commands come from: each source gives `Found`s in the order in which its files hold them."""

from collections.abc import Iterator

from cli_guard.assistant.projects.files import Files
from cli_guard.assistant.projects.model import Found
from cli_guard.assistant.projects.sources.conventions import find_conventions, find_scripts
from cli_guard.assistant.projects.sources.documents import find_ci, find_documented
from cli_guard.assistant.projects.sources.environments import find_environments
from cli_guard.assistant.projects.sources.tasks import find_tasks

SOURCES = (find_documented, find_tasks, find_scripts, find_environments, find_conventions, find_ci)


def find_commands(files: Files) -> Iterator[Found]:
    """Find the commands of every source."""
    for source in SOURCES:
        yield from source(files)
