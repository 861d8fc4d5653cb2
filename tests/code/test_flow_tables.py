"""Every entry of the flow tables is complete: rules/test_rule_examples.py runs its examples."""

import tomllib
from pathlib import Path

from examples import table

from cli_guard.code.taint.tables import SECTIONS
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
