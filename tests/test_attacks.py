"""The shape of fixtures/attacks: what benchmarks/attacks.py needs of each case. The verdicts are measured there."""

import re
from collections import Counter, defaultdict
from pathlib import Path

from benchmarks.attack_worlds import FOLDER, SYNTAX, Worlds, load_attacks, make_secrets

ATTACKS = load_attacks()
KINDS = {"judge", "change", "push", "range", "verify", "scan", "audit", "agent", "state"}


def test_each_case_is_whole():
    for attack in ATTACKS:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", attack.id), attack.id
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", attack.group), attack.id
        assert attack.kind in KINDS, attack.id
        assert attack.half in ("known", "held-out"), attack.id
        assert attack.source in ("issue", "sibling"), attack.id
        assert attack.wants in ("review", "deny"), attack.id
        assert attack.fires in ("marker", "output", "sent", "changed", "recorded"), (
            attack.id
        )
        assert attack.harmless.strip(), attack.id
        assert bool(attack.target) >= (attack.fires == "changed"), attack.id
        if attack.kind == "judge":
            assert bool(attack.command) != bool(attack.grow), attack.id
            assert attack.harmless != attack.command or attack.harmless_setup is not None, (
                attack.id
            )
        elif attack.kind == "agent":
            assert attack.command, attack.id
        else:
            assert attack.change, attack.id


def test_ids_are_unique():
    counted = Counter(attack.id for attack in ATTACKS)
    assert [name for name, times in counted.items() if times > 1] == []


def test_both_halves_cover_each_class():
    halves = defaultdict(set)
    for attack in ATTACKS:
        halves[attack.group].add(attack.half)
    assert {group for group, found in halves.items() if len(found) < 2} == set()


def test_what_the_issue_names_is_known_and_has_siblings():
    named = [attack for attack in ATTACKS if attack.source == "issue"]
    assert all(attack.half == "known" for attack in named)
    assert len(ATTACKS) - len(named) >= 200


def test_every_name_in_a_text_has_a_value(tmp_path):
    known = {*make_secrets(), "MARK", "HOME", "GUARD_PYTHON", "UP", "REPO", "WORLD"}
    for path in FOLDER.glob("*.toml"):
        found = {name.strip("@") for name in re.findall(SYNTAX, path.read_text("utf-8"))}
        assert found <= known, path.name


def test_the_files_hold_no_real_looking_key():
    for path in FOLDER.glob("*"):
        assert not re.search(
            r"AKIA[A-Z2-7]{12}|gh[pousr]_\w{20}|BEGIN [A-Z ]*PRIVATE KEY",
            path.read_text("utf-8"),
        ), path.name


def test_names_are_put_into_a_text():
    worlds = object.__new__(Worlds)
    worlds.names = {"HOST": "203.0.113.7"}
    worlds.world = Path("/a/b")
    assert worlds.text("cat @UP@etc @HOST@ @REPO@ git@@HOST@ @NOTHING@") == (
        "cat ../../../etc 203.0.113.7 /a/b/repo git@203.0.113.7 @NOTHING@"
    )
