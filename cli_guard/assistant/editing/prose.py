"""A renamed Python name in strings, configuration and prose: what surely means it, and what a person must look at."""

import re
from collections.abc import Collection, Iterable, Iterator

from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.sources import (
    TextEdit,
    is_configuration,
    is_documentation,
    join_some,
)
from cli_guard.assistant.editing.usages import Place, is_history, word


def mention_risks(python: Python, name: str, edits: Collection[TextEdit]) -> Iterator[str]:
    """Yield what still says the name in configuration, prose and other languages once the edits are made."""
    sources = python.sources
    groups = dict[str, list[str]]()
    edited = {(each.path, each.start) for each in edits}
    for path in sources.mentioning(name):
        text = sources.texts[path]
        language = sources.language(path)
        left = [
            m.start() for m in word(name).finditer(text) if (path, m.start()) not in edited
        ]
        if left and is_history(path):
            groups.setdefault("a history of releases", []).append(path)
        elif left and is_configuration(path):
            groups.setdefault("configuration", []).append(path)
        elif left and (is_documentation(path) or language not in (None, "python")):
            groups.setdefault(f"{language} files" if language else "documents", []).append(
                path
            )
    for path in sources.mentioning(name):
        if is_named_in_call(name, sources.texts[path]) and not is_documentation(path):
            groups.setdefault("strings of calls", []).append(path)
    for what in sorted(groups):
        yield f"{name} is also named in {what} that the patch leaves: {join_some(groups[what])}"


def is_named_in_call(name: str, text: str) -> bool:
    """Return whether a call gets a name as a string, alone or behind a dot: `url_for("shop.orders")`."""
    form = rf"\w\(\s*(['\"])(?:[\w.]+\.)?{re.escape(name)}\1"
    return re.search(form, text) is not None


def find_dotted_strings(
    python: Python, modules: Collection[str], old: str
) -> Iterator[tuple[str, int]]:
    """Yield where a string or configuration says "package.module.name" or "package.module:name"."""
    dotted = rf"(?P<module>[A-Za-z_][\w.]*?)[.:](?P<name>{re.escape(old)})(?![\w-])"
    in_string = re.compile(rf"[rRuU]?['\"]{{1,3}}{dotted}")
    in_text = re.compile(rf"(?<![\w.:/-]){dotted}")
    for path in python.sources.mentioning(old):
        text = python.texts[path]
        found: Iterable[re.Match[str] | None] = ()
        if python.sources.language(path) == "python":
            found = (in_string.match(text, *part) for part in python.file(path).strings)
        elif is_configuration(path):
            found = in_text.finditer(text)
        for match in found:
            if match and python.find(path, match["module"]) in modules:
                yield path, match.start("name")


def dynamic_uses(python: Python, old: str) -> Iterator[Place]:
    """Yield strings that may reach the name when the program runs: getattr(x, "name") and the like."""
    for path in python.mentioning(old):
        for each in python.places(path, old):
            if each.role == "dynamic":
                yield python.location(each, f"reached by the string {old!r}")
