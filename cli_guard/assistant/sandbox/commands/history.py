"""`git`, and `log`, `show`, `blame` and `status` by themselves: what Git knows of the repository, read only.

The options and words of a call are read by the tables of rules/sandbox.toml, checked, and written again: what is not
in a table never reaches Git, no value can become an option, and no path lies outside of the repository.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache, partial

from cli_guard.assistant.sandbox.commands.command import OwnCommand, read_options
from cli_guard.assistant.sandbox.files import ROOT
from cli_guard.assistant.sandbox.model import (
    CommandCall,
    CommandFailure,
    CommandOutput,
    WrongUsage,
)
from cli_guard.errors import GitError
from cli_guard.repository.protocol import Repository
from cli_guard.rules.catalog import read_table
from cli_guard.secrets.redact import redact

MOST_BYTES = 4_000_000
TABLES = read_table("sandbox.toml")["git"]
WRITING = read_table("sandbox.toml")["writing"].split()
# What a user's configuration would change in the output that a caller reads, or make Git run.
PLAIN = (
    "color.ui=false",
    "format.pretty=medium",
    "log.date=default",
    "log.showSignature=false",
    "log.follow=false",
    "status.submoduleSummary=false",
    "mailmap.file=",
    "mailmap.blob=",
    "column.ui=never",
    "blame.date=iso",
)
# The sub-commands that may look at the work tree, where a filter of the configuration would run.
FILTERING = ("diff", "status", "ls-files")
# Those that show what the files of a path hold, and those that take a blob by its id.
PATCHES = ("diff", "log", "show")
BLOBS = ("diff", "show", "blame")
PLAIN_SPAN = re.compile(r"-L\d*,?\+?\d*:[^:]+\Z|-L\d*,?\+?\d*\Z")
# A line of a private key, of which a patch may show neither the beginning nor the end.
KEY_LINE = re.compile(r"[A-Za-z0-9+/]{60,}={0,2}")
STAGE = re.compile(r"[0-3]:")
RANGE = re.compile(r"(\.{2,3})")
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
FILES = re.compile(r"[^:]*[*?[][^:]*")


def find_repository(call: CommandCall) -> Repository:
    """Return the repository. Raises CommandFailure in a world without one."""
    if not call.world.repository:
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


def translate_options(
    name: str, words: tuple[str, ...]
) -> tuple[list[str], list[str], tuple[str, ...] | None]:
    """Return the options for Git, the other words, and those behind `--` (None without it). Raises WrongUsage."""
    known = known_options(name)
    named = {each: f"a {kind}" if kind != "switch" else "" for each, kind in known.items()}
    read = read_options(words, named)
    options = []
    for option, value in read.given:
        kind = known[option].rstrip("?")
        has_value = kind != "switch" and (value or kind == known[option])
        if has_value and not KINDS[kind].match(value):
            raise WrongUsage(f"{option} needs a {kind}, not {value!r}")
        if kind != "dropped":
            joint = "=" if has_value and option.startswith("--") else ""
            options.append(option + joint + value)
    return options, list(read.words), read.paths


def find_paths(call: CommandCall, words: Iterable[str]) -> Iterator[str]:
    """Yield path specifications for words that name files of the sandbox. Raises CommandFailure."""
    for word in words:
        excluded = EXCLUDED.match(word)
        path = word[excluded.end() :] if excluded else word.removeprefix(":/")
        absolute = (
            posixpath.join(ROOT, path) if word.startswith(":/") else call.absolute(path)
        )
        absolute = posixpath.normpath(absolute)
        if absolute != ROOT and not absolute.startswith(f"{ROOT}/"):
            raise CommandFailure(f"{word} is outside the repository, which is {ROOT}")
        relative = posixpath.relpath(absolute, ROOT)
        if relative.startswith(":"):
            raise CommandFailure(f"{word}: only :!PATH and :/PATH are known here")
        yield f":(exclude){relative}" if excluded else relative


def sort_words(
    call: CommandCall, name: str, words: list[str], *, has_pattern: bool
) -> tuple[list[str], list[str]]:
    """Return the pattern and revisions, and the paths, of words without `--` between them."""
    taken = TABLES[name]["words"].split()
    if "paths" not in taken:
        return words, []
    # The first word that is a file, or looks like some, begins the paths; of `blame` the last word is the file.
    last = len(words) - 1 if name == "blame" else len(words)
    begin = 0 if has_pattern or "pattern" not in taken else 1
    found = (
        n
        for n in range(begin, last)
        if call.files.exists(call.absolute(words[n])) or FILES.fullmatch(words[n])
    )
    first = next(found, last) if "revisions" in taken else begin
    return words[:first], words[first:]


def git(call: CommandCall) -> CommandOutput | str:
    """Run a sub-command of Git that reads; of any other say what to do instead."""
    words = list(call.arguments)
    while words and words[0] in ("--no-pager", "-P", "-C"):
        if words.pop(0) == "-C":
            call = replace(call, folder=call.absolute(words.pop(0) if words else ""))
    name = words.pop(0) if words else ""
    if name in TABLES:
        return ask_git(name, replace(call, arguments=tuple(words)))
    reading = ", ".join(TABLES)
    if name in WRITING:
        raise WrongUsage(
            f"git {name} is left to the developer: nothing is changed here; what reads: {reading}"
        )
    raise WrongUsage(f"no git {name} here; there is: {reading}")


def ask_git(name: str, call: CommandCall) -> CommandOutput | str:
    """Run a sub-command with the words of a caller, checked."""
    repository = find_repository(call)
    options, bare, behind = translate_options(name, call.arguments)
    has_pattern = any(option.startswith("-e") for option in options)
    before, paths = (
        (bare, [*behind])
        if behind is not None
        else sort_words(call, name, bare, has_pattern=has_pattern)
    )
    for revision, _, path in (word.partition(":") for word in before):
        if revision and path[:1] in (".", "/"):
            list(find_paths(call, [path]))
    paths = [*find_paths(call, paths)]
    if call.world.hides:
        before, paths = hide_files(name, call.world.hides, options, before, paths)
    if name == "rev-parse" and "--show-toplevel" in options:
        return ROOT
    if name == "branch" and "--show-current" not in options:
        options.append("--list")  # a bare name would make a branch
    if name == "blame" and not before:
        before = ["HEAD"]  # the work tree would be read through its filters
    if (
        name == "grep"
        and call.world.snapshot.name == "the index"
        and len(before) + has_pattern < 2
    ):
        options.append("--cached")
    below = posixpath.relpath(call.absolute("."), ROOT)
    if name in LISTING and not paths and below != ".":
        paths = [below]
    settings = [word for each in PLAIN for word in ("-c", each)]
    filters = repository.without_filters() if name in FILTERING else []
    ends = ["--", *paths] if "paths" in TABLES[name]["words"] else []
    words = [*fixed_options(name), *options, *before, *ends]
    asked = ("--no-literal-pathspecs", *settings, *filters, name, *words)
    out: list[bytes] = []
    code = 0
    problem = ""
    try:
        out += repository.at_top.pieces(
            *asked, limit=MOST_BYTES, seconds=call.world.limits.seconds
        )
    except GitError as error:
        words_of_git = (
            str(error)[:MOST_ERROR]
            .removeprefix("git: ")
            .replace(repository.root_name or ROOT, ROOT)
        )
        code = 1 if words_of_git.endswith(QUIET) else FATAL
        problem = "" if code == 1 else f"[error] git {name}: {words_of_git}; {NEXT}\n"
    raw = b"".join(out)
    if len(raw) > MOST_BYTES:
        raw = raw[:MOST_BYTES]
        problem = f"[error] git {name}: cut after {MOST_BYTES:,} bytes: name a path, or fewer commits\n"
    if name in LISTING and below != "." and "--full-name" not in options:
        raw = re.sub(b"^" + re.escape(below.encode() + b"/"), b"", raw, flags=re.MULTILINE)
    if call.world.hides:
        raw = mask_history(raw)
    return CommandOutput(raw, problem.encode("utf-8", "surrogateescape"), code)


def hide_files(
    name: str,
    hides: tuple[str, ...],
    options: list[str],
    before: list[str],
    paths: list[str],
) -> tuple[list[str], list[str]]:
    """Return revisions and paths of a call that shows nothing of hidden files. Raises CommandFailure.

    A blob by its id has no path, so that a revision must be a commit, or name a path that is shown.
    """
    if name == "grep":
        raise CommandFailure("git grep would find what is masked: use rg PATTERN")
    spans = [each for each in options if each.startswith("-L")]
    tells = [each for each in options if each == "--follow" or each[:2] in ("-S", "-G")]
    tells += [each for each in spans if not PLAIN_SPAN.match(each)]
    if name == "cat-file" or tells:
        what = tells[0][:2] if tells else "git cat-file"
        raise CommandFailure(
            f"{what} would tell what is private or masked: use git log, git show REV:PATH"
        )
    named = [each.rpartition(":")[2] for each in spans]
    named += [path for path in paths if not path.startswith(":")]
    checked = []
    for word in before:
        revision, colon, path = word.partition(":")
        if name not in BLOBS:
            checked.append(word)
        elif not colon:
            checked.append(only_commits(word))
        elif name == "show":
            named.append(STAGE.sub("", path))
            checked.append(f"{only_commits(revision)}:{path}")
        else:
            raise CommandFailure(f"git {name} takes no REV:PATH here: use git show {word}")
    for path in named:
        folded = posixpath.normpath(path).lower()
        if any(fnmatchcase(folded, pattern) for pattern in hides):
            raise CommandFailure(f"{path} is private: nothing of it is shown to a model")
    if name not in PATCHES or spans:
        return checked, paths
    return checked, [*paths, *(f":(exclude,icase){pattern}" for pattern in hides)]


def mask_history(raw: bytes) -> bytes:
    """Mask the secrets of an output, before a pipe takes away what they are known by."""
    text = redact(raw.decode("utf-8", "surrogateescape"))
    return KEY_LINE.sub("****", text).encode("utf-8", "surrogateescape")


def only_commits(word: str) -> str:
    """Return a revision or a range that is an error for Git if it names no commit."""
    ends = RANGE.split(word)
    return "".join(f"{each}^{{commit}}" if each.strip(".^") else each for each in ends)


def ask_bare(name: str, call: CommandCall) -> CommandOutput | str:
    """Run a sub-command that is called without `git`; called bare, with the options that are of use then."""
    bare = tuple(TABLES[name].get("bare", "").split())
    return ask_git(name, replace(call, arguments=call.arguments or bare))


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
    *(
        OwnCommand(
            name,
            each["summary"],
            each["usage"],
            run=partial(ask_bare, name),
            needs=name == "blame",
        )
        for name, each in TABLES.items()
        if "summary" in each
    ),
)
