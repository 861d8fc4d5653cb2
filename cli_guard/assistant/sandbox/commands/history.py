"""`log`, `show`, `diff`, `blame` and `status`: what Git knows of the repository, read only.

Each has options of its own, translated into a fixed call; none of a caller's words is an option of Git's.
Sources: git-log(1), git-show(1), git-diff(1), git-blame(1), git-status(1).
"""

import posixpath
import re

from cli_guard.assistant.sandbox.commands.model import Answer, Call, CommandFailure, OwnCommand, WrongUsage
from cli_guard.assistant.sandbox.commands.options import Options, read_options
from cli_guard.assistant.sandbox.files import ROOT
from cli_guard.assistant.sandbox.gnu import comparing
from cli_guard.git.repository import Repository
from cli_guard.git.worktree import without_filters

MOST_BYTES = 4_000_000
DEFAULT_COMMITS = 20
# Nothing that a configuration could make Git run or colour.
PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty")
# A list of commits to pass over may lie anywhere, and Git tells what it cannot read in it.
HOW_BLAMED = ("--no-textconv", "--no-ignore-revs-file", "--date=short")
LONG = "commit %H%nAuthor: %an <%ae>%nDate:   %ad%n%n%w(0,4,4)%B"
ONE_LINE = "%h %ad %an: %s"
NUMBER = re.compile(r"[0-9]{1,9}")
SPAN = re.compile(r"(\d{1,7})(?:,(\+?\d{1,7}))?\Z")


def repository_of(call: Call) -> Repository:
    """The repository. Raises CommandFailure in a world without one."""
    if call.world.repository is None:
        raise CommandFailure(
            "there is no history here: this world is held in memory; read its files with cat, grep"
        )
    return call.world.repository


def git_output(call: Call, *arguments: str) -> Answer:
    """What a call of git prints, up to a bound."""
    repository = repository_of(call)
    top = repository.git if repository.bare else repository.at_the_top
    out, more = top.bounded(
        "-c", "color.ui=false", *arguments, limit=MOST_BYTES, seconds=call.world.limits.seconds
    )
    note = f"[error] cut after {MOST_BYTES:,} bytes: name a path, or fewer commits\n" if more else ""
    return Answer(out, note.encode())


def revision(call: Call, word: str) -> str:
    """A commit, or two with `..` between them, as ids. Raises CliGuardError for one that is not there."""
    repository = repository_of(call)
    dots = "..." if "..." in word else ".." if ".." in word else ""
    if not dots:
        return repository.resolve(word)
    return dots.join(repository.resolve(part or "HEAD") for part in word.split(dots, 1))


def paths_of(call: Call, words: tuple[str, ...]) -> tuple[str, ...]:
    """Paths of the repository for words that name files of the sandbox. Raises CommandFailure."""
    found = []
    for word in words:
        absolute = call.absolute(word)
        if absolute != ROOT and not absolute.startswith(f"{ROOT}/"):
            raise CommandFailure(f"{word} is outside the repository, which is {ROOT}")
        found.append(posixpath.relpath(absolute, ROOT))
    return tuple(found)


def commit_and_paths(call: Call, options: Options) -> tuple[str | None, tuple[str, ...]]:
    """What stands bare: at most one revision, then paths. A word before `--` may be either."""
    words = list(options.words)
    commit = None
    if words and (options.paths is not None or not exists(call, words[0])):
        commit = revision(call, words.pop(0))
    if options.paths is not None and words:
        raise WrongUsage(f"one revision, not {len(words) + 1}: write two as A..B")
    return commit, paths_of(call, (*words, *(options.paths or ())))


def exists(call: Call, word: str) -> bool:
    """Is there a file or folder of that name?"""
    return call.files.exists(call.absolute(word))


def no_commit(call: Call) -> bool:
    """Is this repository without its first commit?"""
    return repository_of(call).head is None


def log(call: Call) -> Answer:
    """Commits, the newest first."""
    known = {
        "-n": "a number",
        "--oneline": "",
        "--stat": "",
        "-p": "",
        "--grep": "a text",
        "--author": "a name",
    }
    options = read_options(call.arguments, known | {"--since": "a date", "--until": "a date"})
    count = options.values.get("-n", str(DEFAULT_COMMITS))
    if not NUMBER.fullmatch(count):
        raise WrongUsage(f"-n needs a number, not {count!r}")
    if no_commit(call):
        raise CommandFailure("there is no commit yet; see what is staged with diff")
    commit, paths = commit_and_paths(call, options)
    form = ONE_LINE if options.has("--oneline") else LONG
    arguments = [
        f"--max-count={count}",
        f"--format={form}",
        "--date=iso-strict",
        "--no-show-signature",
        *PLAIN,
    ]
    arguments += [name for name in ("--stat", "-p") if options.has(name)]
    if options.has("--grep"):
        arguments += ["--fixed-strings", "--regexp-ignore-case"]
    arguments += [
        f"{n}={options.values[n]}" for n in ("--grep", "--author", "--since", "--until") if options.has(n)
    ]
    return git_output(call, "log", *arguments, commit or "HEAD", "--", *paths)


def show(call: Call) -> Answer:
    """A commit with its change, or a file as it was in one (`REV:PATH`)."""
    options = read_options(call.arguments, {"--stat": ""})
    if no_commit(call):
        raise CommandFailure("there is no commit yet; see what is staged with diff")
    word = options.words[0] if options.words else "HEAD"
    at, colon, path = word.partition(":")
    if colon:
        raw = repository_of(call).show(revision(call, at or "HEAD"), *paths_of(call, (path,)))
        if raw is None:
            raise CommandFailure(f"no file {path} in {at}: see show {at} --stat, or log -- {path}")
        return Answer(raw)
    commit, paths = commit_and_paths(call, options)
    form = (f"--format={LONG}", "--date=iso-strict", "--no-show-signature")
    shape = ("--stat",) if options.has("--stat") else ("-p",)
    return git_output(call, "show", *form, *PLAIN, *shape, commit or "HEAD", "--", *paths)


def compares_files(call: Call) -> bool:
    """Do the words ask for diff(1): an option of its own, or two operands of which one is no revision?"""
    if "--" in call.arguments or any(word in ("--staged", "--stat") for word in call.arguments):
        return False
    operands = [word for word in call.arguments if word == "-" or not word.startswith("-")]
    if len(operands) != len(call.arguments):
        return True
    # `diff A B` with revisions is `diff A..B`; a file that is missing is for diff(1) to say.
    return len(operands) >= 2


def diff(call: Call) -> Answer:
    """Compares two files, or says what changed in the repository."""
    if compares_files(call):
        return comparing.diff(call)
    options = read_options(call.arguments, {"--staged": "", "--stat": ""})
    git = repository_of(call).git
    commit, paths = commit_and_paths(call, options)
    shape = ("--stat",) if options.has("--stat") else ("-p",)
    common = (*without_filters(git), "diff", *PLAIN, *shape)
    staged = call.world.snapshot.name != "the work tree" or options.has("--staged")
    if commit is not None:
        return git_output(
            call, *common, commit, *(() if ".." in commit else ("--cached",) if staged else ()), "--", *paths
        )
    return git_output(call, *common, *(("--cached",) if staged else ()), "--", *paths)


def blame(call: Call) -> Answer:
    """Who wrote each line of a file, and in which commit."""
    options = read_options(call.arguments, {"-L": "START,END"})
    words = (*options.words, *(options.paths or ()))
    commit = "HEAD"
    if len(words) == 2:
        commit, words = revision(call, words[0]), words[1:]
    if len(words) != 1:
        raise WrongUsage("one file: blame [REV] PATH [-L START,END]")
    span = options.values.get("-L", "1,")
    if options.has("-L") and not SPAN.match(span):
        raise WrongUsage(f"-L needs START,END in line numbers, not {span!r}")
    if no_commit(call):
        raise CommandFailure("there is no commit yet, so no line has an author")
    (path,) = paths_of(call, words)
    return git_output(call, "blame", *HOW_BLAMED, f"-L{span}", commit, "--", path)


def status(call: Call) -> Answer:
    """The branch, and what is staged, changed and untracked."""
    read_options(call.arguments, {})
    repository = repository_of(call)
    if repository.bare:
        raise CommandFailure("a bare repository has no status; see log")
    options = (
        "--short",
        "--branch",
        "--no-ahead-behind",
        "--untracked-files=normal",
        "--ignore-submodules=dirty",
    )
    return git_output(call, *without_filters(repository.git), "status", *options)


COMMANDS = (
    OwnCommand(
        "diff",
        "compare two files as in bash, or show what changed: staged, or against a commit",
        "[-u] FILE FILE | [--staged] [--stat] [REV|A..B] [-- PATH...]",
        ("Bare: what is staged (with --worktree: what is not).",),
        run=diff,
        reads=lambda arguments: "-" in arguments,
    ),
    OwnCommand(
        "log",
        "commits, the newest first",
        "[-n N] [--oneline] [--stat] [-p] [--grep TEXT] [--author NAME] [--since DATE] [--until DATE]"
        " [REV|A..B] [-- PATH...]",
        (f"{DEFAULT_COMMITS} commits unless -n says otherwise; --grep takes plain text.",),
        run=log,
    ),
    OwnCommand(
        "show",
        "a commit with its change, or a file as it was: REV:PATH",
        "[REV] [--stat] [-- PATH...] | REV:PATH",
        run=show,
    ),
    OwnCommand(
        "blame",
        "the commit and author of each line of a file",
        "[REV] PATH [-L START,END]",
        run=blame,
        bare=False,
    ),
    OwnCommand("status", "the branch, and what is staged, changed, untracked", run=status),
)
