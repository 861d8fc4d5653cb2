"""Run a regular expression as a backtracking engine does, and count the steps.

`compile_node` translates the tree of a pattern into the steps of a machine, `Machine.search` runs them.
"""

from contextlib import suppress

from cli_guard.code.automaton_syntax import (
    Alphabet,
    At,
    Atomic,
    Back,
    CaptureGroup,
    Chars,
    Choice,
    Look,
    Node,
    NodeSequence,
    Repeat,
    UnreadableError,
)
from cli_guard.lazy import dataclass

MOST_STEPS_OF_PROGRAM = 1_500
MOST_STEPS_OF_ALL = 400_000
MOST_COPIES = 200
# The places before a match that a look-behind tries.
LOOKS_BACK = 12
Registers = tuple[int, ...]


@dataclass(slots=True)
class Step:
    """A step of the machine, and the steps after it in the order in which they are tried.

    read    a character of the set `mask`
    split   to one of several steps
    at      go on at a place of the kind `where`
    keep    the position, in the register `register`
    enter   keep how much is left to try; leave: give up what was added to it since (an atomic group)
    moved   go on if the position is not the one in the register
    back    read the text between two registers again
    look    go on if what begins at `inner` matches here (or, `negated`, if not; or, `behind`, up to here)
    done    the end of the pattern, or of a look-around
    """

    kind: str
    after: tuple[int, ...] = ()
    mask: int = 0
    where: str = ""
    register: int = 0
    inner: int = 0
    negated: bool = False
    behind: bool = False


class MachineProgram:
    """The steps of a pattern; step 0 is the first."""

    def __init__(self, node: Node) -> None:
        self.steps: list[Step] = [Step("split")]
        self.registers = 0
        self._groups: dict[int, int] = {}
        end = self._add(Step("done"))
        self.steps[0].after = (self._compile(node, end),)

    def _add(self, step: Step) -> int:
        if len(self.steps) >= MOST_STEPS_OF_PROGRAM:
            raise UnreadableError("too large")
        self.steps.append(step)
        return len(self.steps) - 1

    def _new_register(self, count: int = 1) -> int:
        self.registers += count
        return self.registers - count

    def _register_of(self, group: int) -> int:
        if group not in self._groups:
            self._groups[group] = self._new_register(2)
        return self._groups[group]

    def _compile(self, node: Node, after: int) -> int:
        """Add the steps of a node that go on with the step `after`, and return the first of them."""
        match node:
            case Chars(mask):
                return self._add(Step("read", (after,), mask=mask))
            case NodeSequence(parts):
                for part in reversed(parts):
                    after = self._compile(part, after)
                return after
            case Choice(parts):
                return self._add(
                    Step("split", tuple(self._compile(p, after) for p in parts))
                )
            case Repeat():
                return self._compile_repeat(node, after)
            case CaptureGroup(number, part):
                register = self._register_of(number)
                end = self._add(Step("keep", (after,), register=register + 1))
                return self._add(
                    Step("keep", (self._compile(part, end),), register=register)
                )
            case Atomic(part):
                register = self._new_register()
                end = self._add(Step("leave", (after,), register=register))
                return self._add(
                    Step("enter", (self._compile(part, end),), register=register)
                )
            case Look(part, behind, negated):
                inner = self._compile(part, self._add(Step("done")))
                return self._add(
                    Step("look", (after,), inner=inner, negated=negated, behind=behind)
                )
            case At(where):
                return self._add(Step("at", (after,), where=where))
            case Back(number):
                return self._add(Step("back", (after,), register=self._register_of(number)))

    def _compile_repeat(self, node: Repeat, after: int) -> int:
        least = node.least
        if (node.most or 0) > MOST_COPIES:
            raise UnreadableError("a count that is too large")
        if node.most is not None:
            first = after
            # Each may follow only the one before it, so that one text is matched in one way.
            for _ in range(node.most - least):
                first = self._choose(node, self._compile(node.part, first), after)
        elif least and not can_be_empty(node.part):
            first = self._compile_loop(node, after)
            least -= 1
        else:
            # The way in is not the step that decides on a next round: a new round of a loop around this one is
            # another way than its own next round.
            body = self._compile_loop(node, after)
            first = self._choose(node, body, after)
        for _ in range(least):
            first = self._compile(node.part, first)
        return first

    def _compile_loop(self, node: Repeat, after: int) -> int:
        """Add a loop of one round or more; one that reads nothing is no round. Return the first step of a round."""
        loop = self._add(Step("split"))
        if not can_be_empty(node.part):
            body = self._compile(node.part, loop)
        else:
            register = self._new_register()
            end = self._add(Step("moved", (loop,), register=register))
            body = self._add(
                Step("keep", (self._compile(node.part, end),), register=register)
            )
        self.steps[loop].after = (after, body) if node.lazy else (body, after)
        return body

    def _choose(self, node: Repeat, body: int, after: int) -> int:
        return self._add(Step("split", (after, body) if node.lazy else (body, after)))


def can_be_empty(node: Node) -> bool:
    """Return whether a node matches the empty text somewhere."""
    match node:
        case Chars():
            return False
        case NodeSequence(parts):
            return all(map(can_be_empty, parts))
        case Choice(parts):
            return any(map(can_be_empty, parts))
        case Repeat(part, least):
            return least == 0 or can_be_empty(part)
        case CaptureGroup(_, part) | Atomic(part):
            return can_be_empty(part)
    return True


def begins_at_start(node: Node) -> bool:
    """Return whether a node matches nowhere but at the start of a text."""
    match node:
        case At(where):
            return where == "start"
        case NodeSequence(parts):
            return any(map(begins_at_start, parts[:1]))
        case Choice(parts):
            return all(map(begins_at_start, parts))
        case CaptureGroup(_, part) | Atomic(part):
            return begins_at_start(part)
    return False


class TooManyStepsError(Exception):
    """The machine took more steps than it may."""


class Machine:
    """A program that runs over texts."""

    def __init__(self, node: Node, alphabet: Alphabet, *, is_anchored: bool) -> None:
        self.program = MachineProgram(node)
        self.alphabet = alphabet
        self.is_anchored = is_anchored or begins_at_start(node)
        self._taken = 0
        self._total = 0
        self._most = 0
        self._text = ""
        self._bits: list[int] = []

    def search(self, text: str, most: int) -> tuple[int, bool]:
        """Return the steps of a search in a text, more than `most` if it goes on longer, and whether it found a match.

        Raises UnreadableError if all searches together took too many.
        """
        if self._total > MOST_STEPS_OF_ALL:
            raise UnreadableError("too many steps")
        self._text = text
        self._bits = [self.alphabet.bit[each] for each in text]
        self._taken = 0
        self._most = most
        starts = 1 if self.is_anchored else len(text) + 1
        registers = (-1,) * self.program.registers
        is_match = False
        with suppress(TooManyStepsError):
            is_match = any(self._run(0, start, registers) for start in range(starts))
        self._total += self._taken
        return self._taken, is_match

    def _run(
        self, step: int, at: int, registers: Registers, end: int | None = None
    ) -> bool:
        """Return whether a match begins here, and ends at `end` if that is given."""
        left = [(step, at, registers)]
        while left:
            step, at, registers = left.pop()
            self._taken += 1
            if self._taken > self._most:
                raise TooManyStepsError
            now = self.program.steps[step]
            kind = now.kind
            if kind == "done":
                if end in (None, at):
                    return True
                continue
            if kind == "split":
                left += [(after, at, registers) for after in reversed(now.after)]
                continue
            if kind == "leave":
                del left[registers[now.register] :]
            elif kind in ("keep", "enter"):
                value = at if kind == "keep" else len(left)
                registers = put(registers, now.register, value)
            elif not self._can_pass(now, at, registers):
                continue
            elif kind == "read":
                at += 1
            elif kind == "back":
                at += len(self._text_of(now, registers))
            left.append((now.after[0], at, registers))
        return False

    def _can_pass(self, now: Step, at: int, registers: Registers) -> bool:
        match now.kind:
            case "read":
                return at < len(self._bits) and bool(self._bits[at] & now.mask)
            case "at":
                return is_at(now.where, self._text, at)
            case "moved":
                return at != registers[now.register]
            case "look":
                return self._looks(now, at, registers) != now.negated
        return self._text.startswith(self._text_of(now, registers), at)

    def _text_of(self, now: Step, registers: Registers) -> str:
        """Return what the group of a reference matched."""
        first, last = registers[now.register : now.register + 2]
        return self._text[max(first, 0) : max(last, 0)]

    def _looks(self, now: Step, at: int, registers: Registers) -> bool:
        if not now.behind:
            return self._run(now.inner, at, registers)
        starts = range(at, max(at - LOOKS_BACK, 0) - 1, -1)
        return any(self._run(now.inner, start, registers, at) for start in starts)


def put(registers: Registers, register: int, value: int) -> Registers:
    return (*registers[:register], value, *registers[register + 1 :])


def is_at(where: str, text: str, at: int) -> bool:
    """Return whether a position of a text is one of a kind, see `automaton_syntax.At`."""
    before = text[at - 1 : at] if at else ""
    after = text[at : at + 1]
    match where:
        case "start":
            return not before
        case "end":
            return not after
        case "last":
            return text[at:] in ("", "\n")
        case "line start":
            return before in ("", "\n")
        case "line end":
            return after in ("", "\n")
    return (is_word(before) != is_word(after)) == (where == "word")


def is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
