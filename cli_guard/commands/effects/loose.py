"""Words whose first character is not fixed: the name of a file may begin with a dash and so be an option.

A hostile repository can hold a file called `--pre=sh`. The judge looks: where no such name is, the word is harmless.
"""

from fnmatch import fnmatchcase
from glob import escape

from cli_guard.commands.effects.places import is_below, unfold_home
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import HARMLESS, Effect, EffectKind
from cli_guard.commands.scope import DASHED
from cli_guard.commands.shell import Shell

# Effects that bring no file whose name the judge does not know.
NAMELESS = HARMLESS | {EffectKind.DELETE, EffectKind.CREDENTIAL, EffectKind.PROCESS}
# What of Git brings no files either.
KEEPING = frozenset(
    f"git {name}" for name in "add branch commit config fetch mv push rm tag".split()
)
# Programs that unpack, or copy whole folders with one of these options.
UNPACKING = frozenset(
    "ar bsdtar cpio csplit jar patch pax rsync split tar unar unrar unzip 7z 7za 7zz".split()
)
COPYING = ("cp", "gcp", "scp")
RECURSIVE = ("-r", "-R", "--recursive", "-a", "--archive")


def may_be_option(shell: Shell, word: Field) -> bool:
    """Return whether a word may begin with a dash, as far as the names of files are known."""
    if not word.is_open:
        return False
    is_name = word.pattern or word.origin == "paths"
    if not is_name or (word.assumed and word.text):
        return True
    if shell.scope.unsure_folder:
        return True
    in_folder = word.pattern and not word.many
    return (
        has_dashed_name(shell, word.start) if in_folder else holds_odd_names(shell)
    ) or may_have_created(shell)


def finds_name(shell: Shell, word: Field) -> bool:
    """Return whether a pattern finds a file of the current folder, as far as the judge can look; else it is text."""
    first = word.start.partition("/")[0]
    return any(fnmatchcase(name, first) for name in shell.context.names or ())


def has_dashed_name(shell: Shell, pattern: str) -> bool:
    """Return whether a pattern finds such a name in the current folder, True if the judge cannot look."""
    context = shell.context
    folder = shell.scope.folder
    first = pattern.partition("/")[0]
    if folder == context.folder and context.names is not None:
        return any(
            DASHED.match(name) and fnmatchcase(name, first) for name in context.names
        )
    if context.tree is None or folder is None:
        return True
    found = context.tree.expand(f"{escape(unfold_home(folder, context))}/[-+]*")
    return any(fnmatchcase(path.rpartition("/")[2], first) for path in found)


def holds_odd_names(shell: Shell) -> bool:
    """Return whether there is such a name anywhere in the work tree, True if the judge cannot look."""
    tree = shell.context.tree
    root = shell.context.root
    folder = shell.scope.folder
    if (
        tree is None
        or root is None
        or folder is None
        or not is_below(folder, root, shell.context)
    ):
        return True
    return tree.holds_odd_names()


def may_have_created(shell: Shell) -> bool:
    """Return whether an earlier command of the text may have made a file with such a name."""
    present = [shell.caller]
    while present[-1] is not None:
        present.append(present[-1].parent)
    for effect, callers in shell.effects.items():
        if effect.kind not in NAMELESS:
            earlier = [each for each in callers if each is None or each not in present]
            if earlier and brings_names(effect, earlier):
                return True
    return False


def brings_names(effect: Effect, callers: list[ProgramInvocation | None]) -> bool:
    """Return whether an effect that is not in NAMELESS may make a file of any name."""
    known = [caller for caller in callers if caller is not None]
    if effect.kind is EffectKind.GIT_WRITE:
        words = [word.start for caller in known for word in caller.arguments.operands]
        is_kept = all(caller.arguments.spec.name in KEEPING for caller in known)
        return not known or not is_kept or any(map(DASHED.search, words))
    if effect.kind is not EffectKind.WRITE or any(
        copies_folders(caller) for caller in known
    ):
        return True
    name = (effect.target or "").rpartition("/")[2]
    # The effect of an option such as `sed -i` changes files that are there.
    is_option = bool(known) and all(caller.arguments.has(name) for caller in known)
    return not is_option and (not name or DASHED.search(name) is not None)


def copies_folders(caller: ProgramInvocation) -> bool:
    is_whole = caller.program in COPYING and caller.arguments.has(*RECURSIVE)
    return is_whole or caller.program in UNPACKING
