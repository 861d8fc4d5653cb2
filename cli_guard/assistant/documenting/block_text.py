"""A draft as the comment above a definition: JSDoc, Javadoc, Go and Rust."""

import re

from cli_guard.assistant.documenting.drafts import Draft
from cli_guard.assistant.documenting.python_text import Form, prose, wrapped
from cli_guard.code.symbols import Symbol
from cli_guard.reviewers.docs.suggest import safe_type
from cli_guard.reviewers.docs.wording import third_person

JAVASCRIPT = frozenset({"javascript", "typescript", "tsx"})


def comment(language: str, symbol: Symbol, draft: Draft, form: Form, indent: str) -> list[str]:
    """The lines of the comment, indented, without line ends."""
    width = form.width - len(indent.expandtabs(4))
    if language == "go":
        lines = go_lines(symbol.name, draft, width)
    elif language == "rust":
        lines = rust_lines(draft, width, deed=symbol.is_function)
    else:
        lines = _block(language, symbol, draft, form, width)
    return [(indent + line).rstrip() for line in lines]


def go_lines(name: str, draft: Draft, width: int) -> list[str]:
    """`// Name does ...`, the form that https://go.dev/doc/comment asks for; Go marks no code in a sentence."""
    line = third_person(draft.summary)
    if not line.startswith((f"{name} ", "Package ")):
        line = f"{name} {line[0].lower()}{line[1:]}"
    said = [line, *draft.sentences, *prose(draft)]
    text = " ".join(part.replace("`", "") for part in said)
    return wrapped(text, width, "// ", "// ")


def rust_lines(draft: Draft, width: int, *, deed: bool = True) -> list[str]:
    """`///` with a `# Errors` section where the body shows errors."""
    lines = wrapped(third_person(draft.summary) if deed else draft.summary, width, "/// ", "/// ")
    said = [*draft.sentences]
    if draft.result and draft.result[1]:
        said.append(f"Returns {lowered(draft.result[1])}")
    if said:
        lines += ["///", *wrapped(" ".join(said), width, "/// ", "/// ")]
    if draft.raises:
        lines += ["///", "/// # Errors", "///"]
        for name, words in draft.raises:
            lines += wrapped(f"`{name}` {lowered(words)}" if name else words, width, "/// ", "/// ")
    return lines


def lowered(text: str) -> str:
    """The text with a small first letter, if that is no name."""
    return text if not text or text[1:2].isupper() else text[0].lower() + text[1:]


def _block(language: str, symbol: Symbol, draft: Draft, form: Form, width: int) -> list[str]:
    java = language == "java"
    summary = third_person(draft.summary) if (java or form.third) and symbol.is_function else draft.summary
    plain = form.style.sections == "plain"
    tags = [] if plain else _tags(language, draft, form)
    sentences = [*draft.sentences, *(prose(draft) if plain else [])]
    if not tags and not sentences and len(summary) + 8 <= width:
        return [f"/** {_code(summary, java)} */"]
    room = width - 3
    lines = wrapped(_code(summary, java), room)
    if sentences:
        paragraph = wrapped(_code(" ".join(sentences), java), room, "<p>" if java else "")
        lines += ["", *paragraph]
    if tags:
        lines += [""]
    for tag in tags:
        lines += wrapped(_code(tag, java), room, "", "    ")
    return ["/**", *(f" * {line}".rstrip() for line in lines), " */"]


def _code(text: str, java: bool) -> str:
    if not java:
        return text
    return re.sub(r"`([^`{}]+)`", r"{@code \1}", text)


def _tags(language: str, draft: Draft, form: Form) -> list[str]:
    java = language == "java"
    dash = "- " if form.style.dash and not java else ""
    tags = []
    for parameter, words in draft.parameters:
        if not words and not java:
            words, gap = "", ""
        else:
            gap = " "
        kind = safe_type(parameter.annotation) if language == "javascript" and form.style.typed else ""
        text = lowered(words) if java else words
        typed = f"{{{kind}}} " if kind else ""
        tags.append(f"@param {typed}{parameter.name}{gap}{dash if words else ''}{text}".rstrip())
    if draft.result and draft.result[1]:
        name = "@return" if java else form.style.returns_tag
        tags.append(f"{name} {lowered(draft.result[1]) if java else draft.result[1]}")
    if draft.yields and draft.yields[1]:
        tags.append(f"@yields {draft.yields[1]}")
    for name, words in draft.raises:
        tags.append(f"@throws {name if java else f'{{{name}}}'} {lowered(words) if java else words}".rstrip())
    return tags
