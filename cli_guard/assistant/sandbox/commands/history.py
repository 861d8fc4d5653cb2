"""`log`, `show`, `diff`, `blame` and `status`: what Git knows of the repository, read only.

Each has options of its own, translated into a fixed call; none of a caller's words is an option of Git's.
Sources: git-log(1), git-show(1), git-diff(1), git-blame(1), git-status(1).
"""

import posixpath
import re

from cli_guard.assistant.sandbox.commands.command import Options, OwnCommand, read_options
from cli_guard.assistant.sandbox.files import ROOT
from cli_guard.assistant.sandbox.gnu.diff import diff as diff_files
from cli_guard.assistant.sandbox.model import Answer, Call, CommandFailure, WrongUsage
from cli_guard.git.repository import Repository
from cli_guard.git.worktree import without_filters

MOST_BYTES = 4_000_000
DEFAULT_COMMITS = 20
# Nothing that a configuration could make Git run or colour.
PLAIN = ("--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty")
# A configuration may name any file as a list of revisions to ignore, and Git quotes what it cannot read in it.
HOW_BLAMED = ("--no-textconv", "--no-ignore-revs-file", "--date=short")
HOW_STATUS = "--short --branch --no-ahead-behind --untracked-files=normal --ignore-submodules=dirty".split()
DATES = ("--date=iso-strict", "--no-show-signature")
LONG = ("--format=commit %H%nAuthor: %an <%ae>%nDate:   %ad%n%n%w(0,4,4)%B", *DATES)
ONE_LINE = "%h %ad %an: %s"
LOG_FILTERS = {"--grep": "a text", "--author": "a name", "--since": "a date", "--until": "a date"}
LOG_OPTIONS = {"-n": "a number", "--oneline": "", "--stat": "", "-p": "", **LOG_FILTERS}
NUMBER = re.compile(r"[0-9]{1,9}")
SPAN = re.compile(r"(\d{1,7})(?:,(\+?\d{1,7}))?\Z")


def find_repository(call: Call) -> Repository:
    """Return the repository. Raises CommandFailure in a world without one."""
    if call.world.repository is None:
        raise CommandFailure(
            "there is no history here: this world is held in memory; read its files with cat, grep"
        )
    return call.world.repository


def require_commit(call: Call) -> None:
    if find_repository(call).head is None:
        raise CommandFailure("there is no commit yet; see what is staged with diff")


def run_git(call: Call, *arguments: str) -> Answer:
    """Return what a call of git prints, up to a bound."""
    repository = find_repository(call)
    top = repository.git if repository.bare else repository.at_the_top
    out, is_cut = top.bounded(
        "-c", "color.ui=false", *arguments, limit=MOST_BYTES, seconds=call.world.limits.seconds
    )
    note = f"[error] cut after {MOST_BYTES:,} bytes: name a path, or fewer commits\n" if is_cut else ""
    return Answer(out, note.encode())


def resolve_revision(call: Call, word: str) -> str:
    """Return a commit, or two with `..` between them, as ids. Raises CliGuardError for one that is not there."""
    repository = find_repository(call)
    dots = "..." if "..." in word else ".." if ".." in word else ""
    if not dots:
        return repository.resolve(word)
    return dots.join(repository.resolve(part or "HEAD") for part in word.split(dots, 1))


def repository_paths(call: Call, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return paths of the repository for words that name files of the sandbox. Raises CommandFailure."""
    found = []
    for word in words:
        absolute = call.absolute(word)
        if absolute != ROOT and not absolute.startswith(f"{ROOT}/"):
            raise CommandFailure(f"{word} is outside the repository, which is {ROOT}")
        found.append(posixpath.relpath(absolute, ROOT))
    return tuple(found)


def commit_and_paths(call: Call, options: Options) -> tuple[str | None, tuple[str, ...]]:
    """Return at most one revision, then paths. A word before `--` may be either."""
    words = list(options.words)
    commit = None
    if words and (options.paths is not None or not call.files.exists(call.absolute(words[0]))):
        commit = resolve_revision(call, words.pop(0))
    if options.paths is not None and words:
        raise WrongUsage(f"one revision, not {len(words) + 1}: write two as A..B")
    return commit, repository_paths(call, (*words, *(options.paths or ())))


def log(call: Call) -> Answer:
    """List commits, the newest first."""
    options = read_options(call.arguments, LOG_OPTIONS)
    count = options.values.get("-n", str(DEFAULT_COMMITS))
    if not NUMBER.fullmatch(count):
        raise WrongUsage(f"-n needs a number, not {count!r}")
    require_commit(call)
    commit, paths = commit_and_paths(call, options)
    form = (f"--format={ONE_LINE}", *DATES) if options.has("--oneline") else LONG
    arguments = [f"--max-count={count}", *form, *PLAIN]
    arguments += [name for name in ("--stat", "-p") if options.has(name)]
    if options.has("--grep"):
        arguments += ["--fixed-strings", "--regexp-ignore-case"]
    arguments += [f"{name}={value}" for name, value in options.values.items() if name in LOG_FILTERS]
    return run_git(call, "log", *arguments, commit or "HEAD", "--", *paths)


def show(call: Call) -> Answer:
    """Show a commit with its change, or a file as it was in one (`REV:PATH`)."""
    options = read_options(call.arguments, {"--stat": ""})
    require_commit(call)
    at, colon, path = (options.words[0] if options.words else "HEAD").partition(":")
    if colon:
        raw = find_repository(call).show(
            resolve_revision(call, at or "HEAD"), *repository_paths(call, (path,))
        )
        if raw is None:
            raise CommandFailure(f"no file {path} in {at}: see show {at} --stat, or log -- {path}")
        return Answer(raw)
    commit, paths = commit_and_paths(call, options)
    shape = "--stat" if options.has("--stat") else "-p"
    return run_git(call, "show", *LONG, *PLAIN, shape, commit or "HEAD", "--", *paths)


def compares_files(arguments: tuple[str, ...]) -> bool:
    """Do the words ask for diff(1): an option of its own, or two operands?"""
    if any(word in ("--", "--staged", "--stat") for word in arguments):
        return False
    # `diff A B` with revisions is `diff A..B`; a file that is missing is for diff(1) to report.
    return len(arguments) >= 2 or any(word.startswith("-") for word in arguments)


def diff(call: Call) -> Answer:
    """Compare two files, or show what changed in the repository."""
    if compares_files(call.arguments):
        return diff_files(call)
    options = read_options(call.arguments, {"--staged": "", "--stat": ""})
    git = find_repository(call).git
    commit, paths = commit_and_paths(call, options)
    shape = "--stat" if options.has("--stat") else "-p"
    states = [] if commit is None else [commit]
    staged = call.world.snapshot.name != "the work tree" or options.has("--staged")
    if staged and ".." not in (commit or ""):
        states.append("--cached")
    return run_git(call, *without_filters(git), "diff", *PLAIN, shape, *states, "--", *paths)


def blame(call: Call) -> Answer:
    """Show who wrote each line of a file, and in which commit."""
    options = read_options(call.arguments, {"-L": "START,END"})
    words = (*options.words, *(options.paths or ()))
    commit = "HEAD"
    if len(words) == 2:
        commit, words = resolve_revision(call, words[0]), words[1:]
    if len(words) != 1:
        raise WrongUsage("one file: blame [REV] PATH [-L START,END]")
    span = options.values.get("-L", "1,")
    if options.has("-L") and not SPAN.match(span):
        raise WrongUsage(f"-L needs START,END in line numbers, not {span!r}")
    require_commit(call)
    return run_git(call, "blame", *HOW_BLAMED, f"-L{span}", commit, "--", *repository_paths(call, words))


def status(call: Call) -> Answer:
    """Show the branch, and what is staged, changed and untracked."""
    read_options(call.arguments, {})
    repository = find_repository(call)
    if repository.bare:
        raise CommandFailure("a bare repository has no status; see log")
    return run_git(call, *without_filters(repository.git), "status", *HOW_STATUS)


COMMANDS = (
    OwnCommand(
        "diff",
        "compare two files as in bash, or show what changed: staged, or against a commit",
        "[-u] FILE FILE | [--staged] [--stat] [REV|A..B] [-- PATH...]",
        "Bare: what is staged (with --worktree: what is not).",
        run=diff,
    ),
    OwnCommand(
        "log",
        "commits, the newest first",
        "[-n N] [--oneline] [--stat] [-p] [--grep TEXT] [--author NAME] [--since DATE] [--until DATE]"
        " [REV|A..B] [-- PATH...]",
        f"{DEFAULT_COMMITS} commits unless -n says otherwise; --grep takes plain text.",
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
        needs=1,
    ),
    OwnCommand("status", "the branch, and what is staged, changed, untracked", run=status),
)
