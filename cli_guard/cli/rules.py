"""`cli-guard rules`: list every rule, and those of the repository."""

import json
from collections.abc import Collection, Mapping

import click

from cli_guard.cli.app import FORMAT, Command, flag
from cli_guard.cli.io import Io
from cli_guard.policy.decisions import default_disposition
from cli_guard.rules.catalog import Rule, load_all, read_measured
from cli_guard.secrets.printable import printable


def rate_rule(rule: str) -> dict[str, float | None] | None:
    """Return precision and recall of a rule on the labelled sets, None for one that no set measures."""
    cases, true, false, missed = read_measured().get(rule, (0, 0, 0, 0))
    rates = [round(true / of, 3) if of else None for of in (true + false, true + missed)]
    return {"cases": cases, "precision": rates[0], "recall": rates[1]} if cases else None


def rules_here(io: Io) -> Mapping[str, Rule]:
    """Return all rules, with those of the repository here. Raises ConfigError for a broken one."""
    from cli_guard.errors import NotARepository
    from cli_guard.review.policy import every_rule

    try:
        return every_rule(io.find_repository())
    except NotARepository:
        return load_all()


def table_of(rules: Collection[Rule]) -> str:
    """Format rules, one line each, with their default decisions."""
    width = max(len(rule.id) for rule in rules)
    return "\n".join(
        f"{r.id:{width}}  {default_disposition(r):6}  {r.severity:8}  {printable(r.title)}"
        for r in rules
    )


@click.pass_obj
def run(io: Io, /, format: str, measured: bool) -> int:
    rules = rules_here(io).values()
    if format == "json":
        rows = [
            {
                "id": rule.id,
                "title": rule.title,
                "category": rule.category,
                "severity": rule.severity,
                "confidence": rule.confidence,
                "default": default_disposition(rule),
                **({"measured": rate_rule(rule.id)} if measured else {}),
            }
            for rule in rules
        ]
        io.say(json.dumps(rows, indent=2))
        return 0
    if measured:
        width = max(len(rule.id) for rule in rules)
        rates = {rule.id: rate_rule(rule.id) for rule in rules}
        io.say(f"{'':{width}}  default  cases  precision  recall")
        for rule in rules:
            cells = [
                f"{'-' if each is None else each:>9}"
                for each in (rates[rule.id] or {}).values()
            ]
            io.say(
                f"{rule.id:{width}}  {default_disposition(rule):7}{''.join(cells) or '  not measured'}"
            )
        io.say(
            f"{sum(map(bool, rates.values()))} of {len(rules)} rules have labelled cases"
        )
        return 0
    io.say(table_of(rules))
    io.say(
        f"{len(rules)} rules; the second column is the default decision; see `cli-guard explain RULE`"
    )
    return 0


command = Command(
    "rules",
    callback=run,
    help="List every rule with its default decision, those of this repository last.",
    params=[
        FORMAT,
        flag("--measured", "Show precision and recall on labelled cases instead."),
    ],
)
