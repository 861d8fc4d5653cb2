"""Grants: what a tool may do without a question, in one form for all tools, and how much one of them lets pass.

Words of an entry: `sort` is what a value grants (command, edit, read, fetch, server), by default told by the name of a
tool before brackets: `Bash(npm test:*)`; `inside` is a key of what stands in them. `is_prefix`: a command may go on
after the text. `is_regex`: a text between slashes, or a value that begins with `^`, is a regular expression, of which
the words that it begins with are taken.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from posixpath import basename

from cli_guard.commands import Context, EffectKind, Setting, judge_or_raise
from cli_guard.lazy import frozen
from cli_guard.model import Decision
from cli_guard.reviewers.agents.change_tree import HOME, ROOT
from cli_guard.reviewers.agents.statements import SurfaceStatement
from cli_guard.rules.catalog import read_table
from cli_guard.secrets.printable import clip

RULE = re.compile(r"(?P<tool>[\w*.@-]+)(?:\((?P<inside>.*)\))?", re.DOTALL)
# The end of a prefix of Claude Code, and the stars of the others.
OPEN_END = re.compile(r"(?::\*|\s+\*+|\*+)$")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
WHOLE = re.compile(r"[*./]*")
OUTSIDE = re.compile(
    r"(?:~|//|\$HOME|\$\{HOME\}|\.\./|[A-Za-z]:[\\/]|%USERPROFILE%|/(?!\*))"
)
WHOLE_HOME = re.compile(r"(?:~|//|\$HOME|\$\{HOME\}|/)/?[*/]*")
SETTINGS = re.compile(
    r"(?:^|/)\.(?:claude|codex|cursor|gemini|vscode|git|github|kiro|zed|husky)(?:/|$)"
)
ANY_HOST = re.compile(r"(?:domain:|https?://)?\**(?:/\**)?")
ANY_SERVER = re.compile(r"\*?|\*[:_,/ ]+\*|mcp__\*|mcp_\*|@?\*")
# A regular expression as far as the words that it begins with are plain, or a choice of such words.
LITERAL = re.compile(r"(?:[\w /:@=-]|\\[s.\-/ ][+*]?|\\b)*")
CHOICE = re.compile(r"\((?:\?:)?(?P<words>[\w ./|-]+)\)")
BLANK_CLASS = re.compile(r"\\s[+*]?|\[ \][+*]?")
LONGEST_SHOWN = 80


@frozen
class Grant:
    """One grant: its sort, its text, and whether more may follow."""

    sort: str
    text: str
    is_open: bool = False

    def covers(self, other: "Grant") -> bool:
        """Return whether this grant lets pass all that another one does, as far as that is certain."""
        if self.sort == "any":
            return True
        if self.sort != other.sort:
            return False
        if self.text == other.text:
            return self.is_open or not other.is_open
        if not self.text:
            return self.is_open
        if self.is_open and other.text.startswith(self.text.rstrip() + " "):
            return True
        return "*" in self.text and fnmatchcase(other.text, self.text)


def grant_of(statement: SurfaceStatement) -> Grant:
    """Return what a statement grants, asks about or denies."""
    entry = statement.entry
    text = statement.wording
    sort = entry.word("sort")
    if sort:
        return grant_of_text(sort, text, statement)
    found = RULE.fullmatch(text.strip())
    if found is None:
        return Grant("tool", text)
    tool = found["tool"]
    inside = found["inside"]
    if tool == "*":
        return Grant("any", "", is_open=True)
    if tool.startswith(("mcp__", "mcp_", "@")):
        return Grant("server", text)
    sort = statement.file.grants.get(tool, "tool")
    if inside is None:
        return Grant(sort, "" if sort != "tool" else tool, is_open=True)
    return grant_of_text(sort, inside, statement)


def grant_of_text(sort: str, text: str, statement: SurfaceStatement) -> Grant:
    words = statement.entry.words
    text = text.strip()
    if sort != "command":
        return Grant(sort, "" if WHOLE.fullmatch(text) else text, is_open=True)
    if words.get("is_regex") and is_expression(text):
        return of_expression(sort, text)
    plain = OPEN_END.sub("", text).strip()
    is_open = plain != text or bool(words.get("is_prefix"))
    return Grant(sort, plain, is_open)


def is_expression(text: str) -> bool:
    return text.startswith(("/", "^", "(", ".*", "\\")) or text.endswith("$")


def of_expression(sort: str, text: str) -> Grant:
    """Return the words that a regular expression begins with; of several that differ the widest."""
    inner = text[1:].rpartition("/")[0] if text.startswith("/") else text
    inner = inner.removeprefix("^")
    choice = CHOICE.match(inner)
    begins = choice["words"].split("|") if choice else [""]
    rest = inner[choice.end() :] if choice else inner
    found = LITERAL.match(rest)
    literal = found[0] if found else ""
    is_open = rest[len(literal) :] != "$"
    literal = BLANK_CLASS.sub(" ", literal).replace("\\b", "").replace("\\", "")
    grants = [Grant(sort, f"{begin}{literal}".strip(), is_open) for begin in begins]
    return next((each for each in grants if danger_of(each)), grants[0])


def danger_of(grant: Grant) -> str:
    """Return in words what passes without a question that should not, "" if nothing does."""
    if grant.sort == "any":
        return "every tool runs without a question"
    dangers = {
        "command": danger_of_command,
        "edit": danger_of_edit,
        "read": danger_of_read,
        "fetch": danger_of_fetch,
        "server": danger_of_server,
    }
    judge = dangers.get(grant.sort)
    return judge(grant) if judge else ""


def danger_of_command(grant: Grant) -> str:
    """Return what a grant of commands lets pass: any command, or a program whose words decide what it does."""
    words = [each for each in grant.text.split() if not ASSIGNMENT.fullmatch(each)]
    if not words or words[0].startswith("*"):
        narrowed = any(re.search(r"\w{2}", each.lstrip("*-")) for each in words)
        if narrowed and grant.is_open and grant.text.startswith("*"):
            return f"any command with `{shorten(grant.text.strip('*'))}` in it runs without a question"
        return "" if narrowed else "any command runs without a question"
    if grant.is_open and (program := wide_program(words)):
        return f"`{shorten(program)}` with any words runs without a question"
    verdict = judge_or_raise(
        grant.text, Context(setting=Setting.AGENT, home=HOME, root=ROOT)
    )
    if verdict.verdict is Decision.DENY:
        return f"`{shorten(grant.text)}` runs without a question: {verdict.reason}"
    return ""


def wide_program(words: list[str]) -> str:
    """Return the program of a prefix if nothing but options is behind it and its words decide what it does."""
    base = basename(words[0]).strip("\"'")
    kept = [base, *words[1:]]
    names = wide_names()
    for length in (3, 2, 1):
        name = ":".join(kept[:length])
        rest = kept[length:]
        is_code = bool(rest) and rest[0] in ("-c", "-e", "-m", "--eval", "--command")
        if (
            name in names
            and len(kept) >= length
            and (is_bare(rest) or (is_code and is_bare(rest[1:])))
        ):
            return " ".join(kept)
    return ""


def is_bare(words: list[str]) -> bool:
    """Return whether words are options alone, or stand for anything."""
    return all(each.startswith("-") or not each.strip("*:.") for each in words)


@cache
def wide_names() -> frozenset[str]:
    table: Mapping[str, str] = read_table("agents/programs.toml")["wide"]
    return frozenset(name for names in table.values() for name in names.split())


def danger_of_edit(grant: Grant) -> str:
    if not grant.text:
        return "any file is written without a question"
    if OUTSIDE.match(grant.text):
        return f"files outside the repository are written without a question: {shorten(grant.text)}"
    if SETTINGS.search(grant.text):
        return f"settings that start or allow things are written without a question: {shorten(grant.text)}"
    return ""


def danger_of_read(grant: Grant) -> str:
    """Return what a grant of reading lets pass: a home, or what holds credentials."""
    if not grant.text:
        return ""
    if OUTSIDE.match(grant.text) and WHOLE_HOME.fullmatch(grant.text):
        return f"any file of this machine is read without a question: {shorten(grant.text)}"
    path = grant.text.rstrip("*").removeprefix("/") or "."
    verdict = judge_or_raise(
        f"cat -- {path!r}",
        Context(setting=Setting.AGENT, home=HOME, folder=ROOT, root=ROOT),
    )
    if any(each.kind is EffectKind.CREDENTIAL for each in verdict.effects):
        return f"credentials are read without a question: {shorten(grant.text)}"
    return ""


def danger_of_fetch(grant: Grant) -> str:
    return (
        "any address is fetched without a question"
        if ANY_HOST.fullmatch(grant.text)
        else ""
    )


def danger_of_server(grant: Grant) -> str:
    if ANY_SERVER.fullmatch(grant.text):
        return "every tool of every server runs without a question"
    return ""


def shorten(text: str) -> str:
    return clip(text, LONGEST_SHOWN)
