"""Files that a script writes before it runs code of the project, which may load any of them.

Their text is judged as the code that it is; then they count as all the other files of the project. What the code does
to no place that it names (a file in a variable, the environment) is what any code of the project may do.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from cli_guard.commands.effects.invocation import find_interpreter
from cli_guard.commands.expand.fields import literal
from cli_guard.commands.inline.model import UNSEEN_COMMAND
from cli_guard.commands.model import Context, Effect, EffectKind, Profile, Span
from cli_guard.commands.profiles import Callers, apply_profile
from cli_guard.commands.scope import OutOfBudget, ShellScope, Stream
from cli_guard.commands.shell import Shell
from cli_guard.commands.tasks import AT_RUN_TIME, find_effects_beyond, walk_script
from cli_guard.commands.walk import new_shell
from cli_guard.model import Decision

# The program that reads code in each language from its input, by the ending of a file.
PROGRAMS = {
    ending: program
    for program, endings in {
        "python3": "py pyi pyw",
        "node": "js mjs cjs jsx ts mts cts tsx",
        "sh": "sh bash zsh ksh dash",
        "ruby": "rb rake gemspec",
        "perl": "pl pm",
        "php": "php",
    }.items()
    for ending in endings.split()
}
SHELLS = frozenset("sh bash zsh dash ash ksh".split())
OPAQUE = ("node", "ruby", "perl", "php")
LANGUAGES = {name: name for name in (*OPAQUE, *SHELLS)}
LANGUAGES |= dict.fromkeys(("python", "python3"), "python")
QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.)+)\"|'([^'\n]+)'")
SETTINGS = re.compile(r"\.(?:toml|ini|cfg|conf|ya?ml|json[c5]?)\Z|/\.\w+rc\Z")
# Marks of a Makefile, a playbook and the like before a command.
MARKS = " \t@+-"
MOST_FILES = 30
MOST_TEXTS = 60
# Characters: as much as `inline` reads.
LONGEST = 20_000
HERE = Span(0, 0)
ON_FILES = (EffectKind.WRITE, EffectKind.DELETE, EffectKind.CREDENTIAL)
Code = tuple[str, str]


def judge_written(shell: Shell, context: Context) -> tuple[dict[Effect, Callers], set[str]]:
    """Judge what a script has written into files, if it runs code of the project.

    Return the effects of the texts that are not allowed, and the files whose code is not known.
    """
    unknown = set(shell.written) - shell.judged
    if all(effect.kind is not EffectKind.EXEC for effect in shell.effects):
        return {}, unknown
    found: dict[Effect, Callers] = {}
    for count, path in enumerate(sorted(unknown)):
        codes = read_codes(shell, path, context)
        if codes is None:
            found |= judge_settings(shell, path, context)
            continue
        unknown.discard(path)
        size = sum(len(text) for _, text in codes)
        if count >= MOST_FILES or len(codes) > MOST_TEXTS or size > LONGEST:
            reason = f"writes {path}, which is more code than is judged"
            found[Effect(EffectKind.UNKNOWN, path, Decision.REVIEW, reason, HERE)] = [None]
            continue
        for program, text in codes:
            for effect in find_unallowed(program, text, context):
                if effect.kind is EffectKind.UNKNOWN:
                    unknown.add(path)
                    continue
                reason = f"writes code into {path} that {effect.reason}"
                found[replace(effect, reason=reason, span=HERE)] = [None]
    return found, unknown


def judge_settings(shell: Shell, path: str, context: Context) -> dict[Effect, Callers]:
    """Return what the commands that settings of a tool may name do beyond the work tree: `runner = "git push"`."""
    text = shell.text_written(path) if SETTINGS.search(path) else None
    found: dict[Effect, Callers] = {}
    for piece in find_pieces(text or "")[:MOST_TEXTS]:
        inner = walk_script(piece, context.root, context)
        for effect in find_effects_beyond(piece, inner):
            if AT_RUN_TIME.search(effect.reason):
                continue  # `[build]` is a heading, no program
            reason = f"writes settings into {path} with a command: {effect.reason}"
            found[replace(effect, reason=reason, span=HERE)] = [None]
    return found


def read_codes(shell: Shell, path: str, context: Context) -> list[Code] | None:
    """Return the programs that run a written file with the texts that they get, None if they are not known."""
    text = shell.text_written(path)
    if text is None:
        return None
    commands = context.read_commands and context.read_commands(path, text)
    program = shell.started.get(path) or find_program(path, text)
    if commands is None and program not in LANGUAGES:
        return None
    texts = list(commands or ())
    if path in shell.extended and (commands is not None or program in SHELLS):
        texts += find_pieces(text)
    elif program in LANGUAGES and text.strip():
        return [(program, text), *(("sh", each) for each in texts)]
    return [("sh", each) for each in texts]


def find_program(path: str, text: str) -> str | None:
    """Return the program for a file, by the ending of its name or its first line."""
    name = path.rpartition("/")[2]
    if "." in name[1:]:
        return PROGRAMS.get(name.rpartition(".")[2])
    return find_interpreter(text)


def find_pieces(text: str) -> list[str]:
    """Return what may be a command in a part of a file: each line, and each quoted text."""
    quoted = [one or other for one, other in QUOTED.findall(text)]
    pieces = (each.strip(MARKS) for each in (*text.splitlines(), *quoted))
    return [each for each in dict.fromkeys(pieces) if each]


def find_unallowed(program: str, text: str, context: Context) -> Iterator[Effect]:
    """Yield what a text does, run by a program in the work tree, that is not allowed there.

    It is unknown if the text is in a language of which only names and strings are read, and may reach anything.
    """
    inner = new_shell(ShellScope(context, folder=context.root))
    try:
        inner.invoke([literal(program, HERE), literal("-", HERE)], Stream(text), HERE)
    except (OutOfBudget, RecursionError):
        yield Effect(EffectKind.EXEC, None, Decision.REVIEW, "is more than is judged", HERE)
    found = apply_profile(text, inner.effects, inner.invocations, context)
    is_read = LANGUAGES[program] not in OPAQUE
    for effect, callers in found.items():
        by_itself = all(each is inner.invocations[0] for each in callers)
        if effect.decision is Decision.DENY or (
            effect.decision is Decision.REVIEW
            and context.profile is not Profile.STRICT
            and not (is_read and is_vague(effect, by_itself=by_itself))
        ):
            yield effect


def is_vague(effect: Effect, *, by_itself: bool) -> bool:
    """Return whether an effect is not understood, or is one of the code by itself on nothing that it names."""
    names_path = (effect.target or "").startswith(("/", "~"))
    return effect.kind is EffectKind.UNKNOWN or (
        by_itself
        and (
            (effect.kind in ON_FILES and not names_path)
            or effect.reason.endswith(UNSEEN_COMMAND)
        )
    )
