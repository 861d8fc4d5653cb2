"""Every rule of secrets is complete: rules/test_rule_examples.py runs its examples."""

from examples import near_misses, table

from cli_guard.rules import catalog, data
from cli_guard.secrets import scan
from cli_guard.secrets.detectors import all_detectors, documented_keys
from cli_guard.secrets.engine import CHECKS, READERS

RULES = {rule.id: rule for rule in catalog.load("secrets", examples=True)}


@table("rule", RULES.values(), ids=RULES)
def test_rule_is_explained_and_has_examples_of_both_kinds(rule: catalog.Rule) -> None:
    assert rule.id.startswith("secret-")
    assert rule.source.startswith("https://")
    assert len(rule.fires) >= 1 and len(rule.silent) >= 2
    assert rule.why.endswith((".", ")")) and rule.remedy.endswith((".", ")"))


@table("detector", all_detectors(), ids=lambda detector: detector.id)
def test_rule_is_complete(detector) -> None:
    assert detector.keywords or detector.paths
    assert all(keyword == keyword.lower() for keyword in detector.keywords)
    is_read = detector.check in CHECKS or detector.check in READERS
    assert detector.block or (is_read and detector.pattern.groupindex)


def test_ids_are_unique() -> None:
    assert len(RULES) == len(catalog.load("secrets", examples=True)) >= 100


def test_rule_files_hold_no_key_themselves() -> None:
    """Hosting sites refuse a push with a real-looking key in it, and so would we."""
    for file in (data.FOLDER / "secrets").glob("*.toml"):
        hits = scan(file.read_text("utf-8")).hits
        assert [(hit.rule, hit.start) for hit in hits] == [], file.name


@near_misses("key", sorted(documented_keys()))
def test_documented_key_is_silent_wherever_it_stands(key: str) -> None:
    assert scan(f'secret_key = "{key}"').hits == ()
