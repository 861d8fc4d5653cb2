"""`symbols` and `refs`: definitions and uses by syntax tree, where grep would find any text."""

from cli_guard.assistant.sandbox.commands.command import OwnCommand
from cli_guard.assistant.sandbox.files import ROOT
from cli_guard.assistant.sandbox.model import (
    CommandCall,
    CommandFailure,
    CommandOutput,
    WrongUsage,
)

# How much text is parsed in one call.
MOST_CHARS = 8_000_000
MOST_ROWS = 2_000
MOST_LINE = 200


def list_symbols(call: CommandCall) -> CommandOutput:
    """List the definitions in a file or folder, or those of a name."""
    # Reading syntax trees takes long to import, and `ls` does not need it.
    from cli_guard.assistant.retrieval.path_kinds import WEIGHTS, kind_of
    from cli_guard.code.definitions import find_definitions

    if len(call.arguments) > 1:
        raise WrongUsage("one path or one name: symbols [PATH|NAME]")
    word = call.arguments[0] if call.arguments else ROOT
    snapshot = call.world.snapshot
    path = call.absolute(word)
    below = "" if path == ROOT else path.removeprefix(f"{ROOT}/")
    paths = [
        each for each in sorted(snapshot) if not below or f"{each}/".startswith(f"{below}/")
    ]
    name = "" if paths or path == ROOT else word
    rows: list[str] = []
    note = ""
    left = MOST_CHARS
    # Code first, where the rows are cut or piped to head: then what counts less in a search (tests, docs, data).
    paths = sorted(paths or snapshot, key=lambda path: (-WEIGHTS[kind_of(path)], path))
    for read, path in enumerate(paths):
        if left < 0 or len(rows) > MOST_ROWS:
            note = (
                f"[error] symbols: cut after {read} of {len(paths)} files: name a folder\n"
            )
            break
        text = snapshot[path]
        if name.rpartition(".")[2] in text:
            left -= len(text)
            rows += (
                f"{path}:{each.line}: {each.kind} {each.qualname}"
                for each in find_definitions(path, text)
                if not name or f".{each.qualname}".endswith(f".{name}")
            )
    if not rows:
        raise CommandFailure(
            f"no definition in {word}, and none of that name: try grep -rn {word} ."
        )
    return CommandOutput(
        CommandOutput.from_text("\n".join(rows[:MOST_ROWS])).stdout, note.encode()
    )


def list_references(call: CommandCall) -> CommandOutput:
    """List the uses of a name."""
    from cli_guard.assistant.retrieval import find_references

    if len(call.arguments) != 1:
        raise WrongUsage("one name: refs NAME")
    name = call.arguments[0]
    found = find_references(name, call.world.snapshot)
    if not found.references:
        raise CommandFailure(f"no use of {name}: try grep -rnw {name} .")
    rows = [
        f"{r.path}:{r.line}:{r.column}: {r.kind}: {r.text.strip()[:MOST_LINE]}"
        for r in found.references[:MOST_ROWS]
    ]
    is_cut = len(found.references) > MOST_ROWS or any(each.asks for each in found.skipped)
    note = "[error] refs: cut: there are more uses than are shown\n" if is_cut else ""
    return CommandOutput(CommandOutput.from_text("\n".join(rows)).stdout, note.encode())


SYMBOLS = OwnCommand(
    "symbols",
    "definitions (functions, classes, ...) in a file or folder, or of a name",
    "[PATH|NAME]",
    "One a line: PATH:LINE: kind name. Bare: all of the repository.",
    run=list_symbols,
)
REFS = OwnCommand(
    "refs",
    "uses of a name: definition, imports, calls, mentions",
    "NAME",
    "One a line: PATH:LINE:COLUMN: what kind of use: the line.",
    run=list_references,
    needs=1,
)
