"""Git: aliases, commands that the repository's own configuration runs, and the forms of `git config`."""

import re
import shlex
from dataclasses import replace

from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.environment import (
    MISLEADS_HOOKS,
    OWN_READING_KEYS,
    READING_KEYS,
    runs_nothing,
)
from cli_guard.commands.effects.paths import physical_path, write_path
from cli_guard.commands.effects.places import (
    GLOBS,
    is_below,
    is_credential,
    resolve_path,
    unfold_home,
)
from cli_guard.commands.effects.running import apply_options, note_unknown_words, run_call
from cli_guard.commands.effects.values import configure, emit_for, values_of
from cli_guard.commands.expand.fields import literal
from cli_guard.commands.model import EffectKind, Span
from cli_guard.commands.scope import ANYTHING, SECRET_DATA, Stream
from cli_guard.lazy import regex

QUIET = frozenset(
    f"git {name}"
    for name in "version help config init clone rev-parse rev-list show-ref for-each-ref symbolic-ref remote "
    "merge-base ls-tree var name-rev".split()
)
RUNS_HOOKS = frozenset(
    f"git {name}" for name in "am cherry-pick commit merge pull push rebase revert".split()
)
# Formats that print nothing but ids and dates: a hostile server may have any name of a branch.
IDENTIFYING = regex(
    r"--(?:pretty|format)=(?:format:)?(?:%(?:[hHtT]|c[tIis]|a[tIis]|\(objectname(?::\w+)?\))[ n]?)+"
)
# Options that add nothing to the output of such a format.
NARROWING = regex(
    IDENTIFYING.pattern
    + r"|-\d+|-n\d*|--(?:max-count|skip|author|since|until|after|before|grep|sort|count|points-at)(?:=.*)?"
    r"|--(?:all|no-merges|merges|reverse|first-parent|branches|tags|remotes|no-patch|follow)|-s|--"
)
# The output of `git rev-parse` in the top folder of a repository.
PLACES = {
    "--git-dir": ".git",
    "--git-common-dir": ".git",
    "--absolute-git-dir": ".git",
    "--show-toplevel": ".",
}
SHOWS = ("git show", "git cat-file", "git archive", "git diff", "git blame")
READS = frozenset(
    "get list get-all get-regexp get-urlmatch get-color get-colorbool".split()
)
REMOVES = frozenset("unset unset-all remove-section rename-section".split())
WRITES = REMOVES.union("set edit replace-all add".split())
PASSWORD = regex(r"://[^/@\s]*:[^/@\s]+@")
SECRET_KEYS = ("token", "password", "extraheader", "secret")


def git(call: Call) -> Stream:
    given = call.arguments
    name = given.operands[0].text if given.operands and call.spec.name == "git" else None
    aliases = call.context.git_config.get(f"alias.{name}") if name else None
    if name and aliases:
        return run_alias(call, name, aliases[-1])
    own_keys = OWN_READING_KEYS.get(" ".join(call.spec.name.split()[:2]))
    if own_keys and not call.is_help_request():
        check_configured(call, own_keys)
    if call.spec.name not in QUIET and call.spec.name != "git":
        check_configured(call)
        check_other_repository(call)
    if " ".join(call.spec.name.split()[:2]) in RUNS_HOOKS:
        check_environment(call)
    if call.spec.name in SHOWS:
        check_recorded(call)
    if call.spec.name.startswith(("git remote", "git ls-remote")):
        check_urls(call)
    if call.spec.name == "git push":
        check_pushed(call)
    output = run_call(call)
    if call.spec.name == "git rev-parse":
        return print_path(call, output)
    options = [word.start for word in call.fields[1:] if word.start.startswith("-")]
    brief = call.spec.name != "git show" or {"-s", "--no-patch"}.intersection(options)
    if (
        brief
        and any(map(IDENTIFYING.fullmatch, options))
        and all(map(NARROWING.fullmatch, options))
    ):
        return replace(output, origin="value")
    return output


def check_environment(call: Call) -> None:
    """Emit that the hooks of this command would see a variable that misleads them."""
    better = "set it in front of the program that needs it"
    for name in sorted(filter(MISLEADS_HOOKS.match, call.scope.exported)):
        reason = f"with {name}, which decides what its hooks review or run"
        call.effect(EffectKind.GUARD, name, reason, alternative=better)


def print_path(call: Call, output: Stream) -> Stream:
    """Print the path that `git rev-parse --git-dir` and its like print, if it is known."""
    words = [word.text for word in call.fields[1:]]
    for at, word in enumerate(words):
        if word in PLACES:
            return Stream(f"{PLACES[word]}\n")
        if word == "--git-path" and words[at + 1 : at + 2] != [None] and words[at + 1 :]:
            return Stream(f".git/{words[at + 1]}\n")
    return output


def check_other_repository(call: Call) -> None:
    """Review work in another repository, whose configuration is not known."""
    here = call.scope.sure_folder
    if here != call.context.folder:
        check_outside(
            call, resolve_path(here, None, call.context) if here else "", call.span
        )
    for value in values_of(call, "--git-dir"):
        # A folder of the project may also be laid out as a repository with its own configuration.
        if not (value.text or "").endswith(".git"):
            emit_for(
                call,
                EffectKind.EXEC,
                value,
                f"reads the repository {value.shown} with its configuration",
            )
    for value in values_of(call, "-C", "--git-dir", "--work-tree"):
        check_outside(
            call,
            physical_path(call.shell, value) if value.text is not None else "",
            value.span,
        )


def check_outside(call: Call, path: str, span: Span) -> None:
    """Emit an effect for a folder in another repository, below the root of the project or outside it.

    `path` is empty if the folder is not known: then it may be any of them.
    """
    context = call.context
    known = path if path.startswith(("/", "~")) and not GLOBS.search(path) else None
    other = path
    if not known or not context.root or is_below(known, context.root, context):
        find = context.find_repository
        other = (find(known and unfold_home(known, context)) if find else None) or ""
    if other:
        reason = f"enters the repository {other}, whose configuration may run programs"
        call.effect(EffectKind.EXEC, other, reason, span)


def check_urls(call: Call) -> None:
    """Ask about showing the address of a remote that holds a password."""
    for key, values in call.context.git_config.items():
        if any(map(PASSWORD.search, values)):
            call.effect(EffectKind.CREDENTIAL, key, f"may show the password in {key}")
            return


def check_recorded(call: Call) -> None:
    """Judge `REV:PATH` as the file it records: a secret is one there too."""
    for operand in call.operands:
        _, colon, path = operand.start.partition(":")
        if colon and path and is_credential(path):
            call.effect(
                EffectKind.CREDENTIAL, path, f"shows {path} from a commit", operand.span
            )
            call.reads.append(SECRET_DATA)


def check_pushed(call: Call) -> None:
    """Emit what a refspec does: `+main` is a forced push, `:main` deletes the branch (git-push(1))."""
    for operand in call.operands:
        name = operand.shown.lstrip("+:")
        better = "git push --force-with-lease"
        if operand.start.startswith("+"):
            reason = f"force-pushes {name}: rewrites history on the remote"
            call.effect(
                EffectKind.SERVICE_WRITE,
                operand.shown,
                reason,
                operand.span,
                alternative=better,
            )
        elif operand.start.startswith(":") and name:
            reason = f"deletes {name} on the remote"
            emit_for(call, EffectKind.SERVICE_WRITE, operand, reason)


def run_alias(call: Call, name: str, text: str) -> Stream:
    """Run an alias that the configuration defines."""
    if f"git {name}" in call.shell.running:
        return ANYTHING
    at = next(i for i, word in enumerate(call.fields) if word.text == name)
    call.shell.running.append(f"git {name}")
    try:
        if text.startswith("!"):
            rest = " ".join(shlex.quote(word.shown) for word in call.fields[at + 1 :])
            return call.shell.run_nested(f"{text[1:]} {rest}", call.span, call.stdin)
        try:
            words = shlex.split(text)
        except ValueError:
            call.effect(EffectKind.UNKNOWN, name, f"the alias {name} is not understood")
            return ANYTHING
        fields = [
            *call.fields[:at],
            *(literal(word, call.span) for word in words),
            *call.fields[at + 1 :],
        ]
        return call.invoke(fields)
    finally:
        call.shell.running.pop()


def check_configured(call: Call, keys: re.Pattern[str] = READING_KEYS) -> None:
    """Emit the program that the repository's own configuration makes even a read-only command run."""
    for key, values in call.context.git_config.items():
        last = values[-1] if values else ""
        if keys.match(key) and not runs_nothing(key, last):
            what = (
                f"runs {last[:40]}, which the repository's own configuration names in {key}"
            )
            call.effect(EffectKind.EXEC, key, what)
            return


def config(call: Call) -> Stream:
    """Handle `git config`: a read may show a secret, a write may set code."""
    given = call.arguments
    operands = [each for each in given.operands if each.text is not None or each.start]
    verbs = {name.lstrip("-") for option in given.present for name in option.names}
    first = operands[0].text if operands else None
    if first in READS | WRITES and not verbs & (READS | WRITES):
        verbs.add(first)
        operands = operands[1:]
    apply_options(call)
    check_urls(call)
    note_unknown_words(call)
    if any(each.dynamic for each in given.operands):
        call.effect(EffectKind.UNKNOWN, None, "has a key or value known only at run time")
    keys = [each.start for each in operands]
    if verbs & {"edit", "e"}:
        call.effect(EffectKind.EXEC, None, "opens an editor")
    elif verbs & WRITES or (len(keys) > 1 and not verbs & READS):
        write_config(call, keys, removing=bool(verbs & REMOVES))
    elif any(secret in key.lower() for key in keys for secret in SECRET_KEYS):
        call.effect(EffectKind.CREDENTIAL, keys[0], f"shows {keys[0]}")
        return SECRET_DATA
    return ANYTHING


def write_config(call: Call, keys: list[str], *, removing: bool) -> None:
    for value in values_of(call, "--file"):
        write_path(call.shell, value)
    shown = keys[0] if keys else None
    call.effect(EffectKind.GIT_WRITE, shown, f"changes {shown or 'the configuration'}")
    if not keys:
        return
    if removing:
        if re.match(r"core(\.hookspath)?$|hooks?(\.|$)", keys[0].lower()):
            call.effect(
                EffectKind.GUARD, keys[0], f"unsets {keys[0]}, which locates the hooks"
            )
        return
    configure(call, keys[0], keys[1] if len(keys) > 1 else None, call.span)
