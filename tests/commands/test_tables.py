"""The tables of the programs: each fact of harm has an example that shows it and one that does not.

One test a folder of programs: what is wrong with its tables is collected, so that all of it is seen at once.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import examples
import pytest

from cli_guard.commands import judge
from cli_guard.commands.model import DECISIONS, HARMLESS, Effect, EffectKind
from cli_guard.commands.programs import Option, Spec, read_table, table
from cli_guard.model import Decision
from cli_guard.rules.data import FOLDER
from cli_guard.rules.tables import other_names, programs, read

LOADS = "loads code or plug-ins of the project"
EFFECTS = {str(kind) for kind in EffectKind} - {str(kind) for kind in HARMLESS}


SPEC_KEYS = frozenset(
    "name source parsing flags values operands effect reason rule alternative prints stdin handler fact command match "
    "near allow review deny loads settings help dry others tasks packages".split()
)
FACT_KEYS = frozenset(
    "options takes optional effect operands stdin prints reason rule alternative match near".split()
)
# The kinds of value; each kind of effect is one too.
VALUES = frozenset(
    (
        *"text move empty format command shell script url host upload send header env".split(),
        *"config config-env module folder".split(),
        *"name server endpoint task verb setting code:python code:perl code:ruby code:node code:php".split(),
        *"code:awk code:sed code:sql code:jq".split(),
        *map(str, EffectKind),
    )
)
CLOSED = {
    "parsing": frozenset("gnu posix single pairs none".split()),
    "prints": frozenset("text input lines paths names ref value operands".split()),
    "effect": frozenset(map(str, EffectKind)),
    "takes": VALUES,
    "stdin": VALUES,
    "operands": VALUES,
    "others": frozenset(("text",)),
}
FOLDERS = sorted(path.name for path in (FOLDER / "programs").iterdir() if path.is_dir())


def effects_of(command: str) -> list[Effect]:
    """The effects without what the program loads from the project, whatever it is asked for."""
    return [effect for effect in judge(command).effects if LOADS not in effect.reason]


def kinds_in(command: str) -> set[str]:
    """The kinds of harm; that a builtin is outside of the plain subset is not a fact of its table."""
    found = [
        effect
        for effect in effects_of(command)
        if not effect.reason.endswith(": not judged")
    ]
    return {str(effect.kind) for effect in found if effect.kind not in HARMLESS}


def wrongs_of_examples(match: str, near: str, kind: str | None) -> Iterator[str]:
    found = kinds_in(match)
    beside = kinds_in(near)
    if kind in EFFECTS:
        if kind not in found:
            yield f"{match!r} does not show {kind}: {sorted(found)}"
        if kind in beside:
            yield f"{near!r} shows {kind}"
    elif not found - beside:
        yield f"{match!r} shows no more than {near!r}: {sorted(found)}, {sorted(beside)}"
    if str(EffectKind.UNKNOWN) in beside and kind != EffectKind.UNKNOWN:
        yield f"{near!r} is not understood: {judge(near).reason}"


def wrongs_of_fact(fact: Option) -> Iterator[str]:
    if fact.harmless:
        if any(effect.decision is not Decision.ALLOW for effect in effects_of(fact.match)):
            yield f"{fact.match!r} is not allowed: {judge(fact.match).reason}"
        return
    changed = next(
        (kind.removesuffix("...") for kind in fact.operands or () if kind != "text"), None
    )
    kind = fact.effect or (fact.takes if fact.takes != "text" else None) or changed
    yield from wrongs_of_examples(fact.match, fact.near, kind)


def wrongs_of_spec(spec: Spec) -> Iterator[str]:
    if (
        spec.effect
        and DECISIONS[spec.effect] is not Decision.ALLOW
        and not (spec.match and spec.near)
    ):
        yield f"{spec.name}: an effect without match and near"
    elif spec.effect and spec.match:
        yield from wrongs_of_examples(spec.match, spec.near, spec.effect)
    for option in spec.options.values():
        if not option.harmless and not (option.match and option.near):
            yield f"{spec.name} {option.names}: match and near are missing"
    for verdict, commands in spec.examples.items():
        for command in commands:
            answer = judge(command)
            if answer.verdict != verdict:
                yield f"{command!r} is {answer.verdict}, not {verdict}: {answer.reason}"


def wrongs_of_help(spec: Spec) -> Iterator[str]:
    """Where a table lets a program load code of the project, help is believed only if it says so."""
    believed = set((spec.help or "").split())
    loads = spec.loads_code and spec.name == spec.program
    for word in {"--help", "--version", *believed} - {"any"} if loads else ():
        answer = judge(f"{spec.name} {word}")
        expected = Decision.ALLOW if believed & {"any", word} else Decision.REVIEW
        if answer.verdict is not expected:
            yield f"{spec.name} {word} is {answer.verdict}: {answer.reason}"


def programs_in(folder: str) -> list[str]:
    files = {path.stem for path in (FOLDER / "programs" / folder).rglob("*.toml")}
    return [name for name in programs() if name in files]


def examples_in(whole: Spec, facts: Collection[Option]) -> tuple[int, int]:
    """How many commands of a table do harm, and how many are near misses."""
    with_effect = [spec for spec in whole.every() if spec.effect and spec.match]
    near = sum(fact.harmless or bool(fact.near) for fact in facts) + len(with_effect)
    matches = sum(not fact.harmless for fact in facts) + len(with_effect)
    harmless = sum(
        len(commands) for verdict, commands in whole.examples.items() if verdict == "allow"
    )
    return matches + sum(map(len, whole.examples.values())) - harmless, near + harmless


@pytest.mark.parametrize("folder", FOLDERS)
@examples.table("name", programs_in)
def test_a_table_is_true(folder: str, name: str) -> tuple[int, int]:
    whole = read_table(name, examples=True)
    assert whole.source, "a table says where its facts come from"
    assert any(whole.examples.values()), "a table has whole commands with their verdicts"
    specs = list(whole.every())
    # A sub-command has the options of its program as well: each is tried once.
    facts = {
        id(fact): fact for spec in specs for fact in spec.options.values() if fact.match
    }.values()
    wrongs = [*wrongs_of_help(whole)]
    wrongs += [wrong for spec in specs for wrong in wrongs_of_spec(spec)]
    wrongs += [wrong for fact in facts for wrong in wrongs_of_fact(fact)]
    assert wrongs == []
    return examples_in(whole, facts)


def unknown_words(data: Mapping[str, Any], keys: Collection[str]) -> Iterator[str]:
    """The keys and values of a table, a sub-command or a fact that mean nothing to the engine."""
    yield from (key for key in data if key not in keys)
    for key, known in CLOSED.items():
        given = data.get(key, ())
        words = [given] if isinstance(given, str) else given
        yield from (f"{key} = {w}" for w in words if w.removesuffix("...") not in known)
    for fact in data.get("fact", ()):
        yield from unknown_words(fact, FACT_KEYS)
    for command in data.get("command", ()):
        yield from unknown_words(command, SPEC_KEYS)


@examples.table("name", programs)
def test_a_table_holds_only_what_the_engine_knows(name: str) -> None:
    assert not list(unknown_words(read(name, examples=True), SPEC_KEYS))


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        ({"efect": "write"}, "efect"),
        ({"effect": "wrote"}, "effect = wrote"),
        ({"operands": ["read...", "wrote"]}, "operands = wrote"),
        ({"fact": [{"options": "-x", "takes": "fold"}]}, "takes = fold"),
        ({"command": [{"name": "x", "parsing": "gnus"}]}, "parsing = gnus"),
    ],
)
def test_what_the_engine_does_not_know_is_seen(data: Mapping[str, Any], wrong: str) -> None:
    assert list(unknown_words(data, SPEC_KEYS)) == [wrong]


def test_every_program_is_in_a_folder() -> None:
    assert sorted(name for folder in FOLDERS for name in programs_in(folder)) == sorted(
        programs()
    )


def test_these_tests_see_what_they_look_for() -> None:
    harmless = "sort -u names.txt"
    harmful = "sort -o sorted.txt names.txt"
    assert list(wrongs_of_examples(harmless, harmful, "write")) == [
        "'sort -u names.txt' does not show write: []",
        "'sort -o sorted.txt names.txt' shows write",
    ]
    assert list(wrongs_of_examples(harmful, harmless, "write")) == []
    wrong = Option(("-u",), match=harmful)
    assert any("is not allowed" in each for each in wrongs_of_fact(wrong))


def test_other_names_lead_to_a_table() -> None:
    assert not {name: to for name, to in other_names().items() if table(to) is None}


def test_there_are_tables_of_at_least_150_programs() -> None:
    assert len([name for name in programs() if "-" not in name]) >= 150


def test_no_program_has_two_tables() -> None:
    files = [path.stem for path in (FOLDER / "programs").rglob("*.toml")]
    assert len(files) == len(set(files))


@examples.table("name", lambda: [name for name in programs() if read_table(name).loads])
def test_a_program_that_loads_code_of_the_project_asks_once(name: str) -> None:
    reasons = [
        effect.reason
        for effect in judge(f"{name} x").effects
        if effect.kind is EffectKind.EXEC
    ]
    assert reasons
    assert sum(LOADS in reason for reason in reasons) <= 1
