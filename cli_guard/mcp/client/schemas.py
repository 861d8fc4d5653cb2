"""JSON schemas of servers: which can be used, and whether arguments hold by them. Bounded whatever they say."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SCHEMA_CHARS = 100_000
ALL_CHARS = 1_000_000
SCHEMA_DEPTH = 50
# Several times what the checker may compute: a busy machine gives it a part of its time.
SECONDS = 20.0
CHECKER = Path(__file__).with_name("checking.py")


def unusable(schemas: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """What is wrong with each schema, None for one that can be used."""
    found = [check_bounds(schema) for schema in schemas]
    together = 0
    for at, schema in enumerate(schemas):
        together += 0 if found[at] else len(json.dumps(schema))
        if together > ALL_CHARS:
            found[at] = (
                found[at]
                or f"the schemas before it are {ALL_CHARS:,} characters long together"
            )
    rest = [at for at, reason in enumerate(found) if reason is None]
    answers = ask({"schemas": [schemas[at] for at in rest]}) if rest else []
    for position, at in enumerate(rest):
        if position >= len(answers):
            found[at] = "its schema takes too long to check, or one before it"
        elif answers[position] is not None:
            found[at] = f"its schema is broken: {answers[position]}"
    return found


def problem_with(schema: Mapping[str, Any], arguments: Mapping[str, object]) -> str | None:
    """What is wrong with arguments, None if they hold by the schema."""
    answers = ask({"schema": schema, "arguments": arguments})
    return (
        answers[0] if answers else "checking them against the tool's schema takes too long"
    )


def check_bounds(schema: Mapping[str, Any]) -> str | None:
    """Is a schema too large, too deep, or does it refer to another one elsewhere?"""
    level: list[object] = [schema]
    for _ in range(SCHEMA_DEPTH):
        below: list[object] = []
        for value in level:
            if isinstance(value, Mapping):
                for key in ("$ref", "$dynamicRef", "$recursiveRef"):
                    reference = value.get(key)
                    if isinstance(reference, str) and not reference.startswith("#"):
                        return "its schema refers to another document, which is not fetched"
                below += value.values()
            elif isinstance(value, list):
                below += value
        level = below
        if not level:
            break
    if level:
        return f"its schema is more than {SCHEMA_DEPTH} levels deep"
    try:
        size = len(json.dumps(schema, allow_nan=False))
    except (ValueError, RecursionError):
        return "its schema is not JSON"
    if size > SCHEMA_CHARS:
        return f"its schema is longer than {SCHEMA_CHARS:,} characters"
    return None


def ask(request: Mapping[str, object]) -> list[str | None]:
    """The answers of the checker, as many as it gave before its end."""
    # Nothing of the environment, of the folder or of its modules reaches it.
    command = (sys.executable, "-I", str(CHECKER))
    given = json.dumps(request).encode()
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, timeout=SECONDS, env={}, check=False
        )
        out = done.stdout
    except subprocess.TimeoutExpired as error:
        out = error.stdout or b""
    return [json.loads(line) for line in out.split(b"\n")[:-1]]
