"""What the documentation of one function says, before it is put into any style; every part rests on a line."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts import (
    Body,
    effects,
    environment,
    raised,
    read_body,
    results,
    used,
    yielded,
)
from cli_guard.assistant.documenting.facts.code import code, names_credential, quotable
from cli_guard.assistant.documenting.facts.effects import attributes_set
from cli_guard.assistant.documenting.facts.errors import SMALL, WITH
from cli_guard.assistant.documenting.facts.go_errors import go_errors, go_values
from cli_guard.assistant.documenting.facts.nodes import NOTHING as NO_VALUE
from cli_guard.assistant.documenting.facts.nodes import STRINGS
from cli_guard.assistant.documenting.facts.results import Result
from cli_guard.assistant.documenting.facts.rust_errors import panics, rust_errors
from cli_guard.assistant.documenting.facts.use import Use, listed, unit_of
from cli_guard.assistant.documenting.summaries import function_summary
from cli_guard.code.symbols import Parameter, Symbol
from cli_guard.reviewers.docs.wording import NOTHING, VERBS, about, result, words

if TYPE_CHECKING:
    from ast_grep_py import SgNode

CLEAR = 3
BOOLEANS = frozenset({"bool", "boolean", "Boolean"})
STAND_IN = 10
# A name is all there is: better nothing than the name once more.
UNTOLD = "The result."


@dataclass(frozen=True, slots=True)
class Draft:
    """The parts of a documentation comment. Code stands between single backticks.

    `parameters` and `attributes` pair a parameter with its words, "" where nothing is known. `result` and
    `yields` are (type, words), `raises` pairs of type and words. `lines` are those the statements rest on.
    """

    summary: str
    sentences: tuple[str, ...] = ()
    parameters: tuple[tuple[Parameter, str], ...] = ()
    attributes: tuple[tuple[Parameter, str], ...] = ()
    result: tuple[str, str] | None = None
    yields: tuple[str, str] | None = None
    raises: tuple[tuple[str, str], ...] = ()
    note: str = ""
    lines: tuple[int, ...] = field(default=())


def sentence(text: str) -> str:
    """The text with a capital and a full stop; a piece of code at its beginning stays as it is."""
    text = text.strip()
    if not text:
        return ""
    text = text[0].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def function_draft(symbol: Symbol, language: str) -> Draft:
    """What is to be said of a function or method."""
    node = symbol.node
    if node is None:
        return Draft(function_summary(symbol, Result("", ()), None, ()))
    body = read_body(node, language)
    names = frozenset(p.name for p in symbol.parameters if p.name)
    uses = used(body, names)
    gives, yields = results(body), yielded(body)
    done = effects(body)
    summary = function_summary(symbol, gives, yields, done)
    defaults = defaults_of(node)
    told = [
        (p, parameter_words(p, uses.get(p.name, ()), defaults.get(p.name, "")))
        for p in symbol.parameters
        if p.name
    ]
    told = [(p, "" if _said_by(text, summary) else text) for p, text in told]
    errors = raised(body)
    variables = environment([step.node for step in body.steps])
    sentences = [
        *(sentence(e.text) for e in done if not _in_summary(e.text, summary)),
        *(_variable_sentence(v.name, v.default, v.required) for v in variables),
        *_state(symbol, body),
        *(["A subclass has to define it."] if _placeholder(body) else []),
    ]
    rust: tuple[str, ...] = ()
    if language == "rust":
        rust, at = rust_errors(body)
        sentences += [f"Panics {lower_first(_raise_words(panics(body)))}"] if panics(body) else []
        gives = Result(gives.text, (*gives.lines, *at))
    if language == "go" and go_values(symbol.returns):
        whens, at = go_errors(body)
        sentences += [f"It returns an error {lower_first(_raise_words(whens))}"] if whens else []
        gives = Result("", at)
    lines = [symbol.line, *(e.line for e in done), *(v.line for v in variables), *gives.lines]
    lines += [line for error in errors for line in error.lines]
    lines += [use.line for each in uses.values() for use in each[:1]]
    if yields is not None:
        lines += yields.lines
    if not any(text for _, text in told) and not any(p.annotation for p, _ in told):
        told = []
    return Draft(
        summary=summary,
        sentences=tuple(dict.fromkeys(sentences)),
        parameters=tuple(told),
        result=None if yields is not None else _result(symbol, gives, summary),
        yields=(_yield_type(symbol.returns), sentence(yields.text)) if yields is not None else None,
        raises=(("", _raise_words(rust)),) if rust else tuple((e.type, _raise_words(e.when)) for e in errors),
        note=_note(symbol, told, body, summary),
        lines=tuple(sorted(set(lines))),
    )


def parameter_words(parameter: Parameter, uses: tuple[Use, ...], default: str) -> str:
    """The words for one parameter, "" if the body tells nothing of it."""
    main = [use for use in uses if use.rank < STAND_IN]
    main = [u for u in main if u.text != "Called" or len(main) == 1]
    chosen = main[:1] + [use for use in main[1:2] if use.rank <= CLEAR and main[0].rank <= CLEAR]
    flag = parameter.annotation in BOOLEANS or default.lower() in ("true", "false")
    parts = [_flag(sentence(use.text)) if flag else sentence(use.text) for use in chosen]
    named = about(parameter)
    if not named.startswith("The ") and not (parts and named.startswith("Further")):
        parts = [named, *parts] if not named.startswith("Further") else [named]
    parts += [sentence(use.text) for use in uses if use.rank == STAND_IN][:1]
    unit = unit_of(parameter.name)
    if unit and not any(unit in part.lower() for part in parts):
        parts.append(f"In {unit}.")
    if default and not any(" is used" in part and "If it is" in part for part in parts):
        parts.append(f"Defaults to `{default}`.")
    return " ".join(parts)


def _flag(text: str) -> str:
    """Of a parameter that is a truth it is said that it is true, not that it counts as true."""
    return text.replace("If truthy,", "If true,").replace("If falsy,", "If false,")


def defaults_of(function: "SgNode") -> dict[str, str]:
    """The defaults of parameters as source, without those that say nothing (None) or may be credentials."""
    listed = function.field("parameters")
    found: dict[str, str] = {}
    for child in listed.named_children() if listed is not None else ():
        name = child.field("name") or child.field("pattern") or child.field("left")
        value = child.field("value") or child.field("right")
        if name is None or value is None or value.kind() in NO_VALUE:
            continue
        if names_credential(name.text()) and value.kind() in STRINGS:
            continue
        text = quotable(value.text(), 30)
        if text and text not in ("None", "null", "undefined"):
            found[name.text()] = text
    return found


def _placeholder(body: Body) -> bool:
    """Is the body nothing but `raise NotImplementedError`?"""
    return len(body.steps) < SMALL and any(
        "NotImplementedError" in s.node.text() for s in body.of("raise_statement")
    )


def _said_by(text: str, summary: str) -> bool:
    """Does the summary quote the only expression of which a parameter is a part?"""
    return text.startswith("Used in `") and text.removeprefix("Used in ").rstrip(".") in summary


def lower_first(text: str) -> str:
    """The text with a small first letter."""
    return text[:1].lower() + text[1:]


def _in_summary(effect: str, summary: str) -> bool:
    verb, _, rest = effect.partition(" the file ")
    return bool(rest) and rest in summary and verb in ("Reads", "Writes")


def _variable_sentence(name: str, default: str | None, required: bool) -> str:
    if required:
        return f"Needs the environment variable `{name}`."
    tail = f", `{default}` if it is not set" if default else ""
    return f"Reads the environment variable `{name}`{tail}."


def _state(symbol: Symbol, body: Body) -> list[str]:
    """The attributes that a method other than the constructor sets."""
    if symbol.kind != "method" or symbol.name in ("__init__", "constructor", "setUp", symbol.owner):
        return []
    names = [f"`{e.text}`" for e in attributes_set(body) if code(e.text)]
    if not names or len(names) > 4:
        return []
    return [f"Sets {listed(names)}."]


def _result(symbol: Symbol, gives: Result, summary: str) -> tuple[str, str] | None:
    kind = symbol.returns
    if gives.always_nothing or (kind in NOTHING and kind) or "property" in symbol.decorators:
        return None
    if "NoReturn" in kind or (not kind and not gives.lines):
        return None
    if gives.text:
        # Said once is enough, where there is no type to add.
        return None if not kind and summary == f"Return {gives.text}." else (kind, sentence(gives.text))
    if not kind:
        return None
    named = result(symbol)
    return kind, "" if named == UNTOLD or gives.lines == () else named


def _yield_type(returns: str) -> str:
    for name in ("AsyncIterator[", "Iterator[", "Iterable[", "AsyncIterable["):
        if returns.rsplit(".", 1)[-1].startswith(name):
            return returns.partition("[")[2].removesuffix("]")
    if "Generator[" in returns:
        inner, depth = returns.partition("[")[2].removesuffix("]"), 0
        for place, char in enumerate(inner):
            depth += (char == "[") - (char == "]")
            if char == "," and depth == 0:
                return inner[:place].strip()
        return inner
    return ""


def _raise_words(whens: tuple[str, ...]) -> str:
    messages = [when for when in whens if when.startswith(WITH)]
    told = [when for when in whens if when and when not in messages]
    if messages and not told:
        return sentence(messages[0]) if len(whens) == 1 else ""
    if not told or len(told) < len(whens):
        return f"If {told[0]}, and in other cases." if told else ""
    if len(told) > 3:
        return f"If {', if '.join(told[:3])}, and in {len(told) - 3} more case{'s' if len(told) > 4 else ''}."
    return f"If {told[0]}." if len(told) == 1 else f"If {', if '.join(told[:-1])}, or if {told[-1]}."


def _note(symbol: Symbol, told: list[tuple[Parameter, str]], body: Body, summary: str) -> str:
    open_names = [p.name for p, text in told if not text and not p.star and f"`{p.name}`" not in summary]
    parts = []
    if open_names:
        parts.append(
            f"The code does not show what {_names(open_names)} {'is' if len(open_names) == 1 else 'are'} for."
        )
    plain = summary.rstrip(".").lower() == " ".join(words(symbol.name)).lower()
    if plain and words(symbol.name)[0] not in VERBS:
        parts.append("The first line is no more than the name says.")
    if body.cut:
        parts.append("The body is long and was read in part.")
    return " ".join(parts)


def _names(names: list[str]) -> str:
    shown = [f"`{name}`" for name in names[:6]]
    if len(names) > 6:
        return f"{', '.join(shown)} and {len(names) - 6} more"
    return listed(shown)
