"""What is to be said of a Python module: what it defines, and what it reads when it is imported."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.classes import MOST_NAMES, names_of
from cli_guard.assistant.documenting.drafts import Draft, function_draft, sentence
from cli_guard.assistant.documenting.facts import environment
from cli_guard.code.symbols import Symbol
from cli_guard.reviewers.docs.wording import VERBS, words

if TYPE_CHECKING:
    from ast_grep_py import SgNode

LONGEST = 72
ASSIGNED = re.compile(r"^([A-Za-z]\w*)(?:\s*:[^=\n]+)?\s*=(?!=)", re.M)
TAKEN = re.compile(r"^from \.[\w.]* import (\([^)]*\)|[^\n(]+)", re.M)


def package_draft(name: str, symbols: Sequence[Symbol], line: int) -> Draft:
    """What is to be said of a Go package: what it exports."""
    tops = [s for s in symbols if s.public and not s.owner]
    names = [f"`{s.name}`" for s in sorted(tops, key=lambda s: (s.line - s.end_line, s.line))]
    summary = f"Package {name} provides {names_of(names, MOST_NAMES)}." if names else f"Package {name}."
    note = "It is no more than the names say: put in what the package is for."
    return Draft(summary, note=note, lines=(line, *(s.line for s in tops[:MOST_NAMES])))


def _contents(title: str, names: Sequence[str]) -> str:
    """The title with as many of the names as a line holds."""
    title = title[0].upper() + title[1:]
    quoted = list(dict.fromkeys(f"`{name}`" for name in names if len(name) <= LONGEST))
    for most in range(min(len(quoted), MOST_NAMES), 0, -1):
        line = f"{title}: {names_of(quoted, most)}."
        if len(line) <= LONGEST:
            return line
    return f"{title}."


def _other_names(text: str) -> list[str]:
    """What a module without definitions offers: its constants, or what it takes from its own package."""
    constants = [n for n in ASSIGNED.findall(text) if not n.startswith("_")]
    if constants:
        return list(dict.fromkeys(constants))
    names = [
        n.split(" as ")[-1].strip() for group in TAKEN.findall(text) for n in group.strip("()").split(",")
    ]
    return [n for n in names if n.isidentifier() and not n.startswith("_")]


def module_draft(stem: str, symbols: Sequence[Symbol], root: "SgNode", text: str) -> Draft:
    """What is to be said of a Python module: what it defines and reads when it is imported."""
    tops = [s for s in symbols if not s.owner and s.public and s.quiet not in ("nested", "overload")]
    functions = [s for s in tops if s.is_function and s.name != "main"]
    classes = [s for s in tops if s.kind == "class"]
    title = " ".join(words(stem.strip("_") or stem))
    lines = [s.line for s in (*classes[:MOST_NAMES], *functions[:MOST_NAMES])]
    summary, sentences, note = "", [], ""
    if functions and not classes and len(functions) <= 3:
        deeds = [function_draft(s, "python").summary.rstrip(".") for s in functions]
        joined = names_of([deeds[0], *(d[0].lower() + d[1:] for d in deeds[1:])])
        plain = all(d.split()[0].lower() in VERBS for d in deeds)
        summary = sentence(joined) if len(joined) <= 84 and plain else ""
    if not summary:
        names = [s.name for s in sorted([*classes, *functions], key=lambda s: (s.line - s.end_line, s.line))]
        summary = _contents(title, names or _other_names(text))
        note = "The first line is no more than the names say: put in what the module is for."
    variables = (
        environment(list(root.find_all(any=[{"kind": "call"}, {"kind": "subscript"}])))
        if ("environ" in text or "getenv" in text)
        else ()
    )
    if variables:
        named = names_of([f"`{v.name}`" for v in variables])
        sentences.append(f"Reads the environment variable{'s' if len(variables) > 1 else ''} {named}.")
        lines += [v.line for v in variables]
    if re.search(r"""^if __name__ == ["']__main__["']""", text, re.M):
        sentences.append("Can be run as a script.")
    return Draft(summary, sentences=tuple(sentences), note=note, lines=tuple(sorted(set(lines or [1]))))
