"""Decide whether a backtracking engine needs exponential or polynomial time for a regular expression.

The pattern becomes the program of a small machine: its steps that read a character are the states of a
nondeterministic automaton. Time is exponential if some word leads from a state back to itself in two ways, and
polynomial if a word leads from p to p, from p to q, and from q to q (Weber and Seidl 1991). Both are found in products
of the automaton with itself; what they give is tried on the machine itself (`automaton_run`), which knows of ends,
look-around and atomic groups, so that nothing is reported that no text shows. All is bounded by counts, and what
exceeds them has no verdict.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, product

from cli_guard.code.automaton_run import Machine, Step
from cli_guard.code.automaton_syntax import (
    Alphabet,
    At,
    Chars,
    Node,
    NodeSequence,
    Repeat,
    UnreadableError,
    read_pattern,
)
from cli_guard.lazy import frozen

EXPONENTIAL = "exponential"
POLYNOMIAL = "polynomial"
LONGEST_PATTERN = 3_000
# States, the products of states that are looked at, and the ways to attack that are tried.
MOST_STATES = 250
MOST_WORK = 25_000
MOST_ATTACKS = 6
# How often an attack repeats its pump where time is exponential, how long it is where it is polynomial, and the steps
# that the machine may take for each.
SHORT = 16
PUMPED = 40
MOST_STEPS = 50_000
# Twice the text takes twice the steps in linear time, four times as many in quadratic time, and more with every
# step in exponential time.
GROWS = 3.2
EXPLODES = 9
# What makes a match fail after all: nothing, or characters that few patterns read.
SUFFIXES = ("", "\0", "\n\0", "!")
# Before all states: where a search begins again at each character.
SEARCH = -1
PREFERRED = "a0 "
States = tuple[int, ...]


@frozen
class Attack:
    """A text that takes long: `prefix`, many times `pump`, `suffix`; `growth` is EXPONENTIAL or POLYNOMIAL."""

    growth: str
    prefix: str
    pump: str
    suffix: str = ""

    def text(self, times: int) -> str:
        return f"{self.prefix}{self.pump * times}{self.suffix}"


def find_attack(
    pattern: str, language: str, flags: str = "", part: str = ""
) -> Attack | None:
    """Return a text for which a pattern takes more than linear time, None if none is known.

    `flags` are of the letters i, m, s and x; `part` is what of a text has to match: "first", "whole", "" for any.
    """
    if len(pattern) > LONGEST_PATTERN or not may_repeat(pattern):
        return None
    try:
        node, alphabet = read_pattern(pattern, flags, language)
        if part == "whole":
            node = NodeSequence((node, At("end")))
        elif is_part(node):
            node = NodeSequence((node, Chars(0)))
        machine = Machine(node, alphabet, is_anchored=bool(part))
        attacks = list(islice(_Automaton(machine).attacks(), MOST_ATTACKS))
        confirmed = (confirm(machine, attack) for attack in attacks)
        return next((attack for attack in confirmed if attack), None)
    except UnreadableError:
        return None


def may_repeat(pattern: str) -> bool:
    """Return whether a pattern may hold a repetition without a limit."""
    return "*" in pattern or "+" in pattern or ",}" in pattern


def is_part(node: Node) -> bool:
    """Return whether a pattern serves within others: a lazy repetition at its end has no use otherwise."""
    while isinstance(node, NodeSequence) and node.parts:
        node = node.parts[-1]
    return isinstance(node, Repeat) and node.lazy and node.most is None


def confirm(machine: Machine, attack: Attack) -> Attack | None:
    """Return the attack with a suffix and the growth that the machine shows, None if it takes linear time."""
    for suffix in SUFFIXES:
        tried = Attack(attack.growth, attack.prefix, attack.pump, suffix)
        growth = measure_growth(machine, tried)
        if growth:
            return Attack(growth, attack.prefix, attack.pump, suffix)
    return None


def measure_growth(machine: Machine, attack: Attack) -> str:
    """Return how the steps of the machine grow with the length of the attack, "" for linear time."""
    if attack.growth == EXPONENTIAL and explodes(machine, attack):
        return EXPONENTIAL
    times = max(PUMPED // len(attack.pump), 6)
    few = machine.search(attack.text(times), MOST_STEPS)[0]
    if few * GROWS > MOST_STEPS:
        return ""
    many = machine.search(attack.text(times * 2), MOST_STEPS)[0]
    return POLYNOMIAL if many > few * GROWS else ""


def explodes(machine: Machine, attack: Attack) -> bool:
    """Return whether a short attack of twice the length takes many times the steps."""
    counts = [1]
    while len(counts) <= SHORT and counts[-1] <= MOST_STEPS:
        counts.append(machine.search(attack.text(len(counts)), MOST_STEPS)[0])
    # One that was cut off stands for all that are longer.
    last = len(counts) - 1
    return any(
        counts[min(times * 2, last)] > counts[times] * EXPLODES
        for times in range(1, last)
        if times * 2 <= last or counts[last] > MOST_STEPS
    )


class _Automaton:
    """The states of a machine, the steps that read, with the number of ways (at most two) from one to the next."""

    def __init__(self, machine: Machine) -> None:
        self.alphabet: Alphabet = machine.alphabet
        self._steps: list[Step] = machine.program.steps
        self._work = 0
        self.states = [at for at, step in enumerate(self._steps) if step.kind == "read"]
        if len(self.states) > MOST_STATES:
            raise UnreadableError("too many states")
        self.follow = {at: self._ways_from(self._steps[at].after[0]) for at in self.states}
        start = self._ways_from(0)
        self.follow[SEARCH] = {**start, SEARCH: 1} if not machine.is_anchored else start
        self.loops = self._find_loops()

    def spend(self) -> None:
        self._work += 1
        if self._work > MOST_WORK:
            raise UnreadableError("too much work")

    def mask(self, state: int) -> int:
        return self.alphabet.all if state == SEARCH else self._steps[state].mask

    def _ways_from(self, first: int) -> dict[int, int]:
        """Return the states that can come next from a step, and in how many ways, counted up to two."""
        ways: dict[int, int] = {}
        seen: dict[int, int] = {}
        left = [(first, frozenset[int]())]
        while left:
            at, path = left.pop()
            step = self._steps[at]
            # A round of a loop that read nothing is none; a register counts as a negative number.
            is_idle = step.kind == "moved" and ~step.register in path
            if at in path or is_idle or seen.get(at, 0) > 1:
                continue
            self.spend()
            seen[at] = seen.get(at, 0) + 1
            if step.kind == "read":
                ways[at] = ways.get(at, 0) + 1
                continue
            path |= {at, ~step.register} if step.kind == "keep" else {at}
            left += ((after, path) for after in step.after)
        return ways

    def _find_loops(self) -> list[frozenset[int]]:
        """Return the sets of states that lead to each other, those of the earlier steps of the pattern first."""
        reach = {state: self._reachable(state) for state in self.follow}
        loops = {
            frozenset(other for other in reach[state] if state in reach[other])
            for state in self.follow
            if state in reach[state]
        }
        self.reach = reach
        return sorted(loops, key=sorted)

    def _reachable(self, state: int) -> frozenset[int]:
        found: set[int] = set()
        left = [state]
        while left:
            for after in self.follow[left.pop()]:
                if after not in found:
                    self.spend()
                    found.add(after)
                    left.append(after)
        return frozenset(found)

    def attacks(self) -> Iterator[Attack]:
        """Yield what may take long, exponential time first."""
        for loop in self.loops:
            yield from self._exponential(loop)
        for loop in self.loops:
            for later in self.loops:
                if later != loop and next(iter(later)) in self.reach[next(iter(loop))]:
                    yield from self._polynomial(loop, later)

    def _exponential(self, loop: frozenset[int]) -> Iterator[Attack]:
        """Yield the attack on a loop with a word that leads from a state back to it in two ways."""
        for state in sorted(loop):
            for double in sorted(loop):
                # Two ways between the same two states are found at once.
                if self.follow[state].get(double, 0) > 1:
                    back = (
                        "" if double == state else self._word((double,), (state,), (loop,))
                    )
                    pump = self._char(self.mask(double)) + back
                    yield self._attack(EXPONENTIAL, state, pump)
                    return
        found = self._find_path(
            [(state, state) for state in sorted(loop)],
            lambda pair: self._after(pair, (loop, loop)),
            # One way left the other, and came back to it.
            lambda pair, after: pair[0] != pair[1] and after[0] == after[1],
        )
        if found:
            first, last, word = found
            back = self._word(last[:1], first[:1], (loop,)) if first != last else ""
            yield self._attack(EXPONENTIAL, first[0], word + back)

    def _polynomial(self, loop: frozenset[int], later: frozenset[int]) -> Iterator[Attack]:
        """Yield the attack on two loops with a word that leads around each, and from one to the other."""
        between = frozenset(
            state
            for state in self.reach[min(loop)]
            if not later.isdisjoint(self.reach[state])
        )
        within = (loop, between | later, later)
        for first, last in product(sorted(loop), sorted(later)):
            word = self._word((first, first, last), (first, last, last), within)
            if word:
                yield self._attack(POLYNOMIAL, first, word)
                return

    def _after(
        self, states: States, within: tuple[frozenset[int], ...]
    ) -> list[tuple[States, int]]:
        """Return what one character leads some states to, each within its set, with the characters that do."""
        ways: list[tuple[States, int]] = [((), self.alphabet.all)]
        for state, allowed in zip(states, within, strict=True):
            shorter = ways
            ways = []
            for before, mask in shorter:
                for after in self.follow[state]:
                    self.spend()
                    both = mask & self.mask(after)
                    if both and after in allowed:
                        ways.append(((*before, after), both))
        return ways

    def _find_path(
        self,
        starts: Iterable[States],
        after: Callable[[States], list[tuple[States, int]]],
        is_goal: Callable[[States, States], bool],
    ) -> tuple[States, States, str] | None:
        """Return the start and the end of a shortest path to a goal, and the word along it."""
        came_from: dict[States, tuple[States, int] | None] = dict.fromkeys(starts)
        left = deque(came_from)
        while left:
            states = left.popleft()
            for following, mask in after(states):
                if is_goal(states, following):
                    word = self._char(mask)
                    while step := came_from[states]:
                        states, mask = step
                        word = self._char(mask) + word
                    return states, following, word
                if following not in came_from:
                    came_from[following] = states, mask
                    left.append(following)
        return None

    def _word(self, first: States, last: States, within: tuple[frozenset[int], ...]) -> str:
        """Return a word that leads from some states to others, "" if there is none."""
        found = self._find_path(
            [first],
            lambda states: self._after(states, within),
            lambda _, after: after == last,
        )
        return found[2] if found else ""

    def _attack(self, growth: str, state: int, pump: str) -> Attack:
        everywhere = frozenset(self.follow)
        # What begins elsewhere than at the start of a text is not met by an alternative for it.
        prefix = "\0" if state == SEARCH else self._word((SEARCH,), (state,), (everywhere,))
        return Attack(growth, prefix, pump)

    def _char(self, mask: int) -> str:
        """Return a character of a set, one that can be printed if there is one."""
        chars = self.alphabet.chars
        held = [each for each in chars if mask & self.alphabet.bit[each]]
        return next(
            (each for each in PREFERRED + chars if each in held and each.isprintable()),
            held[0],
        )
