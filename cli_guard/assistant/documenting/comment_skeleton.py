"""Skeletons of the comments above a definition: JSDoc, Javadoc, Go and Rust."""

from cli_guard.assistant.documenting.bodies import (
    NOTHING,
    find_raised_errors,
    returns_value,
    yields_value,
)
from cli_guard.assistant.documenting.source import TODO, Edit, Source
from cli_guard.code.symbols import Symbol
from cli_guard.reviewers.docs.styles import Style
from cli_guard.reviewers.docs.suggest import tag_entry


def write_comment(source: Source, symbol: Symbol, style: Style) -> Edit:
    """Write the comment of a definition, right above it and its decorators."""
    indent = source.indent_of(symbol.top)
    if source.language == "go":
        lines = [f"// {symbol.name} {TODO}"]
    elif source.language == "rust":
        lines = [f"/// {TODO}"]
        if symbol.returns.partition("<")[0].endswith("Result"):
            lines += ["///", "/// # Errors", "///", f"/// {TODO}"]
    else:
        tags = _list_tags(source.language, symbol, style)
        lines = (
            ["/**", f" * {TODO}", " *", *(f" * {tag}" for tag in tags), " */"]
            if tags
            else [f"/** {TODO} */"]
        )
    return Edit(symbol.top, tuple(indent + line for line in lines))


def _list_tags(language: str, symbol: Symbol, style: Style) -> list[str]:
    """List the parameters, the result and the errors; none where the file documents without tags."""
    if style.sections == "plain" or not symbol.is_function or symbol.node is None:
        return []
    tags = [tag_entry(language, p, style, TODO) for p in symbol.parameters if p.name]
    declared = symbol.returns.removeprefix("Promise<").removesuffix(">")
    if yields_value(symbol.node, language):
        tags.append(f"@yields {TODO}")
    elif declared not in NOTHING if symbol.returns else returns_value(symbol.node):
        tags.append(f"{'@return' if language == 'java' else style.returns_tag} {TODO}")
    for name in find_raised_errors(symbol.node, language):
        kind = name if language == "java" else f"{{{name}}}"
        tags.append(f"@throws {kind} {TODO}")
    return tags
