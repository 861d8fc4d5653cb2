"""Build first lines from names: only what an identifier says."""

import re

from cli_guard.code.symbols import Parameter, Symbol
from cli_guard.rules.catalog import read_table

WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")
_ENGLISH = read_table("languages/english.toml")
ACRONYMS, VERBS, LITTLE, NOUNS = (
    frozenset(_ENGLISH[name].split()) for name in ("acronyms", "verbs", "little", "nouns")
)
QUESTIONS: dict[str, str] = _ENGLISH["questions"]
# Results that a noun does not name: what is iterated, another function, a type variable.
MAKERS = re.compile(r"Promise<void|\w*(Iterator|Generator|Iterable|Callable)|[A-Z]$")
NOTHING = frozenset({"", "None", "void", "NoReturn", "Never", "never", "undefined"})


def words(name: str) -> list[str]:
    """Split an identifier into words, lower-case except acronyms."""
    found = [
        w if len(w) > 1 and w.isupper() and not name.isupper() else w.lower() for w in WORDS.findall(name)
    ]
    return [w.upper() if w in ACRONYMS else w for w in found] or [name]


def summary(symbol: Symbol) -> str:
    """Return a first line in the imperative, with a full stop."""
    parts = words(symbol.name)
    rest = " ".join(parts[1:])
    if symbol.kind == "class":
        return _sentence(" ".join(parts))
    if parts[0] in QUESTIONS and rest:
        return _sentence(f"tell whether {QUESTIONS[parts[0]]} {rest}")
    if parts[0] in ("to", "as", "into") and rest:
        return _sentence(f"convert to {rest}")
    if parts[0] == "from" and rest:
        return _sentence(f"create from {rest}")
    if parts[0] == "on" and rest:
        return _sentence(f"handle {rest}")
    if parts[0] in VERBS:
        return _sentence(" ".join(parts))
    is_phrase = any(w in LITTLE or w.removesuffix("s") in VERBS - NOUNS for w in parts[1:])
    if (
        len(parts) > 1
        and not is_phrase
        and symbol.returns not in NOTHING
        and not MAKERS.match(symbol.returns)
    ):
        return _sentence("return the " + " ".join(parts))
    return _sentence(" ".join(parts))


def third_person(line: str) -> str:
    """Turn `Fetch users.` into `Fetches users.`: Java and Go describe in the third person."""
    verb, _, rest = line.rstrip(".").partition(" ")
    low = verb.lower()
    if low not in VERBS:
        return line
    if low.endswith(("s", "x", "z", "ch", "sh", "o")):
        verb += "es"
    elif low.endswith("y") and low[-2] not in "aeiou":
        verb = verb[:-1] + "ies"
    else:
        verb += "s"
    return f"{verb} {rest}".rstrip() + "."


def go_summary(symbol: Symbol) -> str:
    """Return `Name fetches users.`, the form in https://go.dev/doc/comment."""
    parts = " ".join(words(symbol.name))
    if symbol.kind == "class":
        article = "an" if parts[0].lower() in "aeio" else "a"
        return f"{symbol.name} is {article} {parts}."
    line = summary(symbol)
    verb = line.split()[0].rstrip(".").lower()
    if verb in VERBS:
        line = third_person(line)
        return f"{symbol.name} {line[0].lower()}{line[1:]}"
    return f"{symbol.name} is the {parts} function."


def about(parameter: Parameter) -> str:
    """Describe a parameter from its name."""
    parts = words(parameter.name)
    if parameter.star == "**":
        return "Further keyword arguments."
    if parameter.star == "*" and parameter.name in ("args", "rest"):
        return "Further arguments."
    if parts[0] in QUESTIONS and len(parts) > 1:
        return f"Whether {QUESTIONS[parts[0]]} {' '.join(parts[1:])}."
    if parameter.annotation in ("bool", "boolean") and parts[0] in VERBS:
        return f"Whether to {' '.join(parts)}."
    return f"The {' '.join(parts)}."


def result(symbol: Symbol) -> str:
    """Describe a function's result from its name."""
    parts = words(symbol.name)
    if parts[0] in QUESTIONS and len(parts) > 1:
        return f"Whether {QUESTIONS[parts[0]]} {' '.join(parts[1:])}."
    fetching = tuple("get fetch load read find build create make compute calculate list".split())
    if parts[0] in fetching and len(parts) > 1:
        return f"The {' '.join(parts[1:])}."
    if parts[0] not in VERBS | {"to", "from", "on", "as", "into"}:
        return f"The {' '.join(parts)}."
    return "The result."


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
