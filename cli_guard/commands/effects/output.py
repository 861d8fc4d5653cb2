"""What a call of a program prints, and the taints that flow through it."""

from dataclasses import replace

from cli_guard.commands.effects import values
from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.paths import (
    path_of,
)
from cli_guard.commands.effects.places import (
    PathClass,
    classify_whole,
    holds_credentials,
    is_below,
    is_credential,
)
from cli_guard.commands.expand.fields import Field, stream_of
from cli_guard.commands.model import EffectKind, WorkTree
from cli_guard.commands.scope import (
    BELOW,
    EVERYTHING,
    NAMES,
    NOTHING,
    REMOTE,
    SECRET,
    TOKEN,
    Stream,
    merge,
    taints_of,
)
from cli_guard.lazy import regex

CONNECTED = frozenset(
    (EffectKind.NETWORK_IN, EffectKind.NETWORK_OUT, EffectKind.SERVICE_WRITE)
)
FETCHED = CONNECTED | {EffectKind.SERVICE_READ}
COPIES_INPUT = frozenset(("cat", "tee"))
# Programs that print no operand, not even in an error about it.
SILENT = frozenset(("test", "[", "true", "false", ":"))
# The code of sed that only prints or drops lines, of awk that only prints fields, the sets of tr that are blanks.
SELECTING = {
    "sed": regex(r"(?:(?:\d+|\$|/[^/\\]*/)(?:,(?:\d+|\$|/[^/\\]*/))?)?!?[pdq]"),
    "awk": regex(
        r"(?:/[^/\\]*/|NR *[<>=!]=? *\d+)? *(?:\{ *print(?: *\$(?:\d+|NF))? *;? *\})?"
    ),
    "tr": regex(r"(?: |\\[nrt0])+"),
}
# A dash behind a blank, an escape or nothing.
OWN_DASH = regex(r"(?:\A\+?|[^\w./:@+-]|%[nt])-|\\")
DASHED_NAME = regex(r"(?:\A|[\s/])[-+]")


def find_network_taints(call: Call) -> frozenset[str]:
    """Return the taint of the output of a call that talks to a remote host."""
    kinds = call.kinds & (
        CONNECTED if call.program.name in values.LOCAL_SERVICES else FETCHED
    )
    return frozenset((REMOTE,)) if kinds else frozenset()


def collect_taints(call: Call) -> frozenset[str]:
    """Collect the taints of everything that goes out of this call."""
    carried = taints_of((call.stdin, *call.reads, *call.fields))
    shown = {TOKEN} if EffectKind.CREDENTIAL in call.kinds else set()
    read = {BELOW + folder for folder in call.find_walked()}
    return carried | shown | read | find_network_taints(call)


def output_of(call: Call, carried: Stream, taints: frozenset[str]) -> Stream:
    if call.program.name in SILENT:
        return Stream("", origin="value")
    said = [call.spec.prints]
    said += [option.prints for option in call.arguments.present if option.prints]
    prints = "text" if "text" in said[1:] else said[-1]
    if prints == "value" and call.find_walked():
        # `grep -rc` names the files too.
        prints = "paths"
    if prints in ("value", "ref") and not prints_own_dash(call):
        return Stream(None, frozenset(), prints)
    if prints in ("paths", "names"):
        folders = find_searched_paths(call)
        return Stream(
            None, find_path_taints(call, folders), origin_of_paths(call, prints, folders)
        )
    if prints == "operands":
        return join_operands(call.operands, taints)
    if prints in ("input", "lines"):
        # Without an input of its own it reads that of the shell, which is not known.
        same = (
            call.program.name in COPIES_INPUT
            and not call.arguments.present
            and (carried != NOTHING or bool(call.reads))
        )
        origin = carried.origin if prints == "lines" or selects(call) else ""
        return replace(carried if same else Stream(None, origin=origin), taints=taints)
    return Stream(None, taints)


def origin_of_paths(call: Call, prints: str, folders: list[str]) -> str:
    """Return "paths" for those that are in the work tree, "names" for any others."""
    context = call.context
    here = call.scope.folder
    given = [each for each in call.operands if each.text is None]
    named = [each.text for each in call.operands if each.text is not None]
    if any(not each.origin for each in given) or any(map(DASHED_NAME.search, named)):
        return ""
    places = [*folders, *([here] if here else [])]
    # `git grep -l WORD REVISION` lists what was there.
    is_old = call.spec.name == "git grep" and len(call.operands) > 1
    is_old = is_old or any(each.origin == "names" for each in given)
    if (
        call.spec.name == "git diff"
        and context.tree is not None
        and not lists_odd_names(call, context.tree)
    ):
        prints = "paths"
    root = context.root
    is_inside = root is None or all(is_below(each, root, context) for each in places)
    return prints if is_inside and not is_old else "names"


def lists_odd_names(call: Call, tree: WorkTree) -> bool:
    """Return whether `git diff --name-only` may list a name with a dash, between the revisions before `--`."""
    words = [each.text for each in call.fields[1:]]
    before = call.fields[1 : 1 + words.index("--")] if "--" in words else call.fields[1:]
    revisions = [each.text or "-" for each in call.operands if each in before]
    return tree.holds_odd_names() or tree.diff_holds_odd_names(tuple(revisions))


def prints_own_dash(call: Call) -> bool:
    """Return whether a format (`date +-x`, `seq -f`) may put a dash at the beginning of a word."""
    words = [*call.operands, *(value for _, value in call.arguments.values)]
    return any(
        each.text is None or each.pattern or OWN_DASH.search(each.text) for each in words
    )


def selects(call: Call) -> bool:
    """Return whether the code of sed or awk, or the sets of tr, print lines or fields of the input unchanged."""
    plain = SELECTING.get(call.program.name)
    kinds = [(kind, each) for kind, each in call.arguments.kinds if kind != "read"]
    texts = [each.text for kind, each in kinds] + [
        each.text for _, each in call.arguments.values
    ]
    return plain is not None and all(
        text is not None and plain.fullmatch(text) for text in texts
    )


def find_searched_paths(call: Call) -> list[str]:
    operands = [operand for kind, operand in call.arguments.kinds if kind == "read"]
    return [path_of(call.shell, each) for each in operands or call.operands if each.start]


def find_path_taints(call: Call, folders: list[str]) -> frozenset[str]:
    """Return the taints of what a search finds: a secret, or all of the output."""
    given = folders or [call.scope.folder or "."]
    everything = (
        {EVERYTHING}
        if any(classify_whole(path) is not PathClass.ORDINARY for path in given)
        else set()
    )
    walked = call.find_walked()
    secret = any(map(is_credential, given)) or any(map(holds_credentials, walked))
    names = {NAMES + BELOW + folder for folder in walked}
    return frozenset(everything | names | ({SECRET} if secret else set()))


def join_operands(operands: list[Field], taints: frozenset[str]) -> Stream:
    """Join the operands with blanks, as a program prints them."""
    texts = [None if each.pattern else each.text for each in operands]
    if None in texts:
        return merge(replace(stream_of(each), taints=taints) for each in operands)
    text = " ".join(text for text in texts if text is not None)
    return Stream(f"{text}\n", taints, "", any(each.assumed for each in operands))
