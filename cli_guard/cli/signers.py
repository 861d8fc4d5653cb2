"""`cli-guard signers`: enrol the keys whose approvals count, list and revoke them. It edits files; Git records them."""

import datetime
from collections.abc import Sequence
from pathlib import Path

import click

from cli_guard.approvals.attestation import check_attestation
from cli_guard.approvals.keys import is_revoked, own_keys
from cli_guard.approvals.signatures import (
    NAMESPACE,
    SECURITY_KEYS,
    blob_of,
    read_public_key,
    run_ssh_keygen,
    scratch_files,
)
from cli_guard.approvals.signers import (
    PRINCIPAL,
    REVOKED,
    SIGNERS,
    Signer,
    parse_line,
    parse_signers,
)
from cli_guard.cli.app import Day, Group, option
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.notes import REF, fetch_as_user
from cli_guard.repository.protocol import Repository
from cli_guard.secrets.printable import printable
from cli_guard.state.files import explain_write_errors, lock
from cli_guard.state.records import Records

HEADER = "# Who may approve: one line a key. `cli-guard signers` writes it; it counts once it is committed.\n"


PRINCIPAL_OPTION = option(
    "--principal", "MAIL", "Whose key it is; Git's user.email by default.", default=""
)
command = Group(
    "signers",
    help="Say whose approvals count: enrol, list and revoke keys, and fetch what others signed.",
)


def read_file(repository: Repository) -> tuple[str, tuple[Signer, ...]]:
    """Return the text and the signers of the file in the work tree. Raises ConfigError, CliGuardError."""
    path = repository.root / SIGNERS
    try:
        raw = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise CliGuardError(f"{SIGNERS} cannot be read: {error.strerror}") from error
    return raw.decode("utf-8", "replace"), parse_signers(raw, SIGNERS)[0]


def write_file(repository: Repository, name: str, content: bytes) -> None:
    """Write a file of the folder. Raises CliGuardError."""
    path = repository.root / name
    with explain_write_errors(name):
        if path.is_symlink() or path.parent.is_symlink():
            raise CliGuardError(f"{name} should be a file, but it is a link: remove it")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)


def read_key(io: Io, name: str) -> tuple[str, str, str]:
    """Return type, base64 and comment of the key that an argument names. Raises UsageError."""
    path = io.path(name)
    if path.suffix != ".pub" and path.is_file() and not Path(f"{path}.pub").exists():
        raise UsageError(
            f"{name}.pub is missing: `ssh-keygen -y -f {name}` prints what belongs into it"
        )
    try:
        return read_public_key(path)
    except (CliGuardError, ValueError) as error:
        raise UsageError(str(error)) from error


def find_own_key(io: Io, repository: Repository) -> tuple[str, str, str]:
    """Return type, base64 and comment of the user's own key. Raises UsageError without one."""
    for key, _ in own_keys(repository, io.env):
        return key
    raise UsageError(
        "no SSH key was found in ~/.ssh or in your agent: make one with `ssh-keygen -t ed25519`"
    )


def enrol(
    io: Io,
    repository: Repository,
    key: tuple[str, str, str],
    principal: str,
    until: datetime.datetime | None = None,
    checked: str = "",
) -> int:
    """Add a key to the file, with what was `checked` of its device; say what to do next. Raises UsageError."""
    kind, text, comment = key
    who = principal or repository.config("user.email") or ""
    if not PRINCIPAL.fullmatch(who):
        given = f"{who!r} is not a mail address" if who else "Git has no user.email"
        raise UsageError(f"{given}: name the person with --principal you@example.org")
    known, signers = read_file(repository)
    raw = blob_of(text)
    if any(each.key == raw for each in signers):
        raise UsageError(f"this key is already enrolled in {SIGNERS}")
    if not known:
        if repository.is_shallow or repository.head is None:
            raise UsageError(
                "the first commit of this repository is not known here: commit, or fetch it, first"
            )
        known = f"{HEADER}# repository {' '.join(repository.root_commits())}\n"
    if until and until.date() <= io.invocation.now.date():
        raise UsageError(f"--until {until:%Y-%m-%d} is not after today")
    options = f'namespaces="{NAMESPACE}"'
    if until:
        options += f',valid-before="{until:%Y%m%d}"'
    words = (who.lower(), options, kind, text, printable(comment))
    line = " ".join(filter(None, words))
    if isinstance(problem := parse_line(line), str):
        raise UsageError(f"the key cannot be enrolled: {problem}")
    if run_ssh_keygen("-l", "-f", "-", env=io.env, stdin=f"{kind} {text}\n".encode())[0]:
        raise UsageError(
            f"the key cannot be enrolled: ssh-keygen does not take it for a {kind} key"
        )
    if kind in SECURITY_KEYS:
        line = f"# {checked or 'no attestation: nothing proves that the next key is a device'}\n{line}"
    write_file(repository, SIGNERS, f"{known.rstrip()}\n{line}\n".encode())
    if checked:
        io.say(f"cli-guard: {checked}")
    proves = (
        "a touch, and with a PIN or a finger more"
        if kind in SECURITY_KEYS
        else "the key, not that a person was there"
    )
    io.say(
        f"cli-guard: {who.lower()} is enrolled with a key of type {kind}; it proves {proves}"
    )
    io.say(f"commit {SIGNERS}: from the next commit on, approvals of this key count")
    return 0


@command.command("init", help="Enrol your own key.", params=[PRINCIPAL_OPTION])
@click.pass_obj
def init(io: Io, /, principal: str) -> int:
    """Enrol the user's own key."""
    repository = io.find_repository()
    code = enrol(io, repository, find_own_key(io, repository), principal)
    io.say(
        'to require it, add to cli-guard.toml:\n[approvals]\nhigh = "key"\ncritical = "key"'
    )
    return code


@command.command(
    "add",
    help="Enrol a key.",
    params=[
        click.Argument(["key"]),
        PRINCIPAL_OPTION,
        option(
            "--until",
            "DATE",
            "The first day (2027-01-31) on which it no longer counts.",
            rare=True,
            type=Day(),
        ),
        option(
            "--challenge",
            "FILE",
            "The challenge that ssh-keygen was given.",
            rare=True,
            default="",
        ),
        option(
            "--attestation",
            "FILE",
            "What the device wrote (`-O write-attestation`); it is checked.",
            rare=True,
            default="",
        ),
    ],
)
@click.pass_obj
def add(
    io: Io,
    /,
    key: str,
    principal: str,
    until: datetime.datetime | None,
    challenge: str,
    attestation: str,
) -> int:
    """Enrol a key."""
    repository = io.find_repository()
    public = read_key(io, key)
    checked = ""
    if bool(challenge) != bool(attestation):
        raise UsageError("--challenge and --attestation belong together: give both")
    if attestation:
        if public[0] not in SECURITY_KEYS:
            raise UsageError(f"{key} is no security key, so it has no attestation")
        try:
            given = io.path(challenge).read_bytes()
            made = io.path(attestation).read_bytes()
        except OSError as error:
            raise UsageError(
                f"{error.filename} cannot be read: {error.strerror}"
            ) from error
        checked = printable(check_attestation(blob_of(public[1]) or b"", given, made))
    return enrol(io, repository, public, principal, until, checked)


@command.command("list", help="List the signers.")
@click.pass_obj
def list_signers(io: Io, /) -> int:
    """List the signers of the work tree, and mark those that do not count, or not yet."""
    repository = io.find_repository()
    recorded = repository.show(repository.head, SIGNERS) if repository.head else None
    counting = {
        each.key for each in parse_signers(recorded or b"", f"{SIGNERS} at HEAD")[0]
    }
    signers = read_file(repository)[1]
    revoked = repository.root / REVOKED
    krl = revoked.read_bytes() if revoked.is_file() else b""
    if not signers:
        io.say("cli-guard: no signers; enrol your key with `cli-guard signers init`")
    for each in signers:
        limits = ", ".join(
            f"{name} {value}"
            for name, value in each.options.items()
            if name != "namespaces"
        )
        new = "" if each.key in counting else "not committed yet"
        new = "revoked" if krl and is_revoked(krl, each, io.env) else new
        io.say(
            printable(
                "  ".join(
                    filter(None, (each.principal, each.kind, each.comment, limits, new))
                )
            )
        )
    return 0


@command.command(
    "revoke",
    help="Revoke the keys of a person, or one public key.",
    params=[click.Argument(["who"])],
)
@click.pass_obj
def revoke(io: Io, /, who: str) -> int:
    """Revoke the keys of a principal, or one key."""
    repository = io.find_repository()
    signers = read_file(repository)[1]
    is_key = who.endswith(".pub") or Path(f"{io.path(who)}.pub").is_file()
    raw = blob_of(read_key(io, who)[1]) if is_key else None
    gone = [each for each in signers if each.principal == who.lower() or each.key == raw]
    if not gone:
        raise UsageError(
            f"{who!r} is not listed in {SIGNERS}: see `cli-guard signers list`"
        )
    write_file(repository, REVOKED, revocation_list(repository, gone, io))
    io.say(
        f"cli-guard: {len(gone)} key{'s' if len(gone) > 1 else ''} of {gone[0].principal} revoked"
    )
    io.say(
        f"commit {REVOKED}: from then on no approval of it counts, not even an older one"
    )
    return 0


@command.command(
    "fetch",
    help="Fetch the signed approvals of a remote.",
    params=[click.Argument(["remote"], default="origin")],
)
@click.pass_obj
def fetch(io: Io, /, remote: str) -> int:
    """Fetch the signed approvals of a remote, and merge them with those here."""
    repository = io.find_repository()
    records = Records(repository.state_folder)
    records.prepare()
    with lock(records.folder / "notes"):
        found = fetch_as_user(repository, remote, io.env)
    done = "merged the approvals" if found else "there are no approvals"
    io.say(f"cli-guard: {done} of {printable(remote)} ({REF})")
    return 0


def revocation_list(repository: Repository, gone: Sequence[Signer], io: Io) -> bytes:
    """Return the key revocation list with some keys added (ssh-keygen(1), `-k`). Raises CliGuardError."""
    file = repository.root / REVOKED
    before = file.read_bytes() if file.exists() else b""
    listed = "".join(f"{each.public_key}\n" for each in gone).encode("ascii")
    update = ("-u",) if before else ()
    with scratch_files({"krl": before, "keys": listed}) as (krl, keys):
        code, said, _ = run_ssh_keygen("-k", *update, "-f", krl, keys, env=io.env)
        if code:
            raise CliGuardError(f"{REVOKED} cannot be written: {said}")
        return Path(krl).read_bytes()
