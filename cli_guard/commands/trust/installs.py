"""Installing what a lock file names, after one answer of a person about the lock files of a tree."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import PurePosixPath

from cli_guard.commands.effects.places import is_below
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import HARMLESS, Effect, EffectKind
from cli_guard.commands.trust.place import Place
from cli_guard.lazy import frozen
from cli_guard.rules import data

# What may change a file between the verdict and the install, in another order than it is written.
OTHER_ORDER = re.compile(
    r"\b(?:for|while|until|trap|eval|function)\b|\(\)|(?<![&>])&(?![&>\d])"
)
# A variable for the tool may name another registry; these say nothing to it.
SETS_VARIABLE = re.compile(
    r"(?:^|[\s;&|(])(?!(?:CI|NODE_ENV|FORCE_COLOR|NO_COLOR)=)[A-Za-z_]\w*="
)
# Options among the needed words whose value may be the next word.
JOINED = frozenset(("-r", "--requirement", "--only-binary"))
PLAIN = re.compile(r"[A-Za-z0-9][\w.-]*")


@frozen
class LockedInstall:
    """One kind of install; see `rules/installs.toml`."""

    needs: tuple[frozenset[str], ...]
    options: frozenset[str]
    values: frozenset[str]
    lock: tuple[str, ...]
    manifest: tuple[str, ...]
    settings: tuple[str, ...]
    foreign: str


@cache
def locked_installs() -> Mapping[str, LockedInstall]:
    """Return the kinds of installs by the names of their commands."""
    found: dict[str, LockedInstall] = {}
    for row in data.read("installs.toml")["install"]:
        kind = LockedInstall(
            tuple(map(frozenset, row["needs"])),
            frozenset(row["options"]),
            frozenset(row.get("values", ())),
            tuple(row["lock"]),
            tuple(row["manifest"]),
            tuple(row["settings"]),
            row.get("foreign", ""),
        )
        found |= dict.fromkeys(row["commands"], kind)
    return found


def installs_what_is_locked(place: Place, caller: ProgramInvocation | None) -> bool:
    """Return whether a command installs only what lock files name that a person has allowed, and runs none of it."""
    if caller is None:
        return False
    kind = locked_installs().get(caller.arguments.spec.name)
    folder = place.relative(caller.folder) if caller.folder else None
    if kind is None or folder is None or not all(each.known for each in caller.fields):
        return False
    words = join_values(own_words(caller), kind)
    locks = [each.removeprefix("-r=") for each in words if each.startswith("-r=")]
    rest = {each for each in words if not each.startswith("-r=")}
    keeps = any(need <= rest and is_harmless(rest - need, kind) for need in kind.needs)
    if not keeps or (bool(locks) != (kind.lock == ("-r",))):
        return False
    start = f"{folder}/" if folder else ""
    lock = [f"{start}{each}" for each in locks or kind.lock]
    needed = [f"{start}{each}" for each in kind.manifest]
    # Some tools also read those of the folders above.
    above = PurePosixPath(f"{start}x").parents
    settings = [str(top / each) for top in above for each in kind.settings]
    paths = frozenset((*lock, *needed, *settings))
    return is_undisturbed(place, caller, paths) and place.tree.allows_install(
        tuple(lock), tuple(needed), tuple(settings)
    )


def own_words(caller: ProgramInvocation) -> list[str]:
    """Return the words after the sub-command: options in front of it are no part of what is known here."""
    names = caller.arguments.spec.name.split(" ")[1:]
    words = caller.words
    return words[len(names) :] if words[: len(names)] == names else [*words, "?"]


def join_values(words: list[str], kind: LockedInstall) -> list[str]:
    """Join each option that takes a value with it: `-r x` is `-r=x`."""
    joined: list[str] = []
    for word in words:
        before = joined[-1] if joined else ""
        if before in kind.values or before in JOINED:
            joined[-1] = f"{before}={word}"
        else:
            joined.append(word)
    return [re.sub(r"\A--requirement=", "-r=", each) for each in joined]


def is_harmless(words: set[str], kind: LockedInstall) -> bool:
    """Return whether further words change nothing of what is installed, and from where."""
    pairs = (each.partition("=") for each in words - kind.options)
    return all(name in kind.values and PLAIN.fullmatch(value) for name, _, value in pairs)


def is_undisturbed(place: Place, caller: ProgramInvocation, paths: frozenset[str]) -> bool:
    """Return whether nothing in the script changes the files of an install, or may do so before it."""
    if OTHER_ORDER.search(place.command) or SETS_VARIABLE.search(place.command):
        return False
    files = [f"{place.root}/{each}" for each in paths]
    earlier = {id(each) for each in place.invocations[: place.invocations.index(caller)]}
    return not any(
        changes_one_of(place, effect, files)
        or (
            not names_path(effect)
            and any(each is None or id(each) in earlier for each in callers)
        )
        for effect, callers in place.effects.items()
        if effect.kind not in HARMLESS
    )


def names_path(effect: Effect) -> bool:
    """Return whether all that an effect changes is the path it names."""
    on_files = effect.kind in (EffectKind.WRITE, EffectKind.DELETE)
    return on_files and (effect.target or "").startswith(("/", "~"))


def changes_one_of(place: Place, effect: Effect, files: list[str]) -> bool:
    """Return whether an effect writes or deletes one of some files, or a folder or pattern that holds it."""
    if not names_path(effect):
        return False
    real = place.follow(effect.target or "")
    is_pattern = re.search(r"[*?\[(]", real) is not None
    return is_pattern or any(
        is_below(place.follow(each), real, place.context) for each in files
    )
