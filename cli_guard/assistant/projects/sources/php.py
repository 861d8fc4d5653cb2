"""Scripts of composer.json."""

from collections.abc import Iterator

from cli_guard.assistant.projects.files import Files, folder_of, quoted, within
from cli_guard.assistant.projects.sources.found import Found
from cli_guard.reviewers.commands.extract.nodes import Table, at, scalars

# Composer runs these by itself (Composer documentation, "Scripts").
EVENTS = ("pre-", "post-", "init", "command")


def composer(files: Files) -> Iterator[Found]:
    """The scripts that people call."""
    for path in files.named("composer.json"):
        for table in at(files.document(path), "scripts"):
            for name, node in table.items() if isinstance(table, Table) else ():
                texts = list(scalars(node))
                if texts and not name.startswith(EVENTS):
                    body = "; ".join(each.text for each in texts)
                    command = f"composer {quoted(name)}"
                    yield Found(within(folder_of(path), command), path, texts[0].line, body, name)
