"""A draft as a Python docstring: Google, NumPy or Sphinx sections, or prose where the file has no sections."""

import textwrap
from dataclasses import dataclass

from cli_guard.assistant.documenting.drafts import Draft
from cli_guard.code.symbols import Parameter
from cli_guard.reviewers.docs.styles import Style
from cli_guard.reviewers.docs.suggest import safe_type
from cli_guard.reviewers.docs.wording import third_person

SHORTEST = 40


@dataclass(frozen=True, slots=True)
class Form:
    """How a docstring is written here: the style, the longest line, double backticks, third person."""

    style: Style
    width: int = 88
    double: bool = False
    third: bool = False


def docstring(draft: Draft, form: Form, indent: str, *, blank_after: bool = False) -> list[str]:
    """The lines of a docstring, indented, without line ends."""
    unit = "\t" if indent.endswith("\t") else "    "
    width = max(SHORTEST, form.width - len(indent.expandtabs(4)))
    quotes = form.style.quotes
    summary = third_person(draft.summary) if form.third else draft.summary
    body = _body(draft, form, unit, width)
    if not body and len(summary) + 2 * len(quotes) <= width:
        lines = [quotes + summary + quotes]
    else:
        head = wrapped(summary, width if form.style.below else width - len(quotes))
        lines = [quotes, *head] if form.style.below else [quotes + head[0], *head[1:]]
        lines += [*body, quotes]
    marked = [_marks(line, form) for line in lines]
    return [(indent + line).rstrip() for line in marked] + ([""] if blank_after else [])


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """The text in lines; a piece of code between backticks is not torn apart."""
    held, inside = [], False
    for char in text:
        inside = inside is not (char == "`")
        held.append("\0" if inside and char == " " else char)
    lines = textwrap.wrap(
        "".join(held),
        max(width, SHORTEST),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in lines] or [first.rstrip()]


def _marks(line: str, form: Form) -> str:
    return line.replace("`", "``") if form.double else line


def _body(draft: Draft, form: Form, unit: str, width: int) -> list[str]:
    sections = form.style.sections
    sentences = list(draft.sentences)
    if sections == "plain":
        sentences += prose(draft)
    lines: list[str] = []
    if sentences:
        lines += ["", *wrapped(" ".join(sentences), width)]
    if sections == "plain":
        return lines
    makers = {"google": _google, "numpy": _numpy, "sphinx": _sphinx}
    return lines + makers[sections](draft, form, unit, width)


def prose(draft: Draft) -> list[str]:
    """Results and errors as sentences, for a style without sections."""
    said = []
    if draft.yields and draft.yields[1]:
        said.append(f"Yields {_lower(draft.yields[1])}")
    if draft.result and draft.result[1] and _lower(draft.result[1]).rstrip(".") not in draft.summary:
        said.append(f"Returns {_lower(draft.result[1])}")
    said += [
        f"Raises `{name}` {_lower(words)}" if words else f"Raises `{name}`." for name, words in draft.raises
    ]
    return said


def _lower(text: str) -> str:
    if text.startswith(("None", "True", "False")) or text[1:2].isupper():
        return text
    return text[0].lower() + text[1:]


def _typed(parameter: Parameter, form: Form) -> str:
    return safe_type(parameter.annotation) if form.style.typed else ""


def _google(draft: Draft, form: Form, unit: str, width: int) -> list[str]:
    lines: list[str] = []
    for title, pairs in (("Args", draft.parameters), ("Attributes", draft.attributes)):
        entries = [e for p, words in pairs for e in _google_entry(p, words, form, unit, width)]
        if entries:
            lines += ["", f"{title}:", *entries]
    for title, pair in (("Returns", draft.result), ("Yields", draft.yields)):
        if pair is None:
            continue
        kind, words = safe_type(pair[0]) if form.style.typed else "", pair[1]
        text = f"{kind}: {words}" if kind and words else words
        if text:
            lines += ["", f"{title}:", *wrapped(text, width, unit, unit)]
    if draft.raises:
        lines += ["", "Raises:"]
        for name, words in draft.raises:
            text = f"{name}: {words}" if words else f"{name}: In some cases."
            lines += wrapped(text, width, unit, unit * 2)
    return lines


def _google_entry(parameter: Parameter, words: str, form: Form, unit: str, width: int) -> list[str]:
    kind = _typed(parameter, form)
    name = parameter.star + parameter.name
    if not words and not kind:
        return []
    head = f"{name} ({kind})" if kind else name
    return wrapped(f"{head}: {words}" if words else head, width, unit, unit * 2)


def _numpy(draft: Draft, form: Form, unit: str, width: int) -> list[str]:
    lines: list[str] = []
    for title, pairs in (("Parameters", draft.parameters), ("Attributes", draft.attributes)):
        if pairs:
            lines += ["", title, "-" * len(title)]
        for parameter, words in pairs:
            kind = safe_type(parameter.annotation)
            name = parameter.star + parameter.name
            lines.append(f"{name} : {kind}" if kind else name)
            lines += wrapped(words, width, unit, unit) if words else []
    for title, pair in (("Returns", draft.result), ("Yields", draft.yields)):
        if pair is None or not (safe_type(pair[0]) or pair[1]):
            continue
        lines += ["", title, "-" * len(title), *([safe_type(pair[0])] if safe_type(pair[0]) else [])]
        lines += wrapped(pair[1], width, unit, unit) if pair[1] else []
    if draft.raises:
        lines += ["", "Raises", "------"]
        for name, words in draft.raises:
            lines += [name, *(wrapped(words, width, unit, unit) if words else [])]
    return lines


def _sphinx(draft: Draft, form: Form, unit: str, width: int) -> list[str]:
    lines: list[str] = []
    for tag, pairs in (("param", draft.parameters), ("ivar", draft.attributes)):
        for parameter, words in pairs:
            kind = _typed(parameter, form)
            middle = f"{kind} " if kind and " " not in kind else ""
            lines += wrapped(f":{tag} {middle}{parameter.name}: {words}".rstrip(), width, "", unit)
    if draft.yields and draft.yields[1]:
        lines += wrapped(f":returns: An iterator that yields {_lower(draft.yields[1])}", width, "", unit)
    if draft.result and draft.result[1]:
        lines += wrapped(f":returns: {draft.result[1]}", width, "", unit)
    for name, words in draft.raises:
        lines += wrapped(f":raises {name}: {words}".rstrip(), width, "", unit)
    return ["", *lines] if lines else []
