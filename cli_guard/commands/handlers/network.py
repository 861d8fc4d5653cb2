"""Programs that download, upload or decode code and files."""

from base64 import b64decode
from binascii import Error as BinasciiError

from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.paths import delete_path, path_of, remember
from cli_guard.commands.effects.places import resolve_path
from cli_guard.commands.effects.running import run_call
from cli_guard.commands.effects.values import INPUT, REMOTE_PLACE, emit_for, values_of
from cli_guard.commands.expand.parameters import SECRET_NAME
from cli_guard.commands.floors import check_remote_code, check_sent
from cli_guard.commands.model import EffectKind
from cli_guard.commands.scope import (
    HIDDEN,
    NOTHING,
    REMOTE,
    REMOTE_DATA,
    TOKEN,
    Stream,
    drop_places,
    taints_of,
)
from cli_guard.lazy import regex

MUTATION = regex(r"\b(?:mutation|subscription)\b")
# A line of sha256sum with a digest that was not broken: "DIGEST  NAME".
PINNED = regex(
    r"(?:[0-9a-fA-F]{56}|[0-9a-fA-F]{64}|[0-9a-fA-F]{96}|[0-9a-fA-F]{128}) [ *](.+)"
)
SHELL_ADDRESS = regex(r"(?:EXEC|SYSTEM|SHELL):.*\b(?:BA|Z|DA|K)?SH\b")


def transfer(call: Call) -> Stream:
    """Handle rsync and scp: files go to a host, come from one, or are copied here."""
    given = call.arguments
    remote = any(REMOTE_PLACE.match(each.start) for each in given.operands)
    kinds: list[str] = ["upload" if remote else EffectKind.READ for _ in given.operands]
    for target in given.operands[-1:]:
        kinds[-1] = "write"
        if REMOTE_PLACE.match(target.start):
            kinds[-1] = "host"
        elif call.dry:
            kinds[-1] = EffectKind.READ
        elif given.has(
            "--delete", "--delete-before", "--delete-after", "--del", "--delete-excluded"
        ):
            kinds[-1] = "text"
            delete_path(
                call.shell,
                target,
                target.span,
                verb="deletes what is missing in the source from",
            )
    given.kinds[:] = zip(kinds, given.operands, strict=True)
    return run_call(call)


def fetch(call: Call) -> Stream:
    """Handle curl and wget: a file named after its address holds the download."""
    for value in values_of(call, "-w"):
        if "%output{" in value.start or value.start.startswith("@"):
            emit_for(
                call, EffectKind.UNKNOWN, value, "has a format that reads or writes a file"
            )
    output = run_call(call)
    if call.program.name != "curl" or call.arguments.has(
        "-O", "--remote-name", "--remote-name-all"
    ):
        for operand in call.operands:
            last = operand.start.partition("?")[0].rstrip("/").rpartition("/")[2]
            if last:
                name = resolve_path(last, call.scope.folder, call.context)
                remember(call.shell, name, REMOTE_DATA)
    return output


def verify_digests(call: Call) -> Stream:
    """Handle sha256sum -c: a download that fits a digest in the same script was reviewed with it."""
    output = run_call(call)
    # An agent could write any digest into its own command.
    if not call.arguments.has("-c", "--check") or not call.shell.in_change:
        return output
    files = call.scope.files
    lists = [operand for operand in call.operands if operand.text != "-"]
    streams = [files.get(path_of(call.shell, each), NOTHING) for each in lists] or [
        call.stdin
    ]
    for stream in streams:
        if stream.text is None or REMOTE in stream.taints:
            continue
        for line in stream.text.splitlines():
            pinned = PINNED.fullmatch(line.strip())
            path = (
                resolve_path(pinned[1], call.scope.folder, call.context) if pinned else ""
            )
            if path in files:
                files[path] = Stream(None, files[path].taints - {REMOTE})
    return output


def connection(call: Call) -> Stream:
    """Handle nc and socat: a shell whose input and output are a connection."""
    for value in values_of(call, "-e", "-c", "--exec", "--sh-exec"):
        check_remote_code(
            call.shell, frozenset((REMOTE,)), f"{call.title} runs {value.shown}", value.span
        )
    addresses = [operand.shown.upper() for operand in call.operands]
    if any(SHELL_ADDRESS.match(text) for text in addresses) and len(addresses) > 1:
        check_remote_code(call.shell, frozenset((REMOTE,)), call.title, call.span)
    return run_call(call)


def gh(call: Call) -> Stream:
    """Handle gh: a secret in the text of an issue or a comment is published; other sub-commands store keys."""
    first = call.spec.name.split()[1:2]
    if first and first[0] not in ("secret", "variable", "auth", "ssh-key", "gpg-key"):
        for word in call.fields[1:]:
            check_sent(
                call.shell, word.taints - {TOKEN}, call.title, word.span, program=True
            )
    for operand in call.operands if "config" in call.spec.name.split() else ():
        if SECRET_NAME.search(operand.start):
            emit_for(call, EffectKind.CREDENTIAL, operand, f"shows or sets {operand.shown}")
    if call.spec.name == "gh api":
        leave_out_fields(call)
    return run_call(call)


def leave_out_fields(call: Call) -> None:
    """Leave out the method and the fields of a request that only reads: `-X GET`, a query of GraphQL."""
    given = call.arguments
    methods = [value.text for value in values_of(call, "-X")]
    fields = values_of(call, "-f")
    texts = [value.text or "=@" for value in fields]
    queries = [
        text.partition("=")[2].lstrip() for text in texts if text.startswith("query=")
    ]
    if given.operands and given.operands[0].text == "graphql":
        reads = (
            not methods
            and all(each.startswith(("query", "{")) for each in queries)
            and bool(queries)
        )
    else:
        reads = methods == ["GET"]
    sends = any("=@" in text or MUTATION.search(text) for text in texts) or given.has(
        "--input"
    )
    if reads and not sends and not drop_places(taints_of(fields)):
        left_out = [option for option in given.present if {"-X", "-f"} & set(option.names)]
        given.present = [option for option in given.present if option not in left_out]
        given.values = [
            (option, value) for option, value in given.values if option not in left_out
        ]


def make(call: Call) -> Stream:
    """Handle make: a Makefile from the input is judged if known; otherwise it is unknown code."""
    if any(
        value.text in INPUT for value in values_of(call, "-f")
    ) and not check_remote_code(call.shell, call.stdin.taints, "make", call.span):
        recipe = "\n".join(
            line[1:].lstrip("@-+")
            for line in (call.stdin.text or "").split("\n")
            if line[:1] == "\t"
        )
        call.shell.run_nested(recipe, call.span)
    return run_call(call)


def decode(call: Call) -> Stream:
    """Handle base64 and its like: decoded data is known if the input is, otherwise hidden."""
    output = run_call(call)
    if not call.arguments.has("-d", "--decode", "-D", "-r", "--reverse"):
        return output
    streams = call.reads or [call.stdin]
    text = streams[0].text if len(streams) == 1 else None
    plain = decode_base64(text) if text and call.program.name == "base64" else None
    return Stream(plain, output.taints | (frozenset() if plain is not None else {HIDDEN}))


def openssl(call: Call) -> Stream:
    """Handle openssl: what it decrypts or decodes was hidden, and may be a secret."""
    output = run_call(call)
    if not {"-d", "-decrypt"}.intersection(word.text for word in call.fields[1:]):
        return output
    call.effect(EffectKind.CREDENTIAL, None, "decrypts or decodes data")
    return Stream(None, output.taints | {HIDDEN})


def decode_base64(text: str) -> str | None:
    try:
        return b64decode("".join(text.split()), validate=True).decode("utf-8")
    except (BinasciiError, ValueError):
        return None
