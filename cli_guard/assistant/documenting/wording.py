"""Fills the places of skeletons with sentences that a model has written; signatures stay what the code says."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from pydantic import Field

from cli_guard.assistant.documenting.document import document
from cli_guard.assistant.documenting.source import TODO, DocSource
from cli_guard.assistant.sentences import KnownNames, problem_with
from cli_guard.assistant.tools import proposal_output
from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World
from cli_guard.lazy import dataclass

WIDTH = 88
# The headings and tags of each style, and what they describe.
KINDS = {
    **dict.fromkeys(
        ("Args", "Arguments", "Parameters", "Attributes", "param", "ivar", "var"), "params"
    ),
    **dict.fromkeys(
        ("Returns", "Yields", "returns", "return", "yields", "yield"), "returns"
    ),
    **dict.fromkeys(("Raises", "Errors", "raises", "throws"), "raises"),
}
HEADING = re.compile(
    r"[/# \t]*(Args|Arguments|Parameters|Attributes|Returns|Yields|Raises|Errors):?[ \t\r]*"
)
TAG = re.compile(r"[@:](param|ivar|var|returns?|yields?|raises|throws)\b(.*)")
NAME = re.compile(r"[\w$][\w$.]*")
LEAD = re.compile(r"[ \t]*(?:(?:\*|//+)[ \t]+)?")
# Rust has one section for all errors of a function.
ANY_ERROR = "Err"
NO_PLACE = "the skeleton has no place for it"
Slot = tuple[str, str]


class Words(Arguments):
    """A sentence for one place of a skeleton: its `kind` is summary, params, returns or raises."""

    path: str
    symbol: str
    kind: str
    name: str
    text: str


class Worded(Arguments):
    """A request for documentation, and the sentences for its skeletons."""

    request: str = Field(min_length=1, max_length=20_000)
    sentences: tuple[Words, ...] | list[Words] = Field(max_length=2_000)


@dataclass
class Filling:
    """Fills skeletons; `given` are the sentences by path and symbol, `dropped` the reasons of those not taken."""

    given: Mapping[tuple[str, str], dict[Slot, str]]
    texts: Mapping[str, str]
    dropped: list[str] = field(default_factory=list)
    elsewhere: dict[str, bool] = field(default_factory=dict)

    def fill(self, source: DocSource, symbol: str, lines: Sequence[str]) -> tuple[str, ...]:
        """Return the lines of a skeleton with the sentences that it has a place for and that pass."""
        sentences = self.given.get((source.path, symbol), {})
        known = KnownNames(source.text, self.texts, self.elsewhere)
        slots = dict(read_slots(lines))
        self.dropped += [NO_PLACE for slot in sentences if slot not in slots.values()]
        filled: list[str] = []
        for at, line in enumerate(lines):
            sentence = sentences.get(slots[at], "") if at in slots else ""
            problem = problem_with(sentence, known)
            self.dropped += [problem] if problem else []
            taken = (
                finish_sentence(sentence, source.language, symbol)
                if sentence and not problem
                else ""
            )
            filled += (
                wrap(line, taken, is_entry=slots[at][0] != "summary") if taken else [line]
            )
        return tuple(filled)


def read_slots(lines: Sequence[str]) -> Iterator[tuple[int, Slot]]:
    """Yield the lines of a skeleton that have a place for words, with what is described there."""
    section = ""
    for at, line in enumerate(lines):
        before, place, _ = line.partition(TODO)
        if not place:
            heading = HEADING.fullmatch(line)
            section = KINDS[heading[1]] if heading else section
            continue
        kind = section or "summary"
        name = ""
        if tag := TAG.search(before):
            kind = KINDS[tag[1]]
            name = (NAME.findall(tag[2]) or [""])[-1]
        elif section:
            # NumPy's style has the name on a line of its own.
            names = NAME.findall(before) or NAME.findall(lines[at - 1])
            name = names[0] if names else ANY_ERROR
        yield at, (kind, name if kind in ("params", "raises") else "")


def finish_sentence(sentence: str, language: str, symbol: str) -> str:
    """Return a sentence with its period; Go's comments begin with the name, which is there already."""
    text = sentence.strip()
    if language == "go":
        text = text.removeprefix(symbol.rpartition(".")[2]).strip() or text
        text = text[:1].lower() + text[1:] if text[1:2].islower() else text
    return text if text.endswith((".", "!", "?")) else f"{text}."


def wrap(line: str, sentence: str, *, is_entry: bool) -> list[str]:
    """Return a line with a sentence in its place, broken where it is too long."""
    whole = line.replace(TODO, sentence, 1)
    lead = LEAD.match(whole)
    start = lead[0] if lead else ""
    hang = start + ("" if not is_entry or line[len(start) :].startswith(TODO) else "    ")
    return textwrap.wrap(
        whole[len(start) :],
        WIDTH,
        initial_indent=start,
        subsequent_indent=hang,
        break_long_words=False,
        break_on_hyphens=False,
    )


def word_documentation(world: World, arguments: Arguments) -> ToolOutput:
    """Propose the documentation of a request with sentences in it, each checked against the code."""
    assert isinstance(arguments, Worded)  # noqa: S101 - validated against this schema
    given: dict[tuple[str, str], dict[Slot, str]] = {}
    for each in arguments.sentences:
        given.setdefault((each.path, each.symbol), {})[each.kind, each.name] = each.text
    filling = Filling(given, world.snapshot)
    made = document(arguments.request, world.snapshot, filling.fill)
    output = proposal_output(world, made, made.changes)
    return replace(output, data={**output.data, "dropped": filling.dropped})


WORD_DOCUMENTATION = Tool(
    "word_documentation",
    word_documentation.__doc__ or "",
    "read_only",
    Worded,
    word_documentation,
)
