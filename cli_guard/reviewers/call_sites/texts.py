"""The calls of the guard in shell scripts and makefiles."""

import re
from collections.abc import Iterable, Mapping

from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import Node, ParsedCommand, Text
from cli_guard.lazy import frozen
from cli_guard.reviewers.call_sites.values import (
    LONGEST_SCRIPT,
    Sites,
    Value,
    Values,
    shape_of,
)
from cli_guard.reviewers.commands.extract.make import MAKE_HEAD, blocks_in
from cli_guard.reviewers.commands.extract.snippet import LineNumbers

# husky runs its scripts with `sh -e`.
STOPS_AT_FAILURE = re.compile(r"(?:^|/)\.husky/")
SAYS = frozenset(("echo", "printf", ":", "true", "false"))
# They give a name to a call that is made further below.
NAMES = frozenset("export alias readonly declare typeset local pip pipx uv".split())
ERREXIT = re.compile(r"[-+][a-z]*e[a-z]*")
# Of a makefile: a setting, and those by which make itself runs a recipe.
SETTING = re.compile(
    r"\s*(?:(?:override|export|private)\s+)*(?P<name>[^\s:#=?+!]+)\s*(?:::?:?|[?+!])?="
)
COMMENT = re.compile(r"(?m)^[ \t]*#.*(?<!\\)$")
REFERENCE = re.compile(r"\$[({]([^\s(){}:]+)|\$([^\s({$])")
OF_MAKE = frozenset("SHELL .SHELLFLAGS MAKEFLAGS GNUMAKEFLAGS PATH .RECIPEPREFIX".split())
# A piece of a makefile with its first line.
Block = tuple[int, str]


def script(values: Values, path: str, text: str) -> Sites:
    """Read a shell script: the commands up to its last call, and the rest too where a failure does not end it."""
    if not values.calls(text):
        return {}
    read = parse(text) if len(text) <= LONGEST_SCRIPT else None
    if read is None or read.errors:
        return {"the script": {"": values.text(text)}}
    items = read.items
    shapes = [repr(shape_of(item)) for item in items]
    calls = [
        n
        for n, item in enumerate(items)
        if values.calls(shapes[n]) and SAYS.isdisjoint(first_words(item)[:1])
    ]
    if not calls:
        return {}
    last = calls[-1] + 1
    is_plain_call = bool(first_words(items[calls[-1]])) and NAMES.isdisjoint(
        first_words(items[calls[-1]])[:1]
    )
    # A call in a variable or a function is made further below.
    if not (is_plain_call and is_strict(items[: calls[-1]], path)):
        last = len(items)
    lines = LineNumbers(text)
    first = text.split("\n", 1)[0]
    commands = {"first line": values.text(first, 1)} if first.startswith("#!") else {}
    for n in range(last):
        at = lines.at(items[n].span.start)
        commands[f"command {n + 1}"] = values.text(shapes[n], at)
    return {"the script": commands}


def first_words(item: Node) -> tuple[str, ...]:
    """Return the words of a simple command up to the first that is not plain."""
    words = []
    for word in item.words if isinstance(item, ParsedCommand) else ():
        if len(word.parts) != 1 or not isinstance(word.parts[0], Text):
            break
        words.append(word.parts[0].text)
    return tuple(words)


def is_strict(items: Iterable[Node], path: str) -> bool:
    """Return whether the script ends at the first command that fails after some items."""
    sets = (first_words(item) for item in items)
    options = [each for words in sets if words[:1] == ("set",) for each in words[1:]]
    switches = [each for each in options if ERREXIT.fullmatch(each)]
    if not switches:
        return STOPS_AT_FAILURE.search(path) is not None
    return switches[-1].startswith("-")


@frozen
class Makefile:
    """The blocks of a makefile: of each target its rules and what it needs, the settings by name, and all others."""

    rules: dict[str, list[Block]]
    needs: dict[str, set[str]]
    settings: dict[str, list[Block]]
    others: list[Block]


def read_makefile(values: Values, text: str) -> Makefile:
    rules: dict[str, list[Block]] = {}
    needs: dict[str, set[str]] = {}
    settings: dict[str, list[Block]] = {}
    others: list[Block] = []
    line = 1
    for targets, needed, written in blocks_in(text, MAKE_HEAD):
        block = (line, written)
        line += written.count("\n")
        for target in targets:
            values.count()
            rules.setdefault(target, []).append(block)
            needs.setdefault(target, set()).update(needed)
        setting = SETTING.match(written)
        if setting and not targets:
            settings.setdefault(setting["name"], []).append(block)
        elif not targets and written:
            others.append(block)
    return Makefile(rules, needs, settings, others)


def makefile(values: Values, path: str, text: str) -> Sites:
    """Read the rules of a makefile that call, what they need and use, and the targets that need them."""
    made = read_makefile(values, text)
    rules = made.rules
    needs = made.needs
    settings = made.settings
    calling = {
        name for name in settings if any(values.calls(each) for _, each in settings[name])
    }
    called = [
        target
        for target, blocks in rules.items()
        if not target.startswith(".")
        and any(
            values.calls(each) or not calling.isdisjoint(names_of(each))
            for _, each in blocks
        )
    ]
    if not called:
        return {}
    special = [target for target in rules if target.startswith(".") and target != ".PHONY"]
    needed = needed_targets(called, needs, rules)
    ruled = (*called, *needed, *special)
    kept = [*(each for target in ruled for each in rules[target]), *made.others]
    shared = {f"setting {name}": settings[name] for name in used_settings(kept, settings)}
    shared |= {target: rules[target] for target in special}
    shared["other lines"] = made.others
    shared |= {f"target {target}, which runs before": rules[target] for target in needed}
    sites: Sites = {
        "the makefile": {name: join_blocks(values, each) for name, each in shared.items()}
    }
    for target in called:
        is_phony = target in needs.get(".PHONY", ())
        sites[f"target {target}"] = {
            "rule": join_blocks(values, rules[target]),
            ".PHONY": values.text(str(is_phony)),
        }
    for other, named in needs.items():
        for target in sorted(named.intersection(called)) if other != ".PHONY" else ():
            sites[f"target {other}, which needs {target}"] = {}
    return sites


def needed_targets(
    called: list[str], needs: Mapping[str, set[str]], rules: Mapping[str, list[Block]]
) -> list[str]:
    """Return the targets of a makefile that make brings about before these: they may change what is called."""
    found = dict.fromkeys(called)
    waiting = list(called)
    for target in waiting:
        fresh = [
            each for each in sorted(needs[target]) if each in rules and each not in found
        ]
        found |= dict.fromkeys(fresh)
        waiting += fresh
    return waiting[len(called) :]


def used_settings(blocks: list[Block], settings: dict[str, list[Block]]) -> list[str]:
    """Return the names of the settings that some blocks use, those that these use, and those of make itself."""
    found = [name for name in settings if name in OF_MAKE]
    waiting = list(blocks) + [each for name in found for each in settings[name]]
    for _, text in waiting:
        for name in names_of(text):
            if name in settings and name not in found:
                found.append(name)
                waiting += settings[name]
    return found


def names_of(text: str) -> list[str]:
    """Return the names of the settings that a text uses."""
    return [found[1] or found[2] for found in REFERENCE.finditer(text)]


def join_blocks(values: Values, blocks: list[Block]) -> Value:
    """Return the value of some blocks without blank lines, and comments that do not go on in the next line."""
    text = COMMENT.sub("", "".join(text for _, text in blocks))
    lines = filter(str.strip, text.split("\n"))
    return values.text(";".join(map(str.rstrip, lines)), blocks[0][0] if blocks else None)


def whole_text(values: Values, path: str, text: str) -> Sites:
    """Read a file of which it is not known what does not matter to a call."""
    return {"the file": {"": values.text(text)}} if values.calls(text) else {}
