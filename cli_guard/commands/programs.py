"""Load the tables of the programs: what each option, operand and sub-command does.

A table is a TOML file under `rules/programs/`, in any folder, named after its program (`sort.toml`) or, as manual pages
are, after a sub-command that has a file of its own (`git-commit.toml`). It is read when its program is first met. The
format is described in `rules/programs/README.md`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any

from cli_guard.commands.model import HARMLESS, EffectKind
from cli_guard.lazy import dataclass, frozen
from cli_guard.rules import tables

# The table of what `python -m` runs, which is no program.
MODULES = "python-m"
# Words that do nothing by themselves; what they mean to the project's tools: trust/words.py.
PLAIN = frozenset(("text", "task", "verb", "setting"))
REPEATED = "..."

HARMLESS_VALUES = HARMLESS.union(("text", "task", "verb", "folder"))
VERSION = re.compile(r"(?<=[a-z])[-_]?\d[\d.]*$")


@frozen
class Option:
    """One option under all its names, or an option that only changes what the operands are."""

    names: tuple[str, ...]
    takes: str | None = None
    optional: bool = False
    effect: EffectKind | None = None
    operands: tuple[str, ...] | None = None
    stdin: str | None = None
    prints: str = ""
    reason: str = ""
    rule: str = ""
    alternative: str = ""
    match: str = ""
    near: str = ""

    @property
    def harmless(self) -> bool:
        """Return whether the option, whatever its value, does no more than read."""
        kinds = {
            self.takes or "text",
            self.effect or "text",
            *(k.removesuffix(REPEATED) for k in self.operands or ()),
        }
        return self.stdin is None and kinds <= HARMLESS_VALUES


@dataclass(frozen=True)
class Spec:
    """A program, or one of its sub-commands: `name` is `git` or `git remote add`."""

    name: str
    parsing: str = "gnu"
    options: Mapping[str, Option] = field(default_factory=dict)
    operands: tuple[str, ...] = ()
    effect: EffectKind | None = None
    reason: str = ""
    rule: str = ""
    alternative: str = ""
    prints: str = "text"
    stdin: str = ""
    handler: str = ""
    loads: str | None = None
    settings: str = ""
    help: str | None = None
    dry: str = ""
    others: str = ""
    tasks: str = ""
    packages: str = ""
    commands: "Mapping[str, Spec]" = field(default_factory=dict)
    forms: "Mapping[str, Spec]" = field(default_factory=dict)
    source: str = ""
    match: str = ""
    near: str = ""
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def program(self) -> str:
        return self.name.partition(" ")[0]

    @cached_property
    def harmless_options(self) -> bool:
        """Return whether no option does harm, so that an unknown word may be an option."""
        return all(option.harmless for option in self.options.values())

    @cached_property
    def loads_code(self) -> bool:
        """Return whether the program, or a sub-command of it, runs or loads code of the project."""
        return any(spec.effect is EffectKind.EXEC or spec.loads for spec in self.every())

    def every(self) -> "Iterator[Spec]":
        """Yield this table and those of its sub-commands, each once."""
        yield self
        forms = () if " " in self.name else self.forms.values()
        for spec in {id(spec): spec for spec in (*self.commands.values(), *forms)}.values():
            yield from spec.every()


@cache
def table(name: str) -> Spec | None:
    """Return the table of a program by its name, an alias, or a version (`python3.12`); None if unknown."""
    for candidate in (name, VERSION.sub("", name)):
        known = tables.other_names().get(candidate, candidate)
        if tables.exists(known):
            return read_table(known)
    return None


@cache
def read_table(name: str, *, examples: bool = False) -> Spec:
    """Read the table of exactly this name, with its examples if asked for. Raises KeyError."""
    data = tables.read(name, examples=examples)
    return spec_from(data, data.get("name", name), Spec(""))


def sub_command(spec: Spec, word: str) -> Spec | None:
    """Return a sub-command by its first word, from the program's table or a file of its own."""
    if word in spec.commands:
        return spec.commands[word]
    if spec.forms:
        return command_of_form(spec, f"{spec.name} {word}")
    # `git commit` has a file of its own; `ssh add` is not `ssh-add`.
    name = f"{spec.name} {word}".replace(" ", "-")
    if not spec.commands or not tables.exists(name):
        return None
    own = read_table(name)
    if spec.parsing == "posix":
        return own
    return replace(own, options={**spec.options, **own.options})


def command_of_form(spec: Spec, name: str) -> Spec:
    """Return the sub-command of the longest form that a name has, else a group that is unknown by itself."""
    words = name.partition(" ")[2]
    fitting = [form for form in spec.forms if re.fullmatch(form_pattern(form), words)]
    if fitting:
        return replace(spec.forms[max(fitting, key=len)], name=name)
    reason = "is not a known sub-command"
    return Spec(
        name,
        spec.parsing,
        spec.options,
        ("text...",),
        EffectKind.UNKNOWN,
        reason,
        forms=spec.forms,
    )


def form_pattern(form: str) -> str:
    """Return the regular expression of a form: `**` stands for words, `*` for one or a part of it."""
    return re.escape(form).replace(r"\*\*", ".+").replace(r"\*", r"\S*")


def with_types(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a table, a sub-command or a fact, with the types of `Spec` and `Option`."""
    given = dict(data)
    if "effect" in data:
        given["effect"] = EffectKind(data["effect"])
    if "operands" in data:
        given["operands"] = operands_from(data["operands"])
    return given


def spec_from(data: Mapping[str, Any], name: str, parent: Spec) -> Spec:
    given = {"source": parent.source, **with_types(data), "name": name}
    given.setdefault(
        "parsing", "gnu" if parent.parsing in ("", "posix") else parent.parsing
    )
    inherited = {} if parent.parsing == "posix" else parent.options
    given["options"] = MappingProxyType({**inherited, **options_from(data)})
    given["examples"] = {
        verdict: tuple(given.pop(verdict, ())) for verdict in ("allow", "review", "deny")
    }
    below = given.pop("command", ())
    for key in ("flags", "values", "fact"):
        given.pop(key, None)
    spec = Spec(**given)
    if not below:
        return spec
    forms = {
        form: spec_from(each, f"{name} {form}", spec)
        for each in below
        for form in names_in(each)
        if "*" in form
    }
    group = replace(spec, forms=MappingProxyType({**parent.forms, **forms}))
    return replace(group, commands=MappingProxyType(commands_from(below, group)))


def names_in(data: Mapping[str, Any]) -> list[str]:
    """Return the names of a sub-command; one with a star is a form (`* describe-*`)."""
    return [" ".join(each.split()) for each in data["name"].split("|")]


def commands_from(
    tables: list[Mapping[str, Any]] | tuple[()], parent: Spec
) -> dict[str, Spec]:
    """Map sub-commands by their first word; `remote add` makes a `remote` that holds an `add`."""
    found: dict[str, Spec] = {}
    longer: dict[str, list[Mapping[str, Any]]] = {}
    for data in tables:
        for name in names_in(data):
            first, _, rest = name.partition(" ")
            if "*" in name:
                continue
            if rest:
                longer.setdefault(first, []).append({**data, "name": rest})
            else:
                found[first] = spec_from(data, f"{parent.name} {first}", parent)
    for first, below in longer.items():
        upper = found.get(first) or Spec(
            f"{parent.name} {first}", parent.parsing, parent.options
        )
        if not upper.operands:
            upper = replace(upper, forms=parent.forms)
        found[first] = replace(
            upper,
            commands=MappingProxyType({**upper.commands, **commands_from(below, upper)}),
        )
    return found


@cache
def plain_option(name: str, takes: str | None, optional: bool) -> Option:
    """Return the option of this name and nothing more: most sub-commands share theirs, and making one takes time."""
    return Option((name,), takes, optional)


def options_from(data: Mapping[str, Any]) -> dict[str, Option]:
    options: dict[str, Option] = {}
    for key, takes in (("flags", None), ("values", "text")):
        for word in data.get(key, "").split():
            optional = word.endswith("[=]")
            plain = word.removesuffix("[=]")
            options[plain] = plain_option(plain, "text" if optional else takes, optional)
    for fact in data.get("fact", ()):
        given = with_types(fact)
        option = Option(tuple(given.pop("options").split()), **given)
        options.update(dict.fromkeys(option.names, option))
    return options


def operands_from(given: str | list[str]) -> tuple[str, ...]:
    """Return the kinds of the operands in order; a single kind stands for all of them."""
    if given == "command":
        return (given,)
    if isinstance(given, str):
        return (given.removesuffix(REPEATED) + REPEATED,)
    return tuple(given)
