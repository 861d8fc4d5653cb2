"""Sign an approval: choose the key, build the statement, sign it, verify it, and store it here and in Git's notes."""

import datetime
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cli_guard.approvals.signatures import (
    NAMESPACE,
    Signature,
    agent_keys,
    blob_of,
    parse,
    read_public_key,
    run_ssh_keygen,
    sign,
    verify,
)
from cli_guard.approvals.signers import (
    REVOKED,
    SIGNERS,
    Signer,
    Signers,
    parse_signers,
)
from cli_guard.approvals.statements import BREAK_GLASS, Envelope, Statement
from cli_guard.errors import CliGuardError, GitError, UsageError
from cli_guard.git.notes import add_note
from cli_guard.model import Finding, Presence
from cli_guard.repository.protocol import Repository
from cli_guard.review.policy import policy_for
from cli_guard.review.request import Staged
from cli_guard.runtime import Invocation
from cli_guard.state.files import lock
from cli_guard.state.records import PendingReview, Records

KEY_FILES = ("id_ed25519_sk", "id_ecdsa_sk", "id_ed25519", "id_ecdsa", "id_rsa")


@dataclass(frozen=True, slots=True)
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
    env: Mapping[str, str],
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
    signers: Signers, repository: Repository, env: Mapping[str, str], named: str = ""
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
            " and have that committed first"
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


def user_path(name: str, repository: Repository, env: Mapping[str, str]) -> Path:
    """Resolve a path of the user: `~/` is the home folder, and a relative one begins at the command's folder."""
    home = name.startswith("~/")
    return Path(env.get("HOME", "~"), name[2:]) if home else repository.git.cwd / name


def own_keys(
    repository: Repository, env: Mapping[str, str]
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


def is_revoked(krl: bytes, signer: Signer, env: Mapping[str, str]) -> bool:
    """Return whether a list of revoked keys names a key (ssh-keygen(1), `-Q`). Raises CliGuardError."""
    with tempfile.TemporaryDirectory(prefix="cli-guard-") as folder:
        revoked = Path(folder, "krl")
        key = Path(folder, "key.pub")
        revoked.write_bytes(krl)
        key.write_text(f"{signer.public_key}\n", "ascii")
        return run_ssh_keygen("-Q", "-f", str(revoked), str(key), env=env)[1].endswith(
            "REVOKED"
        )


def explain_no_key(signers: Signers, repository: Repository, env: Mapping[str, str]) -> str:
    """Say why a key of this user does not count, "" if none is enrolled. Raises ConfigError, GitError."""
    file = repository.root / SIGNERS
    own = {blob_of(text) for (_, text, _), _ in own_keys(repository, env)}
    if own & signers.by_key.keys():
        return f"your key is revoked in {REVOKED}"
    coming = parse_signers(file.read_bytes(), SIGNERS)[0] if file.is_file() else ()
    said = f"your key is in {SIGNERS}, but not committed yet: commit {SIGNERS} first"
    return said if any(each.key in own for each in coming) else ""


@dataclass(frozen=True, slots=True)
class Signed:
    """A statement that was signed, and the presence that its signature proves."""

    statement: Statement
    envelope: Envelope
    level: Presence
    counter: int | None = None

    def audit_details(self) -> dict[str, object]:
        """Return what the audit log says of it."""
        return {
            "level": str(self.level),
            "principal": self.statement.principal,
            "statement": self.envelope.digest,
            **({"expires": self.statement.expires} if self.statement.expires else {}),
            **({"counter": self.counter} if self.counter is not None else {}),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement that is ready to be signed, and the presence that policy wants of the signature."""

    statement: Statement
    key: Key
    signers: Signers
    wanted: Presence
    env: Mapping[str, str] = field(repr=False)

    def describe(self) -> str:
        """Return who signs what, in one line, before it is signed."""
        digest = hashlib.sha256(self.statement.canonical()).hexdigest()[:10]
        return f"signs as {self.key.signer.principal} with a key of type {self.key.signer.kind}: statement {digest}"

    def sign(self) -> Signed:
        """Sign. Raises CliGuardError if that fails, or proves less than policy wants."""
        payload = self.statement.canonical()
        armored, made = sign_payload(payload, self.key, self.signers, self.env)
        require_presence(
            made.presence,
            self.wanted,
            ", ".join(sorted(set(self.statement.findings.values()))),
        )
        return Signed(
            self.statement, Envelope(payload, armored), made.presence, made.counter
        )


def plan_signature(
    repository: Repository,
    review: PendingReview,
    findings: Sequence[Finding],
    invocation: Invocation,
    named: str = "",
    expires: datetime.timedelta | None = None,
    reason: str = "",
) -> Plan | None:
    """Return what is to be signed, None if this user has no enrolled key. Raises CliGuardError if policy wants one."""
    env = invocation.env
    rules = ", ".join(sorted({each.rule for each in findings}))
    policy, _ = policy_for(Staged(), repository, env)
    # A second person, and a number of people, can only be asked for once the change is recorded.
    levels = (policy.need_for(each).level for each in findings)
    wanted = Presence.highest(
        Presence.KEY if each is Presence.SECOND else each for each in levels
    )
    key, signers = choose_key(repository, env, wanted, rules, named)
    if key is None:
        if expires:
            raise UsageError(
                "--expires needs an enrolled key: see `cli-guard signers init`"
            )
        return None
    made = statement_of(
        repository,
        review,
        findings,
        key,
        signers,
        invocation,
        reason=reason,
        expires=expires,
    )
    return Plan(made, key, signers, wanted, env)


def plan_break_glass(
    repository: Repository,
    commit: str,
    invocation: Invocation,
    named: str,
    expires: datetime.timedelta | None,
    reason: str,
) -> Plan:
    """Return what is to be signed to let one commit pass unverified, for a day by default. Raises CliGuardError."""
    signers = Signers.at_commit(repository, repository.head)
    key = find_key(signers, repository, invocation.env, named)
    if key is None or not reason:
        raise UsageError("--break-glass needs an enrolled key, and --note with the reason")
    now = invocation.now
    made = Statement(
        content=commit,
        policy="",
        findings={},
        principal=key.signer.principal,
        at=now.isoformat(timespec="seconds"),
        repository=signers.repository,
        expires=(now + (expires or datetime.timedelta(days=1))).isoformat(
            timespec="seconds"
        ),
        reason=reason,
        tree=repository.tree_of(commit),
        decision=BREAK_GLASS,
    )
    return Plan(made, key, signers, Presence.KEY, invocation.env)


def sign_payload(
    payload: bytes,
    key: Key,
    signers: Signers,
    env: Mapping[str, str],
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


def statement_of(
    repository: Repository,
    review: PendingReview,
    findings: Sequence[Finding],
    key: Key,
    signers: Signers,
    invocation: Invocation,
    *,
    reason: str = "",
    expires: datetime.timedelta | None = None,
) -> Statement:
    """Return the statement that approves some findings of a pending review. Raises CliGuardError."""
    if repository.is_shallow or not signers.repository:
        raise CliGuardError(
            "the first commits of this clone are cut off: run `git fetch --unshallow`, then approve"
        )
    if not set(signers.repository) <= set(repository.root_commits()):
        raise CliGuardError(
            f"{SIGNERS} names the first commits of another repository: correct its first lines"
        )
    commits = json.loads(review.bound)[0] if review.bound.startswith("[") else []
    tip = commits[-1] if commits else ""
    # What was reviewed, not what is staged a moment later; a commit does not change.
    own = {
        f"{each.commit}:{each.path}": each.path
        for each in findings
        if each.path and each.commit
    }
    found = repository.identify(own)
    blobs = {own[name]: oid for name, (oid, kind) in found.items() if kind == "blob"}
    blobs |= {
        each.path: review.blobs[each.path] for each in findings if each.path in review.blobs
    }
    now = invocation.now
    return Statement(
        content=review.content,
        policy=review.shared,
        findings={each.fingerprint: each.rule for each in findings},
        principal=key.signer.principal,
        at=now.isoformat(timespec="seconds"),
        repository=signers.repository,
        expires=(now + expires).isoformat(timespec="seconds") if expires else "",
        reason=reason,
        tree=repository.tree_of(tip) if tip else staged_tree(repository),
        base=repository.tree_of(repository.head),
        blobs=blobs,
        parent=repository.head or "",
    )


def staged_tree(repository: Repository) -> str:
    """Return the id of the tree that Git would record now; the index is not changed. Raises GitError."""
    index = Path(repository.git.env.get("GIT_INDEX_FILE") or repository.git_dir / "index")
    with tempfile.TemporaryDirectory(prefix="cli-guard-") as folder:
        copy = Path(folder, "index")
        try:
            shutil.copyfile(repository.git.cwd / index, copy)
        except OSError as error:
            raise GitError(f"the index cannot be read: {error.strerror}") from error
        env = {**repository.git.env, "GIT_INDEX_FILE": str(copy)}
        return repository.git.at(repository.git.cwd, env).text("write-tree")


def store_signed(repository: Repository, records: Records, signed: Signed) -> None:
    """Store a signed approval in notes on its tree and files, and here. Raises GitError, OSError."""
    line = signed.envelope.line()
    with lock(records.folder / "notes"):
        add_note(
            repository,
            filter(None, (signed.statement.tree, *signed.statement.blobs.values())),
            line,
        )
    records.approve(line)
