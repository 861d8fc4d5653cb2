"""A plan for one function: the blocks that could be functions of their own, until what is left is within the limits.

It names lines, not signatures: what a block reads and gives back is for the author to see.
"""

from collections.abc import Iterator, Sequence

from cli_guard.code.languages import FAMILY
from cli_guard.code.symbols import Symbol
from cli_guard.code.syntax import find_nodes
from cli_guard.lazy import frozen
from cli_guard.reviewers.refactor.metrics import TABLE, Measure
from cli_guard.rules.catalog import read_table

MOST_STEPS = 3
FEWEST_LINES = 6
# A block with a single decision is worth a function from here on.
LONG = 8
LARGEST_SHARE = 0.8


@frozen
class MovableBlock:
    """A statement on lines of its own, with the decisions on them."""

    first: int
    last: int
    decisions: int

    @property
    def size(self) -> int:
        return self.last - self.first + 1

    def overlaps(self, other: "MovableBlock") -> bool:
        return self.first <= other.last and other.first <= self.last


def plan(
    language: str,
    symbol: Symbol,
    lines: Sequence[str],
    now: Measure,
    most_paths: int,
    most_length: int,
) -> tuple[str | None, bool]:
    """Return the steps as sentences, the lower lines first, and whether what is left is within the limits."""
    blocks = sorted(
        find_blocks(language, symbol, lines, now),
        key=lambda block: -block.decisions / most_paths - block.size / most_length,
    )
    chosen: list[MovableBlock] = []
    paths = now.complexity
    length = now.length
    for block in blocks:
        if len(chosen) == MOST_STEPS or (paths <= most_paths and length <= most_length):
            break
        is_small = block.decisions < most_paths and block.size <= most_length
        if is_small and not any(map(block.overlaps, chosen)):
            chosen.append(block)
            paths -= block.decisions
            length -= block.size - 1
    if not chosen:
        return None, False
    chosen.sort(key=lambda block: -block.first)
    steps = [
        f"Move lines {block.first} to {block.last} into a function of their own"
        f" ({block.decisions} of the {now.complexity} paths)."
        for block in chosen
    ]
    steps.append(f"Run the tests after each step; {paths} paths stay in `{symbol.name}`.")
    text = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return text, paths <= most_paths and length <= most_length


def find_blocks(
    language: str, symbol: Symbol, lines: Sequence[str], now: Measure
) -> Iterator[MovableBlock]:
    """Yield the branches, loops and handlers of a function that are worth one; an `else if` cannot be moved."""
    if symbol.node is None:
        return
    largest = LARGEST_SHARE * (symbol.end_line - symbol.line + 1)
    kinds = read_table(TABLE)[FAMILY.get(language, language)]["blocks"].split()
    for node in find_nodes(symbol.node, kinds):
        span = node.range()
        first = span.start.line + 1
        last = span.end.line + 1
        decisions = sum(1 for line in now.decisions if first <= line <= last)
        block = MovableBlock(first, last, decisions)
        is_apart = not lines[first - 1][: span.start.column].strip()
        is_worth_it = decisions > 1 or (decisions and block.size >= LONG)
        if is_apart and is_worth_it and FEWEST_LINES <= block.size <= largest:
            yield block
