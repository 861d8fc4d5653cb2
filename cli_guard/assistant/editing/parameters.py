"""The parameters of a Python function: renamed in its body and its calls, added, given a default."""

import ast
import re

from cli_guard.assistant.editing.classes import ClassKey
from cli_guard.assistant.editing.intent import Intent
from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.other_languages import plan_uses
from cli_guard.assistant.editing.plan import Draft, Plan
from cli_guard.assistant.editing.scopes import MODULE, Scope
from cli_guard.assistant.editing.sources import Edit, Sources
from cli_guard.assistant.editing.targets import (
    Renaming,
    Target,
    exports_of,
    find_targets,
    name_others,
    rename_in_scope,
    with_aliases,
)

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
PARAMETER = re.compile(
    r"(?P<name>[A-Za-z_]\w*)\s*(?::\s*(?P<type>[^=]+?))?\s*(?:=\s*(?P<default>.+))?", re.DOTALL
)


def rename_parameter(python: Python, target: Target, new: str, work: Renaming) -> None:
    """Rename a parameter; for a method, in every class of the family that has it, since calls may reach any."""
    scopes, path = target.occurrence.scopes, target.path
    name = scopes[0].name
    functions = [(path, scopes[0])]
    owner = ClassKey(path, scopes[1].start, scopes[1].name) if scopes[1].kind == "class" else None
    unsure: set[tuple[str, int]] = set()
    if owner is None and scopes[1] == MODULE:
        calls = with_aliases(python, exports_of(python, path, name))
    elif owner is None:
        calls = {(path, each.start) for each in python.places_of_home(path, name, scopes[1])}
    elif name in ("__init__", "__new__"):
        members = python.classes.family(owner, "").members
        exports = (exports_of(python, each.path, each.name) for each in members)
        calls = {place for each in exports for place in with_aliases(python, each)}
    else:
        sure, maybe, is_unique = python.classes.member_places(python.classes.family(owner, name), name)
        calls = {(each.path, each.start) for each in (*sure, *(maybe if is_unique else ()))}
        unsure = set() if is_unique else {(each.path, each.start) for each in maybe}
        functions = [
            (each.path, Scope("function", python.head(each.path, each.node), name))
            for each in sure
            if isinstance(each.node, FUNCTIONS)
        ]
    for each, scope in functions:
        rename_inside(python, each, scope, target.name, new, work)
    rename_keywords(python, target.name, new, calls, unsure, work)


def rename_inside(python: Python, path: str, scope: Scope, old: str, new: str, work: Renaming) -> None:
    bound = next((o for o in python.places_of_home(path, old, scope) if o.role == "parameter"), None)
    if bound is None:
        return
    rename_in_scope(python, path, old, scope, new, work)
    function = bound.around
    if not isinstance(function, FUNCTIONS):
        return
    if ast.get_docstring(function, clean=False) is not None:
        documented = re.compile(
            r"(?::(?:param|type|arg|parameter)\s+(?:[\w.\[\], ]+\s)?|^[ \t]*|``?)"
            rf"(?P<name>{re.escape(old)})(?=\s*[:(`])",
            re.MULTILINE,
        )
        for match in documented.finditer(python.texts[path], *python.span(path, function.body[0])):
            work.edits.append(Edit(path, match.start("name"), match.end("name"), new))
    if function.args.kwarg is not None:
        kwargs = f"**{function.args.kwarg.arg}"
        work.risks.append(f"it takes {kwargs}: a call that still says {old}= is not refused but lands there")


def rename_keywords(
    python: Python,
    old: str,
    new: str,
    calls: set[tuple[str, int]],
    unsure: set[tuple[str, int]],
    work: Renaming,
) -> None:
    """Rename the keyword in each call of the function; one that may be a call of it is left to a person."""
    for path in python.mentioning(old):
        by_node = python.file(path).by_node
        for each in python.places(path, old):
            call = each.around
            if each.role != "keyword" or not isinstance(call, ast.Call):
                continue
            callee = by_node.get(call.func)
            at = (path, callee.start) if callee is not None else (path, -1)
            given = [by_node[argument] for argument in call.args if argument in by_node]
            if at in calls:
                work.take(each, new)
            elif at in unsure:
                work.by_hand.append(python.location(each, f"does this call reach it? {old}= is {new}= there"))
            elif any((path, argument.start) in calls for argument in given):
                reason = f"the function is handed over here: {old}= may be meant for it"
                work.by_hand.append(python.location(each, reason))
        text = python.texts[path]
        for match in re.finditer(rf"(['\"]){re.escape(old)}\1\s*:", text):
            line = python.line(path, match.start())
            around = python.sources.line_text(path, line) + text[match.end() : match.end() + 400]
            if "**" in around:
                work.by_hand.append((path, line, f"a key {old!r}: is this dict handed over with **?"))


def find_functions(python: Python, intent: Intent) -> list[Target]:
    """The functions and methods that the request means by `owner`; a class means its constructor."""
    owner, place = intent.get("owner"), intent.get("place")
    found = find_targets(python, owner, place, "function")
    if not found and find_targets(python, owner, place, "class"):
        found = find_targets(python, f"{owner}.__init__", place)
    return [each for each in found if isinstance(each.occurrence.node, FUNCTIONS)]


def function_of(target: Target) -> ast.FunctionDef | ast.AsyncFunctionDef:
    assert isinstance(target.occurrence.node, FUNCTIONS)  # noqa: S101 - chosen by find_functions
    return target.occurrence.node


def plan_default(sources: Sources, intent: Intent) -> Plan:
    """The plan for "set the default of P in f to V"."""
    python, name, value = Python(sources), intent.get("name"), intent.get("value").strip("` ")
    found = find_functions(python, intent)
    if not found:
        return plan_uses(sources, "edit", intent, intent.get("owner"))
    target, path, node = found[0], found[0].path, function_of(found[0])
    title = f"Set the default of {name} in {target.qualified} to {value}"
    draft = Draft(sources, "edit", title, target.name, name_others(python, found))
    positional = [*node.args.posonlyargs, *node.args.args]
    every = [*positional, *node.args.kwonlyargs]
    number = next((at for at, each in enumerate(every) if each.arg == name), None)
    if number is None or not value:
        missing = f"parameter {name} of {target.qualified} in {path}"
        return draft.ask(f"Say which parameter of {target.qualified} is meant", missing)
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(node.args.defaults))
    defaults += [*node.args.defaults, *node.args.kw_defaults]
    old, after = defaults[number], number + 1
    if re.match(r"[\[{]|(?:list|dict|set)\(", value):
        draft.risks.append(f"{value} is made once and shared by all calls")
    if old is not None:
        draft.risks.append("calls that rely on the old default now get the new one")
        return draft.finish_edits([Edit(path, *python.span(path, old), value)])
    if after < len(positional) and defaults[after] is None:
        line = sources.line(path, python.span(path, every[after])[0])
        place = (path, line, f"{every[after].arg} follows and has no default")
        return draft.refuse("a parameter with a default cannot come first", [place])
    end = python.span(path, every[number])[1]
    sign = " = " if every[number].annotation is not None else "="
    return draft.finish_edits([Edit(path, end, end, f"{sign}{value}")])


def plan_parameter(sources: Sources, intent: Intent) -> Plan:
    """The plan for "add parameter p=default to f": at the end, before **kwargs; by keyword alone after *args."""
    python, text = Python(sources), intent.get("text").strip("`'\" ")
    found = find_functions(python, intent)
    if not found:
        return plan_uses(sources, "edit", intent, intent.get("owner"))
    target, path, given = found[0], found[0].path, function_of(found[0]).args
    title = f"Add the parameter {text} to {target.qualified} in {path}"
    draft = Draft(sources, "edit", title, target.name, name_others(python, found))
    match = PARAMETER.fullmatch(text)
    every = [
        *(*given.posonlyargs, *given.args, *given.kwonlyargs),
        *(each for each in (given.vararg, given.kwarg) if each is not None),
    ]
    if match is None:
        return draft.refuse(f"{text} is not a parameter")
    if any(each.arg == match["name"] for each in every):
        line = sources.line(path, target.occurrence.start)
        place = (path, line, f"{target.qualified} has {match['name']} already")
        return draft.refuse("the parameter is there already", [place])
    if not match["default"]:
        return draft.refuse("without a default each call must hand it over: give one, as in p=None")
    written = match["name"] + (f": {match['type']} = " if match["type"] else "=") + match["default"]
    if given.kwarg is not None:
        at = sources.texts[path].rfind("**", 0, python.span(path, given.kwarg)[0])
        written += ", "
    elif every:
        values = [each for each in (*given.defaults, *given.kw_defaults) if each is not None]
        at = max(python.span(path, each)[1] for each in (*every, *values))
        written = f", {written}"
    else:
        at = sources.texts[path].index("(", target.occurrence.end) + 1
    draft.risks.append("it has no effect until the body uses it")
    if target.owner is not None:
        draft.risks.append("overriding methods in subclasses do not take it")
    return draft.finish_edits([Edit(path, at, at, written)])
