"""Words whose first character is not fixed: the name of a file may begin with a dash and so be an option.

A hostile repository can hold a file called `--pre=sh`. The judge looks: where no such name is, the word is harmless.
"""

from cli_guard.commands.effects.places import is_below, unfold_home
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.machine import Machine
from cli_guard.commands.model import HARMLESS, Kind
from cli_guard.commands.scope import DASHED

# Effects that bring no file whose name the judge does not know.
NAMELESS = HARMLESS | {Kind.DELETE, Kind.CREDENTIAL, Kind.PROCESS}


def may_be_option(shell: Machine, word: Field) -> bool:
    """Return whether a word may begin with a dash, as far as the names of files are known."""
    if not word.is_open:
        return False
    is_name = word.pattern or word.origin == "paths"
    if not is_name or (word.assumed and word.text) or may_have_created(shell):
        return True
    if word.pattern and not word.many:
        return has_dashed_name(shell)
    tree, root, folder = shell.context.tree, shell.context.root, shell.scope.folder
    if tree is None or root is None or folder is None or not is_below(folder, root, shell.context):
        return True
    return tree.holds_dashed_names()


def has_dashed_name(shell: Machine) -> bool:
    """Return whether there is such a name in the current folder, True if the judge cannot look."""
    context, folder = shell.context, shell.scope.folder
    if folder == context.folder and context.names is not None:
        return any(map(DASHED.search, context.names))
    if context.tree is None or folder is None:
        return True
    return bool(context.tree.expand(f"{unfold_home(folder, context)}/-*"))


def may_have_created(shell: Machine) -> bool:
    """Return whether an earlier command of the text may have made a file with such a name."""
    for effect in shell.effects:
        if effect.kind in NAMELESS:
            continue
        name = (effect.target or "").rpartition("/")[2]
        is_known = effect.kind is Kind.WRITE and name not in ("", ".", "..") and not DASHED.search(name)
        if not is_known or (shell.context.tree and shell.context.tree.is_folder(effect.target or "")):
            return True
    return False
