"""Commands that documents for contributors tell people to run, in code blocks and code spans."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from posixpath import normpath

from cli_guard.assistant.projects.files import Files, folder_of, nearness, within
from cli_guard.assistant.projects.model import Purpose
from cli_guard.assistant.projects.purposes import bare_command, purpose_of_command, purpose_of_text
from cli_guard.assistant.projects.sources.found import Found

GUIDE = re.compile(
    r"(?:contributing|contribute|development|developing|developers?|hacking|testing|building|running[-_]tests|"
    r"readme[-_.]dev\w*|devguide|agents|claude)(?:\.(?:md|rst|txt|adoc|markdown))?"
)
# A page on "testing" below a project's documentation is for those who use it.
FOR_CONTRIBUTORS = re.compile(
    r"(?:^|/)(?:contribut\w*|hacking|devguide)[^/]*$|(?:^|/)(?:dev|development|internals|contributing)/"
)
READMES = re.compile(r"readme(?:\.(?:md|rst|txt|adoc|markdown))?")
MOST_GUIDES = 20
LONGEST, LONGEST_LINE = 160, 2_000
# Between two lines of one session stands a short remark; after more, the reader is at the root again.
MOST_OF_A_STEP = 300
FENCE = re.compile(r"^[ \t>]*(?:```|~~~|----$)[ \t]*[{]?\.?(?P<kind>[\w+-]*)")
# What holds no commands for a shell.
OTHER_KINDS = frozenset(
    "python py pycon js javascript ts typescript json yaml yml toml ini go rust java xml html css diff ruby c cpp "
    "dockerfile makefile sql jsonc php elixir".split()
)
PROMPT = re.compile(r"^(?:\(\w[\w.-]*\)\s*)?(?:[\w.@~:/-]*[$%#>]|\.\.\.\\>|PS>)\s+")
SPAN = re.compile(r"``([^`\n]{2,160})``|(?<!`)`([^`\n]{2,160})`(?!`)|:command:`([^`\n]{2,160})`")
COMMENT = re.compile(r"\s+#\s.*$")
# "make test     the tests, in .venv": a table in a code block, the description behind several spaces.
DESCRIBED = re.compile(r"[ \t]{2,}(?=[A-Za-z(])")
# A word that somebody is to replace, or that only a shell knows: such a command cannot be pasted.
TO_FILL_IN = re.compile(
    r"<[a-z][\w .-]*>|\$[{(]?\w|\{\w|\[[a-z]+\]|\.\.\.(?:\s|$)|\bpath/to\b|\bYOUR|/your/"
    r"|@latest\b|\bgo install \S+\.\w+/"
)
# In a README, installing is for those who use the project.
FOR_DEVELOPERS = re.compile(
    r"-e\b|--editable|\bsync\b|\b(?:npm|pnpm|yarn|bun) (?:ci|install|i)$|^yarn$|requirements|bundle"
    r"|composer install$|poetry install|develop\b|--group"
)
ALONE = re.compile(
    r"^(?:make|tox|nox|just|task|inv|npm|yarn|pnpm|bun|cargo|go|mvn|\./mvnw|gradle|\./gradlew|pytest|python|uv|poetry|hatch|pdm|pre-commit|prek|bundle|rake|composer|mix|dotnet|cmake|ctest|bazel|ruff|mypy|black|flake8|\./)"
)


LOCAL = re.compile(
    r"make(?:\s|$)(?!.*-[Cf])"
    r"|(?:(?:python3?|sh|bash|node) )?(?:\./)?(?P<script>[\w./-]+\.(?:py|sh|js)|(?<=\./)[\w./-]+)(?:\s|$)"
)
OWN = re.compile(r"^[ \t]*\"?name\"?[ \t]*[=:][ \t]*[\"']([\w-]+)[\"']", re.MULTILINE)
CD = re.compile(r"cd +([\w./-]+)/?(?: *(?:&&|;) *(.+))?$")


@dataclass(frozen=True, slots=True)
class Said:
    """A line of a document that is a command."""

    command: str
    path: str
    line: int
    block: bool
    folder: str = ""


def guides(files: Files) -> tuple[str, ...]:
    """The documents that tell how to work on the project, those for contributors first."""
    found = [path for path in files.like(GUIDE) if _is_guide(path)]
    deep = [
        path
        for path in files.texts
        if "contributing/" in path.lower() and path.endswith((".rst", ".md", ".txt"))
    ]
    found += sorted(set(deep) - set(found), key=nearness)
    readmes = [
        path for path in files.like(READMES) if "/" not in path or folder_of(path) in ("tests", "test")
    ]
    return (*found[:MOST_GUIDES], *readmes[:5])


def _is_guide(path: str) -> bool:
    folder, _, name = path.lower().rpartition("/")
    if folder not in ("", ".github") and not FOR_CONTRIBUTORS.search(path.lower()):
        return False
    return name.endswith((".md", ".rst", ".txt", ".adoc", ".markdown")) or (not folder and "." not in name)


def documents(files: Files) -> Iterator[Found]:
    """The commands of the guides that serve a purpose, in the order in which people read them."""
    own = own_programs(files)
    for rank, path in enumerate(guides(files)):
        readme = bool(READMES.fullmatch(path.rpartition("/")[2].lower()))
        for said in commands_in(path, files.read(path)):
            purpose = purpose_said(said, readme)
            command = placed(files, said) if purpose != "other" else None
            # How the program itself is used is no work on it.
            if command and bare_command(said.command).split(" ", 1)[0] not in own:
                yield Found(command, path, said.line, "", "", "docs", purpose, rank * 2 + (not said.block))


def own_programs(files: Files) -> frozenset[str]:
    """The names of the project, and of the programs that it installs."""
    names = [
        found[1]
        for path in ("pyproject.toml", "Cargo.toml", "package.json")
        for found in OWN.finditer(files.read(path)[:4_000])
    ]
    return frozenset(names) - {"build"}


def placed(files: Files, said: Said) -> str | None:
    """The command as it is typed at the root, None if what it needs is not where the document says it is."""
    needs = LOCAL.match(said.command)
    if not needs:
        return (
            within(said.folder, said.command)
            if said.folder and files.has_folder(said.folder)
            else said.command
        )
    wanted = needs["script"] or "Makefile"
    for folder in (said.folder, folder_of(said.path), "tests"):
        if any(
            files.has(normpath(f"{folder}/{name}".lstrip("/")))
            for name in (wanted, wanted.lower(), f"GNU{wanted.lower()}")
        ):
            return within(folder, said.command)
    return None


def purpose_said(said: Said, readme: bool) -> Purpose:
    """What a command of a document is for; "other" for one that is not about the project's own work."""
    purpose = purpose_of_text(said.command) if "&&" in said.command else purpose_of_command(said.command)
    if purpose == "install" and readme and not FOR_DEVELOPERS.search(said.command):
        return "other"
    if purpose == "install" and re.match(r"pip3? install (?!-|\.)", bare_command(said.command)):
        return "other"
    if purpose in ("clean", "run") and readme and said.command.startswith(("rm ", "docker run")):
        return "other"
    return purpose


def commands_in(path: str, text: str) -> Iterator[Said]:
    """The commands in code blocks and code spans of Markdown or reStructuredText."""
    fenced: str | None = None
    folder = ""
    literal = False
    before_blank = True
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            continue
        fence = FENCE.match(line)
        if fence:
            fenced = fence["kind"].lower() or "text" if fenced is None else None
            folder = ""
            continue
        stripped = line.strip()
        if fenced is not None:
            if fenced not in OTHER_KINDS:
                command = _command(stripped, prompted=fenced in ("console", "shell-session"))
                folder, command = _moved(folder, command)
                if command:
                    yield Said(command, path, number, True, folder)
            continue
        if line[:1].strip():
            literal = bool(
                re.match(r"\.\. (?:code|sourcecode|code-block|console|prompt)\b", line)
            ) or line.rstrip().endswith("::")
        indented = line.startswith(("    ", "\t", "   ", "  $ ")) and bool(stripped)
        if indented and re.match(r"\.\. (?:code|sourcecode|code-block|prompt|console)\b", stripped):
            literal = True
        elif indented and (literal or PROMPT.match(stripped)) and (before_blank or literal):
            folder, command = _moved(folder, _command(stripped))
            if command:
                yield Said(command, path, number, True, folder)
        else:
            folder = "" if stripped and line[:1].strip() and len(stripped) > MOST_OF_A_STEP else folder
            for span in SPAN.finditer(line):
                command = (span[1] or span[2] or span[3]).strip()
                if ALONE.match(command) and (
                    " " in command or command in ("tox", "nox", "pytest", "yarn", "make")
                ):
                    command = _command(command)
                    if command:
                        yield Said(command, path, number, False)
        before_blank = not stripped or indented


def _command(line: str, *, prompted: bool = False) -> str:
    """The command of a line, empty if it is none that can be pasted."""
    prompt = PROMPT.match(line)
    if prompted and not prompt:
        return ""
    command = COMMENT.sub("", line[prompt.end() :] if prompt else line).strip().rstrip("\\").strip()
    gap = DESCRIBED.search(command)
    if gap and not any(command[: gap.start()].count(quote) % 2 for quote in "\"'"):
        command = command[: gap.start()]
    if len(command) > LONGEST or command.startswith(("#", ".. ", ":")) or TO_FILL_IN.search(command):
        return ""
    return command


def _moved(folder: str, command: str) -> tuple[str, str]:
    """The folder that a `cd` leads to, and what else the line does there."""
    found = CD.match(command)
    if not found:
        return folder, command
    target = normpath(f"{folder}/{found[1]}".lstrip("/"))
    return "" if target.startswith(".") else target, found[2] or ""
