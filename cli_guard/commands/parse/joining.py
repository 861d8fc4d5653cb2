"""Mends what the grammar misreads: words and redirections that it parts, and spellings that only bash takes."""

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
TIMED = re.compile(r"((?:^|[;&|\n])\s*)time\s+(?:-p\s+)?(?=[({])")
BEFORE_HERE_STRING = re.compile(
    r"((?:\s+\d?>{1,2}&?\s*[\w./-]+){1,4})\s*<<<\s*(\"[^\"]*\"|'[^']*'|[^\s;|&<>]+)"
)


def join_words(words: list[Word]) -> list[Word]:
    """Words between which there is no blank are one: the grammar parts `rm$IFS-rf$IFS/` at the second dollar."""
    whole: list[Word] = []
    for word in words:
        if whole and whole[-1].span.end == word.span.start and word.span.end > word.span.start:
            before = whole.pop()
            parts = joined_at_dollar(before.parts, word.parts)
            whole.append(Word(parts, Span(before.span.start, word.span.end)))
        else:
            whole.append(word)
    return whole


def joined_at_dollar(before: tuple[Part, ...], after: tuple[Part, ...]) -> tuple[Part, ...]:
    """Two rows of parts as one; a dollar at the end of the first makes a parameter of the name behind it."""
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
    """`>f 0>&1`: the grammar takes the descriptor of a redirection for a second target of the one before."""
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


def with_redirects(inner: Node | None, redirects: tuple[Redirect, ...], span: Span) -> Node:
    """A command with its redirections; words that stand behind one belong to the command."""
    redirects = number_redirects(redirects)
    words = tuple(each.target for each in redirects if each.operator == "word" and each.target)
    real = tuple(each for each in redirects if each.operator != "word")
    if inner is None:
        return Command(words, span, (), real)
    if isinstance(inner, Command):
        return Command(inner.words + words, span, inner.assignments, inner.redirects + real)
    if isinstance(inner, Pipeline):
        return Pipeline((*inner.stages[:-1], with_redirects(inner.stages[-1], redirects, inner.span)), span)
    if isinstance(inner, Block) and inner.kind == "list" and inner.items:
        last = with_redirects(inner.items[-1], redirects, inner.span)
        return Block("list", (*inner.items[:-1], last), span)
    if isinstance(inner, Block):
        return Block(inner.kind, inner.items, span, inner.redirects + real)
    return Block("group", (inner,), span, real)


def build_pipeline(stages: tuple[Node, ...], span: Span) -> Node:
    """A pipeline. One whose stage is a list (`a | b && c`) has been read the wrong way round: a list of pipelines."""
    pipelines: list[list[Node]] = [[]]
    for stage in stages:
        first, *rest = unfold(stage)
        pipelines[-1].append(first)
        pipelines += [[each] for each in rest]
    whole = [Pipeline(tuple(each), span) if len(each) > 1 else each[0] for each in pipelines if each]
    return whole[0] if len(whole) == 1 else Block("list", tuple(whole), span)


def unfold(node: Node) -> list[Node]:
    """The commands of a list, one after the other; what is none is alone."""
    if isinstance(node, Block) and node.kind == "list" and not node.redirects:
        return [each for item in node.items for each in unfold(item)] or [node]
    return [node]


def separate_lines(text: str, line_ends: list[int], comments: list[Span]) -> str:
    """The text with a semicolon in the place of line ends that the grammar has read over; all offsets stay."""
    characters = list(text)
    for comment in comments:
        characters[comment.start : comment.end] = " " * (comment.end - comment.start)
    for at in line_ends:
        characters[at] = ";"
    return "".join(characters)


def respell(text: str) -> str:
    """The text in a spelling that the grammar understands where bash does and it does not.

    `{a,b}` as the name of a command is written out, `<>` opens a file for both, which is looked at as writing, and
    redirections in front of a here-string go behind it.
    """
    plain = BRACED.sub(lambda found: found[0].replace(",", " ").strip("{}"), text)
    plain = plain.replace("<>", "> ")
    plain = TIMED.sub(lambda found: found[1] + " " * (len(found[0]) - len(found[1])), plain)
    return BEFORE_HERE_STRING.sub(r" <<< \2\1", plain)
