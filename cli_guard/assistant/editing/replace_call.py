"""Plans "replace foo(a, b) with bar(b, a)": each call that fits is rewritten, with the import it then needs."""

import re
from collections.abc import Iterable, Iterator

from cli_guard.assistant.editing.calls import Call, CallPattern, bind, calls_in, fill, read_pattern
from cli_guard.assistant.editing.edits import Edit, applied, result
from cli_guard.assistant.editing.imports import add_imports, drop_new_unused, import_for
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.mentions import usages_of
from cli_guard.assistant.editing.model import Place, Plan, Step
from cli_guard.assistant.editing.plans import mention_risks, patched, refused, unknown_subject
from cli_guard.assistant.editing.python_names import span
from cli_guard.assistant.editing.python_rename import Python
from cli_guard.assistant.editing.sources import Sources

HEAD = re.compile(r"(?<![\w.$'\"])([A-Za-z_$][\w$]*)")


def plan_replace(sources: Sources, intent: Intent) -> Plan:
    """The plan for replacing one call by another."""
    old, new = intent.get("old").strip("`"), intent.get("new").strip("`")
    pattern = read_pattern(old, new)
    title = f"Replace {old} with {new}" if new else f"Replace {old}"
    if pattern is None:
        return refused(sources, "replace call", title, "", f"{old} is not a call or a name", ())
    python = Python.of(sources)
    matches = list(matching(python, pattern))
    references = [] if pattern.arguments is not None else list(bare_references(python, pattern))
    if not matches and not references:
        return unknown_subject(sources, "replace call", pattern.callee, intent)
    if not new:
        return refused(
            sources,
            "replace call",
            title,
            pattern.callee,
            f"the request does not say what replaces {old}",
            (),
        )
    left: list[Place] = []
    edits = edits_of_calls(sources, matches, pattern, (old, new), left)
    edits += [
        Edit(path, start, end, replaced_name(text, pattern, new)) for path, start, end, text in references
    ]
    changes = applied(sources, edits)
    missing = [] if sources.cut else list(with_imports(python, changes, pattern, new, left))
    changes = {} if sources.cut else drop_new_unused(sources, changes)
    outcome = result(sources, changes)
    places = {(c.path, c.callee_end - len(pattern.callee.rpartition(".")[2])) for c, _ in matches}
    places |= {(path, end - len(pattern.callee.rpartition(".")[2])) for path, _, end, _ in references}
    paths = tuple(sorted({e.path for e in edits}))
    last = pattern.callee.rpartition(".")[2]
    steps = [Step(f"Replace {len(edits)} uses of {pattern.callee}", paths, True)]
    if missing:
        steps.append(Step(f"Import what the replacement names: {', '.join(missing)}", paths))
    risks = [
        *same_name_risks(python, pattern, places),
        *mention_risks(sources, last, {(e.path, e.end) for e in edits}),
    ]
    return patched(
        sources,
        "replace call",
        title,
        pattern.callee,
        outcome,
        usages_of(sources, last, only=places),
        steps,
        risks,
        by_hand=left,
    )


def edits_of_calls(
    sources: Sources,
    matches: Iterable[tuple[Call, str]],
    pattern: CallPattern,
    request: tuple[str, str],
    left: list[Place],
) -> list[Edit]:
    """The edits of the calls for a request (old, new); one that does not fit, or is in another, goes to `left`."""
    old, new = request
    edits: list[Edit] = []
    for call, owner in matches:
        edit = rewritten(sources, call, pattern, new, owner)
        line = sources.line(call.path, call.start)
        if edit is None:
            left.append((call.path, line, f"its arguments do not fit {old}"))
        elif any(e.path == edit.path and e.start <= edit.start and edit.end <= e.end for e in edits[-20:]):
            left.append(
                (call.path, line, "it is an argument of another such call: run the request once more")
            )
        else:
            edits.append(edit)
    return edits


def matching(
    python: Python, pattern: CallPattern, paths: Iterable[str] | None = None
) -> Iterator[tuple[Call, str]]:
    """The calls of what the pattern names, each with how the file writes the owner of the name ("" for none)."""
    last = re.split(r"[.:]+", pattern.callee)[-1]
    for path in python.sources.mentioning(last) if paths is None else paths:
        if last not in python.sources.texts[path]:
            continue
        for call in calls_in(python.sources, path):
            if not call.callee.endswith(last) and "." in call.callee:
                continue
            owner = owner_if_meant(python, path, call.callee, call.callee_start, pattern.callee)
            if owner is not None:
                yield call, owner


def owner_if_meant(python: Python, path: str, written: str, start: int, wanted: str) -> str | None:
    """What stands for the owner of a wanted name where it is written so; None if it is not that name."""
    head = written.split(".")[0]
    full = qualified(python, path, head, start)
    if full is None:
        if written != wanted:
            return None
        if "." not in wanted and is_bound_locally(python, path, head, start):
            return None
        return written.rpartition(".")[0]
    whole = full + written[len(head) :]
    if whole == wanted or whole.endswith(f".{wanted}"):
        return written.rpartition(".")[0]
    return None


def qualified(python: Python, path: str, head: str, start: int) -> str | None:
    """The dotted name that the first name of an expression is imported as; None if no import binds it."""
    if python.sources.language(path) != "python":
        return None
    homes = python.names.homes(path, head)
    places = python.names.of(path, head)
    here = next((o for o in places if o.start == start), None)
    home = homes.home(here) if here is not None else None
    if home is None:
        return None
    for bound in places:
        if homes.home(bound) != home:
            continue
        source = python.modules.source_of(bound)
        if source is not None and bound.role in ("import", "binding"):
            return f"{source.text.lstrip('.')}.{source.name}".lstrip(".")
        parent = bound.node.parent()
        if bound.role == "import":
            return head
        if parent is not None and parent.kind() == "aliased_import":
            inner = parent.field("name")
            return inner.text() if inner is not None else None
        if bound.role == "definition" and len(bound.scopes) == 1:
            return f"{python.modules.dotted(path)}.{head}"
    return None


def is_bound_locally(python: Python, path: str, head: str, start: int) -> bool:
    """Does a variable or parameter of this file hide the name?"""
    if python.sources.language(path) != "python":
        return False
    homes = python.names.homes(path, head)
    here = next((o for o in python.names.of(path, head) if o.start == start), None)
    home = homes.home(here) if here is not None else None
    return home is not None and home.kind != "module"


def bare_references(
    python: Python, pattern: CallPattern, paths: Iterable[str] | None = None
) -> Iterator[tuple[str, int, int, str]]:
    """The uses of a Python name that do not call it: a decorator, a default, an argument."""
    last = pattern.callee.rpartition(".")[2]
    for path in python.sources.mentioning(last, "python") if paths is None else paths:
        for occurrence in python.names.of(path, last):
            if occurrence.role not in ("read", "attribute") or occurrence.called:
                continue
            node = occurrence.node.parent() if occurrence.role == "attribute" else occurrence.node
            if node is None or len(node.text()) > 300:
                continue
            start, end = span(node)
            text = re.sub(r"\s+", "", node.text())
            if owner_if_meant(python, path, text, start, pattern.callee) is not None:
                yield path, start, end, text


def rewritten(sources: Sources, call: Call, pattern: CallPattern, new: str, owner: str) -> Edit | None:
    """The edit of one call; None if its arguments do not fit."""
    bound = bind(pattern, call)
    if bound is None:
        return None
    if pattern.arguments is None:
        name = re.sub(r"\(\s*\)$", "", new.strip())
        if "(" in name:
            return None
        return Edit(call.path, call.callee_start, call.callee_end, replaced_name(call.callee, pattern, name))
    kinds = {name: a.kind() for name, a in zip(pattern.arguments, call.arguments, strict=False)}
    text = fill(with_owner(new, pattern, owner), bound, kinds)
    return Edit(call.path, call.start, call.end, text)


def with_owner(new: str, pattern: CallPattern, owner: str) -> str:
    """The replacement with the owner as the file writes it, where it keeps the owner of the pattern."""
    wanted = pattern.callee.rpartition(".")[0]
    if not wanted or not owner or not new.startswith(wanted + "."):
        return new
    return owner + new[len(wanted) :]


def replaced_name(text: str, pattern: CallPattern, new: str) -> str:
    """The new name for a use written as `text`."""
    return with_owner(re.sub(r"\(\s*\)$", "", new.strip()), pattern, text.rpartition(".")[0])


def with_imports(
    python: Python, changes: dict[str, str], pattern: CallPattern, new: str, left: list[Place]
) -> Iterator[str]:
    """Adds the imports that the replacement needs; yields the names that nobody knows where to import from."""
    variables = pattern.variables
    heads = [h for h in dict.fromkeys(HEAD.findall(re.sub(r"\w+\s*=(?!=)", "", new))) if h not in variables]
    kept = pattern.callee.split(".")[0] if new.startswith(pattern.callee.rpartition(".")[0] + ".") else ""
    unknown: dict[str, None] = {}
    for path in sorted(changes):
        for head in heads:
            if head == kept and "." in pattern.callee:
                continue
            found = import_for(python, path, head, dotted=f"{head}." in new)
            if found is None:
                left.append((path, 1, f"{head} must be imported here: where from is not known"))
                unknown[head] = None
            elif found:
                changes[path] = add_imports(python.sources, path, changes[path], [found])
    yield from unknown


def same_name_risks(python: Python, pattern: CallPattern, taken: set[tuple[str, int]]) -> Iterator[str]:
    """Calls by the same last name that were not taken, since nothing says that they mean the same."""
    last = re.split(r"[.:]+", pattern.callee)[-1]
    others: list[str] = []
    for path in python.sources.mentioning(last):
        for call in calls_in(python.sources, path):
            if call.callee.rpartition(".")[2] == last and (path, call.callee_end - len(last)) not in taken:
                others.append(f"{path}:{python.sources.line(path, call.start)}")
    if others:
        more = f" and {len(others) - 5} more" if len(others) > 5 else ""
        yield f"other calls named {last} were left, they may be something else: {', '.join(others[:5])}{more}"
