"""Makefiles: the lines of recipes, what `$(shell ...)` and `!=` run, and values of simple variables in them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field

from cli_guard.lazy import dataclass
from cli_guard.reviewers.commands.extract.snippet import (
    LineNumbers,
    Snippet,
    Where,
    join_continued,
    pieces_of,
    shell_of,
    skip,
    snippet,
    variable,
)
from cli_guard.rules.catalog import read_patterns

PATTERNS = read_patterns("command_files/patterns.toml", "make")
BRACKETS = {"(": re.compile("[()]"), "{": re.compile("[{}]")}
# The head of a recipe: the names before its colon, one and its parameters in a justfile, and what it needs.
MAKE_HEAD = re.compile(r"([^\s#=:][^#=:\n]*?)\s*::?(?!=)([^#;\n]*)")
JUST_HEAD = re.compile(r"@?([\w-]+)[^#:\n]*:(?!=)([^#\n]*)")
# What ends no recipe: its lines, blank ones and comments.
INDENTED = re.compile(r"[ \t#]|$")
LONGEST_REFERENCE = 2_000
LONGEST_VALUE = 500


@dataclass(slots=True)
class _State:
    """The state of the reader: inside a recipe or a definition, and the variables set so far."""

    prefix: str = "\t"
    shell: str = "sh"
    in_rule: bool = False
    in_define: bool = False
    one_shell: bool = False
    is_template: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
    recipe: list[tuple[int, str]] = field(default_factory=list)


def snippets(text: str) -> Iterator[Snippet]:
    """Yield the commands of a makefile. Each logical line of a recipe has its own shell, except under .ONESHELL."""
    state = _State(
        one_shell=bool(re.search(r"(?m)^\.ONESHELL[ ]*:", text)),
        values=_simple_variables(text),
    )
    for pieces in join_continued(pieces_of(text)):
        yield from _line(state, pieces)
    yield from _recipe(state)
    for found in _calls(text):
        yield _expand(found, state.values)


def _line(state: _State, pieces: list[tuple[int, str]]) -> Iterator[Snippet]:
    """Yield the commands of a logical line: a recipe line, or the start or end of one."""
    number, first = pieces[0]
    if state.in_define and re.match(r"[ ]*endef\b", first):
        yield from _recipe(state)
        state.in_define = state.is_template = False
    elif first.startswith(state.prefix) and (state.in_rule or state.in_define):
        stripped = [(line, text.removeprefix(state.prefix)) for line, text in pieces]
        stripped[0] = (number, skip(PATTERNS["prefix"], stripped[0][1]))
        state.recipe += stripped
        if not state.one_shell:
            yield from _recipe(state)
    elif re.match(r"[ ]*define\b", first):
        state.in_define = True
    elif state.in_define and PATTERNS["rule"].match(first):
        # Text that defines rules is expanded twice: by the call, and by the evaluation.
        state.is_template = True
    elif (
        not first.strip()
        or first.lstrip().startswith("#")
        or PATTERNS["keyword"].match(first)
        or state.in_define
    ):
        return
    else:
        yield from _recipe(state)
        yield from _top(state, pieces)


def _top(state: _State, pieces: list[tuple[int, str]]) -> Iterator[Snippet]:
    number, first = pieces[0]
    assigned = PATTERNS["assignment"].match(first)
    state.in_rule = False
    if assigned:
        name = assigned[1]
        operator = assigned[2]
        value = assigned[3].strip()
        if operator == "!=":
            found = snippet(
                [(number, first[assigned.start(3) :]), *pieces[1:]], Where.BUILD
            )
            yield _expand(found, state.values)
        elif name == ".RECIPEPREFIX":
            state.prefix = value[:1] or "\t"
        elif name == "SHELL" and value:
            state.shell = "sh" if "$" in value else shell_of(value)
    elif not PATTERNS["target_variable"].match(first) and PATTERNS["rule"].match(first):
        state.in_rule = True
        inline = PATTERNS["inline"].match(first)
        if inline:
            rest = skip(PATTERNS["prefix"], first[inline.end() :])
            state.recipe += [(number, rest), *pieces[1:]]
            if not state.one_shell:
                yield from _recipe(state)


def _recipe(state: _State) -> Iterator[Snippet]:
    recipe = state.recipe
    state.recipe = []
    if any(text.strip() for _, text in recipe):
        found = _expand(snippet(recipe, Where.BUILD, state.shell), state.values)
        yield _expand(found, state.values) if state.is_template else found


def _calls(text: str) -> Iterator[Snippet]:
    lines = LineNumbers(text)
    for call in PATTERNS["shell_call"].finditer(text):
        begin = text.rfind("\n", 0, call.start()) + 1
        if text[begin : call.start()].lstrip().startswith("#"):
            continue
        end = _end_of(text, call.start() + 1)
        inner = text[call.end() : end - 1]
        yield snippet(pieces_of(inner, lines.at(call.end())), Where.BUILD)


def _simple_variables(text: str) -> dict[str, str]:
    found = [
        assigned
        for line in text.split("\n")
        if not line.startswith("\t")
        and "=" in line
        and (assigned := PATTERNS["assignment"].match(line))
    ]
    times = Counter(assigned[1] for assigned in found)
    return {
        assigned[1]: assigned[3].strip()
        for assigned in found
        if times[assigned[1]] == 1
        and not re.search(r"[$#\\]", assigned[3])
        and len(assigned[3]) < LONGEST_VALUE
    }


def _expand(found: Snippet, values: Mapping[str, str]) -> Snippet:
    """Return the text that the shell receives: make's variables are filled in, `$$` is a dollar."""
    changes: list[tuple[int, int, str]] = []
    position = 0
    while reference := PATTERNS["reference"].search(found.text, position):
        start = reference.start()
        position = reference.end()
        if reference[0] == "$$":
            changes.append((start, position, "$"))
            continue
        if reference[0][-1] in BRACKETS:
            position = _end_of(found.text, start + 1)
        name = (
            found.text[start + 2 : position - 1]
            if position - start > 2
            else found.text[start + 1]
        )
        value = values.get(name)
        changes.append(
            (
                start,
                position,
                variable(found.text[start:position]) if value is None else value,
            )
        )
    return found.replace_spans(changes)


def _end_of(text: str, opening: int) -> int:
    bracket = text[opening]
    depth = 0
    end = min(len(text), opening + LONGEST_REFERENCE)
    for found in BRACKETS[bracket].finditer(text, opening, end):
        depth += 1 if found[0] == bracket else -1
        if not depth:
            return found.end()
    return end


def blocks_in(
    text: str, head: re.Pattern[str]
) -> Iterator[tuple[list[str], list[str], str]]:
    """Yield the recipes of a file, each with its names and what it needs; what is none has no names."""
    names: list[str] = []
    others: list[str] = []
    block = ""
    for line in text.splitlines(keepends=True):
        if not INDENTED.match(line) and not block.endswith("\\\n"):
            yield names, others, block
            found = head.match(line)
            names = found[1].split() if found else []
            others = re.findall(r"[^\s()&|]+", found[2]) if found else []
            block = ""
        block += line
    yield names, others, block
