"""Proposes the modules that one file can be split into: its definitions grouped by their references and names.

Agglomerative clustering over the reference graph. Two groups are merged only where that leaves the imports between the
modules without a cycle, so what is proposed has none.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from pathlib import PurePosixPath
from typing import NamedTuple

from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.scopes import MODULE
from cli_guard.assistant.editing.sources import Sources
from cli_guard.assistant.editing.subjects import definitions_of
from cli_guard.assistant.stems import parts_of, stem
from cli_guard.code.syntax import Trees

MOST_UNITS = 200
LEAST_LINES = 40
MOST_MODULES = 7
# How much two groups have to do with each other for a merge, and how much of a file one module may hold.
ALIKE = 0.22
LARGEST = 0.55
BY_USE = 0.6
BY_PLACE = 0.15
# A constant with more users than this, and a function that a fifth of the file uses, belong to no single subject.
USERS_OF_CONSTANT = 2
OWN_OBJECTS = frozenset("self this exports module.exports".split())
MEMBERS = frozenset(
    "attribute member_expression selector_expression field_expression field_access".split()
)
PLAIN_WORDS = frozenset(
    "get set to from is has make do of the and or for with by in on no not new add check parse build create base "
    "default all one type types value values data name names str int list dict".split()
)


class Split(NamedTuple):
    """Names by the path of their module, its lines, what stays, the imports between modules, names in a cycle."""

    modules: Mapping[str, list[str]]
    lines: Mapping[str, int]
    stays: list[str]
    edges: Mapping[tuple[str, str], list[str]]
    cycles: list[list[str]]


def identifier_kinds(language: str) -> tuple[str, ...]:
    """The kinds of node that are names in a grammar; a kind that a grammar lacks is an error of the parser."""
    script = ("identifier", "property_identifier", "shorthand_property_identifier")
    kinds = {
        "python": ("identifier",),
        "javascript": script,
        "go": ("identifier", "type_identifier", "field_identifier", "package_identifier"),
        "java": ("identifier", "type_identifier"),
        "rust": ("identifier", "type_identifier", "field_identifier"),
    }
    return kinds.get(language, (*script, "type_identifier"))


def list_uses(
    sources: Sources, path: str, names: Collection[str], members: Collection[str]
) -> Iterator[tuple[str, int, bool]]:
    """Each use of a name of the file: the name, its line, and whether it is bound anew there."""
    language = sources.language(path) or ""
    if language == "python":
        python = Python(sources)
        for name in names:
            for each in python.places_of_home(path, name, MODULE):
                yield name, sources.line(path, each.start), each.role == "global"
        return
    root = Trees().root(language, sources.texts[path])
    for node in root.find_all(any=[{"kind": kind} for kind in identifier_kinds(language)]):
        name = node.text()
        parent = node.parent()
        start = node.range().start
        is_member = (
            parent is not None
            and parent.kind() in MEMBERS
            and parent.range().start != start
        )
        first = parent.child(0) if is_member and parent is not None else None
        is_own = first is not None and name in members and first.text() in OWN_OBJECTS
        if name in names and (not is_member or is_own):
            yield name, start.line + 1, False


class Groups:
    """The definitions at the top of a file, in groups by the first of their names; groups only grow."""

    def __init__(self, sources: Sources, path: str) -> None:
        self.size: Counter[str] = Counter()
        self.constants: set[str] = set()
        owner: dict[int, str] = {}
        members = set()
        last = 0
        module = sources.module(path)
        body = module.body if module is not None else ()
        marked = {
            n.lineno: m[0].lineno for n in body if (m := getattr(n, "decorator_list", None))
        }
        for each in definitions_of(path, sources.texts[path]):
            if each.end_line <= last or (
                each.name not in self.size and len(self.size) >= MOST_UNITS
            ):
                continue
            last = each.end_line
            self.size[each.name] += each.end_line - each.line + 1
            owner |= dict.fromkeys(
                range(marked.get(each.line, each.line), last + 1), each.name
            )
            self.constants |= (
                {each.name} if each.kind in ("constant", "variable") else set()
            )
            members |= (
                {each.name}
                if "." in each.qualname or "exports." in each.signature
                else set()
            )
        self.uses: dict[str, set[str]] = {name: set() for name in self.size}
        for name, line, is_rebound in list_uses(sources, path, self.size, members):
            user = owner.get(line, name)
            if user != name:
                self.uses[user].add(name)
                if is_rebound:  # by `global`, which does not reach into another module
                    self.uses[name].add(user)
        self.groups = {name: [name] for name in self.size}
        self.order = {name: at for at, name in enumerate(self.size)}
        self.total = sum(self.size.values())
        self.words = {name: Counter(map(stem, words_of(name))) for name in self.size}
        spread = Counter(word for some in self.words.values() for word in some)
        self.rarity = {word: math.log(1 + len(self.size) / n) for word, n in spread.items()}
        self.cycles: list[list[str]] = []
        self._known: dict[tuple[str, int, str, int], float] = {}

    def graph(self) -> dict[str, set[str]]:
        """Which group uses which."""
        home = {name: group for group, names in self.groups.items() for name in names}
        return {
            g: {home[u] for n in names for u in self.uses[n]} - {g}
            for g, names in self.groups.items()
        }

    def lines(self, group: str) -> int:
        return sum(self.size[name] for name in self.groups[group])

    def merge(self, keep: str, gone: str) -> None:
        self.groups[keep] += self.groups.pop(gone)

    def likeness(self, a: str, b: str) -> float:
        """How much two groups have to do with each other: by references, words in names, place in the file."""
        one = self.groups[a]
        two = self.groups[b]
        key = (a, len(one), b, len(two))
        if key not in self._known:
            used = [{u for n in names for u in self.uses[n]} for names in (one, two)]
            linked = len(used[0] & set(two)) + len(used[1] & set(one))
            first, second = (
                sum((self.words[n] for n in names), Counter[str]()) for names in (one, two)
            )
            alike = sum(
                first[w] * second[w] * self.rarity[w] ** 2
                for w in first.keys() & second.keys()
            )
            alike /= math.sqrt(self.norm(first) * self.norm(second))
            near = any(abs(self.order[x] - self.order[y]) == 1 for x in one for y in two)
            self._known[key] = (
                BY_USE * linked / math.sqrt(len(one) * len(two)) + alike + BY_PLACE * near
            )
        return self._known[key]

    def norm(self, words: Counter[str]) -> float:
        return sum((times * self.rarity[word]) ** 2 for word, times in words.items()) or 1.0

    def may_join(self, a: str, b: str, uses: Mapping[str, set[str]]) -> bool:
        """Is what both hold no giant, and is there no way from one to the other through a third?"""
        ways = ((a, b), (b, a))
        is_cycle = any(
            end in reach(uses, each) for start, end in ways for each in uses[start] - {end}
        )
        return not is_cycle and self.lines(a) + self.lines(b) <= LARGEST * self.total

    def join_bound(self) -> None:
        """Join definitions that use each other, then each private helper and constant with its single user."""
        uses = self.graph()
        reached = {name: reach(uses, name) for name in uses}
        for name in list(uses):
            same = [
                m for m in uses if m != name and m in reached[name] and name in reached[m]
            ]
            if name in self.groups and same:
                for other in same:
                    self.merge(name, other)
                self.cycles.append(list(self.groups[name]))
        while True:
            uses = self.graph()
            users = {
                group: [user for user in uses if group in uses[user]] for group in uses
            }
            own = [
                g
                for g in users
                if all(n.startswith("_") or n in self.constants for n in self.groups[g])
            ]
            single = next((group for group in own if len(users[group]) == 1), None)
            if single is None:
                return
            self.merge(users[single][0], single)

    def join_alike(self) -> None:
        """Join the two groups that are most alike until none are alike."""
        users = Counter(each for used in self.graph().values() for each in used)
        most = len(self.size) // 5 + 4
        shared = {
            g
            for g in users
            if users[g] > (USERS_OF_CONSTANT if g in self.constants else most)
        }
        while True:
            uses = self.graph()
            pairs = combinations([g for g in self.groups if g not in shared], 2)
            rated = {(a, b): self.likeness(a, b) for a, b in pairs}
            best = sorted(
                (pair for pair in rated if rated[pair] >= ALIKE),
                key=lambda pair: -rated[pair],
            )
            joined = next((pair for pair in best if self.may_join(*pair, uses)), None)
            if joined is None:
                return
            self.merge(*joined)

    def join_best(self, group: str, least: float, others: Collection[str]) -> bool:
        uses, rated = (
            self.graph(),
            {m: self.likeness(group, m) for m in others if m != group},
        )
        ranked = sorted(rated, key=lambda m: (-rated[m], -self.lines(m), m))
        best = next(
            (m for m in ranked if rated[m] >= least and self.may_join(m, group, uses)), None
        )
        if best is not None:
            self.merge(best, group)
        return best is not None

    def set_rest_apart(self) -> set[str]:
        """Bring the groups down to a few modules; the result are small groups that no module uses."""
        least = max(LEAST_LINES, self.total // 15)
        for group in sorted(self.groups, key=lambda g: (self.lines(g), g)):
            if self.lines(group) < least:
                is_used = any(group in used for used in self.graph().values())
                self.join_best(group, 0.0 if is_used else ALIKE, self.groups)
        while (
            len(large := [g for g in self.groups if self.lines(g) >= least]) > MOST_MODULES
        ):
            if not self.join_best(min(large, key=lambda g: (self.lines(g), g)), 0.0, large):
                break
        uses = self.graph()
        rest = set[str]()
        lone = {
            g for g, names in self.groups.items() if len(names) == 1 and not g[:1].isupper()
        }
        small = {g for g in self.groups if self.lines(g) < least} | lone
        while new := {
            g for g in small - rest if all(g not in uses[m] or m in rest for m in uses)
        }:
            rest |= new
        return rest


def words_of(name: str) -> list[str]:
    return [part for part in parts_of(name) if part not in PLAIN_WORDS and len(part) > 1]


def reach(uses: Mapping[str, Collection[str]], start: str) -> set[str]:
    seen = set[str]()
    waiting = [start]
    while waiting:
        new = set(uses[waiting.pop()]) - seen
        seen |= new
        waiting += new
    return seen


def propose_split(sources: Sources, path: str) -> Split:
    """The modules that a file can be split into. The same text gives the same split."""
    groups = Groups(sources, path)
    groups.join_bound()
    groups.join_alike()
    rest = groups.set_rest_apart()
    modules: dict[str, list[str]] = {}
    lines = {}
    home = {name: path for group in rest for name in groups.groups[group]}
    first = {
        group: min(groups.order[name] for name in names)
        for group, names in groups.groups.items()
    }
    for group in sorted(first.keys() - rest, key=lambda each: first[each]):
        module = name_module(sources, path, groups, group, modules)
        modules[module] = sorted(groups.groups[group], key=lambda name: groups.order[name])
        lines[module] = groups.lines(group)
        home |= dict.fromkeys(groups.groups[group], module)
    crossing = {(home[a], home[b], b) for a in groups.uses for b in groups.uses[a]}
    edges: dict[tuple[str, str], list[str]] = {}
    for user, used, name in sorted(crossing):
        if used not in (user, path):
            edges.setdefault((user, used), []).append(name)
    stays = [name for name in groups.size if home[name] == path]
    return Split(modules, lines, stays, edges, groups.cycles)


def name_module(
    sources: Sources, path: str, groups: Groups, group: str, taken: Collection[str]
) -> str:
    """A path beside the file, named by the word that most of its names share."""
    pure = PurePosixPath(path)
    names = groups.groups[group]
    public = [
        n for n in names if n not in groups.constants and not n.startswith("_")
    ] or names
    shares = dict[str, float]()
    for name in public:
        for word in words_of(name):
            often = sum(stem(word) in groups.words[each] for each in public)
            shares[word] = often * groups.rarity[stem(word)]
    joint = "-" if "-" in pure.stem else "_"
    base = (
        ""
        if pure.stem in ("__init__", "index", "mod", "lib", "main")
        else f"{pure.stem}{joint}"
    )
    words = (
        *sorted(shares, key=lambda word: (-shares[word], word)),
        *map(str, range(2, 99)),
    )
    paths = (str(pure.with_name(f"{base}{word}{pure.suffix}")) for word in words)
    return next(each for each in paths if each not in taken and each not in sources.texts)
