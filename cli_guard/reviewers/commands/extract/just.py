"""justfiles: the lines of recipes, recipes that are scripts, and backticks."""

from collections.abc import Iterator

from cli_guard.reviewers.commands.extract.known import BRACES
from cli_guard.reviewers.commands.extract.snippet import (
    LineNumbers,
    Pieces,
    Snippet,
    Where,
    join_continued,
    pieces_of,
    shell_of,
    skip,
    snippet,
    snippet_if_any,
)
from cli_guard.rules.catalog import read_patterns

PATTERNS = read_patterns("command_files/patterns.toml", "just")


def snippets(text: str) -> Iterator[Snippet]:
    """Yield the commands of a justfile. Each line of a recipe has its own shell, unless the recipe is a script."""
    named = PATTERNS["shell"].search(text)
    shell = shell_of(named[1]) if named else "sh"
    script = ""
    recipe: list[tuple[int, str]] = []
    in_recipe = False
    for number, line in [*pieces_of(text), (0, "end:")]:
        if in_recipe and (not line.strip() or line[0] in " \t"):
            recipe.append((number, line))
            continue
        if line.startswith("#"):
            continue
        for found in _recipe(recipe, shell, script):
            yield found.substitute(BRACES)
        recipe = []
        attribute = PATTERNS["script"].match(line)
        if attribute:
            script = attribute[1] or "sh"
        elif not line.startswith("["):
            in_recipe = bool(PATTERNS["header"].match(line)) and number > 0
            script = script if in_recipe else ""
    for pieces in _backticks(text):
        yield snippet(pieces, Where.BUILD, shell).substitute(BRACES)


def _backticks(text: str) -> Iterator[Pieces]:
    lines = LineNumbers(text)
    for assigned in PATTERNS["assigned"].finditer(text):
        for call in PATTERNS["backticks"].finditer(
            text, assigned.start(1), assigned.end(1)
        ):
            if call[1] is not None:
                yield pieces_of(call[1], lines.at(call.start(1)))
                continue
            end = text.find("```", call.end())
            yield pieces_of(
                text[call.end() : end if end >= 0 else call.end()], lines.at(call.end())
            )
            break


def _recipe(recipe: list[tuple[int, str]], shell: str, script: str) -> Iterator[Snippet]:
    first = "".join(text for _, text in recipe).lstrip()
    if not first:
        return
    if script or first.startswith("#!"):
        kind = shell_of(script or first.split("\n", 1)[0])
        yield snippet(recipe, Where.BUILD, kind)
        return
    for (number, line), *rest in join_continued(recipe):
        start = (number, skip(PATTERNS["prefix"], line))
        yield from snippet_if_any([start, *rest], Where.BUILD, shell)
