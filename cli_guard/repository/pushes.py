"""The refs of a push and their new commits, as one graph from one answer of Git: thousands of refs share them.

What Git prints for each tip by itself is computed here, in the same order: revision.c and commit.c of Git.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from heapq import heappop, heappush

from cli_guard.lazy import dataclass, frozen
from cli_guard.model import RefUpdate

# As many as `merge-base` gives.
COMPARED_BASES = 8


@dataclass(frozen=True)
class Graph:
    """Commits, each after its parents, with their parents; `outside` has those of the parents that are no part of it.

    `times` are those of the commits.
    """

    parents: Mapping[str, Sequence[str]] = field(default_factory=dict)
    outside: Mapping[str, Sequence[str]] = field(default_factory=dict)
    times: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, listed: str) -> "Graph":
        """Parse the output of `rev-list --topo-order --reverse --boundary --parents --timestamp`."""
        rows = [
            (oid, int(time), parents)
            for time, oid, *parents in map(str.split, listed.splitlines())
        ]
        outside = {oid[1:]: parents for oid, _, parents in rows if oid.startswith("-")}
        inside = {oid: parents for oid, _, parents in rows if not oid.startswith("-")}
        return cls(inside, outside, {oid: time for oid, time, _ in rows})

    def line(self, tip: str, seen: set[str]) -> list[str]:
        """Return the commits of a tip that are not `seen`, and add them, like `rev-list --topo-order --reverse`.

        `seen` has the ancestors of each commit in it.
        """
        if tip in seen or tip not in self.parents:
            return []
        found = {tip}
        waiting = [tip]
        while waiting:
            more = [
                each
                for each in self.parents[waiting.pop()]
                if each in self.parents and each not in seen
            ]
            waiting += [each for each in dict.fromkeys(more) if each not in found]
            found.update(more)
        seen |= found
        return in_graph_order([*found], self.parents)[::-1]

    @cached_property
    def _borders(self) -> dict[str, str | None]:
        """Where the line of each commit leaves the graph: "" if nowhere, None if at several commits."""
        found: dict[str, str | None] = {}
        for oid, parents in self.parents.items():
            places = {found.get(parent, parent) for parent in parents} - {""}
            found[oid] = None if len(places) > 1 else next(iter(places), "")
        return found

    def bases(self, tip: str) -> tuple[str | None, ...]:
        """Return where the line of a tip leaves the graph, like `rev-list --boundary`; (None,) if nowhere."""
        border = self._borders.get(tip, tip)
        return (border or None,) if border is not None else self._borders_by_time(tip)

    def _borders_by_time(self, tip: str) -> tuple[str, ...]:
        met = dict[str, None]()
        seen = {tip}
        waiting = [(0, 0, tip)]
        while waiting:
            for parent in self.parents[heappop(waiting)[2]]:
                if parent not in self.parents:
                    met[parent] = None
                elif parent not in seen:
                    seen.add(parent)
                    heappush(waiting, (-self.times[parent], len(seen), parent))
        return tuple(in_graph_order([*reversed(met)], self.outside)[:COMPARED_BASES])

    def find_ancestries(
        self, pairs: Iterable[tuple[str, str]]
    ) -> dict[tuple[str, str], bool]:
        """Return of each pair of commits whether the first is an ancestor of the second, or the same."""
        asked = set(pairs)
        bits = {
            older: 1 << number for number, older in enumerate({older for older, _ in asked})
        }
        reached: dict[str, int] = {}
        for oid, parents in self.parents.items():
            reached[oid] = bits.get(oid, 0)
            for parent in parents:
                # Most commits have what their parent has: one number for all of them.
                own = reached[oid]
                more = reached.get(parent, 0)
                if not own:
                    reached[oid] = more
                elif own | more != own:
                    reached[oid] = own | more
        return {
            (older, newer): bool(reached.get(newer, 0) & bits[older])
            for older, newer in asked
        }


def in_graph_order(commits: list[str], parents: Mapping[str, Sequence[str]]) -> list[str]:
    """Sort commits so that none comes before its children, like `sort_in_topological_order` of Git (commit.c)."""
    children = Counter(dict.fromkeys(commits, 0))
    children.update(
        parent for each in commits for parent in parents[each] if parent in children
    )
    order = list[str]()
    waiting = [each for each in reversed(commits) if not children[each]]
    while waiting:
        order.append(waiting.pop())
        for parent in parents[order[-1]]:
            if parent in children:
                children[parent] -= 1
                if not children[parent]:
                    waiting.append(parent)
    return order


@frozen
class Line:
    """The new commits of one ref: listed only where they are needed, because many refs may share them."""

    graph: Graph
    tip: str

    def __bool__(self) -> bool:
        return self.tip in self.graph.parents

    def beyond(self, seen: set[str]) -> list[str]:
        """Return those that are not `seen`, oldest first, and add them. See `Graph.line`."""
        return self.graph.line(self.tip, seen)


@frozen
class Published:
    """Commits that other remotes are known to have; `same_host`: they are on the host that the push goes to."""

    remotes: tuple[str, ...]
    commits: tuple[str, ...]
    same_host: bool = False


@frozen
class PushedRef:
    """A ref update with what only the repository knows: whether it is forced, and its commits.

    `commits` is None for a ref to something else: a tag of a folder, whose id is `tree`, or of a single file.
    `published` and `vouched` are further commits, of no ref before: other remotes are known to have the first, only a
    tracking ref says of the second that a remote has them. `bases` are the commits of the remote that the new ones
    start from, `starts` those of another one.
    """

    update: RefUpdate
    forced: bool = False
    commits: Line | tuple[()] | None = ()
    vouched: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    tree: str | None = None
    published: tuple[Published, ...] = ()
    starts: tuple[str, ...] = ()
