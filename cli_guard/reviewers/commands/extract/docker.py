"""Dockerfiles: RUN, CMD, ENTRYPOINT and HEALTHCHECK in both forms, scripts that a COPY writes, and base images."""

import json
import re
from collections.abc import Iterator

from cli_guard.lazy import frozen
from cli_guard.reviewers.commands.extract.nodes import Items, Scalar, words
from cli_guard.reviewers.commands.extract.snippet import (
    Pieces,
    Snippet,
    Where,
    pieces_of,
    shell_of,
    snippet,
)
from cli_guard.rules.catalog import read_patterns

PATTERNS = read_patterns("command_files/patterns.toml", "docker")


@frozen
class Instruction:
    """An instruction: its words as a shell reads them, and its here-documents with their last lines.

    `lines` are all that it is written on, with its verb and flags, but for the here-documents.
    """

    verb: str
    lines: Pieces
    pieces: Pieces
    below: Pieces = ()

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)


@frozen
class BaseImage:
    """What a FROM builds on: its reference, and the line that names it (of an ARG if it is the whole of it)."""

    reference: str
    line: int


def base_images(text: str) -> Iterator[BaseImage]:
    """Yield what each FROM builds on but an earlier stage: an ARG before the first FROM stands for its default."""
    defaults: dict[str, tuple[str, int]] = {}
    stages: set[str] = set()
    is_global = True
    for each in instructions(text):
        words = each.text.replace("\\\n", " ").split()
        line = each.pieces[0][0] if each.pieces else 0
        if each.verb == "ARG" and is_global:
            for word in words:
                name, _, value = word.partition("=")
                defaults[name] = (value.strip("\"'"), line)
        elif each.verb == "FROM" and words:
            is_global = False
            # Docker compares the names of stages without case, and lets only earlier ones be meant.
            if words[0].lower() not in stages:
                yield _base_image(words[0], line, defaults)
            if len(words) > 2 and words[1].upper() == "AS":
                stages.add(words[2].lower())


def _base_image(word: str, line: int, defaults: dict[str, tuple[str, int]]) -> BaseImage:
    """Put the defaults of the global ARGs into a reference; a variable without one stays."""

    def value_of(found: re.Match[str]) -> str:
        return defaults.get(found[1], ("", 0))[0] or found[2] or found[0]

    whole = PATTERNS["variable"].fullmatch(word)
    if whole and whole[1] in defaults:
        line = defaults[whole[1]][1]
    return BaseImage(PATTERNS["variable"].sub(value_of, word), line)


def snippets(text: str) -> Iterator[Snippet]:
    shell = "sh"
    for each in instructions(text):
        if each.verb == "SHELL":
            named = _array(each)
            shell = (
                shell_of(named.nodes[0].text)
                if named and isinstance(named.nodes[0], Scalar)
                else shell
            )
        elif each.verb == "FROM":
            shell = "sh"
        elif each.verb in ("RUN", "CMD", "ENTRYPOINT"):
            yield from _run(each, shell)
        elif each.verb in ("COPY", "ADD") and each.below and _is_script(each):
            yield _script(each.below[:-1])


def instructions(text: str) -> Iterator[Instruction]:
    """Yield the instructions; `ONBUILD RUN` and `HEALTHCHECK CMD` count as the inner one."""
    all_pieces = pieces_of(text.removeprefix("\ufeff"))
    escape = _escape(all_pieces)
    goes_on = re.compile(rf"{re.escape(escape)}[ \t]*\n?$")
    waiting = iter(all_pieces)
    for number, line in waiting:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        pieces = [(number, line)]
        while goes_on.search(pieces[-1][1]):
            pieces[-1] = (pieces[-1][0], goes_on.sub("\\\\\n", pieces[-1][1]))
            # Comments and empty lines do not end an instruction that goes on.
            following = next(
                (p for p in waiting if p[1].strip() and not p[1].lstrip().startswith("#")),
                None,
            )
            if following is None:
                break
            pieces.append(following)
        yield _instruction(pieces, waiting)


def _escape(pieces: Pieces) -> str:
    """Return the line continuation character, which a directive at the top can set."""
    for _, line in pieces:
        found = PATTERNS["escape"].match(line.strip())
        if found:
            return found[1]
        if not PATTERNS["directive"].match(line.strip()):
            break
    return "\\"


def _instruction(
    pieces: list[tuple[int, str]], waiting: Iterator[tuple[int, str]]
) -> Instruction:
    verb = ""
    lines = pieces
    while verb in ("", "ONBUILD", "HEALTHCHECK"):
        found = PATTERNS["verb"].match(pieces[0][1])
        if not found:
            break
        verb = found[1].upper()
        pieces = _without(pieces, found.end())
        while pieces and (flags := PATTERNS["flags"].match(pieces[0][1])):
            pieces = _without(pieces, flags.end())
    below: list[tuple[int, str]] = []
    if verb in ("RUN", "COPY", "ADD"):
        for opened in PATTERNS["heredoc"].finditer("".join(text for _, text in pieces)):
            for number, line in waiting:
                below.append((number, line))
                if (line.lstrip("\t") if opened[1] else line).rstrip("\n") == opened[3]:
                    break
    return Instruction(verb, lines, pieces, below)


def _without(pieces: list[tuple[int, str]], length: int) -> list[tuple[int, str]]:
    """Drop the first characters, and pieces with nothing left but a continuation."""
    if not pieces:
        return pieces
    (line, text), *rest = pieces
    text = text[length:]
    return (
        [(line, text), *rest]
        if text.strip() not in ("", "\\") or not rest
        else _without(rest, 0)
    )


def _run(each: Instruction, shell: str) -> Iterator[Snippet]:
    array = _array(each)
    if array:
        yield from words(array, Where.IMAGE)
    elif each.below and PATTERNS["only_heredoc"].match(each.text):
        yield _script(each.below[:-1])
    elif each.text.strip():
        yield snippet([*each.pieces, *each.below], Where.IMAGE, shell)


def _is_script(each: Instruction) -> bool:
    return each.below[0][1].startswith("#!") or bool(
        PATTERNS["script_name"].search(each.text)
    )


def _script(body: Pieces) -> Snippet:
    first = body[0][1] if body else ""
    return snippet(body, Where.IMAGE, shell_of(first) if first.startswith("#!") else "sh")


def _array(each: Instruction) -> Items | None:
    """Return the words of the exec form, None for the shell form; as in Docker, invalid JSON is shell form."""
    if not PATTERNS["exec_form"].match(each.text):
        return None
    try:
        found = json.loads(each.text.replace("\\\n", "\n"))
    except (ValueError, RecursionError):
        return None
    if not found or not all(isinstance(word, str) for word in found):
        return None
    whole = snippet(each.pieces, Where.IMAGE)
    nodes = []
    position = 0
    for word in found:
        place = each.text.find(json.dumps(word, ensure_ascii=False), position)
        position = max(place, position)
        nodes.append(Scalar(((whole.line_at(position), word),)))
    return Items(list(nodes))
