"""`yq`: the interpreter's own, which knows no TOML, is given TOML as JSON."""

import json
import posixpath
import tomllib

from cli_guard.assistant.sandbox.commands.command import OwnCommand, run_tool
from cli_guard.assistant.sandbox.model import (
    CommandCall,
    CommandFailure,
    CommandOutput,
    WrongUsage,
)

FORMATS = ("toml", "yaml", "json")


def yq(call: CommandCall) -> CommandOutput:
    """Query YAML, JSON and TOML."""
    words = list(call.arguments)
    files = {}
    if any(word.startswith(("-i", "--inplace")) for word in words):
        raise WrongUsage(
            "-i is not known here: write yq EXPRESSION FILE > NEW && mv NEW FILE"
        )
    is_toml = "toml" in words or any(
        word.endswith("=toml") or word == "-ptoml" for word in words
    )
    for index, word in enumerate(words):
        if (
            is_toml
            and word.removeprefix("--input-format=").removeprefix("-p").removeprefix("=")
            == "toml"
        ):
            words[index] = word.removesuffix("toml") + "json"
        elif (
            not word.startswith("-")
            and "." in word[1:]
            and call.files.exists(call.absolute(word))
        ):
            text = call.read(word).decode("utf-8", "replace")
            words[index] = f"/files/{index}/{posixpath.basename(word)}"
            files[words[index]] = (
                toml_as_json(text) if is_toml or word.endswith(".toml") else text
            )
            words[index:index] = (
                ["-p", "json"] if word.endswith(".toml") and not is_toml else []
            )
    stdin = call.stdin.decode("utf-8", "replace")
    done = run_tool(
        ["yq", *words], files, toml_as_json(stdin) if is_toml and not files else stdin
    )
    return CommandOutput(done.stdout.encode(), done.stderr.encode(), done.exit_code)


def toml_as_json(text: str) -> str:
    """Return TOML as JSON; dates become text. Raises CommandFailure."""
    try:
        return json.dumps(tomllib.loads(text), default=str, ensure_ascii=False)
    except (ValueError, RecursionError) as error:
        raise CommandFailure(f"this is no TOML: {error}") from None


def reads_input(arguments: tuple[str, ...]) -> bool:
    """Return whether there is no file beside the expression."""
    return (
        "-" in arguments
        or sum(word[:1] != "-" and word not in FORMATS for word in arguments) <= 1
    )


YQ = OwnCommand(
    "yq",
    "query YAML, JSON and TOML in the language of jq",
    "[-r] [-p yaml|json|toml] [-o yaml|json] EXPRESSION [FILE...]",
    "Another file than FILE.toml is read as TOML with -p toml.",
    run=yq,
    reads=reads_input,
    needs=1,
)
