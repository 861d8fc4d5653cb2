"""Imports of a file: which one a name needs, where it goes, and which ones nothing uses any more."""

import builtins
import re
import sys
from collections.abc import Iterable

from cli_guard.assistant.editing.python_names import BINDS, MODULE
from cli_guard.assistant.editing.python_rename import Python
from cli_guard.assistant.editing.sources import SCRIPT_LANGUAGES, Sources
from cli_guard.assistant.editing.unused import unused_imports, without_imports

# Where names of the standard library come from that are seldom written with their module.
KNOWN = {
    "Path": "from pathlib import Path",
    "timezone": "from datetime import timezone",
    "timedelta": "from datetime import timedelta",
    "UTC": "from datetime import UTC",
    "partial": "from functools import partial",
    "lru_cache": "from functools import lru_cache",
    "cache": "from functools import cache",
    "reduce": "from functools import reduce",
    "defaultdict": "from collections import defaultdict",
    "Counter": "from collections import Counter",
    "OrderedDict": "from collections import OrderedDict",
    "dataclass": "from dataclasses import dataclass",
    "contextmanager": "from contextlib import contextmanager",
    "suppress": "from contextlib import suppress",
    "Decimal": "from decimal import Decimal",
    "Enum": "from enum import Enum",
    "perf_counter": "from time import perf_counter",
    "sleep": "from time import sleep",
    "deepcopy": "from copy import deepcopy",
    "quote": "from urllib.parse import quote",
    "urlparse": "from urllib.parse import urlparse",
    "Any": "from typing import Any",
    "cast": "from typing import cast",
    "ThreadPoolExecutor": "from concurrent.futures import ThreadPoolExecutor",
}
SCRIPT_GLOBALS = frozenset("console window document Math JSON Object Array Promise Number String".split())
JAVA_IMPORT = re.compile(r"^import\s+(?:static\s+)?[\w.*]+;[^\n]*\n?", re.MULTILINE)
JAVA_PACKAGE = re.compile(r"^package\s+[\w.]+;[^\n]*\n?", re.MULTILINE)
# Names may stand on lines of their own: `import {\n  a,\n} from "b"`.
JS_IMPORT = re.compile(
    r"^import\b(?:[^;'\"]{0,4000}?\bfrom[ \t]*['\"][^'\"\n]+['\"])?[^\n]*\n?", re.MULTILINE
)


def import_for(python: Python, path: str, name: str, *, dotted: bool) -> str | None:
    """The statement that brings `name` to a file: "" if it needs none, None if nobody knows.

    How other files of the repository import it comes first, then what it defines, then the standard library.
    """
    language = python.sources.language(path)
    if language != "python":
        return other_import(python.sources, path, name)
    homes = python.names.homes(path, name)
    if any(o.role in BINDS and homes.home(o) == MODULE for o in python.names.of(path, name)) or hasattr(
        builtins, name
    ):
        return ""
    seen: dict[str, int] = {}
    for other in python.sources.mentioning(name, "python"):
        for occurrence in python.names.of(other, name):
            source = python.modules.source_of(occurrence) if occurrence.role == "import" else None
            if source is not None and not source.text.startswith("."):
                statement = f"from {source.text} import {name}"
            elif source is not None and source.module is not None:
                statement = f"from {python.modules.dotted(source.module)} import {name}"
            elif occurrence.role == "import" and occurrence.scopes[-1] == MODULE and source is None:
                statement = f"import {name}"
            elif occurrence.role == "definition" and occurrence.scopes[0] == MODULE:
                statement = f"from {python.modules.dotted(other)} import {name}"
            else:
                continue
            seen[statement] = seen.get(statement, 0) + 1
    if seen:
        return min(seen, key=lambda s: (-seen[s], s))
    if name in KNOWN:
        return KNOWN[name]
    if dotted and name in sys.stdlib_module_names:
        return f"import {name}"
    return None


def other_import(sources: Sources, path: str, name: str) -> str | None:
    """The same for Java and JavaScript, by how other files import the name; other languages need none of ours."""
    language = sources.language(path)
    if language not in ("java", *SCRIPT_LANGUAGES):
        return ""
    text = sources.texts[path]
    if re.search(rf"(?<![\w$.]){re.escape(name)}(?![\w$])", text):
        return ""
    if language == "java":
        pattern = re.compile(rf"^import\s+[\w.]+\.{re.escape(name)};", re.MULTILINE)
        if not name[:1].isupper():
            return ""
    else:
        pattern = re.compile(
            rf"^import\s+(?:\{{\s*)?{re.escape(name)}(?:\s*\}})?\s+from\s+['\"][^.'\"][^'\"]*['\"];?",
            re.MULTILINE,
        )
        if name in SCRIPT_GLOBALS:
            return ""
    for other in sources.mentioning(name):
        found = pattern.search(sources.texts[other])
        if found is not None and sources.language(other) == language:
            return found[0]
    return None


def add_imports(sources: Sources, path: str, text: str, statements: Iterable[str]) -> str:
    """The text with imports added after the ones of its head; one that is there already is not added."""
    language = sources.language(path)
    end = "\r\n" if "\r\n" in text else "\n"
    for statement in statements:
        if re.search(rf"^{re.escape(statement)}\s*$", text, re.MULTILINE):
            continue
        if language == "python":
            at = python_import_place(sources, text)
        else:
            pattern = JAVA_IMPORT if language == "java" else JS_IMPORT
            ends = [m.end() for m in pattern.finditer(text)]
            package = JAVA_PACKAGE.search(text)
            at = ends[-1] if ends else package.end() if language == "java" and package else 0
        lead = "" if at == 0 or text[at - 1] == "\n" else end
        text = f"{text[:at]}{lead}{statement}{end}{text[at:]}"
    return text


def python_import_place(sources: Sources, text: str) -> int:
    """The position after the imports that a module begins with, or after its docstring."""
    root = sources.trees.root("python", text)
    at = 0
    for number, node in enumerate(root.named_children()):
        kind = node.kind()
        if kind == "comment":
            if at == 0 and node.text().startswith(("#!", "# -*-", "# coding")):
                at = line_end(text, node.range().end.index)
            continue
        is_docstring = number == next(
            (n for n, c in enumerate(root.named_children()) if c.kind() != "comment"), -1
        ) and node.text()[:3].strip("rRuU")[:1] in ("'", '"')
        if kind in ("import_statement", "import_from_statement", "future_import_statement") or is_docstring:
            at = line_end(text, node.range().end.index)
        else:
            break
    return at


def line_end(text: str, position: int) -> int:
    """The position after the end of the line that a position is on."""
    found = text.find("\n", position)
    return len(text) if found < 0 else found + 1


def blank_lines_end(text: str, position: int) -> int:
    """The position after the line that a position is on, and after the blank lines that follow it."""
    end = line_end(text, position)
    while end < len(text) and not text[end : line_end(text, end)].strip():
        end = line_end(text, end)
    return end


def drop_new_unused(sources: Sources, changes: dict[str, str]) -> dict[str, str]:
    """The new texts without the imports that were used before and are not any more."""
    found = {}
    for path, text in changes.items():
        found[path] = text
        if sources.language(path) != "python":
            continue
        before = {name for name, _ in unused_imports(sources, path)}
        fresh = sources.over({path: text})
        now = [name for name, _ in unused_imports(fresh, path) if name not in before]
        if now:
            found[path] = without_imports(fresh, path, set(now))
    return found
