"""The calls of the guard in workflows, pipelines and the files of hook frameworks: what decides how each of them runs.

A layout says where the parts of a file are that run apart from each other: jobs, hooks, scripts. A call is such a part
with all that holds for it: the tables around it, the parts that it needs, and the file but for its other parts. Of the
steps of a job those up to the call count, as one before it may change the programs or the commits that it finds.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from cli_guard.lazy import frozen
from cli_guard.model import group_by
from cli_guard.reviewers.call_sites.values import (
    COSMETIC,
    MENTION,
    Sites,
    Surroundings,
    Value,
    Values,
    entries_of,
)
from cli_guard.reviewers.commands.extract.nodes import (
    Document,
    Items,
    Node,
    Scalar,
    Table,
    at,
    every,
)

# Keys of a job that name other jobs, on which depends whether it runs, or of which it takes its parts.
NEEDS = ("needs", "extends", "requires", "dependencies")
# They decide whether a job runs that waits for a call: without that it would succeed although the call fails.
CONDITIONS = ("if", "when", "rules")
# A job is known to the server by its name, which a required check gives: so another name is another job.
COSMETIC_IN_JOB = COSMETIC - {"name"}
# Keys of a file that may hold the call of each of its jobs.
SHARED = ("env", "default", "before_script")


@frozen
class CallLayout:
    """Where the parts of a file are, each path with the noun for what is there; `*` is any key, `[]` an item.

    `apart` are keys of the file that are no parts, `unread` those that call nothing.
    """

    parts: tuple[tuple[str, str], ...] = ()
    apart: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()

    @property
    def steps(self) -> set[str]:
        return {step for path, _ in self.parts for step in path.split("/")}


WORKFLOW = CallLayout((("jobs/*", "job"), ("runs", "action")))
GITLAB = CallLayout(
    (("*", "job"),),
    frozenset(
        "default include variables workflow image services cache before_script after_script spec".split()
    ),
    # Their order alone lets no job succeed.
    frozenset(("stages",)),
)
HOOKS = CallLayout((("repos/[]/hooks/[]", "hook"), ("hooks/[]", "hook")))
LEFTHOOK = CallLayout(
    (("*/commands/*", "command"), ("*/scripts/*", "script"), ("*/jobs/[]", "job"))
)
PACKAGE = CallLayout(
    (("scripts/*", "script"), ("*", "key")),
    unread=frozenset(
        "name bin files dependencies devDependencies peerDependencies optionalDependencies keywords repository".split()
    ),
)
# Of it is not known what does not matter to a call.
WHOLE = CallLayout()


@frozen(eq=False)
class CallPart:
    """A part of a file, and the values of the tables around it."""

    noun: str
    name: str
    node: Node
    around: Surroundings
    is_called: bool

    @property
    def label(self) -> str:
        return f"{self.noun} {self.name}"

    @property
    def needs(self) -> set[str]:
        """Return the names that it gives of others, also in `!reference [.job, script]`."""
        named = [each for key in NEEDS for each in at([self.node], key)]
        named += [each for each in every([self.node]) if each.tag == "!reference"]
        return {each.text for each in every(named) if isinstance(each, Scalar)}


def read_document(values: Values, document: Document, layout: CallLayout) -> Sites:
    """Return the calls in all documents of a file."""
    found: Sites = {}
    for number, root in enumerate(document.roots):
        # The hooks that a repository offers are a list.
        table = Table([("hooks", root)]) if isinstance(root, Items) else root
        before = f"document {number + 1}, " if number else ""
        if isinstance(table, Table):
            sites = read_root(values, table, layout)
            found |= {f"{before}{name}": own for name, own in sites.items()}
    if found:
        # A server that expects one document runs none of several.
        found["the documents"] = {"number": values.text(str(len(document.roots)))}
    return found


def read_root(values: Values, root: Table, layout: CallLayout) -> Sites:
    parts: list[CallPart] = []
    used = set(layout.unread)
    for path, noun in layout.parts:
        first, *steps = path.split("/")
        for key, node in inside(root, first):
            if key in layout.apart or (not steps and key in used):
                continue
            above = CallPart(noun, key, node, {}, False)
            below = list(parts_below(values, layout, above, steps))
            used.update([key] if below else ())
            parts += below
    rest = values.table(root, without=used)
    is_shared = any(values.is_calling(root.get(key)) for key in SHARED)
    called = [part for part in parts if part.is_called or is_shared]
    has_include = values.is_calling(root.get("include"))
    if has_include:
        # A job changes the one of its name in an included file.
        named = [part for part in called if MENTION.search(part.name)]
        rest |= {part.label: values.of(part.node) for part in named}
    found: list[tuple[str, Surroundings]] = []
    own_calls = dict.fromkeys(called)
    for part in with_needed(called, parts):
        own = values_of(values, part, is_called=part in own_calls)
        found.append((part.label, own))
    names = {part.name for part in called}
    for part in parts:
        for other in sorted(names & part.needs) if part not in own_calls else ():
            every_value = values.table(part.node)
            kept = {key: every_value[key] for key in CONDITIONS if key in every_value}
            found.append((f"{part.label}, which needs {other}", kept))
    is_site = found or has_include or (not layout.parts and values.is_calling(root))
    return {"the file": rest} | number_sites(found) if is_site else {}


def inside(node: Node, step: str) -> list[tuple[str, Node]]:
    """Return what a step of a path leads to, by its key or the name that it has itself."""
    if isinstance(node, Table):
        return [each for each in entries_of(node).items() if fnmatchcase(each[0], step)]
    if isinstance(node, Items) and step == "[]":
        return [
            (each.text("id") if isinstance(each, Table) else "", each)
            for each in node.nodes
        ]
    return []


def parts_below(
    values: Values, layout: CallLayout, above: CallPart, steps: Sequence[str]
) -> Iterator[CallPart]:
    """Yield the parts at the steps below a node, which is given as a part itself."""
    node = above.node
    if not steps:
        is_called = MENTION.search(above.name) is not None or values.is_calling(node)
        yield replace(above, is_called=above.is_called or is_called)
        return
    if isinstance(node, Table) and steps[0] != "*":
        others = [each for key, each in entries_of(node).items() if key not in layout.steps]
        own = values.table(node, without=layout.steps)
        around = above.around | {f"{key} around it": value for key, value in own.items()}
        above = replace(above, around=around, is_called=any(map(values.is_calling, others)))
    for name, each in inside(node, steps[0]):
        yield from parts_below(
            values, layout, replace(above, name=name, node=each), steps[1:]
        )


def with_needed(called: Sequence[CallPart], parts: Iterable[CallPart]) -> list[CallPart]:
    """Return these parts and those that they need, as a job that is skipped skips all that need it."""
    by_name = group_by(parts, lambda part: part.name)
    found = dict.fromkeys(called)
    waiting = list(called)
    for part in waiting:
        for name in sorted(part.needs):
            # Each name is looked up once.
            fresh = [each for each in by_name.pop(name, ()) if each not in found]
            found |= dict.fromkeys(fresh)
            waiting += fresh
    return waiting


def values_of(values: Values, part: CallPart, *, is_called: bool) -> Surroundings:
    """Return the values of a part, and of its steps up to its last call, or of all of them."""
    cosmetic = COSMETIC_IN_JOB if part.noun == "job" else COSMETIC
    own = values.table(part.node, without=("steps",), cosmetic=cosmetic)
    steps = list(at([part.node], "steps", "[]"))
    runs = [number for number, step in enumerate(steps, 1) if is_review(values, step)]
    last = max(runs) if runs and is_called else len(steps)
    found: dict[str, Value] = {}
    for number, step in enumerate(steps[:last], 1):
        for name, value in values.table(step).items():
            found[f"step {number}: {name}" if name else f"step {number}"] = value
    return own | found | part.around


def is_review(values: Values, step: Node) -> bool:
    """Return whether a step reviews: by an action, or by its text."""
    if isinstance(step, Table) and values.is_calling(step.get("uses")):
        return True
    return any(
        isinstance(each, Scalar) and values.is_running(each.text) for each in every((step,))
    )


def number_sites(found: Iterable[tuple[str, Surroundings]]) -> Sites:
    """Return the calls by their names; the second of the same name has a number."""
    counts: Counter[str] = Counter()
    sites: Sites = {}
    for name, own in found:
        counts[name] += 1
        sites[name if counts[name] == 1 else f"{name} ({counts[name]})"] = own
    return sites
