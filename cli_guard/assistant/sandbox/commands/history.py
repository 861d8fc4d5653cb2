"""`git`, and `log`, `show`, `diff`, `blame` and `status` by themselves: what Git knows of the repository, read only.

The options and words of a call are read by the tables of rules/sandbox.toml, checked, and written again: what is not
in a table never reaches Git, no value can become an option, and no path lies outside of the repository.
"""

import difflib
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial

from cli_guard.assistant.sandbox.commands.command import OwnCommand
from cli_guard.assistant.sandbox.files import ROOT
from cli_guard.assistant.sandbox.gnu.diff import diff as diff_files
from cli_guard.assistant.sandbox.model import Answer, Call, CommandFailure, WrongUsage
from cli_guard.errors import GitError
from cli_guard.git.repository import Repository
from cli_guard.git.worktree import without_filters
from cli_guard.rules.catalog import read_table

MOST_BYTES = 4_000_000
TABLES = read_table("sandbox.toml")["git"]
WRITING = read_table("sandbox.toml")["writing"].split()
# What a user's configuration would change in the output that a caller reads, or make Git run.
PLAIN = (
    *(
        "color.ui=false",
        "format.pretty=medium",
        "log.date=default",
        "log.showSignature=false",
        "log.follow=false",
    ),
    *("status.submoduleSummary=false", "mailmap.file=", "mailmap.blob=", "column.ui=never", "blame.date=iso"),
)
# The sub-commands that may look at the work tree, where a filter of the configuration would run.
FILTERING = ("diff", "status", "ls-files")
LISTING = ("grep", "ls-files")
FATAL = 128
MOST_ERROR = 300
NEXT = "commits: git log --oneline --all; files: git ls-files"
# What Git says of an exit code 1 without a word: nothing found, or not so.
QUIET = "no reason given, exit code 1"
# What git-log(1) has, without %G (it runs gpg), %(...), colours, and names that a configuration may define.
FORMAT = re.compile(
    r"(?:oneline|short|medium|full|fuller|reference|raw)?\Z|(?:t?format:|(?=.*%))(?:[^%]|%(?:[HhTtPpdDSsfBben%m]|a[nNeElLdDrtiIshc]|c[nNeElLdDrtiIsh]|x[0-9a-fA-F]{2}"
    r"|w\([0-9, ]*\)|[<>|]{1,2}\([0-9a-z, ]*\)|C(?:auto|red|green|blue|reset|\((?!always)[a-z ]*\))))*\Z"
)
KINDS = {
    "number": re.compile(r"\d{1,9}%?(?:,\d{1,4}){0,2}\Z"),
    "word": re.compile(r"[A-Za-z0-9][\w.:/~^@+-]{0,200}\Z|-[a-z]{1,30}\Z"),
    "text": re.compile(r"[^\0\n]{1,1000}\Z"),
    "format": FORMAT,
    "span": re.compile(
        r"(?:(?:\d{1,7}|/[^\0\n/]{1,200}/),(?:[+-]?\d{1,7}|/[^\0\n/]{1,200}/)|\d{1,7},?|,\d{1,7}|:[^\0\n:]{1,200})(?::[^\0\n:]{1,1000})?\Z"
    ),
    "dropped": re.compile(r""),
}
EXCLUDED = re.compile(r":(?:[!^]|\(exclude\))")
WILD = re.compile(r"[*?[]")


def find_repository(call: Call) -> Repository:
    """Return the repository. Raises CommandFailure in a world without one."""
    if call.world.repository is None:
        raise CommandFailure(
            "there is no history here: this world is held in memory; read its files with cat, grep"
        )
    return call.world.repository


@cache
def known_options(name: str) -> Mapping[str, str]:
    """Return option -> what its value must be, of a sub-command."""
    table = TABLES[name]
    own = {
        option: kind
        for kind in table
        if kind not in ("words", "always", "like")
        for option in table[kind].split()
    }
    return {**known_options(table["like"]), **own} if "like" in table else own


def fixed_options(name: str) -> tuple[str, ...]:
    table = TABLES[name]
    inherited = fixed_options(table["like"]) if "like" in table else ()
    return (*inherited, *table.get("always", "").split())


def check_value(option: str, kind: str, value: str) -> str:
    """Return a value that Git may be given. Raises WrongUsage."""
    if not KINDS[kind].match(value):
        raise WrongUsage(f"{option} needs a {kind}, not {value!r}")
    return value


def translate_options(
    name: str, words: tuple[str, ...]
) -> tuple[list[str], list[str], tuple[str, ...] | None]:
    """Return the options for Git, the other words, and those behind `--` (None without it). Raises WrongUsage."""
    known = known_options(name)
    options: list[str] = []
    bare: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return options, bare, tuple(rest)
        if not word.startswith("-") or word == "-":
            bare.append(word)
            continue
        if word[1:].isdecimal() and "-n" in known:
            word = f"-n{word[1:]}"
        while word:
            long = word.startswith("--")
            option, equals, value = word.partition("=") if long else (word[:2], word[2:], word[2:])
            kind, word = known.get(option), ""
            if kind is None:
                raise WrongUsage(f"no option {option} here: git {name} takes {' '.join(known)}")
            if kind == "switch":
                if equals and long:
                    raise WrongUsage(f"{option} takes no value")
                word = f"-{value}" if equals else ""
                options.append(option)
                continue
            if not equals and not kind.endswith("?"):
                if not rest:
                    raise WrongUsage(f"{option} needs a {kind}")
                value = rest.pop(0)
            kind = kind.rstrip("?")
            if value or equals or not known[option].endswith("?"):
                value = check_value(option, kind, value)
            if kind != "dropped":
                options.append(option + ("=" if long and (equals or value) else "") + value)
    return options, bare, None


def find_paths(call: Call, words: tuple[str, ...]) -> Iterator[str]:
    """Yield path specifications for words that name files of the sandbox. Raises CommandFailure."""
    for word in words:
        excluded = EXCLUDED.match(word)
        path = word[excluded.end() :] if excluded else word.removeprefix(":/")
        absolute = posixpath.join(ROOT, path) if word.startswith(":/") else call.absolute(path)
        absolute = posixpath.normpath(absolute)
        if absolute != ROOT and not absolute.startswith(f"{ROOT}/"):
            raise CommandFailure(f"{word} is outside the repository, which is {ROOT}")
        relative = posixpath.relpath(absolute, ROOT)
        if relative.startswith(":"):
            raise CommandFailure(f"{word}: only :!PATH and :/PATH are known here")
        yield f":(exclude){relative}" if excluded else relative


def names_file(call: Call, word: str) -> bool:
    return call.files.exists(call.absolute(word)) or bool(WILD.search(word) and ":" not in word)


def sort_words(
    call: Call, name: str, bare: list[str], behind: tuple[str, ...] | None
) -> tuple[list[str], list[str]]:
    """Return what stands before `--`, the pattern and revisions, and the paths behind it."""
    taken = TABLES[name]["words"].split()
    before = [bare.pop(0)] if "pattern" in taken and bare else []
    if "paths" not in taken or behind is not None:
        before, paths = before + bare, behind or ()
    else:
        # The first word that is a file, or looks like some, begins the paths; of `blame` the last word is the file.
        last = len(bare) - 1 if name == "blame" else len(bare)
        found = (n for n, word in enumerate(bare[:last]) if names_file(call, word))
        first = next(found, last) if "revisions" in taken else 0
        before, paths = before + bare[:first], (*bare[first:],)
    if "revisions" not in taken and "names" not in taken and len(before) > ("pattern" in taken):
        before, paths = before[: "pattern" in taken], (*before["pattern" in taken :], *paths)
    return before, [*find_paths(call, tuple(paths))]


def git(call: Call) -> Answer:
    """Run a sub-command of Git that reads."""
    words = list(call.arguments)
    while words and words[0] in ("--no-pager", "-P", "-C"):
        if words.pop(0) == "-C":
            call = replace(call, folder=call.absolute(words.pop(0) if words else ""))
    name, *rest = words or [""]
    if name not in TABLES:
        raise WrongUsage(refuse(name))
    return ask_git(call, name, tuple(rest))


def refuse(name: str) -> str:
    """Return what is said of a sub-command that is not passed on, with the nearest that is."""
    if name in WRITING:
        return (
            f"git {name} is left to the developer: nothing is changed here; what reads: {', '.join(TABLES)}"
        )
    near = difflib.get_close_matches(name, TABLES, 1)
    begin = f"no git {name} here" + (f", did you mean git {near[0]}?" if near else "")
    return f"{begin}; there is: {', '.join(TABLES)}"


def ask_git(call: Call, name: str, words: tuple[str, ...]) -> Answer:
    """Run a sub-command with the words of a caller, checked."""
    repository = find_repository(call)
    options, bare, behind = translate_options(name, words)
    before, paths = sort_words(call, name, bare, behind)
    if name == "rev-parse" and "--show-toplevel" in options:
        return Answer.from_text(ROOT)
    if name == "branch" and "--show-current" not in options:
        options.append("--list")  # a bare name would make a branch
    if name == "blame" and not before:
        before = ["HEAD"]  # the work tree would be read through its filters
    if name == "grep" and call.world.snapshot.name == "the index" and len(before) < 2:
        options.append("--cached")
    below = posixpath.relpath(call.absolute("."), ROOT)
    if name in LISTING and not paths and below != ".":
        paths = [below]
    top = repository.git if repository.bare else repository.at_the_top
    settings = [word for each in PLAIN for word in ("-c", each)]
    filters = without_filters(repository.git) if name in FILTERING else []
    ends = (
        [] if name in ("rev-parse", "describe", "merge-base", "cat-file", "branch", "tag") else ["--", *paths]
    )
    asked = (
        "--no-literal-pathspecs",
        *settings,
        *filters,
        name,
        *fixed_options(name),
        *options,
        *before,
        *ends,
    )
    out: list[bytes] = []
    code, problem = 0, ""
    try:
        out += top.pieces(*asked, limit=MOST_BYTES, seconds=call.world.limits.seconds)
    except GitError as error:
        words_of_git = str(error)[:MOST_ERROR].removeprefix("git: ")
        code = 1 if words_of_git.endswith(QUIET) else FATAL
        problem = "" if code == 1 else f"[error] git {name}: {words_of_git}; {NEXT}\n"
    raw = b"".join(out)
    if len(raw) > MOST_BYTES:
        raw = raw[:MOST_BYTES]
        problem = f"[error] git {name}: cut after {MOST_BYTES:,} bytes: name a path, or fewer commits\n"
    if name in LISTING and below != "." and "--full-name" not in options:
        raw = re.sub(b"^" + re.escape(below.encode() + b"/"), b"", raw, flags=re.MULTILINE)
    return Answer(raw, problem.encode("utf-8", "surrogateescape"), code)


def ask_by_name(name: str, call: Call) -> Answer:
    return ask_git(call, name, call.arguments)


def compares_files(arguments: tuple[str, ...]) -> bool:
    """Do the words ask for diff(1): an option of its own, or two operands?"""
    if any(word in ("--", "--staged", "--stat") for word in arguments):
        return False
    # `diff A B` with revisions is `diff A..B`; a file that is missing is for diff(1) to report.
    return len(arguments) >= 2 or any(word.startswith("-") for word in arguments)


def diff(call: Call) -> Answer:
    """Compare two files, or show what changed: what is staged, unless the work tree is looked at."""
    if compares_files(call.arguments):
        return diff_files(call)
    is_range = any(".." in word for word in call.arguments)
    staged = call.world.snapshot.name != "the work tree" and not is_range
    return ask_git(call, "diff", (*(("--staged",) if staged else ()), *call.arguments))


def status(call: Call) -> Answer:
    """Show the branch, and what is staged, changed and untracked."""
    return ask_git(call, "status", call.arguments or ("--short", "--branch"))


COMMANDS = (
    OwnCommand(
        "git",
        f"read the history and the state: git {'|'.join(TABLES)}",
        "SUBCOMMAND [OPTIONS] [REV|A..B] [-- PATH...]",
        "The usual options and output. What changes something is left to the developer. It reads the repository: what"
        " this call has written is not in it.",
        run=git,
        needs=1,
    ),
    OwnCommand(
        "diff",
        "compare two files as in bash, or show what changed: staged, or against a commit",
        "[-u] FILE FILE | [--staged] [--stat] [REV|A..B] [-- PATH...]",
        "Bare: what is staged (with --worktree: what is not).",
        run=diff,
    ),
    OwnCommand(
        "log",
        "git log: commits, the newest first",
        "[-n N] [--oneline] [--stat] [-p] [REV|A..B] [-- PATH...]",
        run=partial(ask_by_name, "log"),
    ),
    OwnCommand(
        "show",
        "git show: a commit, or a file as it was",
        "[REV] [--stat] [-- PATH...] | REV:PATH",
        run=partial(ask_by_name, "show"),
    ),
    OwnCommand(
        "blame",
        "git blame: commit and author of each line",
        "[REV] PATH [-L START,END]",
        run=partial(ask_by_name, "blame"),
        needs=1,
    ),
    OwnCommand("status", "git status --short --branch", "[OPTIONS]", run=status),
)
