"""Every entry of the flow tables is complete: rules/test_rule_examples.py runs its examples."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

from examples import table

from cli_guard.code.taint.tables import NAMES, SECTIONS, Tables, compile_entry, tables_of
from cli_guard.policy.user_rules import cut_all
from cli_guard.rules import catalog, data

FOLDER = data.FOLDER / "flow"
KINDS = {
    r.id.removeprefix("code-flow-")
    for r in catalog.load("code")
    if r.id.startswith("code-flow-")
}
FIELDS = {
    "source": {
        "reads",
        "call",
        "into",
        "handlers",
        "members",
        "parameters",
        "when",
        "unless",
        "what",
        "local",
        "secret",
        "safe",
        "object",
        "guesses",
        "words",
    },
    "sink": {
        "kind",
        "call",
        "assign",
        "arguments",
        "receiver",
        "when",
        "unless",
        "remedy",
        "shape",
        "returns",
        "guesses",
        "file",
    },
    "sanitizer": {"call", "kinds", "when", "unless"},
    "guard": {"condition", "kinds", "holds"},
    "step": {"call", "into", "drops", "when", "unless"},
}


def entries() -> list[tuple[Path, str, int, dict[str, object]]]:
    return [
        (file, section, number, entry)
        for file in sorted(FOLDER.glob("*/*.toml"))
        for section in SECTIONS
        for number, entry in enumerate(
            tomllib.loads(file.read_text("utf-8")).get(section, ())
        )
    ]


@table(("file", "section", "number", "entry"), entries())
def test_an_entry_is_complete(
    file: Path, section: str, number: int, entry: dict[str, object]
) -> None:
    known = FIELDS[section] | {"reference", "fires", "silent", "language"}
    assert entry.keys() <= known, entry.keys() - known
    assert (
        entry["fires"]
        and entry["silent"]
        and str(entry["reference"]).startswith("https://")
    )
    assert section != "sink" or entry["kind"] in KINDS
    assert section not in ("sanitizer", "guard") or set(entry["kinds"]) <= KINDS | {
        "all",
        "resolved",
    }  # type: ignore[call-overload]
    assert section != "source" or entry["what"]


def test_the_pattern_for_all_entries_leaves_out_none() -> None:
    dotted = re.compile(r"(?:new )?[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*")
    for language in catalog.flow_languages():
        tables = tables_of(language)
        if tables is None:
            continue
        texts = [file.read_text("utf-8") for file in (FOLDER / language).glob("*.toml")]
        names = sorted({each for text in texts for each in dotted.findall(text)})
        for section in SECTIONS:
            for by in NAMES:
                having = tables.of(section, by)
                for name in names[::7]:
                    one_by_one = tuple(e for e in having if e.patterns[by].fullmatch(name))
                    assert tables.find(section, by, ("no_such", name)) == one_by_one, name


def test_the_patterns_of_a_repository_are_tried_by_themselves() -> None:
    # Joined with others, flags in the middle and a group that is named twice would not compile.
    made = compile_entry("source", {"reads": r"(?i)(?P<a>ours)\.(?P=a)", "kind": "sql"})
    own = replace(made, patterns=cut_all(made.patterns))
    tables = Tables((own, own, *(tables_of("python") or Tables(())).entries))
    assert tables.find("source", "reads", ("Ours.ours",))[:2] == (own, own)
    assert tables.find("source", "reads", ("sys.argv",))
    assert not tables.find("source", "reads", ("theirs.ours",))


def test_a_guard_is_found_with_the_place_of_what_it_checks() -> None:
    tables = tables_of("python")
    assert tables is not None
    text = "is_safe_url(url=target, hosts) and other"
    for _ in range(2):
        places = {text[start:end] for _, start, end in tables.find_guards(text)}
        assert places == {"target"}
    assert not tables.find_guards("target")
