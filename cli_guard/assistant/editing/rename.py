"""Plans a rename in Python: what the name means, where it is surely meant, what is left and what may break.

Strings, configuration and prose come after the code: what surely means it there, and what a person must look at.
"""

import builtins
import keyword
import re
from collections.abc import Collection, Iterable, Iterator

from cli_guard.assistant.editing.classes import Classes, ClassKey, class_around
from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.names import NameScope, Occurrence
from cli_guard.assistant.editing.open_ended import plan_file_rename, plan_uses
from cli_guard.assistant.editing.plan import (
    EditPlan,
    Place,
    PlanDraft,
    is_history,
    outside_history,
    usages_of,
    word,
)
from cli_guard.assistant.editing.sources import (
    Sources,
    TextEdit,
    find_path,
    is_configuration,
    is_documentation,
    join_some,
)
from cli_guard.assistant.editing.targets import (
    DefinitionTarget,
    collisions,
    exports_of,
    find_targets,
    name_others,
    rename_in_scope,
    uses_of,
    with_aliases,
)
from cli_guard.assistant.replies import count_of
from cli_guard.assistant.request_change import Change

FILES = tuple(
    ".py .pyi .js .jsx .mjs .cjs .ts .mts .cts .tsx .go .java .rs .md .toml .json .yml .yaml .txt .css .html".split()
)


def plan_rename(sources: Sources, intent: Change) -> EditPlan:
    old = intent.get("old")
    new = intent.get("new")
    if (
        intent.get("sort") in ("module", "package", "file")
        or "/" in old
        or old.endswith(FILES)
    ):
        return plan_file_rename(sources, intent)
    python = Python(sources)
    found = find_targets(python, old, intent.get("place"), intent.get("sort"))
    if found:
        return rename_target(python, found, new.rpartition(".")[2])
    if "." in old and find_path(sources, old).path:
        return plan_file_rename(sources, intent)
    return plan_uses(sources, intent)


def rename_target(python: Python, found: list[DefinitionTarget], new: str) -> EditPlan:
    """Return the rename of the first of several definitions; the others are named as what was not taken."""
    sources = python.sources
    target = found[0]
    old = found[0].name
    sort = "local variable" if target.sort == "local" else target.sort
    draft = PlanDraft(
        sources,
        "rename",
        f"Rename the {sort} {target.qualified} in {target.path} to {new}",
        old,
    )
    problem = why_invalid(new) or ("it has that name already" if new == old else None)
    if problem is not None:
        return draft.refuse(f"{draft.title}: {problem}")
    draft.assume(name_others(python, found))
    if target.home.kind == "module" and not old.startswith("_"):
        module = python.module_name(target.path)
        draft.risks.append(
            f"code outside of this repository that imports {old} from {module} breaks"
        )
    rename_places_of(python, target, new, draft)
    if draft.problems:
        return draft.refuse(f"{new} cannot be used here", draft.problems)
    in_code = {(each.path, each.start) for each in draft.edits}
    if target.sort not in ("parameter", "local"):
        draft.by_hand += dynamic_uses(python, old)
    edits = outside_history(draft.edits)
    draft.add_step(f"Rename {target.qualified} where it is defined", [target.path])
    draft.add_step(
        "Rename its imports and uses", sorted({path for path, _ in in_code} - {target.path})
    )
    draft.risks += mention_risks(python, old, edits)
    if hasattr(builtins, new):
        draft.risks.append(
            f"{new} is the name of a built-in, which is hidden wherever it is bound"
        )
    draft.usages = usages_of(sources, old, in_code)
    return draft.finish_edits(edits)


def why_invalid(name: str) -> str | None:
    if not name.isidentifier():
        return f"{name} is not a name in Python"
    return f"{name} is a word of the language" if keyword.iskeyword(name) else None


def rename_places_of(
    python: Python, target: DefinitionTarget, new: str, draft: PlanDraft
) -> None:
    if target.sort == "parameter":
        rename_parameter(python, target, new, draft)
    elif target.owner:
        rename_member(python, target.owner, target.name, new, draft)
    elif target.home.kind == "module":
        places = exports_of(python, target.path, target.name)
        rename_exports(python, places, new, draft)
        for path, start in find_dotted_strings(python, places, target.name):
            draft.edits.append(TextEdit(path, start, start + len(target.name), new))
    else:
        rename_in_scope(python, target.path, target.name, target.home, new, draft)


def rename_exports(
    python: Python, places: dict[str, set[Occurrence]], new: str, draft: PlanDraft
) -> None:
    """Rename places of one name. What other imports bind in the same scope is given the new name with `as`."""
    for path in sorted(places):
        by_home: dict[NameScope, list[Occurrence]] = {}
        for each in sorted(places[path], key=lambda o: o.start):
            text = f"{each.name} as {new}" if is_foreign(python, each, places) else new
            draft.edits.append(each.replace(text))
            if each.home:
                by_home.setdefault(each.home, []).append(each)
        for home, mine in by_home.items():
            draft.problems += collisions(python, path, mine, home, new)


def is_foreign(
    python: Python, occurrence: Occurrence, places: dict[str, set[Occurrence]]
) -> bool:
    """Return whether an import binds the name to something else: `try: from other import NAME`."""
    if occurrence.role != "import" or occurrence.is_alias:
        return False
    return python.source_of(occurrence) not in places


def rename_member(
    python: Python, owner: ClassKey, old: str, new: str, draft: PlanDraft
) -> None:
    """Rename a method or attribute wherever its family of classes is surely meant."""
    classes = Classes(python)
    family = classes.family(owner, old)
    sure, unsure, is_unique = classes.member_places(family, old)
    if unsure and is_unique:
        places = count_of(len(unsure), "place")
        note = (
            f"no other class of the repository has {old}, so every .{old} is taken for it"
        )
        draft.assume(f"{note} ({places} by name alone)")
        sure = [*sure, *unsure]
        unsure = []
    draft.edits += [each.replace(new) for each in sure]
    draft.by_hand += [
        python.location(each, f"is this .{old} one of {owner.name}?") for each in unsure
    ]
    for path in sorted({key.path for key in family.members}):
        for taken in classes.definitions(path, new):
            key = class_around(taken)
            if key and key in family.members:
                draft.problems.append(
                    python.location(taken, f"{key.name} has {new} already")
                )
    for base in family.outside:
        draft.risks.append(
            f"{owner.name} or a base of it extends {base}, which is not in this repository: if that defines or calls "
            f"{old}, the renamed one no longer answers"
        )
    if old.startswith("__") and old.endswith("__"):
        draft.risks.append(f"{old} is called by the language itself")


# Parameters


def rename_parameter(
    python: Python, target: DefinitionTarget, new: str, draft: PlanDraft
) -> None:
    """Rename a parameter; for a method, in every class of the family that has it, since calls may reach any."""
    path = target.path
    inner, outer, *_ = target.occurrence.scopes
    functions = [(path, inner)]
    is_method = outer.kind == "class"
    if is_method and inner.name in ("__init__", "__new__"):
        members = (
            Classes(python).family(ClassKey(path, outer.start, outer.name), "").members
        )
        exports = (exports_of(python, each.path, each.name) for each in members)
        calls = {place for each in exports for place in with_aliases(python, each)}
        unsure = set[Occurrence]()
    else:
        sure, maybe, is_unique = uses_of(python, path, inner.name, outer)
        calls = {*sure, *(maybe if is_unique else ())}
        unsure = set(() if is_unique else maybe)
        if is_method:
            defined = [each for each in sure if each.role == "definition"]
            heads = ((each.path, each.parent.range().start.index) for each in defined)
            functions = [
                (where, NameScope("function", head, inner.name)) for where, head in heads
            ]
    for each, scope in functions:
        rename_inside(python, each, scope, target.name, new, draft)
    rename_keywords(python, target.name, new, calls, unsure, draft)


def rename_inside(
    python: Python, path: str, scope: NameScope, old: str, new: str, draft: PlanDraft
) -> None:
    bound = next(
        (o for o in python.places_of_home(path, old, scope) if o.role == "parameter"), None
    )
    if not bound:
        return
    rename_in_scope(python, path, old, scope, new, draft)
    kinds = ("function_definition", "lambda")
    function = next(each for each in bound.node.ancestors() if each.kind() in kinds)
    body = function.field("body")
    first = body.child(0) if body else None
    text = first.child(0) if first else None
    if function.kind() == "lambda":
        return
    if text and text.kind() == "string":
        span = text.range()
        documented = re.compile(
            r"(?::(?:param|type|arg|parameter)\s+(?:[\w.\[\], ]+\s)?|^[ \t]*|``?)"
            rf"(?P<name>{re.escape(old)})(?=\s*[:(`])",
            re.MULTILINE,
        )
        for match in documented.finditer(
            python.texts[path], span.start.index, span.end.index
        ):
            draft.edits.append(TextEdit(path, match.start("name"), match.end("name"), new))
    given = function.field("parameters")
    kwargs = given.find(kind="dictionary_splat_pattern") if given else None
    if kwargs:
        draft.risks.append(
            f"it takes {kwargs.text()}: a call that still says {old}= is not refused but lands there"
        )


def rename_keywords(
    python: Python,
    old: str,
    new: str,
    calls: set[Occurrence],
    unsure: set[Occurrence],
    draft: PlanDraft,
) -> None:
    """Rename the keyword in each call of the function; one that may be a call of it is left to a person."""
    for path in python.mentioning(old):
        names = python.file(path)
        for each in python.places(path, old):
            if each.role != "keyword":
                continue
            given, call = each.node.ancestors()[1:3]
            if call.kind() != "call":
                continue
            callee = names.at_end_of(call.field("function"))
            if callee in calls:
                draft.edits.append(each.replace(new))
            elif callee in unsure:
                draft.by_hand.append(
                    python.location(
                        each, f"does this call reach it? {old}= is {new}= there"
                    )
                )
            elif any(names.at_end_of(each) in calls for each in given.named_children()):
                reason = f"the function is handed over here: {old}= may be meant for it"
                draft.by_hand.append(python.location(each, reason))
        text = python.texts[path]
        for match in re.finditer(rf"(['\"]){re.escape(old)}\1\s*:", text):
            line = python.line(path, match.start())
            below = text[match.end() : match.end() + 400]
            if "**" in python.sources.line_text(path, line) + below:
                draft.by_hand.append(
                    (path, line, f"a key {old!r}: is this dict handed over with **?")
                )


def mention_risks(python: Python, name: str, edits: Collection[TextEdit]) -> Iterator[str]:
    """Yield what still says the name in configuration, prose and other languages once the edits are made."""
    sources = python.sources
    groups = dict[str, list[str]]()
    edited = {(each.path, each.start) for each in edits}
    for path in sources.mentioning(name):
        text = sources.texts[path]
        language = sources.language(path)
        left = [
            m.start() for m in word(name).finditer(text) if (path, m.start()) not in edited
        ]
        if left and is_history(path):
            groups.setdefault("a history of releases", []).append(path)
        elif left and is_configuration(path):
            groups.setdefault("configuration", []).append(path)
        elif left and (is_documentation(path) or language not in (None, "python")):
            groups.setdefault(f"{language} files" if language else "documents", []).append(
                path
            )
        # Alone or behind a dot: `url_for("shop.orders")`.
        in_call = rf"\w\(\s*(['\"])(?:[\w.]+\.)?{re.escape(name)}\1"
        if re.search(in_call, text) and not is_documentation(path):
            groups.setdefault("strings of calls", []).append(path)
    for what in sorted(groups):
        yield f"{name} is also named in {what} that the patch leaves: {join_some(groups[what])}"


def find_dotted_strings(
    python: Python, modules: Collection[str], old: str
) -> Iterator[tuple[str, int]]:
    """Yield where a string or configuration says "package.module.name" or "package.module:name"."""
    dotted = rf"(?P<module>[A-Za-z_][\w.]*?)[.:](?P<name>{re.escape(old)})(?![\w-])"
    in_string = re.compile(rf"[rRuU]?['\"]{{1,3}}{dotted}")
    in_text = re.compile(rf"(?<![\w.:/-]){dotted}")
    for path in python.sources.mentioning(old):
        text = python.texts[path]
        found: Iterable[re.Match[str] | None] = ()
        if python.sources.language(path) == "python":
            found = (in_string.match(text, *part) for part in python.file(path).strings)
        elif is_configuration(path):
            found = in_text.finditer(text)
        for match in found:
            if match and python.find(path, match["module"]) in modules:
                yield path, match.start("name")


def dynamic_uses(python: Python, old: str) -> Iterator[Place]:
    """Yield strings that may reach the name when the program runs: getattr(x, "name") and the like."""
    for path in python.mentioning(old):
        for each in python.places(path, old):
            if each.role == "dynamic":
                yield python.location(each, f"reached by the string {old!r}")
