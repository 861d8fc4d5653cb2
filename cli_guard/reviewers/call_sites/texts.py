"""The calls of the guard in shell scripts and makefiles."""

import re

from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import AndOr, Node, Nodes, ParsedCommand, Text
from cli_guard.reviewers.call_sites.values import (
    LONGEST_SCRIPT,
    MENTION,
    Sites,
    Value,
    Values,
    shape_of,
)
from cli_guard.reviewers.commands.extract.make import logical_lines
from cli_guard.reviewers.commands.extract.snippet import LineNumbers

# husky runs its scripts with `sh -e`.
STOPS_AT_FAILURE = re.compile(r"(?:^|/)\.husky/")
SAYS = frozenset(("echo", "printf", ":", "true", "false"))
# They give a name to a call that is made further below.
NAMES = frozenset("export alias readonly declare typeset local pip pipx uv".split())
ERREXIT = re.compile(r"[-+][a-z]*e[a-z]*|errexit")
# Of a makefile: what a rule begins with, a setting, and the settings by which make itself runs a recipe.
RULE = re.compile(r"(?P<targets>[^\s#:=][^#:=]*?)\s*::?(?![=:])(?P<needs>[^\n]*)")
SETTING = re.compile(
    r"\s*(?:(?:override|export|private)\s+)*(?P<name>[^\s:#=?+!]+)\s*(?:::?:?|[?+!])?="
)
REFERENCE = re.compile(r"\$[({]([^\s(){}:]+)|\$([^\s({$])")
OF_MAKE = frozenset("SHELL .SHELLFLAGS MAKEFLAGS GNUMAKEFLAGS PATH .RECIPEPREFIX".split())


def script(values: Values, path: str, text: str) -> Sites:
    """Read a shell script: the commands up to its last call, and the rest too where a failure does not end it."""
    if not values.calls(text):
        return {}
    read = parse(text) if len(text) <= LONGEST_SCRIPT else None
    if read is None or read.errors:
        return {"the script": {"": values.text(text)}}
    shapes = [repr(shape_of(item)) for item in read.items]
    calls = [
        n
        for n, item in enumerate(read.items)
        if values.calls(shapes[n]) and not is_said(item)
    ]
    if not calls:
        return {}
    ends = [n for n in calls if is_end(read.items, n, path)]
    # A call in a variable or a function is made further below.
    last = len(shapes) if not ends or ends[-1] != calls[-1] else ends[-1]
    lines = LineNumbers(text)
    places = [lines.at(item.span.start) for item in read.items]
    first = text.split("\n", 1)[0]
    commands = {"first line": values.text(first, 1)} if first.startswith("#!") else {}
    commands |= {
        f"command {n + 1}": values.text(shapes[n], places[n])
        for n in range(min(last + 1, len(shapes)))
    }
    return {"the script": commands}


def is_said(item: Node) -> bool:
    """Return whether a command only says its words."""
    return not SAYS.isdisjoint(first_words(item)[:1])


def first_words(item: Node) -> tuple[str, ...]:
    """Return the words of a simple command up to the first that is not plain."""
    words = []
    for word in item.words if isinstance(item, ParsedCommand) else ():
        if len(word.parts) != 1 or not isinstance(word.parts[0], Text):
            break
        words.append(word.parts[0].text)
    return tuple(words)


def is_end(items: Nodes, at: int, path: str) -> bool:
    """Return whether the script ends at a command that fails."""
    is_strict = STOPS_AT_FAILURE.search(path) is not None
    for item in items[:at]:
        options = first_words(item) if first_words(item)[:1] == ("set",) else ()
        for option in options[1:]:
            if ERREXIT.fullmatch(option):
                is_strict = option[0] != "+"
    item = items[at]
    if (
        isinstance(item, AndOr)
        and item.operators == ("||",)
        and first_words(item.items[1])[:1] == ("exit",)
    ):
        return first_words(item.items[1])[1:] in ((), ("1",)) and is_plain_call(
            item.items[0]
        )
    return is_plain_call(item) and (is_strict or first_words(item)[:1] == ("exec",))


def is_plain_call(item: Node) -> bool:
    """Return whether a command runs the guard, or a program in a file; not one that only sets a name for later."""
    return (
        isinstance(item, ParsedCommand)
        and bool(item.words)
        and NAMES.isdisjoint(first_words(item)[:1])
    )


def makefile(values: Values, path: str, text: str) -> Sites:
    """Read a makefile: the rules that call, the settings that they use, and the targets that need them."""
    rules: dict[str, list[tuple[int, str]]] = {}
    settings: dict[str, list[tuple[int, str]]] = {}
    others: list[tuple[int, str]] = []
    needs: dict[str, set[str]] = {}
    current: list[str] = []
    for pieces in logical_lines(text):
        line = pieces[0][0]
        logical = "".join(each for _, each in pieces).rstrip("\n")
        if not logical.strip() or logical.lstrip().startswith("#"):
            continue
        if logical.startswith("\t") and current:
            for target in current:
                values.count()
                rules[target].append((line, logical))
            continue
        if setting := SETTING.match(logical):
            settings.setdefault(setting["name"], []).append((line, logical))
            current = []
        elif rule := RULE.match(logical):
            current = rule["targets"].split()
            for target in current:
                rules.setdefault(target, []).append((line, rule["needs"]))
                needs.setdefault(target, set()).update(rule["needs"].split())
        else:
            others.append((line, logical))
            current = []
    calling = {
        name
        for name, lines in settings.items()
        if any(values.calls(each) for _, each in lines)
    }
    called = [
        target
        for target, body in rules.items()
        if not target.startswith(".")
        and any(
            values.calls(each) or not calling.isdisjoint(names_of(each)) for _, each in body
        )
    ]
    if not called:
        return {}
    special = [target for target in rules if target.startswith(".") and target != ".PHONY"]
    kept = [*(each for target in (*called, *special) for each in rules[target]), *others]
    used = {name: settings[name] for name in used_settings(kept, settings)}
    sites: Sites = {
        "the makefile": {
            **{
                f"setting {name}": join_lines(values, lines) for name, lines in used.items()
            },
            **{target: join_lines(values, rules[target]) for target in special},
            "other lines": join_lines(values, others),
        }
    }
    for target in called:
        is_phony = target in needs.get(".PHONY", ())
        sites[f"target {target}"] = {
            "rule": join_lines(values, rules[target]),
            ".PHONY": values.text(str(is_phony)),
        }
    for other, named in needs.items():
        for target in sorted(named.intersection(called)) if other != ".PHONY" else ():
            sites[f"target {other}, which needs {target}"] = {}
    return sites


def used_settings(
    lines: list[tuple[int, str]], settings: dict[str, list[tuple[int, str]]]
) -> list[str]:
    """Return the names of the settings that some lines use, those that these use, and those of make itself."""
    found = [name for name in settings if name in OF_MAKE]
    waiting = list(lines) + [each for name in found for each in settings[name]]
    for _, text in waiting:
        for name in names_of(text):
            if name in settings and name not in found:
                found.append(name)
                waiting += settings[name]
    return found


def names_of(text: str) -> list[str]:
    """Return the names of the settings that a line uses."""
    return [found[1] or found[2] for found in REFERENCE.finditer(text)]


def join_lines(values: Values, lines: list[tuple[int, str]]) -> Value:
    """Return the value of some lines as they stand."""
    return values.text(
        "".join(f"{each.strip()};" for _, each in lines), lines[0][0] if lines else None
    )


def whole_text(values: Values, path: str, text: str) -> Sites:
    """Read a file of which it is not known what does not matter to a call."""
    return (
        {"the file": {"": values.text(text)}}
        if MENTION.search(text) or values.calls(text)
        else {}
    )
