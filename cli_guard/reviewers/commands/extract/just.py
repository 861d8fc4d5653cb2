"""justfiles: the lines of recipes, recipes that are scripts, and backticks."""

import re
from collections.abc import Iterator

from cli_guard.reviewers.commands.extract.known import BRACES
from cli_guard.reviewers.commands.extract.snippet import (
    Lines,
    Pieces,
    Snippet,
    Where,
    pieces_of,
    shell_of,
    snippet,
)

HEADER = re.compile(r"@?[A-Za-z_][\w-]*(?=[ \t:])(?:'[^'\n]*'|\"[^\"\n]*\"|[^:#'\"\n])*:(?!=)")
SHELL = re.compile(r"set[ \t]+shell[ \t]*:=[ \t]*\[[ \t]*['\"]([^'\"]+)")
SCRIPT = re.compile(r"\[script(?:\([ \t]*['\"]([^'\"]+)['\"].*\))?\]")
ASSIGNED = re.compile(r"(?m)^[A-Za-z_][\w-]*[ \t]*:=(.*)")
BACKTICKS = re.compile(r"```|`([^`\n]*)`")
PREFIX = re.compile(r"[ \t]*(?:[@-]{1,2}[ \t]*)?")


def snippets(text: str) -> Iterator[Snippet]:
    """The commands of a justfile. A line of a recipe has a shell of its own, unless the recipe is a script."""
    named = SHELL.search(text)
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
        attribute = SCRIPT.match(line)
        if attribute:
            script = attribute[1] or "sh"
        elif not line.startswith("["):
            in_recipe = bool(HEADER.match(line)) and number > 0
            script = script if in_recipe else ""
    for pieces in _backticks(text):
        yield snippet(pieces, Where.BUILD, shell).substitute(BRACES)


def _backticks(text: str) -> Iterator[Pieces]:
    lines = Lines(text)
    for assigned in ASSIGNED.finditer(text):
        for call in BACKTICKS.finditer(text, assigned.start(1), assigned.end(1)):
            if call[1] is not None:
                yield pieces_of(call[1], lines.at(call.start(1)))
                continue
            end = text.find("```", call.end())
            yield pieces_of(text[call.end() : end if end >= 0 else call.end()], lines.at(call.end()))
            break


def _recipe(recipe: list[tuple[int, str]], shell: str, script: str) -> Iterator[Snippet]:
    first = "".join(text for _, text in recipe).lstrip()
    if not first:
        return
    if script or first.startswith("#!"):
        kind = shell_of(script or first.split("\n", 1)[0])
        yield snippet(recipe, Where.BUILD, kind)
        return
    waiting: list[tuple[int, str]] = []
    for number, line in recipe:
        skipped = None if waiting else PREFIX.match(line)
        waiting.append((number, line[skipped.end() :] if skipped else line))
        if line.endswith("\\\n"):
            continue
        if any(text.strip() for _, text in waiting):
            yield snippet(waiting, Where.BUILD, shell)
        waiting = []
    if waiting:
        yield snippet(waiting, Where.BUILD, shell)
