"""The first line of a documentation comment: what the name says, completed by what the body shows."""

import re

from cli_guard.assistant.documenting.facts.effects import Effect
from cli_guard.assistant.documenting.facts.results import Result
from cli_guard.code.symbols import Symbol
from cli_guard.reviewers.docs.wording import LITTLE, QUESTIONS, VERBS, summary, words

# After these a noun takes no article: "set up logging", "run once", "get all users".
NO_ARTICLE = LITTLE | frozenset(
    "up down out off back once again now all any each one only into at via not no new my this that async sync"
    " next first last until when where what how default self many more per than".split()
)
FILE = re.compile(r"(Reads|Writes|Appends to) the file (`[^`]+`)$")
DIRECTIONS = {"Reads": "from", "Writes": "to", "Appends to": "to"}
LONGEST = 76
# Deeds that an object does to itself, whatever it is given for that.
OWN = frozenset(
    "clear close flush reset start stop refresh shutdown connect disconnect finish normalize sort reverse tell"
    " truncate commit rollback run render show exit enter".split()
)
PROPERTIES = frozenset({"property", "cached_property", "functools.cached_property"})


def function_summary(
    symbol: Symbol,
    gives: Result,
    yields: Result | None,
    done: tuple[Effect, ...],
) -> str:
    """One sentence; in the imperative, but for a property, which is a thing and not a deed."""
    parts = words(symbol.name)
    if symbol.name in (symbol.owner, "constructor", "__init__") and symbol.owner:
        return f"Create {an(' '.join(words(symbol.owner)))}."
    if PROPERTIES & set(symbol.decorators):
        return _property(symbol, parts, gives)
    if any(d.endswith("contextmanager") for d in symbol.decorators) and yields is not None:
        line = _named(symbol, parts, gives, yields)
        for start in ("Return the ", "Yield the "):
            if line.startswith(start):
                return f"Context manager for the {line.removeprefix(start)}"
        return f"Context manager: {_lower(line)}"
    wrapped = _decorates(symbol, gives)
    if wrapped:
        return (
            f"Decorate a function: {_lower(_named(symbol, parts, gives, yields))}"
            if parts[0] != "decorate"
            else (_named(symbol, parts, gives, yields))
        )
    line = _named(symbol, parts, gives, yields)
    names = {f"`{p.name}`" for p in symbol.parameters}
    files = [match for match in (FILE.match(effect.text) for effect in done) if match]
    for match in files if len(files) == 1 and files[0][2] in names else ():
        if line.endswith(f" {match[2]}.") and " the " not in line:
            return line.replace(match[2], f"the file {match[2]}")
        if " file " not in line and not re.search(r"\b(from|to)\b", line):
            longer = f"{line.removesuffix('.')} {DIRECTIONS[match[1]]} the file {match[2]}."
            return longer if len(longer) <= LONGEST else line
    return line


def an(name: str) -> str:
    """The name with its article."""
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _lower(line: str) -> str:
    return line if len(line) > 1 and line[1].isupper() else line[0].lower() + line[1:]


def _property(symbol: Symbol, parts: list[str], gives: Result) -> str:
    if parts[0] in QUESTIONS and len(parts) > 1:
        return f"Whether {QUESTIONS[parts[0]]} {' '.join(parts[1:])}."
    text = gives.text
    if text and not text.startswith(("`self.", "what ", "the result")) and len(text) <= 60:
        return (
            f"The {' '.join(parts)}: {text}." if f"`{symbol.name}`" not in text else f"The {' '.join(parts)}."
        )
    return f"The {' '.join(parts)}."


def _decorates(symbol: Symbol, gives: Result) -> bool:
    """Does it take a function, and give back one that it defines and that calls the former?"""
    if len(symbol.parameters) != 1:
        return False
    return gives.text == f"a function that calls `{symbol.parameters[0].name}`"


def _named(symbol: Symbol, parts: list[str], gives: Result, yields: Result | None) -> str:
    line = summary(symbol)
    first, rest = parts[0], parts[1:]
    if not rest and _constructs(symbol):
        return f"Create {an(first)}."
    given = [p.name for p in symbol.parameters if p.name and not p.star][:1]
    if first in ("from", "of") and not rest and given:
        return f"Create from `{given[0]}`."
    if first in QUESTIONS and not rest and given:
        return f"Tell whether {QUESTIONS[first]} `{given[0]}`."
    if (
        first[:1] == "a"
        and first[1:] in VERBS
        and symbol.node is not None
        and symbol.node.text().startswith("async")
    ):
        first, parts = first[1:], [first[1:], *rest]
        line = f"{' '.join(parts).capitalize()}."
    if first in QUESTIONS and rest:
        return _question(symbol, line, gives)
    if first in VERBS:
        if rest:
            return f"{first.capitalize()} {_article(rest)}."
        return _single(symbol, first, gives)
    if first == "iter" and rest:
        return f"Iterate over {_article(rest)}."
    if yields is not None:
        return _participle(symbol, parts, "Yield") or f"Yield {_article(parts)}."
    done = _participle(symbol, parts, "Return") if gives.lines else ""
    if done:
        return done
    if len(parts) == 1 and gives.text and len(gives.text) <= 60 and " if " not in gives.text:
        return f"Return {gives.text}."
    gave = bool(gives.text or (gives.lines and not gives.always_nothing))
    if line.lower().startswith(("return the ", "convert to", "create from", "handle ")):
        return line
    if gave and not set(parts) & LITTLE:
        return f"Return {_article(parts, always=True)}."
    return line


def _participle(symbol: Symbol, parts: list[str], verb: str) -> str:
    """`chunked(items)`: its first parameter, chunked."""
    named = [p.name for p in symbol.parameters if p.name and not p.star][:1]
    single = len(parts) == 1 and parts[0].endswith("ed") and len(parts[0]) > 4
    return f"{verb} `{named[0]}` {parts[0]}." if single and named else ""


def _constructs(symbol: Symbol) -> bool:
    """A JavaScript function with a capital is called with `new`."""
    if symbol.kind != "function" or not symbol.name[:1].isupper() or symbol.node is None:
        return False
    listed = symbol.node.field("parameters")
    return listed is not None and listed.kind() == "formal_parameters"


def _question(symbol: Symbol, line: str, gives: Result) -> str:
    """`is_empty`: whether it is empty, and of a function with one parameter, whether that is."""
    del gives
    named = [p for p in symbol.parameters if p.name and not p.star]
    if symbol.kind == "function" and named and " it is " in line:
        return line.replace(" it is ", f" `{named[0].name}` is ", 1)
    if symbol.kind == "function" and named and " it has " in line:
        return line.replace(" it has ", f" `{named[0].name}` has ", 1)
    return line


def _single(symbol: Symbol, verb: str, gives: Result) -> str:
    """A name of one verb says what is done, and not to what: the parameters do."""
    text = gives.text
    if text and text.startswith("`") and len(text) <= 50 and " if " not in text and " " in text:
        return f"Return {text}."
    named = [p.name for p in symbol.parameters if p.name and not p.star and not p.optional][:1]
    if named and (verb not in OWN or not symbol.owner) and verb not in ("run", "start", "stop"):
        return f"{verb.capitalize()} `{named[0]}`."
    if symbol.owner:
        return f"{verb.capitalize()} the `{symbol.owner}`."
    return f"{verb.capitalize()}."


def _article(rest: list[str], *, always: bool = False) -> str:
    """The words with "the" before them, where that reads well."""
    first = rest[0]
    if first in NO_ARTICLE and not always:
        return " ".join(rest)
    if first.endswith("ly") or (first in VERBS and len(rest) > 1 and rest[1] in VERBS):
        return " ".join(rest)
    if set(rest) & {"and", "or"} and not always:
        return " ".join(rest)
    head = rest[: next((n for n, w in enumerate(rest) if w in LITTLE), len(rest))]
    plural = head and head[-1].endswith("s") and not head[-1].endswith(("ss", "us", "is"))
    return " ".join(rest) if plural and not always else f"the {' '.join(rest)}"
