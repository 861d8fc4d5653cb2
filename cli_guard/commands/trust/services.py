"""Git, the network and processes: what this clone can bring back, and what stays on this machine."""

import re
from fnmatch import fnmatchcase

from cli_guard.commands.effects.places import is_credential
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import Effect, Span
from cli_guard.commands.trust.files import patches_inside
from cli_guard.commands.trust.place import ADDRESS, Place, is_loopback

FETCHES = ("git fetch", "git pull", "git remote update")
# Their operands are commits, which become part of a branch or get a name.
RECORDED = frozenset(
    f"git {word}"
    for word in "merge cherry-pick branch switch checkout tag reset revert".split()
)
REF = re.compile(r"-|[A-Za-z0-9_][\w./@{}^~-]*")
# Options of curl that lead a request elsewhere, whatever its address says.
DETOURS = frozenset(
    "-x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --resolve --connect-to --unix-socket"
    " --abstract-unix-socket --interface --doh-url --dns-servers -K --config --proxy1.0".split()
)
# The name of a branch that the same script makes, or a path; not the stash that it fills.
NEW_NAME = re.compile(r"(?!(?:refs/)?stash(?![\w/.-]))[\w.@][\w./+-]*[~^\d]*")
CLIENTS = frozenset("curl wget http https xh".split())
SIGNAL = re.compile(r"-(?:\d{1,2}|(?:SIG)?[A-Z]+)")
STOPS = ("cli-guard stop", "cli-guard exec stop")
JOB = re.compile(r"%(?:\d+|[%+-])?\Z")


def is_reversible(place: Place, effect: Effect, caller: ProgramInvocation | None) -> bool:
    """Return whether Git only changes what this clone can bring back."""
    if caller is None:
        return False
    given = caller.arguments
    name = given.spec.name
    if name == "git apply":
        return [each.text for each in given.operands] in ([], ["-"]) and patches_inside(
            place, caller
        )
    if name not in place.lists.git or not place.stays_inside(caller, texts=True):
        return False
    # The whole name of an option that was shortened.
    words = [
        *caller.words,
        *(each for option in given.present for each in option.names if len(each) > 2),
    ]
    if any(
        fnmatchcase(word, ask) or holds_flag(word, ask)
        for word in words
        for ask in place.lists.git[name]
    ):
        return False
    operands = [each.start for each in given.operands]
    if name in RECORDED and not all(is_recorded(place, each) for each in given.operands):
        return False
    if "--abort" in words:
        return not place.tree.holds_resolutions()
    if name == "git commit":
        return place.tree.reviews_commits() and not (
            given.has("--amend") and place.tree.is_pushed()
        )
    if name == "git add":
        paths = [place.resolve(each, caller.folder) for each in operands]
        return not any(is_credential(path) for path in paths)
    if name == "git mv":
        return all(place.may_write(place.resolve(each, caller.folder)) for each in operands)
    if name == "git checkout" and not given.has("-b", "--orphan"):
        tops = (caller.folder, place.root)
        return (
            len(operands) == 1
            and REF.fullmatch(operands[0]) is not None
            and "-C" not in words
            and not any(place.exists(place.resolve(operands[0], each)) for each in tops)
        )
    if name == "git restore":
        return given.has("-S", "--staged")
    if name == "git reset":
        named = (place.resolve(each, caller.folder) for each in operands)
        # The index and the files stay as they are.
        if given.has("--soft"):
            return True
        return all(map(place.exists, named)) or not place.tree.is_pushed()
    if name in FETCHES:
        return all(is_remote(place, each) for each in operands[:1]) and ":" not in "".join(
            operands
        )
    return True


def is_recorded(place: Place, word: Field) -> bool:
    """Return whether a word names what is on a branch, a remote or a tag, or nothing yet.

    What is in the stash, or on no branch, was seen by no hook.
    """
    if word.text is None:
        return word.origin == "ref"
    name = word.text.rpartition("..")[2].lstrip("^.") or "HEAD"
    found = place.tree.is_on_branch("@{-1}" if name == "-" else name)
    if found is None:
        return name == "-" or NEW_NAME.fullmatch(name) is not None
    return found


def is_remote(place: Place, name: str) -> bool:
    return f"remote.{name}.url" in place.context.git_config


def stays_on_machine(
    place: Place, effect: Effect, caller: ProgramInvocation | None
) -> bool:
    target = effect.target or ""
    if caller is None:
        return False
    given = caller.arguments
    if given.spec.program == "git":
        if given.spec.name == "git push":
            rehearses = given.has("-n", "--dry-run") and not given.has("--no-dry-run")
            return rehearses and (target == "git push" or is_remote(place, target))
        return given.spec.name in FETCHES and is_remote(place, target)
    if given.spec.name in place.lists.local:
        folders = (
            place.resolve(each.start, caller.folder) for each in given.operands if each.text
        )
        return place.stays_inside(caller) and any(
            place.exists(folder) for folder in folders
        )
    if given.spec.name == "python-m http.server":
        # By default it is open to all.
        return any(is_loopback(word) and "0.0.0.0" not in word for word in caller.words)  # noqa: S104
    if given.spec.program not in CLIENTS:
        # An address in code, or of another client, that is written out.
        return ADDRESS.match(target) is not None and is_loopback(target)
    if given.has(*DETOURS):
        return False
    hosts = [
        value
        for option, value in given.values
        if option.takes in ("url", "host", "server", "endpoint")
    ]
    if not all(is_loopback(each.start) for each in hosts):
        return False
    named = any(target == word.shown for kind, word in given.kinds if kind != "text")
    if named or ADDRESS.match(target) or "." in target:
        return is_loopback(target)
    # A method or data of a request goes to the addresses of the same command.
    addresses = [
        word.shown for kind, word in given.kinds if kind in ("url", "host", "server")
    ]
    return bool(addresses) and all(map(is_loopback, addresses))


def stays_with_user(place: Place, effect: Effect, caller: ProgramInvocation | None) -> bool:
    """Return whether an editor opens what is in the tree, or only the script's own jobs are ended."""
    if caller is not None and caller.arguments.spec.name in place.lists.opens:
        return place.stays_inside(caller)
    return ends_own_job(place, caller)


def ends_own_job(place: Place, caller: ProgramInvocation | None) -> bool:
    """Return whether `kill` names only jobs of this very script, or one is stopped that `cli-guard exec` started."""
    if caller is None:
        return False
    if caller.arguments.spec.name in STOPS:
        stopped = caller.arguments.operands
        return len(stopped) == 1 and stopped[0].start.isdecimal() and stopped[0].known
    if caller.program != "kill":
        return False
    operands = caller.fields[1:]
    if operands and SIGNAL.fullmatch(operands[0].start):
        operands = operands[1:]
    return bool(operands) and all(
        JOB.match(each.start)
        or (each.start.isdecimal() and place.tree.owns_process(each.start))
        or (each.text is None and is_own_job(place, each.span, caller.folder))
        for each in operands
    )


def is_own_job(place: Place, span: Span, folder: str | None) -> bool:
    """Return whether a word is `$!`, a variable that is set once, to `$!`, or a file with the id of such a job."""
    word = place.command[span.start : span.end].strip("\"'")
    if word in ("$!", "${!}"):
        return True
    if stored := re.fullmatch(r"\$\(cat ([\w./-]+\.pid)\)", word):
        number = place.tree.read_number(place.resolve(stored[1], folder))
        if number is None:
            # It is not there yet: nothing ends, unless this script writes something into it.
            before = place.command[: span.start]
            return (
                stored[1] not in before
                or re.search(rf"echo \$! ?> ?{re.escape(stored[1])}", before) is not None
            )
        return place.tree.owns_process(number)
    name = re.fullmatch(r"\$\{?([A-Za-z_]\w*)\}?", word)
    if name is None:
        return False
    # Set once, to this alone, and by nothing else.
    uses = re.findall(rf"(?<![$\w{{]){name[1]}\b(\S*)", place.command)
    return len(uses) == 1 and re.fullmatch(r"=\$!;?", uses[0]) is not None


def holds_flag(word: str, flag: str) -> bool:
    """Return whether a cluster of short options holds one: `-fD` holds `-D`."""
    return (
        len(flag) == 2
        and re.fullmatch(r"-[A-Za-z]+", word) is not None
        and flag[1] in word[1:]
    )
