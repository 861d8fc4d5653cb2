"""What docs/checks.md shows is what happens."""

import re
from pathlib import Path

from checks_world import World

from cli_guard.policy.config import read_config
from cli_guard.rules.catalog import load

TEXT = (Path(__file__).parents[3] / "docs" / "checks.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_the_table_is_one() -> None:
    toml, _ = [text for kind, text in BLOCKS if kind == "toml"]
    found = read_config(
        lambda name: toml.encode() if name == "cli-guard.toml" else None, ""
    )
    assert found and set(found[0].checks) == {"tests", "web"}
    shown = {
        line.removeprefix("# ").split(" = ")[0]
        for line in toml.splitlines()
        if " = " in line
    }
    assert shown == set(type(found[0].checks["web"]).model_fields)


def test_what_trust_says(world: World) -> None:
    [session] = [
        text for kind, text in BLOCKS if text.startswith("$ cli-guard trust --checks\n")
    ]
    world.check(name="tests", command='"make test"', trusted=False)
    said = world.trust(answer="no").out
    assert session.partition("\n")[2].rstrip("\n") in said


def test_every_finding_is_listed() -> None:
    listed = re.findall(r"^\| `(push-check-[\w-]+)` \| (\w+):", TEXT, re.MULTILINE)
    assert sorted(listed) == sorted(
        (rule.id, str(rule.severity)) for rule in load("checks", examples=True)
    )
