"""What is measured of each rule is what the labelled sets say today, and a rule that is often wrong denies nothing."""

import tomllib

from in_process import call
from repositories import Repo

from benchmarks import rules_measured
from benchmarks.rules_measured import FILE, NOBODY, SETS, Outcome, digest, tally
from cli_guard.cli.rules import rate_rule
from cli_guard.policy.config import parse_config
from cli_guard.policy.decisions import Policy, default_disposition
from cli_guard.rules.catalog import load_all, read_measured

KEPT = tomllib.loads(FILE.read_text("utf-8"))
RULES = load_all()
LEAST = 0.9


def test_the_file_has_every_set_as_it_is() -> None:
    assert {name: digest(name) for name in SETS} == {
        name: each["files"] for name, each in KEPT.items()
    }, "run `python -m benchmarks.rules_measured`"
    assert read_measured().keys() <= {*RULES, NOBODY}


def test_a_set_is_measured_as_the_file_says() -> None:
    rows = [
        f"{rule} {' '.join(map(str, row))}"
        for rule, row in tally(rules_measured.of_secrets()).items()
    ]
    assert rows == " ".join(KEPT["secrets"]["rows"].split()).split(", "), (
        "run `python -m benchmarks.rules_measured`"
    )


def test_how_it_counts() -> None:
    one = frozenset({"a"})
    two = frozenset({"a", "b"})
    outcomes = [
        Outcome((("kind", two), ("kind", one)), frozenset()),
        Outcome((("kind", frozenset()),), frozenset()),
        Outcome((("other", frozenset()),), frozenset()),
        Outcome((), one),
    ]
    # The label that nobody met is missed by the rule that meets most of its kind.
    assert tally(outcomes) == {"a": [3, 2, 1, 1], "b": [1, 1, 0, 0], NOBODY: [1, 0, 0, 1]}


def test_a_rule_that_is_often_wrong_denies_nothing_by_default() -> None:
    rates = {rule: rate["precision"] for rule in RULES if (rate := rate_rule(rule))}
    below = {
        rule: rate for rule, rate in rates.items() if rate is not None and rate < LEAST
    }
    assert (
        below
        and {rule for rule in below if default_disposition(RULES[rule]) == "deny"} == set()
    ), below
    for rule in below:
        # Somebody's own configuration may.
        own = Policy(parse_config({"rules": {rule: "deny"}}, "x"))
        assert (
            own.disposition(RULES[rule].finding(path="a", line=1, message="", content="f"))
            == "deny"
        )


def test_what_no_set_measures_says_so(committed: Repo) -> None:
    rates = {rule: rate_rule(rule) for rule in RULES}
    done = call(committed.path, committed.env, "rules", "--measured")
    lines = {
        line.split()[0]: line.split(maxsplit=2)[2].strip()
        for line in done.out.splitlines()[1:-1]
    }
    unmeasured = {rule for rule, said in lines.items() if said == "not measured"}
    assert unmeasured == {rule for rule, each in rates.items() if each is None} != set()
    assert (
        done.out.splitlines()[-1]
        == f"{len(RULES) - len(unmeasured)} of {len(RULES)} rules have labelled cases"
    )
    rows = call(
        committed.path, committed.env, "rules", "--measured", "--format", "json"
    ).json
    assert {each["id"]: each["measured"] for each in rows} == rates
