"""Commands that documents for contributors tell people to run, and those that continuous integration runs."""

import re
from collections.abc import Iterator
from contextlib import suppress
from posixpath import basename, normpath

from cli_guard.assistant.projects.files import (
    FoundCommand,
    ProjectFiles,
    folder_of,
    nearness,
    within,
)
from cli_guard.assistant.projects.purposes import (
    bare_command,
    purpose_of_command,
    purpose_of_text,
)
from cli_guard.assistant.request_command import CommandPurpose
from cli_guard.reviewers.commands.extract import Unreadable, snippets
from cli_guard.rules.catalog import read_patterns, read_table

DOCUMENT = r"\.(?:md|rst|txt|adoc|markdown)"
MOST_GUIDES = 20
MOST_READMES = 5
LONGEST = 160
CI_FILE = re.compile(
    r"^(?:\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|\.circleci/config\.yml|azure-pipelines\.yml|\.travis\.yml)$"
)
MOST_CI_FILES = 10
# What a job does to its own machine, or to others.
OF_A_MACHINE = frozenset(("other", "install", "clean", "run", "release", "deploy"))
LONGEST_LINE = 2_000
# Between two lines of one session there is a short remark; after more, the reader is at the root again.
MOST_OF_A_STEP = 300
FORMS = read_patterns("projects/documents.toml", "patterns")
OTHER_KINDS = frozenset(read_table("projects/documents.toml")["other_kinds"].split())


def find_documented(files: ProjectFiles) -> Iterator[FoundCommand]:
    """Yield the commands of the guides that serve a purpose, in the order in which people read them."""
    own = {
        found[1]
        for path in ("pyproject.toml", "Cargo.toml", "package.json")
        for found in FORMS["own_name"].finditer(files.read(path)[:4_000])
    } - {"build"}
    for rank, path in enumerate(_guides(files)):
        is_readme = bool(FORMS["readme"].fullmatch(basename(path).lower()))
        for said, line, is_span, folder in _commands_in(files.read(path)):
            purpose = _purpose_of(said, is_readme)
            command = _at_root(files, path, said, folder) if purpose != "other" else None
            # How the program itself is used is no work on it.
            if command and bare_command(said).split(" ", 1)[0] not in own:
                yield FoundCommand(
                    command, path, line, "", "", "docs", purpose, rank * 2 + is_span
                )


def find_in_ci(files: ProjectFiles) -> Iterator[FoundCommand]:
    """Yield the commands that continuous integration runs for a purpose, without those that only a job can run."""
    paths = [path for path in files.texts if CI_FILE.search(path)]
    for rank, path in enumerate(sorted(paths, key=nearness)[:MOST_CI_FILES]):
        found = snippets(path, files.read(path))
        lines: list[tuple[str, int]] = []
        with suppress(Unreadable):
            lines = [
                each
                for snippet in found
                for each in zip(snippet.text.split("\n"), snippet.lines, strict=False)
            ]
        for said, line in lines:
            command = _clean(said.strip())
            purpose = _purpose_of(command, in_readme=True) if command else "other"
            if purpose in OF_A_MACHINE or FORMS["to_fill_in"].search(said):
                continue
            if at_root := _at_root(files, path, command, ""):
                yield FoundCommand(at_root, path, line, "", "", "ci", purpose, rank)


def _guides(files: ProjectFiles) -> tuple[str, ...]:
    """Return the documents that say how to work on the project, those for contributors first."""

    def is_guide(path: str) -> bool:
        folder, _, name = path.lower().rpartition("/")
        if folder not in ("", ".github") and not FORMS["for_contributors"].search(
            path.lower()
        ):
            return False
        return bool(re.search(f"{DOCUMENT}$", name)) or (not folder and "." not in name)

    found = [path for path in files.find_like(FORMS["guide"]) if is_guide(path)]
    deep = {
        path
        for path in files.texts
        if re.search(rf"contributing/.*{DOCUMENT}$", path.lower())
    }
    readmes = [
        path
        for path in files.find_like(FORMS["readme"])
        if folder_of(path) in ("", "tests", "test")
    ]
    return (
        *(found + sorted(deep - set(found), key=nearness))[:MOST_GUIDES],
        *readmes[:MOST_READMES],
    )


def _purpose_of(command: str, in_readme: bool) -> CommandPurpose:
    """Return what a command of a document is for; "other" for one that is not about the project's own work."""
    purpose = purpose_of_text(command) if "&&" in command else purpose_of_command(command)
    other = (
        (purpose == "install" and in_readme and not FORMS["for_developers"].search(command))
        or (
            purpose == "install"
            and re.match(r"pip3? install (?!-|\.)", bare_command(command))
        )
        or (
            purpose in ("clean", "run")
            and in_readme
            and command.startswith(("rm ", "docker run"))
        )
    )
    return "other" if other else purpose


def _at_root(files: ProjectFiles, path: str, command: str, gone_to: str) -> str | None:
    """Return the command as it is typed at the root, None if what it needs is not where the document says it is."""
    needs = FORMS["local"].match(command)
    if not needs:
        return within(gone_to if gone_to in files.folders else "", command)
    wanted = needs["script"] or "Makefile"
    for folder in (gone_to, folder_of(path), "tests"):
        names = (wanted, wanted.lower(), f"GNU{wanted.lower()}")
        if files.has(*(normpath(f"{folder}/{name}".lstrip("/")) for name in names)):
            return within(folder, command)
    return None


def _commands_in(text: str) -> Iterator[tuple[str, int, bool, str]]:
    """Yield the commands in code blocks and code spans of Markdown or reStructuredText.

    Each with its line, whether it is in a span, and the folder that the lines above have gone to.
    """
    fenced: str | None = None
    folder = ""
    in_literal = False
    after_blank = True
    for number, line in enumerate(text.split("\n"), 1):
        fence = FORMS["fence"].match(line)
        stripped = line.strip()
        if len(line) > LONGEST_LINE:
            continue
        if fence:
            fenced = fence["kind"].lower() or "text" if fenced is None else None
            folder = ""
            continue
        if line[:1].strip():
            in_literal = bool(FORMS["directive"].match(line)) or line.rstrip().endswith(
                "::"
            )
        indented = line.startswith(("   ", "\t", "  $ ")) and bool(stripped)
        literal = indented and (
            in_literal or (after_blank and FORMS["prompt"].match(stripped))
        )
        if fenced is None and indented and FORMS["directive"].match(line):
            in_literal = True
        elif fenced is not None or literal:
            if fenced not in OTHER_KINDS:
                command = _clean(
                    stripped, needs_prompt=fenced in ("console", "shell-session")
                )
                if moved := FORMS["cd"].match(command):
                    target = normpath(f"{folder}/{moved[1]}".lstrip("/"))
                    command = moved[2] or ""
                    folder = "" if target.startswith(".") else target
                if command:
                    yield command, number, False, folder
        else:
            folder = "" if line[:1].strip() and len(stripped) > MOST_OF_A_STEP else folder
            for span in FORMS["span"].finditer(line):
                command = (span[1] or span[2]).strip()
                if FORMS["program"].match(command) and (plain := _clean(command)):
                    yield plain, number, True, ""
        after_blank = not stripped or indented


def _clean(line: str, *, needs_prompt: bool = False) -> str:
    """Return the command of a line, empty if it is none that can be pasted."""
    prompt = FORMS["prompt"].match(line)
    if needs_prompt and not prompt:
        return ""
    command = (
        FORMS["comment"]
        .sub("", line[prompt.end() :] if prompt else line)
        .strip()
        .rstrip("\\")
        .strip()
    )
    gap = FORMS["described"].search(command)
    if gap and not any(command[: gap.start()].count(quote) % 2 for quote in "\"'"):
        command = command[: gap.start()]
    unusable = (
        len(command) > LONGEST
        or command.startswith(("#", ".. ", ":"))
        or FORMS["to_fill_in"].search(command)
    )
    return "" if unusable else command
