"""A pattern that a person may save: what it covers, what only looks like it, and where it is kept."""

import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from cli_guard.commands import Context, judge
from cli_guard.commands.effects.values import PYTHON_TOOLS
from cli_guard.commands.invocations import INSTALLED
from cli_guard.commands.lifting import CODE, HOSTS
from cli_guard.commands.model import Pattern, Profile
from cli_guard.commands.patterns import check_pattern, shape_of
from cli_guard.commands.programs import table
from cli_guard.commands.saving import NEVER
from cli_guard.errors import ConfigError, UsageError
from cli_guard.model import Decision
from cli_guard.policy.config import parse_config, parse_toml

# The files of each package of a Debian system, dpkg(1).
DPKG = Path("/var/lib/dpkg/info")
# Programs of which a wide rule still says what they do: a place to send to, or to fetch from.
NARROWED = frozenset(("git", "curl", "wget"))
SHOWN = 3
ELSEWHERE = "/elsewhere/x"
ANOTHER_HOST = "https://other.example.org"


def check_rule(text: str, context: Context) -> tuple[list[str], list[str]]:
    """Return commands that a pattern newly allows, and near ones that it does not.

    Raises UsageError for a pattern that is too wide, or that allows nothing.
    """
    pattern = Pattern(text, Decision.ALLOW)
    try:
        check_pattern(pattern)
    except ValueError as error:
        raise UsageError(str(error)) from error
    without = replace(context, profile=Profile.STRICT, patterns=())
    lifted = replace(without, patterns=(pattern,))

    def allows(command: str) -> bool:
        return judge(command, lifted).verdict is Decision.ALLOW

    shape = shape_of(text)
    if shape.open and shape.words[0][0].rpartition("/")[2] in NEVER - NARROWED:
        raise UsageError(
            f"{text!r} is too wide: what such a command does depends on its words, name them"
        )
    exact, *_ = variants_of(text)
    if judge(exact, without).verdict is Decision.ALLOW:
        raise UsageError(f"{exact!r} is allowed already: no rule is needed")
    covered = [each for each in variants_of(text) if allows(each)][:SHOWN]
    if not covered:
        answer = judge(exact, lifted)
        raise UsageError(f"a rule {text!r} would allow nothing: {exact!r} {answer.reason}")
    near = [each for each in near_misses_of(text, exact) if not allows(each)][:SHOWN]
    return covered, near


def variants_of(text: str) -> Iterator[str]:
    """Yield commands that a pattern should cover, the plainest first."""
    shape = shape_of(text)
    words = ["x".join(word) if len(word) > 1 else word[0] for word in shape.words]
    exact = shlex.join(words)
    yield exact
    if shape.open:
        yield f"{exact} src"
    yield f"{exact} 2>&1 | tail -20"
    if words[0] in PYTHON_TOOLS:
        yield f".venv/bin/{exact}"
    yield f"timeout 60 {exact}"
    if shape.open:
        yield f"{exact} -v"


def near_misses_of(text: str, exact: str) -> Iterator[str]:
    """Yield commands that look like those of a pattern and bring more."""
    shape = shape_of(text)
    spec = table(exact.split()[0].rpartition("/")[2])
    if shape.open and spec:
        below = spec.commands.get((*exact.split(), "", "")[1], spec)
        options = {
            id(option): option for option in {**spec.options, **below.options}.values()
        }.values()
        named = set(exact.split())
        for option in options:
            if option.takes in CODE | HOSTS and not named & set(option.names):
                value = ANOTHER_HOST if option.takes in HOSTS else ELSEWHERE
                yield f"{exact} {max(option.names, key=len)} {value}"
                break
    if not shape.open:
        yield f"{exact} more"
    yield f"{exact} && curl {ANOTHER_HOST}"
    yield f"cd /elsewhere && {exact}"
    yield f"{exact} > ~/.bashrc"


def describe_rule(text: str) -> str:
    """Say a pattern in words: `npm run build`, followed by anything."""
    shape = shape_of(text)
    words = " ".join("*".join(word) for word in shape.words)
    stars = " (each * is any text)" if any(len(word) > 1 for word in shape.words) else ""
    return f"`{words}`{stars}, {'followed by anything' if shape.open else 'exactly as it stands'}"


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


def add_to_user_file(path: Path, pattern: str) -> None:
    """Add a pattern to `[commands] allow` in the user's own file, and keep all else. Raises ConfigError, OSError."""
    from cli_guard.state.files import make_folder, write_atomically

    before = path.read_text("utf-8") if path.exists() else ""
    had = parse_config(parse_toml(before.encode(), str(path)), str(path))
    quoted = '"' + pattern.replace("\\", "\\\\").replace('"', '\\"') + '"'
    section = re.search(r"(?m)^[ \t]*\[[ \t]*commands[ \t]*\][^\n]*\n?", before)
    if section is None:
        after = f"{before.rstrip()}\n\n[commands]\nallow = [{quoted}]\n".lstrip()
    else:
        rest = before[section.end() :]
        own = (
            rest[: found.start()] if (found := re.search(r"(?m)^[ \t]*\[", rest)) else rest
        )
        start = re.search(r"(?m)^[ \t]*allow[ \t]*=[ \t]*\[", own)
        at = section.end() + (start.end() if start else 0)
        new = f"{quoted}, " if start else f"allow = [{quoted}]\n"
        after = before[:at] + new + before[at:]
    try:
        now = parse_config(parse_toml(after.encode(), str(path)), str(path))
        kept = {each.pattern for each in now.commands.allow} == {
            *(each.pattern for each in had.commands.allow),
            pattern,
        }
    except ConfigError:
        kept = False
    if not kept:
        raise ConfigError(f"{path}: write it there by hand: [commands] allow = [{quoted}]")
    if not path.parent.exists():
        make_folder(path.parent)
    write_atomically(path, after)
