"""Run a call of a program that has a table: the effects of its words, and of what it reads and writes."""

from dataclasses import replace
from itertools import islice, pairwise

from cli_guard.commands import floors
from cli_guard.commands.effects import values
from cli_guard.commands.effects.arguments import operand_kinds
from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.loose import may_be_option
from cli_guard.commands.effects.output import (
    CONNECTED,
    COPIES_INPUT,
    SILENT,
    collect_taints,
    find_network_taints,
    find_path_taints,
    find_searched_paths,
    output_of,
)
from cli_guard.commands.effects.paths import (
    delete_path,
    find_secret_link,
    path_of,
    write_path,
)
from cli_guard.commands.effects.places import PathClass, classify_path
from cli_guard.commands.effects.settings import may_be_command, settings_of
from cli_guard.commands.expand.fields import Field, literal
from cli_guard.commands.model import EffectKind, Span
from cli_guard.commands.programs import PLAIN
from cli_guard.commands.scope import (
    NOTHING,
    TOKEN,
    Stream,
    merge,
    taints_of,
)

# What a dry run leaves out.
CHANGES = frozenset(
    (EffectKind.WRITE, EffectKind.DELETE, EffectKind.SYSTEM, "move", "empty")
)
CONTAINERS = frozenset(("docker", "docker-compose", "podman", "nerdctl"))
SETS_ENVIRONMENT = ("env", "sudo", "doas")
# Files whose content can switch the hooks or the guard off.
SWITCHING = (PathClass.SETTINGS, PathClass.HOOKS, PathClass.GIT_CONFIG)
COPIES_FILES = frozenset(("cp", "mv", "install", "dd"))
GUARD_PACKAGES = frozenset(
    ("cli-guard", "cli_guard", "pre-commit", "prek", "husky", "lefthook")
)
RUNS_COMMANDS = (("cli-guard", "exec"), ("cli_guard", "exec"))
FOLLOWING = ("-R", "--dereference-recursive", "-L", "--follow", "-h", "--dereference")
REMOVALS = frozenset(("uninstall", "remove", "rm", "un", "erase", "purge"))


def run_call(call: Call) -> Stream:
    """Emit every effect that the table gives this call; return what it prints."""
    folder = call.scope.folder
    load_project(call)
    if not call.is_help_request():
        own_effect(call)
        apply_options(call)
        apply_operands(call)
        judge_settings(call)
        check_links(call)
        note_unknown_words(call)
        if not call.took_input:
            apply_input(call)
    output = (
        apply_rest(call) if call.arguments.rest and not passes_arguments(call) else None
    )
    own = finish(call)
    call.scope.folder = folder
    return own if output is None else output


def load_project(call: Call) -> None:
    """Emit that the program loads code of the project, whatever it is asked for.

    For help, that counts unless its table says that nothing is loaded.
    """
    loads = call.program.loads if call.spec.loads is None else call.spec.loads
    loads = loads or find_settings(call)
    if call.is_help_request():
        loads = "" if call.help_word in call.help_words else loads or "even for its help"
    elif call.spec.effect is EffectKind.EXEC and not call.looks:
        return
    if loads:
        reason = f"loads code or plug-ins of the project ({loads})"
        call.effect(EffectKind.EXEC, call.program.name, reason)


def find_settings(call: Call) -> str:
    """Return the file in which the project decides where the program connects, "" if there is none."""
    context = call.context
    folder = call.scope.folder
    places = {
        f"{place}/{name}"
        for place in (context.root, folder)
        for name in call.program.settings.split()
    }
    is_there = context.tree is not None and any(map(context.tree.exists, places))
    return call.program.settings if is_there else ""


def own_effect(call: Call) -> None:
    """Emit the effect of the program or sub-command, unless an option such as `--check` makes it read-only."""
    if (
        call.spec.effect
        and not call.looks
        and not (call.dry and call.spec.effect in CHANGES)
    ):
        call.effect(
            call.spec.effect,
            call.spec.name,
            call.spec.reason,
            call.span,
            call.spec.rule,
        )
    words = words_before_command([each.text for each in call.fields[1:]])
    if GUARD_PACKAGES.intersection(words) and REMOVALS.intersection(words):
        what = f"{call.title} removes the hooks"
        floors.deny_guard_off(call.shell, " ".join(filter(None, words)), what, call.span)


def apply_options(call: Call) -> None:
    for option in dict.fromkeys(call.arguments.present):
        if option.effect and not (call.dry and option.effect in CHANGES):
            call.effect(
                option.effect,
                option.names[0],
                option.reason,
                call.span,
                option.rule,
                option.alternative,
            )
    for option, value in call.arguments.values:
        if option.takes:
            values.take(call, option.takes, value, option.reason, option.rule)


def apply_operands(call: Call) -> None:
    for kind, operand in call.arguments.kinds:
        if kind in PLAIN and TOKEN in operand.taints and call.program.name not in SILENT:
            reason = "gets a variable that is named like a secret, and may print it"
            call.effect(EffectKind.CREDENTIAL, None, reason, operand.span)
        values.take(
            call,
            "text" if call.dry and kind in CHANGES else kind,
            operand,
            call.spec.reason,
            call.spec.rule,
        )


def judge_settings(call: Call) -> None:
    """Judge what may be a command in the settings of a tool that runs code: `make PYTHON="git clean"`."""
    if EffectKind.EXEC in (call.spec.effect, call.program.effect):
        for each in settings_of(call.arguments, call.fields):
            if may_be_command(each):
                call.shell.run_child(each.value, each.span)


def check_links(call: Call) -> None:
    """Emit that a recursive read follows a link to a secret (`grep -R`, `tar -h`)."""
    if (
        call.arguments.has(*FOLLOWING)
        and call.find_walked()
        and (link := find_secret_link(call.shell))
    ):
        call.effect(EffectKind.CREDENTIAL, link, f"follows {link}, which leads to a secret")


def note_unknown_words(call: Call) -> None:
    """Emit an unknown effect for words missing from the table."""
    given = call.arguments
    for word in given.unknown[:1]:
        if word.text is None and call.spec.commands and not given.operands[1:]:
            reason = f"the sub-command of {call.title} is known only at run time"
        elif word.start.startswith("-"):
            reason = f"the option {word.shown[:60]} of {call.title} is not known"
        elif call.spec.commands and not given.operands[1:]:
            reason = f"{call.title} {word.shown[:60]} is not a known sub-command"
        else:
            reason = f"{call.title} does not accept {word.shown[:60]}"
        call.kinds.add(EffectKind.UNKNOWN)
        call.shell.emit(EffectKind.UNKNOWN, word.shown, reason, word.span)
    if given.loose and not call.spec.harmless_options:
        loose = (word for word in given.loose if may_be_option(call.shell, word))
        for word in islice(loose, 1):
            call.kinds.add(EffectKind.UNKNOWN)
            what = f"{word.shown or 'a word'} is known only at run time and"
            better = ""
            if word.pattern:
                what = f"a name that {word.shown} finds"
                better = "write ./ before the pattern, or -- before the names"
            reason = f"{what} may be an option of {call.title}"
            call.shell.emit(
                EffectKind.UNKNOWN, word.shown, reason, word.span, alternative=better
            )


def apply_input(call: Call) -> None:
    """Use the input as the table says, unless an operand replaces it."""
    changed = [option.stdin for option in call.arguments.present if option.stdin]
    kind = changed[-1] if changed else call.spec.stdin
    idle = call.stdin == NOTHING and bool(call.operands)
    if (
        kind
        and kind != "command"
        and not call.arguments.rest
        and not call.looks
        and not idle
    ):
        values.take_input(call, kind)


def apply_rest(call: Call) -> Stream | None:
    """Run the command in the remaining words."""
    rest = call.arguments.rest
    if call.arguments.appended:
        taints = find_path_taints(call, find_searched_paths(call))
        found = Field(None, "", call.span, taints, "paths", many=True)
        rest = [found if word.text == "{}" else word for word in rest]
        if rest and found not in rest:
            rest.append(found)
        return call.invoke(rest, NOTHING) if rest else None
    kinds = operand_kinds(call.arguments)
    if kinds and kinds[-1].startswith("shell"):
        return shell_words(call, rest)
    if call.program.name in SETS_ENVIRONMENT:
        with call.shell.subshell():
            rest = call.environment(rest)
            return call.invoke(rest) if rest else None
    return call.invoke(rest) if rest else None


def passes_arguments(call: Call) -> bool:
    """Return whether the words for a container are only arguments of what its image runs: `docker run IMAGE -v`."""
    first = call.arguments.rest[0]
    return call.spec.program in CONTAINERS and (first.text or "").startswith("-")


def shell_words(call: Call, rest: list[Field]) -> Stream:
    """Join the words and run them in a shell, possibly on another host."""
    whole_text = " ".join(each.shown for each in rest)
    known = all(each.text is not None for each in rest)
    taints = taints_of(rest)
    span = Span(rest[0].span.start, rest[-1].span.end)
    output = values.run_shell(
        call, Stream(whole_text if known else None, taints), span, call.stdin
    )
    return replace(output, taints=output.taints | find_network_taints(call))


def finish(call: Call) -> Stream:
    """Taint the files written and the output; return the output."""
    if call.kinds & CONNECTED:
        values.check_data(call, call.stdin.taints, call.span)
    ignores_input = call.program.name in COPIES_FILES and call.program.name != "dd"
    inputs = call.reads if ignores_input else [*call.reads, call.stdin]
    carried = merge(inputs) if call.reads else call.stdin
    taints = collect_taints(call)
    for given, verb in call.written:
        if given.script is not None:
            call.shell.run_script(given.script, carried)
            continue
        copied = (
            carried if call.program.name in COPIES_INPUT | COPIES_FILES else Stream(None)
        )
        if verb == "changes":
            copied = Stream(call.new_text)
        elif call.program.name == "tee" and call.arguments.has("-a", "--append"):
            call.shell.extend_file(path_of(call.shell, given))
        stream = replace(copied, taints=copied.taints | taints)
        if verb in values.LOSSES.values():
            delete_path(call.shell, given, given.span, verb=verb)
        else:
            for each in (given, *find_copies(call, given)):
                write_path(call.shell, each, stream, verb=verb)
    return output_of(call, carried, taints)


def find_copies(call: Call, target: Field) -> list[Field]:
    """Return the settings of an agent or of Git that named files become if the target is a folder."""
    sources = [
        each.text
        for kind, each in call.arguments.kinds
        if kind in ("read", "move") and each.text
    ]
    names = [
        f"{target.text.rstrip('/')}/{text.rstrip('/').rpartition('/')[2]}"
        for text in sources
        if target.text
    ]
    copies = [literal(name, target.span) for name in names]
    return [
        each for each in copies if classify_path(path_of(call.shell, each)) in SWITCHING
    ]


def words_before_command(words: list[str | None]) -> list[str | None]:
    """Return the words before a `cli-guard exec` that another program runs (`uv run cli-guard exec ...`)."""
    at = next(
        (at for at, pair in enumerate(pairwise(words)) if pair in RUNS_COMMANDS), len(words)
    )
    return words if REMOVALS.intersection(words[:at]) else words[:at]
