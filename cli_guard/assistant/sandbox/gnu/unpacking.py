"""`zcat`: what is packed with gzip, unpacked up to a bound."""

import io
import zlib

from cli_guard.assistant.sandbox.commands.model import Answer, Call, CommandFailure

MOST_BYTES = 32_000_000


def zcat(call: Call) -> Answer:
    """Unpacks files, or standard input."""
    out, errors = [], []
    for name in [word for word in call.arguments if word == "-" or not word.startswith("-")] or ["-"]:
        try:
            raw = call.stdin if name == "-" else call.read(name)
        except CommandFailure:
            errors.append(f"gzip: {name}: No such file or directory\n")
            continue
        try:
            out.append(unpacked(raw))
        except (OSError, EOFError, zlib.error, ValueError) as error:
            errors.append(f"gzip: {name}: {error}\n")
    return Answer(b"".join(out), "".join(errors).encode("utf-8", "surrogateescape"), 1 if errors else 0)


def unpacked(raw: bytes) -> bytes:
    """The bytes of a gzip stream. Raises ValueError for more than MOST_BYTES."""
    import gzip

    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
        found = file.read(MOST_BYTES + 1)
    if len(found) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES:,} bytes when unpacked")
    return found
