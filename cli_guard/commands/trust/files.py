"""Files: which writes stay in the work tree, and which deletions Git or a build brings back."""

import re
from fnmatch import fnmatchcase
from itertools import pairwise, takewhile

from cli_guard.commands.effects.paths import EMPTIES, OVERWRITES
from cli_guard.commands.effects.places import GLOBS, is_credential
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import Effect, EffectKind
from cli_guard.commands.trust.code import is_trusted_call
from cli_guard.commands.trust.links import has_new_links, makes_link
from cli_guard.commands.trust.place import TEMPORARY, Place
from cli_guard.commands.trust.words import brings_more
from cli_guard.hooks import REVIEW_HOOKS

# Programs that print the paths of what the project consists of, and none of Git's own files.
PROJECT_FILES = frozenset(("git", "rg", "fd", "fdfind"))
# Files that a pattern or a search may change or delete without naming them.
PROTECTED = tuple(
    ".claude/settings.json .claude/settings.local.json .codex/config.toml .codex/hooks.json .cursor/hooks.json"
    " .gemini/settings.json .mcp.json .env cli-guard.toml .pre-commit-config.yaml .git/config"
    " .git/hooks/pre-commit".split()
)
# What a search from the top finds in `.git` (gitrepository-layout(5)), and in our state there.
GIT_NAMES = (
    *(
        ".git HEAD FETCH_HEAD ORIG_HEAD COMMIT_EDITMSG config index objects refs heads tags hooks info logs pack"
        " packed-refs description exclude modules worktrees"
        " cli-guard audit.jsonl audit.head approvals.jsonl master main"
    ).split(),
    *(each.name for each in REVIEW_HOOKS),
)
ACTIONS = frozenset("-delete -exec -execdir -ok -okdir -fprint -fprintf -fls".split())
UNPACK = frozenset("tar bsdtar unzip 7z 7za cpio rsync unar unrar".split())
COPIERS = ("cp", "mv", "install")
# These change whatever they are given, also below `.git`.
PLAIN_WRITERS = frozenset(
    "sed perl chmod chown touch truncate ln mkdir tee cp mv install".split()
)
BACKUP_ELSEWHERE = re.compile(r"(?:-[A-Za-z]*i|--in-place=).*[/*]", re.DOTALL)
# Some 400,000 files.
NAMED_TO_DELETE = 20_000_000
# Git is asked for each.
MOST_EMPTIED = 20
PATCHED = re.compile(
    r"(?m)^(?:---|\+\+\+|\*\*\*|rename (?:from|to)|copy (?:from|to)|Index:) (?:[ab]/)?([^\t\n]+)"
)
HEADER = re.compile(r"(?m)^diff --git (\S+) (\S+)$")
UNSAFE_PATCH = re.compile(
    r'(?m)^(?:---|\+\+\+|\*\*\*|diff|rename|copy|Index:) .*"|mode 120000'
)


def writes_inside(place: Place, effect: Effect, caller: ProgramInvocation | None) -> bool:
    target = effect.target or ""
    links = caller is not None and makes_link(caller)
    if place.steps_back or (not links and has_new_links(place, effect, caller)):
        return False
    if target.startswith(("/", "~")):
        if empties_several(place, effect, caller):
            return False
        if takes_place(place, effect, caller) and any(
            loses_work(place, each) for each in list_written(place, target, caller)
        ):
            return False
        inside = place.relative(target)
        if inside and endangers_protected(place, *split_search(inside)):
            return False
        named = caller is None or names_written_files(place, target, caller)
        # What is copied there has a name of its own.
        into = target in TEMPORARY and caller is not None and caller.program in COPIERS
        return (
            named
            and (into or place.may_write(target))
            and (inside != "" or names_project_files(place, caller))
        )
    if caller is None:
        return False
    if caller.program == "patch":
        return patches_inside(place, caller)
    if not links_inside(place, caller):
        return False
    spec = caller.arguments.spec
    listed = spec.name in place.lists.writes or is_trusted_call(place, caller)
    return (
        listed and not brings_more(place, caller) and place.stays_inside(caller, texts=True)
    )


def empties_several(place: Place, effect: Effect, caller: ProgramInvocation | None) -> bool:
    """Return whether several files of work are left empty, or with one text in all that a pattern or a search finds.

    Git brings them back, but nobody wants that.
    """
    path = (effect.target or "").partition("(...)")[0].rstrip("/") or "/"
    if not effect.reason.startswith((EMPTIES, OVERWRITES)) or place.relative(path) is None:
        return False
    if GLOBS.search(path) or place.is_folder(path):
        names = searched_names(place, caller) if caller else []
        paths = [f"{path}/{name}" for name in names] or [path]
        return any(map(place.tree.holds_work, paths))
    emptied = {
        each.target or "" for each in place.effects if each.reason.startswith(EMPTIES)
    }
    if len(emptied) > MOST_EMPTIED:
        return True
    return len(emptied) > 1 and sum(map(place.tree.holds_work, emptied)) > 1


def takes_place(place: Place, effect: Effect, caller: ProgramInvocation | None) -> bool:
    """Return whether a write leaves nothing of a file: it is emptied, moved onto, or taken from Git again."""
    if effect.reason.startswith(EMPTIES):
        return True
    if caller is not None and caller.program in ("ln", *COPIERS):
        # What the script has made a moment ago is another state of the same file: `jq . a > b && mv b a`. So is a
        # backup: `cp a.bak a`, `cp /tmp/a a`.
        sources = [
            place.resolve(each.start, caller.folder)
            for each in caller.arguments.operands[:-1]
        ]
        backup = (effect.target or "") + "."
        return any(
            place.exists(each)
            and not each.startswith(backup)
            and not (caller.program in ("cp", "install") and place.relative(each) is None)
            for each in sources
        )
    return any(
        place.resolve(each.start.partition(":")[2], place.root) == effect.target
        for invocation in place.invocations
        if invocation.program == "git"
        for each in invocation.arguments.operands
        if ":" in each.start
    )


def list_written(place: Place, target: str, caller: ProgramInvocation | None) -> list[str]:
    """Return the files that a command writes at a path, in a folder by the names of what is copied into it."""
    if caller is None or not place.is_folder(target):
        return [target]
    sources = [each.start.rstrip("/") for each in caller.arguments.operands]
    return [f"{target}/{each.rpartition('/')[2]}" for each in sources]


def loses_work(place: Place, path: str) -> bool:
    """Return whether there is a file at a path that Git could not bring back, and no build makes again."""
    inside = place.relative(path)
    return (
        bool(inside)
        and place.exists(path)
        and not place.is_folder(path)
        and any(
            each in ("*", inside) and not (ignored and place.matches("regenerable", each))
            for each, ignored in place.tree.list_uncommitted(NAMED_TO_DELETE)
        )
    )


def links_inside(place: Place, caller: ProgramInvocation) -> bool:
    """Return whether both ends of the links that a command makes may be written; True if it makes none."""
    operands = caller.arguments.operands if makes_link(caller) else []
    return all(
        place.may_write(place.resolve(each.start, caller.folder)) for each in operands
    )


def names_written_files(place: Place, target: str, caller: ProgramInvocation) -> bool:
    """Return whether the files are known that a command writes at a path, which may be a folder."""
    name = caller.program
    if name in ("sed", "perl") and any(map(BACKUP_ELSEWHERE.match, caller.words)):
        return False
    if not links_inside(place, caller):
        return False
    if not place.is_folder(target):
        return True
    if name in UNPACK:
        return False
    return name not in COPIERS or all(
        map(place.may_write, list_written(place, target, caller))
    )


def names_project_files(place: Place, caller: ProgramInvocation | None) -> bool:
    """Return whether a command that writes below the top of the tree leaves Git's own files alone."""
    if caller is None:
        return False
    if all(word.text is not None for word in caller.fields):
        listed = caller.arguments.spec.name in place.lists.writes
        return listed and caller.program not in PLAIN_WRITERS
    named = (
        each
        for each in place.invocations
        if each.program in ("find", "grep", "ls", *PROJECT_FILES)
    )
    # `| grep '\.go$'` only filters.
    finders = [each for each in named if each.program != "grep" or searches_files(each)]
    return bool(finders) and all(finds_project_files(place, each) for each in finders)


def searches_files(grep: ProgramInvocation) -> bool:
    given = grep.arguments
    return given.has("-r", "-R", "--recursive") or any(
        kind == EffectKind.READ for kind, _ in given.kinds
    )


def finds_project_files(place: Place, finder: ProgramInvocation) -> bool:
    """Return whether a search stays in the tree and finds no protected file."""
    if not place.stays_inside(finder, texts=True):
        return False
    if names := wanted_names(finder):
        return not endangers_protected(place, "", names)
    if searches_below(place, finder):
        return True
    if finder.program not in PROJECT_FILES:
        return False
    patterns = [word.rpartition("/")[2] for word in finder.words if "*" in word]
    tracked = [path for path in PROTECTED if not path.startswith((".git", ".env"))]
    is_free = not any(place.exists(f"{place.root}/{path}") for path in tracked)
    return is_free or (bool(patterns) and not endangers_protected(place, "", patterns))


def searches_below(place: Place, finder: ProgramInvocation) -> bool:
    """Return whether a search looks only into folders below the top of the tree."""
    folders = [each for kind, each in finder.arguments.kinds if kind == EffectKind.READ]
    if finder.program == "find":
        folders = [
            *takewhile(
                lambda each: not each.start.startswith(("-", "(", "!")), finder.fields[1:]
            )
        ]
    return bool(folders) and all(
        each.text is not None
        and bool(place.relative(place.resolve(each.text, finder.folder)))
        for each in folders
    )


def patches_inside(place: Place, caller: ProgramInvocation) -> bool:
    """Return whether a patch on standard input changes only files that may be written, whatever `-p` strips."""
    text = caller.stdin.text or ""
    found = [
        *PATCHED.findall(text),
        *(name for pair in HEADER.findall(text) for name in pair),
    ]
    paths = [
        path.split("/")
        for path in found
        if path != "/dev/null" and not path.endswith(" ****")
    ]
    names = ("/".join(parts[start:]) for parts in paths for start in range(len(parts)))
    return (
        bool(paths)
        and not UNSAFE_PATCH.search(text)
        and not caller.arguments.has(
            "--directory", "-d", "--unsafe-paths", "-B", "--prefix", "-o", "--output", "-r"
        )
        and place.stays_inside(caller, texts=True)
        and all(place.may_write(place.resolve(name, caller.folder)) for name in names)
    )


def deletes_what_comes_back(
    place: Place, effect: Effect, caller: ProgramInvocation | None
) -> bool:
    target = effect.target or ""
    if caller is None or place.steps_back or has_new_links(place, effect, caller):
        return False
    if not target.startswith(("/", "~")):
        cleans = caller.arguments.spec.name in place.lists.cleans
        return cleans and not brings_more(place, caller) and place.stays_inside(caller)
    folder = target.split("(...)")[0].rstrip("/") or "/"
    inside = place.relative(folder)
    if inside is None:
        return place.is_temporary(folder)
    if (
        place.matches("never", inside)
        or is_credential(folder)
        or place.is_hook(place.follow(folder))
    ):
        return False
    if inside in (".github", ".github/workflows", ".gitlab", ".circleci"):
        return False
    names = searched_names(place, caller)
    inside, searched = split_search(inside)
    names = names + searched
    if endangers_protected(place, inside, names) or empties_several(place, effect, caller):
        return False
    if caller.program in ("mv", "git") and effect.reason.startswith("moves"):
        return inside != "" and moves_inside(place, caller)
    if inside in ("", "*", ".*") and not names:
        return False
    return not any(
        # An ignored folder is listed as one path.
        is_endangered(
            path,
            inside,
            [] if ignored and place.is_folder(f"{place.root}/{path}") else names,
        )
        and not (ignored and place.matches("regenerable", path))
        for path, ignored in place.tree.list_uncommitted(NAMED_TO_DELETE)
    )


def moves_inside(place: Place, caller: ProgramInvocation) -> bool:
    """Return whether a command moves files within the tree, to a place that no build or clean-up deletes."""
    words = caller.words
    to = place.relative(place.resolve(words[-1], caller.folder)) if words else None
    forced = any(word.startswith(("-f", "--f")) for word in words)
    return (
        to is not None
        and not place.matches("regenerable", to)
        and not (caller.program == "git" and forced)
    )


def searched_names(place: Place, caller: ProgramInvocation) -> list[str]:
    """Return the name patterns of the search whose results a command deletes; none if its own words name them."""
    if caller.program == "find":
        return wanted_names(caller)
    if all(word.text is not None for word in caller.fields):
        return []
    finders = [each for each in place.invocations if each.program == "find"]
    every = [wanted_names(each) for each in finders]
    return [name for names in every for name in names] if all(every) else []


def wanted_names(finder: ProgramInvocation) -> list[str]:
    """Return the name patterns that a search is limited to; none if it finds other files as well."""
    words = [word.text or "" for word in finder.fields]
    pairs = list(pairwise(words))
    acts = next((at for at, word in enumerate(words) if word in ACTIONS), len(words))
    if any(word in ("-name", "-iname") for word in words[acts:]):
        return []
    # What is left out by its path narrows as well; any other negation or choice finds more.
    if {"-o", "-or", ","} & set(words) or any(
        word in ("!", "-not") and not after.endswith("path") for word, after in pairs
    ):
        return []
    after = [value for word, value in pairs if word in ("-name", "-iname", "--include")]
    found = after + [
        word.partition("=")[2] for word in words if word.startswith("--include=")
    ]
    return [name for name in found if name.strip("*.?[]")]


def split_search(pattern: str) -> tuple[str, list[str]]:
    """Split `src/**/*.py` into the folder and the names that are searched below it."""
    folder, _, name = pattern.partition("**/")
    name = name.rpartition("/")[2]
    return folder, [name] if name.strip("*.?[]") else []


def endangers_protected(place: Place, inside: str, names: list[str]) -> bool:
    """Return whether a path, a pattern or a search for names covers a protected file."""
    if not inside and any(
        fnmatchcase(each.lower(), widen(name).lower())
        for each in GIT_NAMES
        for name in names
    ):
        return True
    return any(
        is_endangered(path, inside, names) and place.exists(f"{place.root}/{path}")
        for path in PROTECTED
    )


def widen(pattern: str) -> str:
    """Return a pattern of the shell or of find as a plainer one that matches all of it, and more."""
    return re.sub(r"\[.*\]", "*", pattern).replace("\\", "")


def is_endangered(path: str, deleted: str, names: list[str]) -> bool:
    """Return whether a file is deleted with a path or pattern (from the top of the tree), or by a search for names."""
    parts = path.split("/")
    wanted = [widen(each) for each in deleted.split("/") if each]
    if len(parts) < len(wanted):
        # A folder that Git reports as a whole may hold what is deleted.
        return all(
            fnmatchcase(want, part) or fnmatchcase(part, want)
            for part, want in zip(parts, wanted, strict=False)
        )
    below = all(fnmatchcase(part, want) for part, want in zip(parts, wanted, strict=False))
    found = any(
        fnmatchcase(part.lower(), widen(name).lower()) for part in parts for name in names
    )
    return below and (not names or found)
