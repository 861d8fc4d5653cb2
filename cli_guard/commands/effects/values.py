"""Emit the effect of one value of a call (of an option, or an operand) by its kind in the table."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from cli_guard.commands import floors
from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.code import run_code
from cli_guard.commands.effects.environment import key_means
from cli_guard.commands.effects.imports import check_imports
from cli_guard.commands.effects.loose import finds_name, may_be_option
from cli_guard.commands.effects.paths import (
    EMPTIES,
    find_secret_link,
    path_of,
    physical_path,
    read_path,
)
from cli_guard.commands.effects.places import is_credential, resolve_path
from cli_guard.commands.expand.fields import Field, literal, stream_of
from cli_guard.commands.model import EffectKind, Span
from cli_guard.commands.programs import MODULES, PLAIN, read_table, sub_command
from cli_guard.commands.scope import (
    ANYTHING,
    BELOW,
    NOTHING,
    REMOTE,
    REMOTE_DATA,
    SECRET,
    SECRET_DATA,
    TOKEN,
    Stream,
    drop_places,
    read_named,
)
from cli_guard.lazy import regex

REMOTE_PLACE = regex(r"(?:[\w.+-]+@)?[\w.-]+:(?!\\)|[\w+]+://")
ADDRESS = regex(r"[a-zA-Z][\w+.-]*://")
# A loopback name or address with its port, the path of a socket, or nothing.
LOOPBACK = regex(
    r"@?(?:(?:[\w-]+\.)*localhost\.?|ip6-localhost|127(?:\.\d+){0,3}|0\.0\.0\.0|::1?|\[::1?\]|)(?::\d+)?|[/.]\S*",
    re.IGNORECASE,
)
ADDRESS_OF_HOST = regex(r"\d+(?:\.\d+){0,3}|[\da-fA-F]*:[\da-fA-F:.]+(?:%\w+)?")
RECORD_TYPES = regex(
    r"(?:A|AAAA|ANY|AXFR|CAA|CNAME|DNSKEY|DS|HTTPS|LOC|MX|NAPTR|NS|NSEC|PTR|RRSIG|SOA|SRV|SSHFP|SVCB|TLSA|TXT|IN|CH)",
    re.IGNORECASE,
)
AUTHORITY = regex(r"[a-zA-Z][\w+.-]*://([^/?#]*)")
WHOLE_HOST = regex(r"[a-zA-Z][\w+.-]*://[^/?#]+[/?#]")
NAMED_HOST = regex(r"(?:^|[?&\s])host(?:addr)?\s*=\s*'?([^&\s']*)")
# Python modules that have the name of their program; any other module may belong to the project.
PYTHON_TOOLS = frozenset(
    "pip pipx pytest ruff mypy black isort flake8 pylint coverage tox nox poetry pdm hatch twine uv bandit vulture "
    "yamllint cli-guard codespell radon lizard sqlfluff djlint pyright invoke semgrep locust "
    "pre-commit virtualenv".split()
)
# `@FILE` stands for the options in a file.
TAKES_OPTIONS_FROM_FILES = frozenset(
    "gcc clang ld as nm objdump size strings javac tsc mypy".split()
)
# Their service runs on this machine, so what they print of it does not come from the network.
LOCAL_SERVICES = frozenset(
    "docker docker-compose systemctl loginctl journalctl minikube kind k3d vagrant virsh lxc crictl ctr".split()
)
# What happens to a file of these kinds.
LOSSES = {"delete": "deletes", "move": "moves", "empty": EMPTIES}
PLACES = ("url", "host", "server", "endpoint")
INPUT = ("-", "/dev/stdin", "/dev/fd/0")
FILE_IN_FORM = regex(r"[^=@<]*=?[@<]")
SHELLS = frozenset("sh bash zsh dash ksh fish ash mksh".split())


def emit_for(
    call: Call, kind: EffectKind, given: Field, reason: str, rule: str = ""
) -> None:
    """Emit the effect of one word of a call."""
    call.effect(kind, given.shown, reason, given.span, rule)


def values_of(call: Call, *names: str) -> list[Field]:
    """Return the values of the options with one of these names."""
    return [value for option, value in call.arguments.values if {*option.names} & {*names}]


def take(call: Call, kind: str, given: Field, reason: str = "", rule: str = "") -> None:
    call.shell.budget.step()
    if kind in TAKERS:
        TAKERS[kind](call, given)
    elif kind.startswith("code:"):
        is_certain = not given.pattern or not finds_name(call.shell, given)
        taints = given.taints
        if kind == "code:sed" and (given.start or given.many):
            # `s/VERSION/$new/`: a text that is put into an edit is what is written, not what runs.
            taints -= {REMOTE}
        text = given.text if is_certain else None
        run_language(call, kind, Stream(text, taints), given.span)
    elif kind == "command":
        call.invoke([given])
    elif kind in LOSSES:
        call.kinds.add(EffectKind.DELETE)
        call.written.append((given, LOSSES[kind]))
        if kind == "move":
            path = path_of(call.shell, given)
            moved = SECRET_DATA if is_credential(path) else Stream(None)
            call.reads.append(call.scope.files.get(path, moved))
    elif kind == "write":
        call.written.append((given, "writes"))
    elif kind not in PLAIN:
        take_effect(call, EffectKind(kind), given, reason, rule)


def run_language(call: Call, kind: str, code: Stream, span: Span) -> None:
    """Judge code of a kind such as `code:python`."""
    if kind == "code:python" and call.program.name == "python":
        check_imports(call, code)
    run_code(call, kind.removeprefix("code:"), code, span)


def take_effect(call: Call, kind: EffectKind, given: Field, reason: str, rule: str) -> None:
    """Emit an effect whose target is the value. A value that begins with `!` is also judged as text for a shell."""
    if (
        kind in (EffectKind.EXEC, EffectKind.PERSISTENCE)
        and given.text
        and given.text.startswith("!")
    ):
        call.shell.run_nested(given.text[1:], given.span)
    if kind is EffectKind.SERVICE_READ:
        floors.check_sent(call.shell, given.taints, given.shown, given.span)
        if given.text is None:
            emit_for(call, EffectKind.UNKNOWN, given, "gets a name known only at run time")
    emit_for(call, kind, given, reason, rule)


def may_hold_options(call: Call, given: Field) -> bool:
    """Return whether the name of a file may begin with `@` or a dash, as far as the names in the folder are known."""
    if not given.is_open:
        return given.start.startswith("@")
    names = call.context.names
    is_seen = given.origin == "paths" and call.scope.folder == call.context.folder
    return (
        not is_seen
        or names is None
        or any(name.startswith("@") for name in names)
        or may_be_option(call.shell, given)
    )


def take_read(call: Call, given: Field) -> None:
    if given.text in INPUT:
        call.reads.append(call.stdin)
    elif given.stream is not None:
        call.reads.append(given.stream)
    elif given.start.startswith("|") or (
        call.program.name in TAKES_OPTIONS_FROM_FILES and may_hold_options(call, given)
    ):
        reason = "gets a file name that it reads as a command or as options"
        emit_for(call, EffectKind.UNKNOWN, given, reason)
    elif given.text is None and given.origin:
        shape = resolve_path(given.shape, call.scope.folder, call.context)
        if SECRET in given.taints or is_credential(shape):
            emit_for(call, EffectKind.CREDENTIAL, given, "reads what may be a secret")
        elif given.origin == "paths" and (link := find_secret_link(call.shell)):
            call.effect(
                EffectKind.CREDENTIAL,
                link,
                f"may read {link}, which leads to a secret",
                given.span,
            )
        call.reads.append(Stream(None, read_named(given.taints)))
    elif ADDRESS.match(given.start) and not given.start.startswith("file:"):
        take_url(call, given)
    else:
        call.reads.append(read_path(call.shell, given, given.span))


def take_url(call: Call, given: Field) -> None:
    text = given.start
    if text.startswith("file:"):
        # The file also depends on escapes and braces that only the program resolves.
        emit_for(call, EffectKind.UNKNOWN, given, "reads a file by its address")
        call.reads.append(
            read_path(
                call.shell, replace(given, text=given.text and given.text[5:]), given.span
            )
        )
        return
    connect(call, EffectKind.NETWORK_IN, given, "fetches")


def connect(call: Call, kind: EffectKind, given: Field, verb: str) -> None:
    """Emit the connection to an address; one of the form `ext::command` runs it (git-remote-ext(1))."""
    if "::" in given.start.partition("/")[0]:
        emit_for(call, EffectKind.EXEC, given, "runs the command in the address")
    check_address(call, given)
    emit_for(call, kind, given, f"{verb} {shorten(given)}")


def check_address(call: Call, given: Field) -> None:
    """Deny an address with a secret in it. A variable that is all of it (`$DATABASE_URL`) goes where it belongs."""
    taints = given.taints - {TOKEN} if given.shape == "x" else given.taints
    floors.check_sent(call.shell, taints, given.shown, given.span, stays=stays_here(call))


def take_name(call: Call, given: Field) -> None:
    """Judge a DNS name that is looked up: the owner of the name sees the query, so it may carry data out."""
    floors.check_sent(call.shell, given.taints, given.shown, given.span)
    if given.text is None:
        reason = "is asked for a name that is not known before it runs"
        emit_for(call, EffectKind.UNKNOWN, given, reason)
    elif (
        given.start.startswith("+")
        or RECORD_TYPES.fullmatch(given.start)
        or ADDRESS_OF_HOST.fullmatch(given.start)
    ):
        emit_for(call, EffectKind.SERVICE_READ, given, "")
    elif not LOOPBACK.fullmatch(given.start):
        reason = f"looks up {shorten(given)}, which its owner sees"
        emit_for(call, EffectKind.NETWORK_OUT, given, reason)


def take_server(call: Call, given: Field) -> None:
    """Emit the connection of a client to its server, or list of servers, unless all are on this machine."""
    check_address(call, given)
    hosts = find_hosts(given.start) or [given.start]
    if given.text is None or not all(map(LOOPBACK.fullmatch, hosts)):
        emit_for(call, EffectKind.NETWORK_OUT, given, f"connects to {shorten(given)}")


def take_endpoint(call: Call, given: Field) -> None:
    """Emit the connection if the value is an address; a name or path on the usual server adds nothing."""
    if given.text is None or find_hosts(given.start):
        take_server(call, given)


def find_hosts(text: str) -> list[str]:
    """Return the hosts that an address or a connection string names; none for a plain word."""
    hosts = [host for found in NAMED_HOST.finditer(text) for host in found[1].split(",")]
    if match := AUTHORITY.match(text):
        hosts += [part.rpartition("@")[2] for part in match[1].split(",")]
    return hosts


def check_data(call: Call, taints: frozenset[str], span: Span) -> bool:
    """Deny that a call sends secrets; return whether it does."""
    return floors.check_sent(
        call.shell, taints, call.title, span, program=True, stays=stays_here(call)
    )


def stays_here(call: Call) -> bool:
    """Return whether all that a call connects to is certainly on this machine."""
    given = [each for kind, each in call.arguments.kinds if kind in PLACES]
    given += [value for option, value in call.arguments.values if option.takes in PLACES]
    if not given:
        return call.program.name in LOCAL_SERVICES
    if not all(each.text or WHOLE_HOST.match(each.start) for each in given):
        return False
    hosts = [
        find_hosts(each.start) or [each.start.partition("/")[0].rpartition("@")[2]]
        for each in given
    ]
    return all(LOOPBACK.fullmatch(host) for named in hosts for host in named)


def take_upload(call: Call, given: Field) -> None:
    """Emit the upload of a file, or the connection to where it goes."""
    if given.text in INPUT:
        call.effect(EffectKind.NETWORK_OUT, None, "sends its input", given.span)
        return
    if REMOTE_PLACE.match(given.start):
        emit_for(
            call,
            EffectKind.NETWORK_OUT,
            given,
            f"sends to or fetches from {shorten(given)}",
        )
        call.reads.append(REMOTE_DATA)
        return
    stream = given.stream or read_path(call.shell, given, given.span)
    call.reads.append(stream)
    walked = {BELOW + folder for folder in call.find_walked()}
    check_data(call, stream.taints | read_named(given.taints) | walked, given.span)
    emit_for(call, EffectKind.NETWORK_OUT, given, f"sends {shorten(given)}")


def take_send(call: Call, given: Field) -> None:
    """Emit that a text is sent; `@FILE` in it stands for the contents of a file."""
    file = FILE_IN_FORM.match(given.start)
    if file and given.start:
        rest = given.start[file.end() :].partition(";")[0]
        name = (
            literal(rest, given.span, like=given)
            if given.text is not None
            else replace(given, start=rest)
        )
        take_upload(call, name)
        return
    check_data(call, given.taints, given.span)
    call.effect(EffectKind.NETWORK_OUT, None, "sends data", given.span)


def take_header(call: Call, given: Field) -> None:
    """Judge a request header. A key in a variable is a normal login; a file with a key is not."""
    if given.taints & {SECRET}:
        take_send(call, given)
    elif given.start.startswith("@"):
        take_upload(call, literal(given.start[1:], given.span, like=given))
    elif drop_places(given.taints):
        call.effect(EffectKind.CREDENTIAL, None, "sends a key from a variable", given.span)


def take_folder(call: Call, given: Field) -> None:
    """Change to the folder that the command runs in."""
    is_above = ".." in given.start.split("/")
    path = physical_path(call.shell, given) if is_above else path_of(call.shell, given)
    call.scope.folder = path if given.text is not None else None


def take_env(call: Call, given: Field) -> None:
    name, _, value = given.start.partition("=")
    call.shell.environment(name, value if given.text is not None else None, given.span)


def take_config(call: Call, given: Field) -> None:
    """Apply `key=value` of Git's configuration; a key alone means true."""
    key, equals, value = given.start.partition("=")
    known = value if equals else "true"
    configure(call, key, known if given.text is not None else None, given.span)


def configure(call: Call, key: str, value: str | None, span: Span) -> None:
    meaning = key_means(key, value)
    if meaning:
        kind, why = meaning
        call.effect(kind, key, why, span)
        if kind is EffectKind.EXEC and value:
            # An alias is a Git command or, after `!` (and for all other keys), shell text.
            alias = key.lower().startswith("alias.") and not value.startswith("!")
            call.shell.run_nested(
                f"git {value}" if alias else value.removeprefix("!"), span
            )


def take_shell(call: Call, given: Field) -> None:
    words = call.operands
    behind = words[words.index(given) + 2 :] if given in words else []
    outer = call.scope.arguments
    call.scope.arguments = tuple(stream_of(word) for word in behind)
    run_shell(
        call, given.stream or Stream(given.text, given.taints), given.span, call.stdin
    )
    call.scope.arguments = outer


def run_shell(
    call: Call, code: Stream, span: Span, stdin: Stream, *, here: bool = False
) -> Stream:
    """Run shell code as far as it is known: in a new shell, or with `here` in this one (eval)."""
    call.took_input = True
    if code.assumed:
        call.effect(
            EffectKind.EXEC, None, "runs text that is not certain before it runs", span
        )
    if code.text is not None:
        return (call.shell.run_nested if here else call.shell.run_child)(
            code.text, span, stdin
        )
    if not floors.check_remote_code(call.shell, code.taints, call.title, span):
        call.effect(EffectKind.EXEC, None, "runs commands known only at run time", span)
    return ANYTHING


def take_script(call: Call, given: Field) -> None:
    call.took_input = True
    if given.text in INPUT:
        take_input(call, call.spec.stdin or "script")
        return
    if ADDRESS.match(given.start):
        floors.check_remote_code(call.shell, frozenset((REMOTE,)), given.shown, given.span)
        return
    path = path_of(call.shell, given)
    stream = given.stream or call.scope.files.get(path) or Stream(None, given.taints)
    if floors.check_remote_code(
        call.shell, stream.taints, given.shown or call.title, given.span
    ):
        return
    if run_known_script(call, given, path) and given.stream is not None:
        return
    if given.stream is not None:
        call.effect(
            EffectKind.EXEC, None, "runs commands known only at run time", given.span
        )
        return
    call.effect(EffectKind.EXEC, path, f"runs the script {given.shown}", given.span)


def take_format(call: Call, given: Field) -> None:
    """Judge the name of a format; the path of a file is code: `./writer.lua`."""
    if given.text is None or set(given.text) & set("./"):
        take_script(call, given)


def run_known_script(call: Call, given: Field, path: str) -> bool:
    """Run the text of a shell script that a substitution prints or that was written before; return whether it is known.

    What another program runs is judged in the end, with all that was written.
    """
    shell = call.shell
    text = given.stream.text if given.stream else shell.text_written(path)
    if text is not None and call.program.name in SHELLS and path not in shell.extended:
        shell.run_child(text, given.span)
        shell.judged.add(path)
        return True
    shell.started[path] = call.program.name
    return False


def take_module(call: Call, given: Field) -> None:
    """Run a Python module by its own table, or by that of the program of its name."""
    call.took_input = True
    module = given.text or ""
    name = module.partition(".")[0]
    check_imports(call, module=name)
    words = call.fields[call.fields.index(given) + 1 :] if given in call.fields else []
    program = name.replace("_", "-")
    if program in PYTHON_TOOLS:
        call.invoke([literal(program, given.span), *words])
    elif sub_command(read_table(MODULES), module):
        call.invoke([literal(MODULES, given.span), given, *words])
    else:
        emit_for(call, EffectKind.EXEC, given, f"runs the module {given.shown}")
    call.operands.clear()
    call.arguments.kinds.clear()
    call.arguments.unknown.clear()


def take_input(call: Call, kind: str) -> None:
    """Use the input of a call as code or as names of files."""
    stdin = call.stdin
    if stdin == NOTHING and kind.startswith(("shell", "code:")):
        call.effect(EffectKind.EXEC, None, "starts an interactive session")
    elif kind == "shell":
        outer = call.scope.arguments
        call.scope.arguments = None
        run_shell(call, stdin, call.span, NOTHING)
        call.scope.arguments = outer
    elif kind.startswith("code:"):
        run_language(call, kind, stdin, call.span)
    elif kind == "send":
        sent = check_data(call, stdin.taints, call.span)
        if not sent and stdin != NOTHING:
            call.effect(EffectKind.NETWORK_OUT, None, "sends its input")
    elif not floors.check_remote_code(call.shell, stdin.taints, call.title, call.span):
        call.effect(EffectKind.EXEC, None, "runs what it reads")


def shorten(given: Field) -> str:
    return given.shown if len(given.shown) <= 60 else f"{given.shown[:57]}..."


TAKERS: Mapping[str, Callable[[Call, Field], None]] = {
    EffectKind.READ: take_read,
    "url": take_url,
    "host": lambda call, given: connect(call, EffectKind.NETWORK_OUT, given, "connects to"),
    "name": take_name,
    "server": take_server,
    "endpoint": take_endpoint,
    "upload": take_upload,
    "send": take_send,
    "header": take_header,
    "folder": take_folder,
    "env": take_env,
    "config": take_config,
    # `key=NAME` of Git's configuration: the environment variable holds the value.
    "config-env": lambda call, given: configure(
        call, given.start.partition("=")[0], None, given.span
    ),
    "shell": take_shell,
    "script": take_script,
    "format": take_format,
    "module": take_module,
}
