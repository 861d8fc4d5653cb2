"""What a file tells its users: names that they type, and the values that hold if they do not.

Definitions and parameters come from the syntax tree, options, environment variables, settings, targets, ports and
versions from patterns in `rules/languages/facts.toml`. Only what is certain: a name with two values has none.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import islice
from math import prod
from posixpath import basename

from cli_guard.code.languages import language_for
from cli_guard.code.symbols import LANGUAGES, Symbol, symbols_of
from cli_guard.code.syntax import Trees
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

TABLE = "languages/facts.toml"
LONGEST_CALL = 1_500
LONGEST_BLOCK = 6_000
BRACKETS = re.compile(r"[()\[\]{}]")
COMMENTS = ("*", "//", "/*", "#")
MOST_FACTS = 5_000
MOST_CALLS = 2_000
DEFINED = {
    "function": "function",
    "class": "class",
    "type": "class",
    "constant": "constant",
}
DATA = ("json", "css", "html", "yaml")
UNITS = {"sec": "s", "min": "m", "hour": "h", "milli": "ms", "day": "d"}

Key = tuple[str, str, str]


@frozen
class Fact:
    """One thing that a file tells its users.

    `kind` is "function", "class", "constant", "parameter", "type" (of a parameter), "error" (raised), "turned" (an
    error that is caught to raise `value`), "flag", "variable" (of the environment), "key", "target", "script",
    "module", "command", "port", "exit" (a code), "file", "version", "route" (`value` is its method), "choice" (of the
    option `owner`; `value` has all), "member" (of an enumeration), or another kind of the rows `declared`. `owner` is
    what the name belongs to: a class, a function. `value` is as written, without quotes, "" if there is none.
    """

    kind: str
    name: str
    value: str = ""
    owner: str = ""
    line: int = 0

    @property
    def key(self) -> Key:
        return self.kind, self.name, self.owner


@cache
def pattern(name: str, section: str = "patterns") -> re.Pattern[str]:
    """Compile a pattern of the table at its first use."""
    return re.compile(read_table(TABLE)[section][name])


def facts_of(trees: Trees, path: str, text: str) -> Mapping[Key, Fact]:
    """Return the facts of a file by kind, name and owner; broken syntax gives those that can be read."""
    found: dict[Key, Fact] = {}
    for fact in _all_facts(trees, path, text):
        known = found.setdefault(fact.key, fact)
        if fact.value and known.value != fact.value:
            found[fact.key] = replace(known, value="" if known.value else fact.value)
        if len(found) >= MOST_FACTS:
            break
    return found


def _all_facts(trees: Trees, path: str, text: str) -> Iterator[Fact]:
    language = language_for(path, text)
    lines = text.split("\n")
    for product, row in read_table(TABLE)["versions"].items():
        if re.search(row["files"], path) and (match := re.search(row["pattern"], text)):
            yield Fact("version", product, re.sub(r"(?:\.0)+$", "", match["value"]))
    if language in LANGUAGES:
        found = list(_symbols(path, language, lines, symbols_of(trees, language, text)))
        yield from found
        if language in ("typescript", "tsx"):
            exported = [each for each in found if "export" in lines[each.line - 1]]
            yield from _option_fields(
                text, [each for each in exported if each.kind == "type"]
            )
    elif language not in DATA or pattern("settings_file").search(path):
        yield from _definitions(path, text, lines)
    yield from _declared(path, text)
    if basename(path) == "package.json":
        yield from _package_facts(text)
    if language and language not in DATA:
        yield from _source_facts(language, text)
    ports = _matches("port", "port", text)
    yield from (fact for fact in ports if 80 <= int(fact.name) <= 65_535)


def _source_facts(language: str, text: str) -> Iterator[Fact]:
    """Yield what a program gives its user to type or to set: options, keys of settings, exit codes."""
    yield from _options(text)
    yield from _clap_options(text)
    for name, (kind, only) in read_table(TABLE)["source_patterns"].items():
        if only in ("", language):
            yield from _matches(name, kind, text)
    if found_sections := list(_find("ini_section", text)):
        variables = pattern("section_variable").finditer(text)
        sections = {match["name"] for match in variables}
        for match in found_sections:
            if match["of"] in sections:
                yield replace(_fact("key", match), line=0)
    for fact in _matches("getopts", "flag", text):
        for letter in fact.name.replace(":", ""):
            yield replace(fact, name=f"-{letter}")
    if _may_hold("exit_code", text):
        for fact in _matches("constant", "exit", text):
            if fact.value.isdigit() and 0 < int(fact.value) < 126:
                yield Fact("exit", fact.value, line=fact.line)


def _declared(path: str, text: str) -> Iterator[Fact]:
    """Yield what files of a form declare, by the rows `declared` of the table."""
    for row in read_table(TABLE)["declared"]:
        if not re.search(row["files"], path) or not any(
            w in text for w in row.get("needs", " ").split(" ")
        ):
            continue
        blocks = [(0, text, "")]
        if "opens" in row:
            opened = islice(re.finditer(row["opens"], text), MOST_CALLS)
            blocks = [
                (match.end(), _block(text, match), match.groupdict().get("of") or "")
                for match in opened
            ]
        for start, block, owner in blocks:
            for match in re.finditer(row["pattern"], block):
                fact = _fact(row["kind"], match, text.count("\n", 0, start) + 1, owner)
                if row.get("style") == "kebab":
                    fact = replace(fact, name=_in_kebab(fact.name))
                if fact.kind == "route":
                    name = f"/{fact.name.lstrip('/')}"
                    fact = replace(fact, name=name, value=fact.value.upper())
                yield fact


def _in_kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name.replace("_", "-")).lower()


def _block(text: str, opened: re.Match[str]) -> str:
    """Return what a match holds: up to the bracket behind it, to the next heading in brackets, or while indented."""
    start = opened.end()
    if text[start : start + 1] in ("{", "[", "("):
        return call_text(text, start, LONGEST_BLOCK)
    if text[start : start + 1] != "\n":  # a statement
        return text[start : start + LONGEST_CALL].split(";", 1)[0].split("\n\n", 1)[0]
    line = text[text.rfind("\n", 0, start) + 1 : start]
    indent = len(line) - len(line.lstrip())
    end = r"\n\[" if line.startswith("[") else rf"\n[ \t]{{0,{indent}}}[^\s#]"
    ended = re.compile(end).search(text, start, start + LONGEST_BLOCK)
    return text[start : ended.start() if ended else start + LONGEST_BLOCK]


def _may_hold(name: str, text: str) -> bool:
    """Return whether a text has one of the words without which a pattern matches nothing: most texts have none."""
    needed = read_table(TABLE)["needs"].get(name, "")
    return not needed or any(word in text for word in needed.split())


def may_turn_errors(text: str) -> bool:
    """Return whether a text catches an error to raise another, of which there is a fact in some languages."""
    return _may_hold("turned", text) and pattern("turned").search(text) is not None


def _matches(
    name: str, kind: str, text: str, first: int = 1, owner: str = ""
) -> Iterator[Fact]:
    return (_fact(kind, match, first, owner) for match in _find(name, text))


def _find(name: str, text: str) -> Iterator[re.Match[str]]:
    return pattern(name).finditer(text) if _may_hold(name, text) else iter(())


def _fact(kind: str, match: re.Match[str], first: int = 1, owner: str = "") -> Fact:
    """Build the fact of a match with the groups `name` and perhaps `value`; `first` is the line of the text."""
    line = first + match.string.count("\n", 0, match.start("name"))
    return Fact(kind, match["name"], _value(match), owner, line)


def _value(match: re.Match[str] | None) -> str:
    return plain(match.groupdict().get("value")) if match else ""


def plain(value: str | None) -> str:
    """Return a value as written, without the quotes around it; a time as users write it, a product as its result."""
    value = (value or "").strip()
    if "*" in value and pattern("product").fullmatch(value):
        return str(prod(int(each) for each in re.split(r"\s*\*\s*", value)))
    if (found := pattern("duration").fullmatch(value)) and (
        number := found["before"] or found["after"]
    ):
        return number + UNITS[found["unit"].lower()]
    if len(value) > 1 and value[0] in "\"'`" and value[-1] == value[0]:
        return value[1:-1]
    return value


def _symbols(
    path: str, language: str, lines: list[str], symbols: Iterable[Symbol]
) -> Iterator[Fact]:
    raises = any(_may_hold("raised", line) for line in lines)
    for symbol in symbols:
        if symbol.quiet == "nested" or not symbol.name:
            continue
        kind = "function" if symbol.is_function else "class"
        line = symbol.line
        name = symbol.qualname
        yield Fact(kind, symbol.name, owner=name.rpartition(".")[0], line=line)
        yield from _parameters(path, symbol)
        settings = not symbol.is_function and pattern("settings_class").search(symbol.name)
        body = "\n".join(lines[line - 1 : symbol.end_line]) if raises or settings else ""
        if symbol.is_function:
            yield from _matches("raised", "error", body, line, name)
            yield from (
                _matches("turned", "turned", body, line, name)
                if language == "python"
                else ()
            )
            if language in ("javascript", "typescript", "tsx"):
                head = "\n".join(lines[line - 1 : symbol.head_end]).rpartition(")")[0]
                yield from _matches("taken_apart", "parameter", head, line, name)
        elif settings and language in read_table(TABLE)["fields"]:
            prefix = pattern("env_prefix").search(body)
            for match in pattern(language, "fields").finditer(body):
                fact = _fact("key", match, line)
                yield fact
                if prefix:
                    name = prefix["name"] + fact.name.upper()
                    yield replace(fact, kind="variable", name=name)


def _parameters(path: str, symbol: Symbol) -> Iterator[Fact]:
    """Yield the parameters of a symbol with their types, and those that Typer makes options of."""
    name = symbol.qualname
    line = symbol.line
    for each in symbol.parameters:
        if not each.name:
            continue
        if typer := pattern("typer").match(each.default):
            long = pattern("long_name").search(each.default)
            flag = long["name"] if long else f"--{each.name.replace('_', '-')}"
            yield Fact("flag", flag, plain(typer["value"]), line=line)
        yield Fact("parameter", each.name, plain(each.default), name, line)
        if each.annotation and not path.endswith(".pyi"):
            yield Fact("type", each.name, each.annotation, name, line)


def _option_fields(text: str, types: list[Fact]) -> Iterator[Fact]:
    """Yield the fields of an interface as parameters of the functions that take an object of it."""
    for start in islice(pattern("interface").finditer(text), MOST_CALLS):
        owners = [
            each.owner for each in types if each.value == (start["name"] or start["alias"])
        ]
        body = call_text(text, start.end()) if owners else ""
        for field in pattern("interface_field").finditer(body):
            line = text.count("\n", 0, start.end() + field.start("name")) + 1
            for owner in owners:
                fact = Fact("type", field["name"], field["value"], owner, line)
                yield replace(fact, kind="parameter", value="")
                yield fact


def _definitions(path: str, text: str, lines: list[str]) -> Iterator[Fact]:
    # Most changes are in languages that need none of it.
    from cli_guard.code.definitions import find_definitions

    for each in find_definitions(path, text):
        owner = each.qualname.rpartition(".")[0]
        if each.kind in DEFINED:
            yield Fact(DEFINED[each.kind], each.name, owner=owner, line=each.line)
            if each.kind == "function" and "(" in each.signature:
                head = call_text(each.signature, each.signature.index("("))
                yield from _matches(
                    "signature", "parameter", head, each.line, each.qualname
                )
            body = "\n".join(lines[each.line - 1 : each.end_line])
            yield from _matches("raised", "error", body, each.line, each.qualname)
        elif each.kind == "target" or (
            each.kind == "key" and pattern("settings_file").search(path)
        ):
            value = ""
            if each.kind == "key" and (
                written := pattern("assignment").match(each.signature)
            ):
                value = plain(written["value"].rstrip(","))
            yield Fact(each.kind, each.name, value, owner, each.line)


def _package_facts(text: str) -> Iterator[Fact]:
    """Yield the modules below a package that its users may import."""
    try:
        package = json.loads(text)
    except (ValueError, RecursionError):
        return
    exports = package.get("exports") if isinstance(package, dict) else None
    for name in exports if isinstance(exports, dict) else ():
        if name.startswith("./") and "*" not in name:
            yield Fact("module", f"{package.get('name')}/{name[2:]}")


def _options(text: str) -> Iterator[Fact]:
    """Yield the options that calls declare, each with its default; the flags of other programs are in no such call."""
    for start in islice(_find("option_call", text), MOST_CALLS):
        body = call_text(text, start.end())
        found = pattern("long_name").search(body) or pattern("option_name").search(body)
        name = found["name"] if found else ""
        value = pattern("option_default").search(body)
        if found:
            value = value or pattern("last_default").search(body)
        elif found := pattern("bare_name").search(body[:200]):
            name = f"--{found['name']}"
            value = value or pattern("third_default").match(body, found.end())
        before = text[text.rfind("\n", 0, start.start()) + 1 : start.start()].lstrip()
        if name and not before.startswith(COMMENTS):
            line = text.count("\n", 0, start.start()) + 1
            yield Fact("flag", name, _value(value), line=line)
            for listed in pattern("choices").finditer(body):
                words = pattern("choice").finditer(listed["values"])
                choices = [each[0].strip("\"'") for each in words]
                for each in choices:
                    yield Fact("choice", each, "|".join(choices), name, line)


def _clap_options(text: str) -> Iterator[Fact]:
    """Yield the options of a Rust program that has them as fields of a structure."""
    for match in pattern("clap").finditer(text) if "#[" in text else ():
        long = pattern("clap_long").search(match["body"])
        name = long["name"] if long else match["name"].replace("_", "-")
        at = match.start("body") + long.start() if long else match.start("name")
        default = pattern("option_default").search(match["body"])
        line = text.count("\n", 0, at) + 1
        yield Fact("flag", f"--{name}", _value(default), line=line)
        for alias in pattern("clap_alias").finditer(match["body"]):
            yield Fact("flag", f"--{alias['name']}", line=line)


def call_text(text: str, start: int, longest: int = LONGEST_CALL) -> str:
    """Return the text from an opening bracket to the one that closes it, at most `longest` characters."""
    depth = 0
    for match in BRACKETS.finditer(text, start, start + longest):
        depth += 1 if match[0] in "([{" else -1
        if depth == 0:
            return text[start : match.end()]
    return text[start : start + longest]
