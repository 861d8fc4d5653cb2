"""Files: which writes stay in the work tree, and which deletions Git or a build brings back."""

import re
from fnmatch import fnmatchcase
from itertools import pairwise, takewhile

from cli_guard.commands.effects.places import is_credential
from cli_guard.commands.invocations import Invocation
from cli_guard.commands.model import Effect, Kind
from cli_guard.commands.trust.code import brings_more, is_trusted_call
from cli_guard.commands.trust.place import Place, base_name, called

# Programs that print the paths of what the project consists of, and none of Git's own files.
PROJECT_FILES = frozenset(("git", "rg", "fd", "fdfind"))
# Files that a pattern or a search may delete without naming them.
PROTECTED = (
    *(".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml", ".codex/hooks.json"),
    *(".cursor/hooks.json", ".gemini/settings.json", ".mcp.json", ".env", "cli-guard.toml"),
    *(".pre-commit-config.yaml", ".git/config", ".git/hooks/pre-commit"),
)
SECONDS_TO_LIST = 1.0
PATCHED = re.compile(r"(?m)^(?:---|\+\+\+|rename to|copy to) (?:[ab]/)?([^\t\n]+)")


def writes_inside(place: Place, effect: Effect, caller: Invocation | None) -> bool:
    target = effect.target or ""
    if target.startswith(("/", "~")):
        inside = place.relative(target)
        if inside and endangers_protected(place, *split_search(inside)):
            return False
        return place.may_write(target) and (inside != "" or names_project_files(place, caller))
    if caller is None:
        return False
    if base_name(caller) == "patch":
        return patches_inside(place, caller)
    spec = called(caller).spec
    listed = spec.name in place.lists.writes or (place.is_own_tool(spec) and is_trusted_call(place, caller))
    return listed and not brings_more(place, caller) and place.stays_inside(caller, texts=True)


def names_project_files(place: Place, caller: Invocation | None) -> bool:
    """Return whether a command that writes below the top of the tree leaves Git's own files alone."""
    if caller is None:
        return False
    if all(word.text is not None for word in caller.fields):
        spec = called(caller).spec
        listed = place.is_own_tool(spec) or spec.name in place.lists.writes
        return listed and base_name(caller) not in ("sed", "perl")
    finders = [
        each for each in place.invocations if base_name(each) in ("find", "grep", "ls", *PROJECT_FILES)
    ]
    return bool(finders) and all(
        base_name(each) in PROJECT_FILES or wanted_names(each) or searches_below(place, each)
        for each in finders
    )


def searches_below(place: Place, finder: Invocation) -> bool:
    """Return whether a search looks only into folders below the top of the tree."""
    folders = [each for kind, each in called(finder).kinds if kind == Kind.READ]
    if base_name(finder) == "find":
        folders = [*takewhile(lambda each: not each.start.startswith(("-", "(", "!")), finder.fields[1:])]
    return bool(folders) and all(
        each.text is not None and bool(place.relative(place.resolve(each.text, finder.folder)))
        for each in folders
    )


def patches_inside(place: Place, caller: Invocation) -> bool:
    """Return whether a patch on standard input changes only files that may be written, whatever `-p` strips."""
    paths = [path.split("/") for path in PATCHED.findall(caller.stdin.text or "") if path != "/dev/null"]
    names = ("/".join(parts[start:]) for parts in paths for start in range(len(parts)))
    return (
        bool(paths)
        and not called(caller).has("--directory", "-d", "--unsafe-paths")
        and place.stays_inside(caller, texts=True)
        and all(
            not name.startswith('"') and place.may_write(place.resolve(name, caller.folder)) for name in names
        )
    )


def deletes_what_comes_back(place: Place, effect: Effect, caller: Invocation | None) -> bool:
    target = effect.target or ""
    if not target.startswith(("/", "~")) or caller is None:
        return False
    folder = target.split("(...)")[0].rstrip("/") or "/"
    inside = place.relative(folder)
    if inside is None:
        return place.is_temporary(folder)
    if place.matches("never", inside) or is_credential(folder):
        return False
    if base_name(caller) in ("mv", "git") and effect.reason.startswith("moves"):
        return inside != ""
    names = searched_names(place, caller)
    if inside in ("", "*", ".*") and not names:
        return False
    inside, searched = split_search(inside)
    names = names + searched
    if endangers_protected(place, inside, names):
        return False
    return not any(
        is_endangered(path, inside, names) and (not ignored or place.matches("precious", path))
        for path, ignored in place.tree.uncommitted(SECONDS_TO_LIST)
    )


def searched_names(place: Place, caller: Invocation) -> list[str]:
    """Return the name patterns of the search whose results a command deletes; none if its own words name them."""
    if base_name(caller) == "find":
        return wanted_names(caller)
    if all(word.text is not None for word in caller.fields):
        return []
    finders = [each for each in place.invocations if base_name(each) == "find"]
    every = [wanted_names(each) for each in finders]
    return [name for names in every for name in names] if all(every) else []


def wanted_names(finder: Invocation) -> list[str]:
    """Return the name patterns that a search is limited to; none if it finds other files as well."""
    words = [word.text or "" for word in finder.fields]
    pairs = list(pairwise(words))
    # What is left out by its path narrows as well; any other negation or choice finds more.
    if {"-o", "-or", ","} & set(words) or any(
        word in ("!", "-not") and not after.endswith("path") for word, after in pairs
    ):
        return []
    after = [value for word, value in pairs if word in ("-name", "-iname", "--include")]
    found = after + [word.partition("=")[2] for word in words if word.startswith("--include=")]
    return [name for name in found if name.strip("*.?[]")]


def split_search(pattern: str) -> tuple[str, list[str]]:
    """Split `src/**/*.py` into the folder and the names that are searched below it."""
    folder, _, name = pattern.partition("**/")
    name = name.rpartition("/")[2]
    return folder, [name] if name.strip("*.?[]") else []


def endangers_protected(place: Place, inside: str, names: list[str]) -> bool:
    """Return whether a path, a pattern or a search for names covers a protected file."""
    return any(
        is_endangered(path, inside, names) and place.exists(f"{place.root}/{path}") for path in PROTECTED
    )


def is_endangered(path: str, deleted: str, names: list[str]) -> bool:
    """Return whether a file is deleted with a path or pattern (from the top of the tree), or by a search for names."""
    parts, wanted = path.split("/"), [each for each in deleted.split("/") if each]
    if len(parts) < len(wanted):
        # A folder that Git reports as a whole may hold what is deleted.
        return all(
            fnmatchcase(want, part) or fnmatchcase(part, want)
            for part, want in zip(parts, wanted, strict=False)
        )
    below = all(fnmatchcase(part, want) for part, want in zip(parts, wanted, strict=False))
    found = any(fnmatchcase(part.lower(), name.lower()) for part in parts for name in names)
    return below and (not names or found)
