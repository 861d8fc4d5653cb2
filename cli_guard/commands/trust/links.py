"""Symbolic links that a script makes, copies or lets Git bring: the judge looked at the paths before."""

import re

from cli_guard.commands.effects.places import is_below
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import Effect
from cli_guard.commands.trust.place import Place

LINK = re.compile(r"-[A-Za-z]*[slL]|--(?:symbolic-)?link")
# Copying that goes through folders, or keeps a link a link.
KEEPS_LINKS = re.compile(
    r"-[A-Za-z]*[aRrdPl][A-Za-z]*|--(?:archive|recursive|no-dereference|links)"
)
UNPACK = frozenset("tar bsdtar unzip 7z 7za cpio unar unrar".split())
# Git that fills the work tree, with what it takes if nothing is named.
CHECKS_OUT = {
    "git switch": "@{-1}",
    "git checkout": "@{-1}",
    "git merge": "@{u}",
    "git cherry-pick": "",
    "git revert": "",
    "git reset": "",
    "git restore": "",
    "git stash pop": "stash@{0}",
    "git stash apply": "stash@{0}",
    "git stash branch": "stash@{0}",
}
LOOP = re.compile(r"\b(?:for|while|until|trap)\b|\(\)")


def makes_link(caller: ProgramInvocation) -> bool:
    """Return whether a command makes links, which the judge of the same script does not see yet."""
    name = caller.program
    return name in ("ln", "link") or (name == "cp" and any(map(LINK.match, caller.words)))


def has_new_links(place: Place, effect: Effect, caller: ProgramInvocation | None) -> bool:
    """Return whether links may stand in a path by the time of an effect, which lead elsewhere from then on."""
    if "mode 120000" in place.command or any(map(makes_link, place.invocations)):
        return True
    if place.is_temporary(effect.target or ""):
        return False
    earlier = (
        each
        for each in place.invocations
        if each is not caller
        and (each.span.start < effect.span.start or LOOP.search(place.command))
    )
    return any(brings_links(place, each) for each in earlier)


def brings_links(place: Place, caller: ProgramInvocation) -> bool:
    """Return whether a command puts links into the tree that come from a copy, an archive or a commit."""
    given = caller.arguments
    if caller.program in ("cp", "rsync"):
        paths = [place.resolve(e.start, caller.folder) for e in given.operands[:-1]]
        return any(map(KEEPS_LINKS.fullmatch, caller.words)) and any(
            is_below(link, path, place.context)
            for path in paths
            for link in place.tree.list_links()
        )
    if caller.program in UNPACK:
        return not given.has("-t", "-l", "-c", "--list", "--create")
    if given.spec.name == "git pull":
        return True
    if given.spec.name not in CHECKS_OUT:
        return False
    fetched = any(each.arguments.spec.name == "git fetch" for each in place.invocations)
    names = [each.start.rpartition("..")[2] for each in given.operands]
    names = names or [CHECKS_OUT[given.spec.name]]
    return fetched or any(
        place.tree.adds_links(revision_of(name, given.spec.name)) for name in names if name
    )


def revision_of(name: str, command: str) -> str:
    """Return the commit whose files a command brings."""
    if command == "git revert":
        return f"{name}~1"
    return "@{-1}" if name == "-" else name
