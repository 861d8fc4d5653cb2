"""Run as a program: judges arguments by a schema.

A schema comes from a server. Its patterns may take hours, its references may double with every step and never end;
only a process can be given an end from outside, so this one is apart and holds nothing else.

    {"schema": {...}, "arguments": {...}}     -> null, or what is wrong with the arguments or the schema
"""

import contextlib
import json
import sys
from typing import Any

CPU_SECONDS = 2
MEMORY_BYTES = 1_000_000_000


def limit() -> None:
    """Bounds this process; what the platform does not know it does not bound."""
    import resource

    for kind, most in (
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_AS, MEMORY_BYTES),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))


def validator_for(schema: dict[str, Any]) -> Any:
    """The validator of a schema, of the draft that it names, else 2020-12; it fetches nothing."""
    from jsonschema.validators import Draft202012Validator
    from jsonschema.validators import validator_for as named
    from referencing import Registry

    # Without a registry of its own jsonschema fetches a remote $ref from the network.
    return named(schema, default=Draft202012Validator)(schema, registry=Registry())


def wrong_with_arguments(schema: dict[str, Any], arguments: object) -> str | None:
    """What is wrong with arguments: the first thing, and where."""
    from jsonschema.exceptions import SchemaError

    try:
        validator = validator_for(schema)
        validator.check_schema(schema)
        error = next(iter(validator.iter_errors(arguments)), None)
    except SchemaError as problem:
        return f"its schema is broken: {problem.json_path}: {problem.message}"
    except Exception as error:
        return f"the schema cannot be applied: {type(error).__name__}: {error}"
    if error is None:
        return None
    return (
        error.message
        if error.json_path == "$"
        else f"{error.json_path.removeprefix('$.')}: {error.message}"
    )


def main() -> None:
    """Reads one request and answers it."""
    request = json.load(sys.stdin)
    limit()
    print(json.dumps(wrong_with_arguments(request["schema"], request["arguments"])))


if __name__ == "__main__":
    main()
