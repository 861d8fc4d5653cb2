"""`bat` and `yq`: tools for looking into files that the interpreter has not, or not for every format."""

import json
import posixpath
import re
import tomllib

from cli_guard.assistant.sandbox.commands.command import OwnCommand, Reads, read_options, run_tool
from cli_guard.assistant.sandbox.model import Answer, Call, CommandFailure, WrongUsage
from cli_guard.rules.catalog import read_table

BAT_OPTIONS = read_table("sandbox.toml")["listing"]["bat"]
BAT_LONG = {"--line-range": "-r", "--language": "-l", "--number": "-n", "--plain": "-p"}
SPAN = re.compile(r"(\d{0,9})(?::(\d{0,9}))?\Z")
FORMATS = ("toml", "yaml", "json")


def bat(call: Call) -> Answer:
    """Print files as `bat` does to a pipe: the bytes themselves; with -n each line has its number."""
    options = read_options(call.arguments, BAT_OPTIONS, BAT_LONG)
    span = SPAN.match(options.values.get("-r", "1:"))
    if span is None:
        raise WrongUsage(f"-r needs START:END in line numbers, not {options.values['-r']!r}")
    first = int(span[1] or 1)
    last = int(span[2]) if span[2] else None if span[2] == "" else first
    out = b""
    for path in (*options.words, *(options.paths or ())) or ("-",):
        lines = (call.stdin if path == "-" else call.read(path)).splitlines(keepends=True)
        rows = [*enumerate(lines, 1)][max(first - 1, 0) : last]
        out += b"".join((b"%4d " % number if options.has("-n") else b"") + line for number, line in rows)
    return Answer(out)


def yq(call: Call) -> Answer:
    """Query YAML, JSON and TOML: the interpreter's `yq` does, and is given TOML as JSON."""
    words, files = list(call.arguments), {}
    if any(word.startswith(("-i", "--inplace")) for word in words):
        raise WrongUsage("-i is not known here: write yq EXPRESSION FILE > NEW && mv NEW FILE")
    is_toml = "toml" in words or any(word.endswith("=toml") or word == "-ptoml" for word in words)
    for index, word in enumerate(words):
        if is_toml and word.removeprefix("--input-format=").removeprefix("-p").removeprefix("=") == "toml":
            words[index] = word.removesuffix("toml") + "json"
        elif not word.startswith("-") and "." in word[1:] and call.files.exists(call.absolute(word)):
            text = call.read(word).decode("utf-8", "replace")
            words[index] = f"/files/{index}/{posixpath.basename(word)}"
            files[words[index]] = toml_as_json(text) if is_toml or word.endswith(".toml") else text
            words[index:index] = ["-p", "json"] if word.endswith(".toml") and not is_toml else []
    stdin = call.stdin.decode("utf-8", "replace")
    done = run_tool(["yq", *words], files, toml_as_json(stdin) if is_toml and not files else stdin)
    return Answer(done.stdout.encode(), done.stderr.encode(), done.exit_code)


def toml_as_json(text: str) -> str:
    """Return TOML as JSON; dates become text. Raises CommandFailure."""
    try:
        return json.dumps(tomllib.loads(text), default=str, ensure_ascii=False)
    except (ValueError, RecursionError) as error:
        raise CommandFailure(f"this is no TOML: {error}") from None


def reads_beside(words: int) -> Reads:
    """Return whether standard input is read: by a call with at most so many words beside its options."""
    return lambda arguments: (
        "-" in arguments or sum(word[:1] != "-" and word not in FORMATS for word in arguments) <= words
    )


BAT = OwnCommand(
    "bat", "as cat; -n numbers the lines", "[-n] [-r START:END] [FILE...]", run=bat, reads=reads_beside(0)
)
YQ = OwnCommand(
    "yq",
    "query YAML, JSON and TOML in the language of jq",
    "[-r] [-p yaml|json|toml] [-o yaml|json] EXPRESSION [FILE...]",
    "Another file than FILE.toml is read as TOML with -p toml.",
    run=yq,
    reads=reads_beside(1),
    needs=1,
)
