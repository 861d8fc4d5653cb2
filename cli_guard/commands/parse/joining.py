"""Repair the grammar's misreadings: split words and redirections, and spellings that only bash accepts."""

import re
from dataclasses import replace

from cli_guard.commands.model import Span
from cli_guard.commands.parse.tree import (
    Block,
    Command,
    Node,
    Parameter,
    Part,
    Pipeline,
    Redirect,
    Text,
    Word,
)

BRACED = re.compile(r"(?<![\w$'\"}]){[^\s{}$`]{0,500},[^\s{}]{0,500}}")
FOR_ARGUMENTS = re.compile(r"(\bfor[ \t]+\w+)\s(?=\s*do\b)")
TIMED = re.compile(r"((?:^|[;&|\n])\s*)time\s+(?:-p\s+)?(?=[({])")
BEFORE_HERE_STRING = re.compile(
    r"((?:\s+\d?>{1,2}&?\s*[\w./-]+){1,4})\s*<<<\s*(\"[^\"]*\"|'[^']*'|[^\s;|&<>]+)"
)


def join_words(words: list[Word]) -> list[Word]:
    """Join words with no blank between them: the grammar splits `rm$IFS-rf$IFS/` at the second dollar."""
    whole: list[Word] = []
    for word in words:
        if whole and whole[-1].span.end == word.span.start and word.span.end > word.span.start:
            before = whole.pop()
            parts = join_at_dollar(before.parts, word.parts)
            whole.append(Word(parts, Span(before.span.start, word.span.end)))
        else:
            whole.append(word)
    return whole


def join_at_dollar(before: tuple[Part, ...], after: tuple[Part, ...]) -> tuple[Part, ...]:
    """Join two rows of parts; a dollar at the end of the first makes a parameter of the name after it."""
    last, first = before[-1:], after[:1]
    if (
        last
        and first
        and isinstance(last[0], Text)
        and isinstance(first[0], Text)
        and last[0].text.endswith("$")
    ):
        if first[0].quoted and not last[0].quoted:
            # `$"..."` is a text that may be translated.
            return (*before[:-1], Text(last[0].text[:-1], False), *after)
        name = re.match(r"\w+", first[0].text)
        if name and not last[0].quoted:
            rest = first[0].text[name.end() :]
            kept = (*before[:-1], *([Text(last[0].text[:-1], False)] if last[0].text != "$" else []))
            return (*kept, Parameter(name[0], False), *([Text(rest, False)] if rest else []), *after[1:])
    return before + after


def number_redirects(redirects: tuple[Redirect, ...]) -> tuple[Redirect, ...]:
    """Move the descriptor of a redirection: in `>f 0>&1` the grammar reads it as a second target of `>`."""
    found: list[Redirect] = []
    for each in redirects:
        before = found[-1] if found else None
        if before and before.operator == "word" and before.span.end == each.span.start and before.target:
            part = next(iter(before.target.parts), None)
            if isinstance(part, Text) and part.text.isdecimal():
                found[-1] = replace(each, descriptor=part.text)
                continue
        found.append(each)
    return tuple(found)


def attach_redirects(inner: Node | None, redirects: tuple[Redirect, ...], span: Span) -> Node:
    """Attach redirections to a command; words after a redirection belong to the command."""
    redirects = number_redirects(redirects)
    words = tuple(each.target for each in redirects if each.operator == "word" and each.target)
    real = tuple(each for each in redirects if each.operator != "word")
    if inner is None:
        return Command(words, span, (), real)
    if isinstance(inner, Command):
        return Command(inner.words + words, span, inner.assignments, inner.redirects + real)
    if isinstance(inner, Pipeline):
        return Pipeline((*inner.stages[:-1], attach_redirects(inner.stages[-1], redirects, inner.span)), span)
    if isinstance(inner, Block) and inner.kind == "list" and inner.items:
        last = attach_redirects(inner.items[-1], redirects, inner.span)
        return Block("list", (*inner.items[:-1], last), span)
    if isinstance(inner, Block):
        return Block(inner.kind, inner.items, span, inner.redirects + real)
    return Block("group", (inner,), span, real)


def build_pipeline(stages: tuple[Node, ...], span: Span) -> Node:
    """Build a pipeline; if a stage is a list (`a | b && c`, nested the wrong way round), a list of pipelines."""
    pipelines: list[list[Node]] = [[]]
    for stage in stages:
        first, *rest = unfold(stage)
        pipelines[-1].append(first)
        pipelines += [[each] for each in rest]
    whole = [Pipeline(tuple(each), span) if len(each) > 1 else each[0] for each in pipelines if each]
    return whole[0] if len(whole) == 1 else Block("list", tuple(whole), span)


def unfold(node: Node) -> list[Node]:
    """Return the commands of a list; any other node alone."""
    if isinstance(node, Block) and node.kind == "list" and not node.redirects:
        return [each for item in node.items for each in unfold(item)] or [node]
    return [node]


def separate_lines(text: str, line_ends: list[int], comments: list[Span]) -> str:
    """Put semicolons for the line ends that the grammar has missed; all offsets stay."""
    characters = list(text)
    for comment in comments:
        characters[comment.start : comment.end] = " " * (comment.end - comment.start)
    for at in line_ends:
        characters[at] = ";"
    return "".join(characters)


def respell(text: str) -> str:
    """Respell what bash accepts and the grammar does not.

    `{a,b}` as the name of a command is written out, `<>` opens a file for both, which is judged as writing, `for x do`
    gets its semicolon, and redirections in front of a here-string are moved after it.
    """
    plain = FOR_ARGUMENTS.sub(r"\1;", BRACED.sub(lambda found: found[0].replace(",", " ").strip("{}"), text))
    plain = TIMED.sub(lambda found: found[1].ljust(len(found[0])), plain.replace("<>", "> "))
    return BEFORE_HERE_STRING.sub(r" <<< \2\1", plain)
