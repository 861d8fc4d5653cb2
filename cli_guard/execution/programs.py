"""What is known of a program without a table: where it is, and from which package."""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from cli_guard.commands import Context
from cli_guard.commands.invocations import INSTALLED

# The files of each package of a Debian system, dpkg(1).
DPKG = Path("/var/lib/dpkg/info")


def describe_program(name: str, context: Context, env: Mapping[str, str]) -> Iterator[str]:
    """Yield what is known of a program without a table: where it is, and from which package."""
    place = shutil.which(name, path=env.get("PATH", ""))
    installed = (
        (Path(context.root) / folder / name for folder in INSTALLED) if context.root else ()
    )
    inside = next((path for path in installed if path.exists()), None)
    if inside:
        yield f"{inside} is installed in this work tree"
        place = str(inside)
    elif place:
        yield f"{place} is on your PATH"
    else:
        yield f"{name} is neither on your PATH nor installed in this work tree"
        return
    yield f"package: {find_package(Path(place)) or 'not known'}"


def find_package(program: Path) -> str | None:
    """Return the package that a program comes from: of Node, of Python, or of the system."""
    real = program.resolve()
    if "node_modules" in real.parts:
        names = real.parts[len(real.parts) - real.parts[::-1].index("node_modules") :]
        return f"{'/'.join(names[: 2 if names[0].startswith('@') else 1])} (node_modules)"
    for record in program.parent.parent.glob(
        "lib/python*/site-packages/*.dist-info/RECORD"
    ):
        if re.search(
            rf"(?m)^(?:\.\./)+bin/{re.escape(program.name)},",
            record.read_text("utf-8", "replace"),
        ):
            return f"{record.parent.name.removesuffix('.dist-info')} (Python)"
    lines = {f"{real}\n".encode(), f"{program}\n".encode()}
    for listed in sorted(DPKG.glob("*.list")):
        if lines & set(listed.read_bytes().splitlines(keepends=True)):
            return f"{listed.stem.partition(':')[0]} (system)"
    return None
