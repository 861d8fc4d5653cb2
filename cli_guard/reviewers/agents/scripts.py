"""A script that something starts: read in full and found clean, or what is in it that no start should do.

The shell commands in it go to the judge, whatever language it is in; other code is searched for what `programs.toml`
calls signs. Code without any sign cannot reach the network, other programs or keys, so it is clean.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from cli_guard.commands import Context, Effect, EffectKind, Verdict, judge_or_raise
from cli_guard.lazy import frozen
from cli_guard.model import Decision
from cli_guard.reviewers.agents.change_tree import ROOT, ChangeTree
from cli_guard.reviewers.agents.imports import files_of_module, find_imports
from cli_guard.reviewers.agents.processes import code_of, read_calls
from cli_guard.reviewers.agents.tasks import find_tasks, is_of_package
from cli_guard.reviewers.commands.extract import Unreadable, snippets
from cli_guard.rules.catalog import read_table

SHELL_ENDINGS = (".sh", ".bash", ".zsh", ".ksh", ".envrc")
SHELL_LINE = re.compile(r"#!.{0,100}\b(?:ba|da|z|k)?sh\b")
# What a command runs may be a module, by its name.
MODULE = re.compile(r"[A-Za-z_][\w.]*")
LONGEST = 200_000
MOST_COMMANDS = 500
KEEPS = "keeps"
REACHES = "reaches the network"
READS = "reads secrets"
GRAVE = frozenset(
    ("denied", "obfuscated", "credentials", "downloads", "unread", REACHES, READS)
)


@frozen
class ScriptFacts:
    """What a script does that matters. `signs` are names of `programs.toml`, `reason` is what they say.

    `questions` are what is asked about, so that those of two states can be compared; `digest` is that of the text;
    `loads` are the files of the tree that it runs or imports, and the tasks; `line` is the first with a sign.
    """

    signs: frozenset[str] = frozenset()
    reason: str = ""
    digest: str = ""
    questions: frozenset[str] = frozenset()
    loads: tuple[str, ...] = ()
    line: int = 1

    @property
    def is_clean(self) -> bool:
        return not self.signs

    @property
    def is_grave(self) -> bool:
        """Return whether it does more than a tool that asks before it starts should be trusted with."""
        return not self.signs.isdisjoint(GRAVE)

    @property
    def is_hidden(self) -> bool:
        """Return whether it hides what it does, or reads credentials: no container needs that."""
        return not self.signs.isdisjoint(("obfuscated", "credentials"))

    @property
    def is_harmful(self) -> bool:
        """Return whether it has what a worm's script has."""
        fetches_code = {"downloads", "keeps", "runs"} <= self.signs
        return fetches_code or not self.signs.isdisjoint(
            ("denied", "obfuscated", "credentials")
        )


@cache
def signs() -> Mapping[str, tuple[re.Pattern[str], str]]:
    """Return by name the pattern of each sign and what it says."""
    table = read_table("agents/programs.toml")["sign"]
    return {each["name"]: (re.compile(each["pattern"]), each["says"]) for each in table}


ABSENT = ScriptFacts(frozenset(("absent",)), "it is not in the tree, or is no text")
TOO_MANY = ScriptFacts(frozenset(("unread",)), "more scripts than are read")


def read_script(path: str, text: str, tree: ChangeTree, context: Context) -> ScriptFacts:
    """Return what a script does, as far as it matters for something that starts by itself."""
    if len(text) > LONGEST:
        return ScriptFacts(frozenset(("unread",)), "it is too long to be read")
    calls = read_calls(path, text)
    if calls and signs_in(calls.rest):
        # With any other sign it is not one that only starts programs.
        calls = None
    found = {} if calls else signs_in(text)
    if found.keys() == {"downloads"} and "downloads" not in signs_in(code_of(path, text)):
        # A guard names programs that download, to block them, and starts none.
        found = {}
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    questions: set[str] = set()
    loads = dict.fromkeys(find_imports(path, text, tree.is_recorded))
    if is_shell(path, text):
        found = {name: says for name, says in found.items() if name == "obfuscated"}
    try:
        commands = calls.commands if calls else commands_in(path, text)
        # Of code that is not read command by command, any other text is another question.
        questions.update([digest] if found else [])
        for number, command in enumerate(commands):
            if number >= MOST_COMMANDS:
                found["unread"] = f"it has more than {MOST_COMMANDS} commands"
                break
            verdict = judge_or_raise(command, context)
            loads |= dict.fromkeys(files_run_by(verdict, tree))
            loads |= dict.fromkeys(find_tasks(command, context, tree))
            left = [each for each in verdict.effects if is_asked(each, path, tree)]
            if left:
                reason = left[0].reason if len(left) == 1 else verdict.reason
                found.setdefault(sign_of(verdict), reason)
                questions.update(f"{each.reason} {each.target}" for each in left)
    except Unreadable as error:
        found["unread"] = str(error)
        questions.add(digest)
    reason = "; ".join(dict.fromkeys(found.values()))
    line = line_of_signs(text, found)
    asked = frozenset(questions)
    return ScriptFacts(frozenset(found), reason, digest, asked, tuple(loads), line)


def is_shell(path: str, text: str) -> bool:
    return path.endswith(SHELL_ENDINGS) or SHELL_LINE.match(text) is not None


def signs_in(text: str) -> dict[str, str]:
    """Return the signs in a text with what they say."""
    found = {
        name: says for name, (pattern, says) in signs().items() if pattern.search(text)
    }
    if "downloads" not in found:
        found.pop(KEEPS, None)
    return found


def line_of_signs(text: str, found: Iterable[str]) -> int:
    """Return the first line with one of the signs found in a text, the first of all if no pattern has it."""
    places = (signs()[name][0].search(text) for name in found if name in signs())
    first = min((place.start() for place in places if place), default=0)
    return text.count("\n", 0, first) + 1


def commands_in(path: str, text: str) -> Iterator[str]:
    """Yield the shell commands in a script; one without an ending is read as the shell reads it."""
    return (each.text for each in snippets(path, text, executable=True))


def files_run_by(verdict: Verdict, tree: ChangeTree) -> Iterator[str]:
    """Yield the files of the tree that a command runs; of a module each that there is."""
    for effect in verdict.effects:
        if effect.kind is not EffectKind.EXEC:
            continue
        target = effect.target or ""
        if target.startswith(f"{ROOT}/"):
            yield target.removeprefix(f"{ROOT}/")
        elif MODULE.fullmatch(target):
            yield from filter(tree.is_recorded, files_of_module("", f"{target}.__main__"))


def is_asked(effect: Effect, path: str, tree: ChangeTree) -> bool:
    """Return whether an effect asks; a script of package.json finds the programs of its packages by their names."""
    if effect.decision is not Decision.REVIEW or effect.kind is not EffectKind.UNKNOWN:
        return effect.decision is not Decision.ALLOW
    return not is_of_package(path, effect.target or "", tree)


def sign_of(verdict: Verdict) -> str:
    """Return the sign for a command that is asked about."""
    if verdict.verdict is Decision.DENY:
        return "denied"
    kinds = {each.kind for each in verdict.effects if each.decision is Decision.REVIEW}
    if EffectKind.CREDENTIAL in kinds:
        return READS
    if kinds & {EffectKind.NETWORK_IN, EffectKind.NETWORK_OUT}:
        return REACHES
    return "asked about"
