"""JSON schemas of servers: which can be used, and whether arguments hold by them. Bounded whatever they say."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SCHEMA_CHARS = 100_000
SCHEMA_DEPTH = 50
# Several times what the checker may compute: a busy machine gives it a part of its time.
SECONDS = 20.0
CHECKER = Path(__file__).with_name("checking.py")


def problem_with(schema: Mapping[str, Any], arguments: Mapping[str, object]) -> str | None:
    """What is wrong with arguments, None if they hold by the schema."""
    # Nothing of the environment, of the folder or of its modules reaches the checker.
    command = (sys.executable, "-I", str(CHECKER))
    given = json.dumps({"schema": schema, "arguments": arguments}).encode()
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, timeout=SECONDS, env={}, check=True
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return "checking them against the tool's schema takes too long"
    problem: str | None = json.loads(done.stdout)
    return problem


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
