"""Run as a program: judges schemas, or arguments by a schema, and answers a JSON line for each.

A schema comes from a server. Its patterns may take hours, its references may double with every step and never end;
only a process can be given an end from outside, so this one is apart and holds nothing else.

    {"schemas": [...]}                        -> for each: null, or what is wrong with it
    {"schema": {...}, "arguments": {...}}     -> null, or what is wrong with the arguments
"""

import contextlib
import json
import sys
from typing import Any

CPU_SECONDS_FOR_SCHEMAS = 4
CPU_SECONDS_FOR_ARGUMENTS = 1
MEMORY_BYTES = 1_000_000_000


def limit(cpu_seconds: int) -> None:
    """Bounds this process; what the platform does not know it does not bound."""
    import resource

    for kind, most in (
        (resource.RLIMIT_CPU, cpu_seconds),
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


def wrong_with_schema(schema: dict[str, Any]) -> str | None:
    """What is wrong with a schema."""
    from jsonschema.exceptions import SchemaError

    try:
        type(validator_for(schema)).check_schema(schema)
    except SchemaError as error:
        return f"{error.json_path}: {error.message}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def wrong_with_arguments(schema: dict[str, Any], arguments: object) -> str | None:
    """What is wrong with arguments: the first thing, and where."""
    try:
        error = next(iter(validator_for(schema).iter_errors(arguments)), None)
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
    limit(CPU_SECONDS_FOR_SCHEMAS if "schemas" in request else CPU_SECONDS_FOR_ARGUMENTS)
    if "schemas" in request:
        for schema in request["schemas"]:
            print(json.dumps(wrong_with_schema(schema)), flush=True)
    else:
        print(
            json.dumps(wrong_with_arguments(request["schema"], request["arguments"])),
            flush=True,
        )


if __name__ == "__main__":
    main()
