"""Commands that documents for contributors tell people to run, in code blocks and code spans."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from posixpath import normpath

from cli_guard.assistant.projects.files import Files, folder_of, nearness, within
from cli_guard.assistant.projects.model import Found, Purpose
from cli_guard.assistant.projects.purposes import bare_command, purpose_of_command, purpose_of_text, read

DOCUMENT = r"\.(?:md|rst|txt|adoc|markdown)"
# A page on "testing" below a project's documentation is for those who use it.
FOR_CONTRIBUTORS = re.compile(
    r"(?:^|/)(?:contribut\w*|hacking|devguide)[^/]*$|(?:^|/)(?:dev|development|internals|contributing)/"
)
README = re.compile(rf"readme(?:{DOCUMENT})?")
MOST_GUIDES, MOST_READMES = 20, 5
LONGEST, LONGEST_LINE = 160, 2_000
# Between two lines of one session there is a short remark; after more, the reader is at the root again.
MOST_OF_A_STEP = 300
FENCE = re.compile(r"^[ \t>]*(?:```|~~~|----$)[ \t]*[{]?\.?(?P<kind>[\w+-]*)")
DIRECTIVE = re.compile(r"\s*\.\. (?:code|sourcecode|code-block|console|prompt)\b")
PROMPT = re.compile(r"^(?:\(\w[\w.-]*\)\s*)?(?:[\w.@~:/-]*[$%#>]|\.\.\.\\>|PS>)\s+")
SPAN = re.compile(r"``([^`\n]{2,160})``|(?<!`)`([^`\n]{2,160})`(?!`)")
COMMENT = re.compile(r"\s+#\s.*$")
# "make test     the tests, in .venv": a table in a code block, the description after several spaces.
DESCRIBED = re.compile(r"[ \t]{2,}(?=[A-Za-z(])")
# A word that the reader is to replace, or that only a shell knows: such a command cannot be pasted.
TO_FILL_IN = re.compile(
    r"<[a-z][\w .-]*>|\$[{(]?\w|\{\w|\[[a-z]+\]|\.\.\.(?:\s|$)|\bpath/to\b|\bYOUR|/your/"
    r"|@latest\b|\bgo install \S+\.\w+/"
)
LOCAL = re.compile(
    r"make(?:\s|$)(?!.*-[Cf])"
    r"|(?:(?:python3?|sh|bash|node) )?(?:\./)?(?P<script>[\w./-]+\.(?:py|sh|js)|(?<=\./)[\w./-]+)(?:\s|$)"
)
OWN_NAME = re.compile(r"^[ \t]*\"?name\"?[ \t]*[=:][ \t]*[\"']([\w-]+)[\"']", re.MULTILINE)
CD = re.compile(r"cd +([\w./-]+)/?(?: *(?:&&|;) *(.+))?$")


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(read("documents")[name], re.VERBOSE)


@dataclass(frozen=True, slots=True)
class _Said:
    """A line of a document that is a command, and the folder that the lines above have gone to."""

    command: str
    path: str
    line: int
    in_block: bool
    folder: str = ""


def find_documented(files: Files) -> Iterator[Found]:
    """The commands of the guides that serve a purpose, in the order in which people read them."""
    own = {
        found[1]
        for path in ("pyproject.toml", "Cargo.toml", "package.json")
        for found in OWN_NAME.finditer(files.read(path)[:4_000])
    } - {"build"}
    for rank, path in enumerate(_guides(files)):
        is_readme = bool(README.fullmatch(path.rpartition("/")[2].lower()))
        for said in _commands_in(path, files.read(path)):
            purpose = _purpose_of(said.command, is_readme)
            command = _at_root(files, said) if purpose != "other" else None
            # How the program itself is used is no work on it.
            if command and bare_command(said.command).split(" ", 1)[0] not in own:
                yield Found(command, path, said.line, "", "", "docs", purpose, rank * 2 + (not said.in_block))


def _guides(files: Files) -> tuple[str, ...]:
    """The documents that say how to work on the project, those for contributors first."""

    def is_guide(path: str) -> bool:
        folder, _, name = path.lower().rpartition("/")
        if folder not in ("", ".github") and not FOR_CONTRIBUTORS.search(path.lower()):
            return False
        return bool(re.search(f"{DOCUMENT}$", name)) or (not folder and "." not in name)

    found = [path for path in files.find_like(_pattern("guide")) if is_guide(path)]
    deep = {path for path in files.texts if re.search(rf"contributing/.*{DOCUMENT}$", path.lower())}
    readmes = [path for path in files.find_like(README) if folder_of(path) in ("", "tests", "test")]
    return (*(found + sorted(deep - set(found), key=nearness))[:MOST_GUIDES], *readmes[:MOST_READMES])


def _purpose_of(command: str, in_readme: bool) -> Purpose:
    """What a command of a document is for; "other" for one that is not about the project's own work."""
    purpose = purpose_of_text(command) if "&&" in command else purpose_of_command(command)
    other = (
        (purpose == "install" and in_readme and not _pattern("for_developers").search(command))
        or (purpose == "install" and re.match(r"pip3? install (?!-|\.)", bare_command(command)))
        or (purpose in ("clean", "run") and in_readme and command.startswith(("rm ", "docker run")))
    )
    return "other" if other else purpose


def _at_root(files: Files, said: _Said) -> str | None:
    """The command as it is typed at the root, None if what it needs is not where the document says it is."""
    needs = LOCAL.match(said.command)
    if not needs:
        return within(said.folder if said.folder in files.folders else "", said.command)
    wanted = needs["script"] or "Makefile"
    for folder in (said.folder, folder_of(said.path), "tests"):
        names = (wanted, wanted.lower(), f"GNU{wanted.lower()}")
        if files.has(*(normpath(f"{folder}/{name}".lstrip("/")) for name in names)):
            return within(folder, said.command)
    return None


def _commands_in(path: str, text: str) -> Iterator[_Said]:
    """The commands in code blocks and code spans of Markdown or reStructuredText."""
    fenced: str | None = None
    folder = ""
    in_literal = False
    after_blank = True
    for number, line in enumerate(text.split("\n"), 1):
        fence, stripped = FENCE.match(line), line.strip()
        if len(line) > LONGEST_LINE:
            continue
        if fence:
            fenced, folder = (fence["kind"].lower() or "text" if fenced is None else None), ""
            continue
        if line[:1].strip():
            in_literal = bool(DIRECTIVE.match(line)) or line.rstrip().endswith("::")
        indented = line.startswith(("   ", "\t", "  $ ")) and bool(stripped)
        literal = indented and (in_literal or (after_blank and PROMPT.match(stripped)))
        if fenced is None and indented and DIRECTIVE.match(line):
            in_literal = True
        elif fenced is not None or literal:
            if fenced not in read("documents")["other_kinds"].split():
                command = _clean(stripped, needs_prompt=fenced in ("console", "shell-session"))
                folder, command = _change_folder(folder, command)
                if command:
                    yield _Said(command, path, number, True, folder)
        else:
            folder = "" if line[:1].strip() and len(stripped) > MOST_OF_A_STEP else folder
            for span in SPAN.finditer(line):
                command = (span[1] or span[2]).strip()
                if _pattern("program").match(command) and _clean(command):
                    yield _Said(_clean(command), path, number, False)
        after_blank = not stripped or indented


def _clean(line: str, *, needs_prompt: bool = False) -> str:
    """The command of a line, empty if it is none that can be pasted."""
    prompt = PROMPT.match(line)
    if needs_prompt and not prompt:
        return ""
    command = COMMENT.sub("", line[prompt.end() :] if prompt else line).strip().rstrip("\\").strip()
    gap = DESCRIBED.search(command)
    if gap and not any(command[: gap.start()].count(quote) % 2 for quote in "\"'"):
        command = command[: gap.start()]
    unusable = len(command) > LONGEST or command.startswith(("#", ".. ", ":")) or TO_FILL_IN.search(command)
    return "" if unusable else command


def _change_folder(folder: str, command: str) -> tuple[str, str]:
    """The folder that a `cd` leads to, and what else the line does there."""
    found = CD.match(command)
    if not found:
        return folder, command
    target = normpath(f"{folder}/{found[1]}".lstrip("/"))
    return "" if target.startswith(".") else target, found[2] or ""
