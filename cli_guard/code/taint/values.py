"""What is known of values while data is followed: where it came from, how it got here, for what it is safe."""

from collections.abc import Iterable
from dataclasses import field, replace
from typing import TYPE_CHECKING

from cli_guard.code.taint.program import FlowNode
from cli_guard.code.taint.tables import ALL, FlowEntry
from cli_guard.lazy import dataclass, frozen

if TYPE_CHECKING:
    from cli_guard.code.taint.walk import Walk

MOST_TAINTS = 6
MOST_STEPS = 6
MOST_STORED = 200
# The type of a literal object or dictionary.
TABLE = "{}"
SHOWN = 100
# A program opens the file and asks the address that its arguments name: that is what it is for.
LOCAL_KINDS = frozenset(
    "command code sql nosql ldap xpath template deserialisation xml reflection log-secret".split()
)
MOST_GUESSES = 2
LONGEST_PART = 80
# Among the kinds for which a value is safe: its signs were replaced, or there are none in it.
REPLACED = "replaced"
# An address that begins with one slash is on this site; with two it is not.
LOCAL_ADDRESS = frozenset(("slash", "one-slash"))


@frozen
class Origin:
    """Where a value comes from.

    `kind` is "source", or while the caller is not known yet, "parameter" (its position) or "field" (of an object of
    this class, `name` is `Class.field`). A `secret` goes to other sinks than what is untrusted.
    """

    kind: str
    name: str
    line: int = 0
    at: int = 0
    position: int = -1
    part: str = ""
    local: bool = False
    secret: bool = False


Step = tuple[int, str]


@frozen
class Taint:
    """One way by which a value is not the program's own.

    `safe` are the kinds of sink that it cannot harm; `guesses` counts calls that nobody knows on the way; `whole` says
    that it is all of a request and not one value out of it. `slot` is its place among several values that are returned.
    """

    origin: Origin
    steps: tuple[Step, ...] = ()
    guesses: int = 0
    safe: frozenset[str] = frozenset()
    whole: bool = False
    slot: int = -1

    def via(self, line: int, text: str, guesses: int = 0) -> "Taint":
        known = any(line == step[0] for step in self.steps) or line == self.origin.line
        steps = self.steps
        if not known and len(steps) < MOST_STEPS:
            steps = (*steps, (line, text))
        elif not guesses:
            return self
        guesses += self.guesses
        # Made so often that `replace`, which asks what the fields are, takes a tenth of a walk.
        return Taint(self.origin, steps, guesses, self.safe, self.whole, self.slot)

    def lead_to(self, later: "Taint", *between: Step) -> "Taint":
        """Return the way of this taint, continued by that of a later one."""
        steps = dict.fromkeys((*self.steps, *between, *later.steps))
        return replace(
            self,
            steps=tuple(steps)[:MOST_STEPS],
            guesses=self.guesses + later.guesses,
            safe=self.safe | later.safe,
        )

    def harms(self, entry: FlowEntry) -> bool:
        """Return whether a sink is one for this value; what comes from the caller may yet be."""
        kind = entry.data["kind"]
        if kind in self.safe or self.guesses > entry.data.get("guesses", MOST_GUESSES):
            return False
        if kind == "redirect" and self.safe >= LOCAL_ADDRESS:
            return False
        if self.origin.kind != "source":
            return True
        if self.origin.local and kind not in LOCAL_KINDS:
            return False
        if self.origin.secret and self.guesses:
            return False  # what a call returns for a password is seldom the password
        return self.origin.secret is (kind == "log-secret") and (
            self.whole or entry.data.get("shape") != "object"
        )

    def piece(self, name: str) -> "Taint":
        """Return the taint of a part of the value, which is another value than its other parts."""
        of = self.origin
        if name:
            part = f"{of.part}.{name}"[:LONGEST_PART]
            of = Origin(
                of.kind, of.name, of.line, of.at, of.position, part, of.local, of.secret
            )
        return Taint(of, self.steps, self.guesses, self.safe, False, self.slot)

    def but_safe(self, kinds: frozenset[str]) -> "Taint":
        safe = self.safe | kinds
        return Taint(self.origin, self.steps, self.guesses, safe, self.whole, self.slot)


Value = tuple[Taint, ...]
CLEAN: Value = ()


def union(values: Iterable[Value]) -> Value:
    """Unite values; of several ways from one origin the surest is kept, for each set of kinds that it is safe for."""
    tainted = [value for value in values if value]
    if len(tainted) < 2:
        return tainted[0] if tainted else CLEAN
    found: dict[tuple[Origin, frozenset[str], int], Taint] = {}
    for value in tainted:
        for taint in value:
            key = (taint.origin, taint.safe, taint.slot)
            known = found.get(key)
            if known is None or taint.guesses < known.guesses:
                found[key] = taint
    return tuple(found.values())[:MOST_TAINTS]


def safe_for(value: Value, kinds: frozenset[str]) -> Value:
    """Return a value after a sanitizer or guard for these kinds."""
    return CLEAN if ALL in kinds else tuple(taint.but_safe(kinds) for taint in value)


def without_secrets(value: Value) -> Value:
    """Return the value of something that has a secret in one of its fields: all of it is another thing."""
    return tuple(taint for taint in value if not taint.origin.secret)


def source_of(entry: FlowEntry, line: int, at: int, shown: str) -> Taint:
    """Return the taint of what a source of the tables gives."""
    local = entry.data.get("local", False)
    secret = entry.data.get("secret", False)
    origin = Origin(
        "source", entry.data.get("what", "input"), line, at, local=local, secret=secret
    )
    return Taint(
        origin,
        ((line, shown[:SHOWN]),),
        entry.data.get("guesses", 0),
        frozenset(entry.data.get("safe", ())),
    )


@dataclass(slots=True)
class FlowScope:
    """Variables at one point of a function, by name or dotted path; `dead` after control has left."""

    values: dict[str, Value] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    tests: dict[str, FlowNode] = field(default_factory=dict)
    # The variables of which a member has a value of its own.
    owners: set[str] = field(default_factory=set)
    dead: bool = False

    def copy(self) -> "FlowScope":
        return FlowScope(
            dict(self.values),
            dict(self.types),
            dict(self.tests),
            set(self.owners),
            self.dead,
        )

    def read(self, path: str) -> Value | None:
        """Return the value of a path: its own, or that of what it is part of; None if neither is known."""
        own = self.values.get(path)
        whole = path
        if own is not None:
            return own
        while "." in path:
            path = path.rpartition(".")[0]
            if (found := self.values.get(path)) is not None:
                return tuple(taint.piece(whole[len(path) + 1 :]) for taint in found)
        return None

    def write(self, path: str, value: Value, *, add: bool = False) -> None:
        if add:
            value = union((self.values.get(path, CLEAN), value))
        else:
            for name in self._members(path):
                del self.values[name]
            self.tests.pop(path, None)
        self.set(path, value)

    def set(self, path: str, value: Value) -> None:
        """Replace the value of a path, and keep those of its members."""
        self.values[path] = value
        if "." in path:
            self.owners.add(path.partition(".")[0])

    def _members(self, path: str) -> list[str]:
        if path.partition(".")[0] not in self.owners:
            return []
        inner = f"{path}."
        return [name for name in self.values if name.startswith(inner)]

    def inside(self, path: str) -> Value:
        """Return what the members of a path hold."""
        return without_secrets(union(self.values[name] for name in self._members(path)))


def join_scopes(first: FlowScope, second: FlowScope) -> FlowScope:
    """Return what is known after one of two branches; one that was left does not count."""
    if first.dead or second.dead:
        return second.copy() if first.dead else first.copy()
    values = {}
    # In the order of writing: which source is shown, and is the same before and after a change, depends on it.
    for name in {**first.values, **second.values}:
        a = first.read(name)
        b = second.read(name)
        values[name] = a if a == b and a is not None else union((a or CLEAN, b or CLEAN))
    owners = first.owners | second.owners
    return FlowScope(
        values, second.types | first.types, {**second.tests, **first.tests}, owners
    )


@frozen
class Reached:
    """A sink that a value reaches, with the call or assignment that is the sink.

    `name` is that of a sink in another file; the call that leads there stands for it.
    """

    entry: FlowEntry
    kind: str
    taint: Taint
    node: FlowNode
    line: int
    end_line: int
    name: str = ""


@dataclass(slots=True)
class Summary:
    """What a function does with its parameters and fields: what it returns, which sinks it feeds, what it stores.

    `test` is what it returns if that is all it does, `made_of` which parameter each variable in it is made of; `facts`
    are those at its end. If it is named like a check, `believed` are the kinds that it checks by parameter; if it is
    named like one that escapes, `escapes` those for which its result is safe.
    `checked` are the kinds for which a parameter is safe once the function has returned. It is from `elsewhere` if the
    function is one of another file.
    """

    returns: Value = CLEAN
    sinks: dict[tuple[int, str, Origin], Reached] = field(default_factory=dict)
    stored: dict[tuple[str, Taint], None] = field(default_factory=dict)
    checked: dict[int, frozenset[str]] = field(default_factory=dict)
    test: FlowNode | None = None
    made_of: dict[str, str] = field(default_factory=dict)
    facts: "Walk | None" = None
    believed: dict[int, frozenset[str]] = field(default_factory=dict)
    escapes: frozenset[str] = frozenset()
    elsewhere: bool = False

    def reach(self, sink: Reached) -> None:
        """Keep a sink, the surest way to it if there are several from one origin."""
        key = (sink.node.start, sink.kind, sink.taint.origin)
        known = self.sinks.get(key)
        if known is None or sink.taint.guesses < known.taint.guesses:
            self.sinks[key] = sink

    def include(self, inner: "Summary") -> None:
        """Add what a function does that is written inside this one."""
        for sink in inner.sinks.values():
            self.reach(sink)
        self.stored |= inner.stored

    def store(self, name: str, value: Value) -> None:
        """Note that a value is kept in `Class.field`, or in the variable `.name` of the file."""
        if len(self.stored) < MOST_STORED:
            self.stored |= {(name, taint): None for taint in value}
