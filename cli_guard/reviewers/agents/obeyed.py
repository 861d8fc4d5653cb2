"""Judge the text of a file that agents obey: what is hidden in it, what it orders, and the commands that it gives.

Both states are read, and what the state before had is silent; a line is known by what it says, not by its place.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from cli_guard.commands import Context, judge_or_raise
from cli_guard.model import Decision
from cli_guard.reviewers.agents.change_tree import ChangeTree, context_of
from cli_guard.reviewers.agents.findings import SurfaceRemark
from cli_guard.reviewers.agents.hidden import find_hidden
from cli_guard.reviewers.agents.languages import find_spoken_orders
from cli_guard.reviewers.agents.markdown import Block, BlockKind, read_blocks
from cli_guard.reviewers.agents.orders import (
    find_orders,
    is_command_ordered,
    is_excused,
    order_in,
    sentences_of,
)
from cli_guard.reviewers.agents.statements import SurfaceStatement
from cli_guard.reviewers.agents.states import FileState
from cli_guard.reviewers.agents.tables import Entry
from cli_guard.reviewers.commands.extract.nodes import Node, Scalar
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

SHELLS = frozenset(("sh", "bash", "zsh", "shell", "console", "shell-session", "terminal"))
# In a fence without a language, a line that may be a command.
COMMAND_LINE = re.compile(
    r"(?m)^[ \t]{0,20}(?:[$%][ \t]+)?([a-z][\w./-]*[ \t]+[^\n]{1,2000})$"
)
SPAN = re.compile(r"`((?:[$%][ \t]+)?[A-Za-z_.~$(][^`\n]{3,400})`")
PROMPT = re.compile(r"(?m)^[ \t>]{0,20}[$%#][ \t]+(?=\w)")
MOST = 1_000
LONGEST_SCRIPT = 20_000
WHERE = {
    BlockKind.COMMENT: " in a comment that a page does not show",
    BlockKind.COLLAPSED: " in a part that a page does not show",
}


def remarks_on_text(subject: ReviewInput, state: FileState) -> Iterator[SurfaceRemark]:
    """Yield what is to be said about the texts of one file and was not so before the change."""
    new = list(texts_in(state, state.after, state.text))
    if not new:
        return
    context = context_of(ChangeTree(subject))
    known = {
        each.statement.identity
        for text in texts_in(state, state.before, state.old_text)
        for each in text.remarks(context)
    }
    for remark in chain.from_iterable(text.remarks(context) for text in new):
        if remark.statement.identity not in known:
            known.add(remark.statement.identity)
            yield remark


def texts_in(
    state: FileState, statements: Sequence[SurfaceStatement], text: str
) -> Iterator["ObeyedText"]:
    """Yield what is obeyed in one state of a file: all of it, or values of its keys."""
    if state.file.is_text and text:
        yield ObeyedText(state, text)
    for each in statements:
        if each.kind == "text":
            yield ObeyedText(state, each.value, each.node)


class ObeyedText:
    """A text of a file in one state; `node` is the value that holds it, where it is not the whole file."""

    def __init__(self, state: FileState, text: str, node: Node | None = None) -> None:
        self._file = state.file
        self._path = state.change.path
        self._text = text
        self._node = node
        is_data = self._path.endswith(".toml") and node is None
        self._blocks = read_blocks(text, is_data=is_data)

    def remarks(self, context: Context) -> Iterator[SurfaceRemark]:
        yield from self._of_hidden()
        yield from self._of_orders()
        yield from self._of_commands(context)

    def _of_hidden(self) -> Iterator[SurfaceRemark]:
        for number, hidden in enumerate(find_hidden(self._text)):
            if number >= MOST:
                return
            shown = hidden.shown
            words = (
                f"{hidden.how}, which a reader does not see: {shown}"
                if shown
                else hidden.how
            )
            deed = order_in(hidden.said)
            if deed:
                words = f"{words} ({deed.says})"
            statement = self._statement("hidden", hidden.how, shown, hidden.line)
            yield SurfaceRemark("hidden-text", statement, words)

    def _of_orders(self) -> Iterator[SurfaceRemark]:
        every = chain(find_orders(self._blocks), find_spoken_orders(self._blocks))
        for number, order in enumerate(every):
            if number >= MOST:
                return
            sentence = printable(redact(order.sentence))
            where = WHERE.get(order.kind, "")
            words = (
                f"the agent is told something that {order.says}{where}: {sentence[:200]}"
            )
            statement = self._statement(
                "order", order.deed, sentence, order.line, order.last
            )
            yield SurfaceRemark("order", statement, words)

    def _of_commands(self, context: Context) -> Iterator[SurfaceRemark]:
        commands = (each for block in self._blocks for each in commands_in(block))
        for number, (line, command) in enumerate(commands):
            if number >= MOST:
                return
            verdict = judge_or_raise(command, context)
            if verdict.verdict is not Decision.DENY:
                continue
            spans = verdict.evidence
            start = spans[0].start if spans else 0
            at = line + command.count("\n", 0, start)
            shown = command.split("\n")[at - line]
            words = f"the agent is told to run what is always denied: {verdict.reason}"
            statement = self._statement("command", "command", printable(redact(shown)), at)
            yield SurfaceRemark("text-command", statement, words)

    def _statement(
        self, kind: str, name: str, value: str, line: int, last: int = 0
    ) -> SurfaceStatement:
        entry = Entry(kind, (), {})
        node = self._node or Scalar(((line, value), (max(line, last), "")))
        return SurfaceStatement(self._file, entry, self._path, name, value, node, line)


def commands_in(block: Block) -> Iterator[tuple[int, str]]:
    """Yield the commands that a block gives, each with its first line."""
    if block.kind is BlockKind.FENCE:
        if is_excused(block):
            return
        is_shell = block.language.lower() in SHELLS
        if is_shell and len(block.text) <= LONGEST_SCRIPT:
            yield block.lines[0][0], PROMPT.sub("", block.text)
        elif is_shell or not block.language:
            for found in COMMAND_LINE.finditer(block.text):
                yield block.line_at(found.start()), found[1]
        return
    for sentence in sentences_of(block):
        for span in SPAN.finditer(sentence.raw):
            if " " in span[1] and is_command_ordered(sentence.raw[: span.start()]):
                yield sentence.line, span[1]
