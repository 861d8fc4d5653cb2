"""`cli-guard rules`: list every rule."""

import json

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.model import Finding
from cli_guard.rules.catalog import Rule, load_all


def default_disposition(rule: Rule) -> str:
    """Return the decision for a rule under the built-in policy."""
    from cli_guard.policy.decisions import Policy

    sample = Finding(rule.id, rule.category, rule.severity, rule.confidence, "", None, "", "")
    return str(Policy().disposition(sample))


@click.pass_obj
def run(io: Io, /, format_: str) -> int:
    rules = load_all().values()
    if format_ == "json":
        rows = [
            {
                "id": rule.id,
                "title": rule.title,
                "category": rule.category,
                "severity": rule.severity,
                "confidence": rule.confidence,
                "default": default_disposition(rule),
            }
            for rule in rules
        ]
        io.say(json.dumps(rows, indent=2))
        return 0
    width = max(len(rule.id) for rule in rules)
    io.say("\n".join(f"{r.id:{width}}  {default_disposition(r):6}  {r.severity:8}  {r.title}" for r in rules))
    io.say(f"{len(rules)} rules; the second column is the default decision; see `cli-guard explain RULE`")
    return 0


command = Command(
    "rules",
    callback=run,
    help="List every rule with its default decision.",
    params=[
        click.Option(
            ["--format", "format_"],
            type=click.Choice(["text", "json"]),
            default="text",
            help="Output format.",
        )
    ],
)
