"""The keys of this user: which of them is enrolled, how surely it proves a person, and signing with it."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cli_guard.approvals.signatures import (
    NAMESPACE,
    Signature,
    agent_keys,
    blob_of,
    parse,
    read_public_key,
    run_ssh_keygen,
    scratch_files,
    sign,
    verify,
)
from cli_guard.approvals.signers import REVOKED, SIGNERS, Signer, Signers, parse_signers
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.lazy import frozen
from cli_guard.model import Presence
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Env

KEY_FILES = ("id_ed25519_sk", "id_ecdsa_sk", "id_ed25519", "id_ecdsa", "id_rsa")


@frozen
class Key:
    """A key that can sign: the enrolled signer, and the file by which ssh-keygen finds it ("" for one of an agent)."""

    signer: Signer
    path: str = ""

    @property
    def best(self) -> Presence:
        """Return the highest level that the key can reach."""
        return Presence.VERIFIED if self.signer.is_security_key else Presence.KEY


def choose_key(
    repository: Repository,
    env: Env,
    wanted: Presence,
    what: str,
    named: str = "",
) -> tuple[Key | None, Signers]:
    """Return this user's key, None without one, and the signers at HEAD.

    Raises CliGuardError, with what to do, if the key cannot reach the level that policy wants for `what`.
    """
    signers = Signers.at_commit(repository, repository.head)
    key = find_key(signers, repository, env, named)
    why = "" if key or wanted is Presence.TTY else explain_no_key(signers, repository, env)
    require_presence(key.best if key else Presence.TTY, wanted, what, why)
    return key, signers


def find_key(
    signers: Signers, repository: Repository, env: Env, named: str = ""
) -> Key | None:
    """Return the enrolled key of this user that is not revoked, None without one.

    A security key comes first. Raises CliGuardError if the `named` one cannot be read, or does not count.
    """
    if named:
        path = user_path(named, repository, env)
        kind, text, _ = read_public_key(path)
        if signer := signers.by_key.get(blob_of(text) or b""):
            return Key(signer, str(path))
        raise UsageError(
            f"the {kind} key {named} is not in {SIGNERS} at HEAD: enrol it with `cli-guard signers add {named}`,"
            " and commit that first"
        )
    if not signers.known:
        return None
    own = (
        (signers.by_key.get(blob_of(text) or b""), path)
        for (_, text, _), path in own_keys(repository, env)
    )
    found = [Key(signer, path) for signer, path in own if signer]
    found.sort(key=lambda each: not each.signer.is_security_key)
    krl = signers.revoked
    return next(
        (each for each in found if not krl or not is_revoked(krl, each.signer, env)), None
    )


def user_path(name: str, repository: Repository, env: Env) -> Path:
    """Resolve a path of the user: `~/` is the home folder, and a relative one begins at the command's folder."""
    home = name.startswith("~/")
    return Path(env.get("HOME", "~"), name[2:]) if home else repository.git.cwd / name


def own_keys(
    repository: Repository, env: Env
) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Yield the public keys of this user (type, base64, comment), each with its file, "" for one of the agent.

    First that of Git, then those in ~/.ssh.
    """
    paths = [Path(env.get("HOME", "/nonexistent"), ".ssh", name) for name in KEY_FILES]
    configured = repository.config("user.signingKey") or ""
    if configured and not configured.startswith(("key::", "ssh-")):
        paths.insert(0, user_path(configured, repository, env))
    for path in paths:
        public = path if path.suffix == ".pub" else path.with_name(f"{path.name}.pub")
        if public.is_file():
            with suppress(CliGuardError):  # a broken file beside the right one
                yield read_public_key(public), str(path)
    yield from ((key, "") for key in agent_keys(env))


def is_revoked(krl: bytes, signer: Signer, env: Env) -> bool:
    """Return whether a list of revoked keys names a key (ssh-keygen(1), `-Q`). Raises CliGuardError."""
    public = f"{signer.public_key}\n".encode("ascii")
    with scratch_files({"krl": krl, "key.pub": public}) as (revoked, key):
        said = run_ssh_keygen("-Q", "-f", revoked, key, env=env)[1]
    return said.endswith("REVOKED")


def explain_no_key(signers: Signers, repository: Repository, env: Env) -> str:
    """Say why a key of this user does not count, "" if none is enrolled. Raises ConfigError, GitError."""
    file = repository.root / SIGNERS
    own = {blob_of(text) for (_, text, _), _ in own_keys(repository, env)}
    if own & signers.by_key.keys():
        return f"your key is revoked in {REVOKED}"
    coming = parse_signers(file.read_bytes(), SIGNERS)[0] if file.is_file() else ()
    said = f"your key is in {SIGNERS}, but not committed yet: commit {SIGNERS} first"
    return said if any(each.key in own for each in coming) else ""


def sign_payload(
    payload: bytes,
    key: Key,
    signers: Signers,
    env: Env,
    namespace: str = NAMESPACE,
) -> tuple[str, Signature]:
    """Sign, and verify what was signed; return the armored signature and what it says. Raises CliGuardError."""
    signer = key.signer
    armored = sign(payload, key.path, env, namespace, public_key=signer.public_key)
    made = parse(armored)
    line = signer.allows(namespace)
    problem = verify(
        payload, armored, line, signer.principal, env, signers.revoked, namespace
    )
    if problem or made.key != signer.key:
        raise CliGuardError(
            f"the signature of {signer.principal} does not verify: {problem or 'another key'}"
        )
    return armored, made


def require_presence(level: Presence, wanted: Presence, what: str, why: str = "") -> None:
    """Raise CliGuardError if a presence level is lower than policy wants, with `why`, or else what to enrol."""
    if level.rank >= wanted.rank:
        return
    how = {
        Presence.KEY: f"enrol a key with `cli-guard signers init`, and commit {SIGNERS} first",
        Presence.TOUCH: "enrol a security key (`ssh-keygen -t ed25519-sk`) with `cli-guard signers add`",
        Presence.VERIFIED: "use a security key made with `ssh-keygen -t ed25519-sk -O verify-required`",
    }[wanted]
    raise CliGuardError(
        f"policy wants {wanted} for {what}, and this approval reaches {level}: {why or how}"
    )
