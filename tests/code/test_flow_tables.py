"""Every entry of the flow tables has a file in which it matters, and a twin in which it does not."""

import re
import tomllib
from pathlib import Path

import pytest

from cli_guard.code.syntax import Trees
from cli_guard.code.taint.flows import find_flows
from cli_guard.code.taint.tables import SECTIONS, tables_of
from cli_guard.rules import catalog, data
from cli_guard.rules.examples import expand

FOLDER = data.FOLDER / "flow"
KINDS = {
    r.id.removeprefix("code-flow-")
    for r in catalog.load("code")
    if r.id.startswith("code-flow-")
}
TYPED = re.compile(r"/>|\w: (?:string|any|[A-Z]\w+)[,);= ]")
FIELDS = {
    "source": {
        "reads",
        "call",
        "into",
        "handlers",
        "parameters",
        "when",
        "unless",
        "what",
        "local",
        "secret",
        "safe",
        "object",
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


EXAMPLES = [
    pytest.param(
        file.parent.name,
        entry,
        text,
        fires,
        id=f"{file.parent.name}-{file.stem}-{section}{number}-{fires}",
    )
    for file, section, number, entry in entries()
    for fires in (True, False)
    for text in entry["fires" if fires else "silent"]  # type: ignore[attr-defined]
]


def found_in(language: str, text: str) -> list[str]:
    tables = tables_of(language)
    assert tables is not None
    flows = find_flows(Trees().root(language, text), language, text, tables)
    assert not flows or tables.may_hold_flow(text)
    return [flow.kind for flow in flows]


@pytest.mark.parametrize(("language", "entry", "text", "fires"), EXAMPLES)
def test_an_entry_matters_in_its_example_and_not_in_the_twin(
    language: str, entry: dict[str, object], text: str, fires: bool
) -> None:
    if language == "javascript" and TYPED.search(text):
        language = "tsx"
    if language == "c" and "std::" in text:
        language = "cpp"
    kinds = found_in(language, expand(text))
    wanted = {entry["kind"]} if "kind" in entry else set(kinds)
    assert bool(wanted & set(kinds)) is fires, kinds


@pytest.mark.parametrize(("file", "section", "number", "entry"), entries())
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
