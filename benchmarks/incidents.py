"""Write cli_guard/rules/dependencies/taken-over.toml: the releases of the large attacks, from a public list.

    python -m benchmarks.incidents LIST DATE [--check]

LIST is `compromised-packages.txt` of the repository Cobenian/shai-hulud-detect (MIT), DATE that of its commit. Nothing
is downloaded. With --check nothing is written, and the exit code is 1 if the file would change.

Names and versions are facts; the words are ours, one line for each attack in `ATTACKS`. A section of the list that no
line names is left out and printed: packages that were made for an attack are for the rule on similar names, and a list
of all of them would never end. What is small is kept by hand in known-bad.toml.
"""

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

FILE = Path(__file__).parent.parent / "cli_guard/rules/dependencies/taken-over.toml"
STEALS = "taken over, steals credentials"
SPREADS = "taken over by a worm that steals credentials"
# What the heading of a section holds, what its releases do, and when.
ATTACKS = (
    ("CHALK/DEBUG", f"{STEALS} or redirects payments", "2025-09 to 2026-02"),
    ("AXIOS", "taken over, opens a back door", "2026-03"),
    ("TanStack", SPREADS, "2026-05"),
    ("CROSS-ECOSYSTEM", SPREADS, "2026-05"),
    ("LiteLLM", STEALS, "2026-03"),
    ("Telnyx", STEALS, "2026-03"),
    ("Xinference", STEALS, "2026-04"),
    ("Lightning AI", SPREADS, "2026-04"),
    ("AntV", SPREADS, "2026-05"),
    ("MEGALODON", "published from a repository with a back door", "2026-05"),
    ("art-template", "taken over, loads code from elsewhere", "2025-03 to 2026-05"),
    ("durabletask", STEALS, "2026-05"),
    ("bitwarden", SPREADS, "2026-04"),
    ("node-ipc", "taken over, opens a back door", "2026-05"),
    ("Laravel-Lang", "tags moved to code that steals credentials", "2026-05"),
    ("redhat-cloud-services", SPREADS, "2026-06"),
    ("Phantom Gyp", SPREADS, "2026-06"),
    ("HADES", SPREADS, "2026-06"),
    ("IRONWORM", SPREADS, "2026-06"),
    ("MASTRA", "taken over, brings a dependency that steals credentials", "2026-06"),
    ("LeoPlatform", SPREADS, "2026-06"),
    ("keyv / cacheable", SPREADS, "2026-08"),
)
ECOSYSTEMS = {"npm": "npm", "pypi": "pypi", "composer": "composer", "crates": "cargo"}
ENTRY = re.compile(r"(?:(npm|pypi|composer|crates|go):)?(@?[\w./-]+):v?([\w.+-]+)")
# "# MAY 18, 2026 - NAME": a section; the headings below it name a part of it.
HEADING = re.compile(r"#\s+[A-Z]{3,9}\b[^a-z]*\b20\d\d\b.*? - (.*)")
WIDTH = 118
HEAD = """# Releases taken over in large attacks. Written by `python -m benchmarks.incidents`, which has the words.
# Source: compromised-packages.txt of Cobenian/shai-hulud-detect, {date}. A line is a name and its bad versions.
"""


@dataclass
class Attack:
    """What one section of the list says: by ecosystem and name the versions."""

    heading: str
    versions: dict[str, dict[str, list[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )


def read_attacks(lines: Iterable[str]) -> Iterator[Attack]:
    """Yield the sections of the list, in order."""
    attack = Attack("")
    for line in map(str.strip, lines):
        if heading := HEADING.fullmatch(line):
            yield attack
            attack = Attack(heading[1])
        elif entry := ENTRY.fullmatch(line):
            ecosystem = ECOSYSTEMS.get(entry[1] or "npm")
            if ecosystem:
                attack.versions[ecosystem][entry[2].lower()].append(entry[3])
        elif line and not line.startswith("#"):
            print(f"not read: {line[:WIDTH]}", file=sys.stderr)
    yield attack


def write_attack(attack: Attack) -> Iterator[str]:
    """Yield the lines of the table for one section, none if it is left out."""
    known = next((each for each in ATTACKS if each[0] in attack.heading), None)
    if known is None:
        if attack.versions:
            count = sum(map(len, attack.versions.values()))
            print(f"left out: {attack.heading} ({count} packages)", file=sys.stderr)
        return
    yield "[[incident]]"
    yield f'what = "{known[1]}"'
    yield f'source = "reports of {known[2]}"'
    for ecosystem, packages in attack.versions.items():
        yield f"bad.{ecosystem} = '''"
        for name, versions in sorted(packages.items()):
            yield " ".join((name, *dict.fromkeys(versions)))
        yield "'''"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("list", type=Path)
    parser.add_argument("date")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    attacks = read_attacks(options.list.read_text(encoding="utf-8").splitlines())
    tables = [line for attack in attacks for line in write_attack(attack)]
    text = HEAD.format(date=options.date) + "\n".join(("", *tables, ""))
    if options.check:
        return int(text != FILE.read_text(encoding="utf-8"))
    FILE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
