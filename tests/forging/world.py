"""A repository with signers and a risky change, and the tools of a forger: any statement, key, note and state file."""

import base64
import json
import os
import shutil
import struct
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from authenticators import (
    Key,
    PlainKey,
    SecurityKey,
    expand_seed,
    pack,
    running_agent,
    sshsig,
)
from in_process import RISKY, Terminal, call
from repositories import Done, Repo, isolated_environment

NAMESPACE = "cli-guard-approval@v1"
NOTES = "refs/notes/cli-guard"
SIGNERS = ".cli-guard/signers"
REVOKED = ".cli-guard/revoked"
KEY, TOUCH, VERIFIED, SECOND = (
    f'[approvals]\ncritical = "{level}"\nhigh = "{level}"\n'
    for level in ("key", "touch", "verified", "second")
)
# The file with the statement of the usual change.
STATEMENT = "statement.json"
TWO = f'{KEY}threshold = {{"**" = 2}}\n'
# A line of signers: `signers add` writes the same.
BOUND = f'namespaces="{NAMESPACE}"'

needs_ssh_keygen = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="ssh-keygen is missing"
)


def seed(name: str) -> bytes:
    return name.encode().ljust(32, b".")


ADA, BOB, MALLORY, CAROL = (
    PlainKey(seed(name), name) for name in ("ada", "bob", "mallory", "carol")
)
ADA_MAIL, BOB_MAIL, MALLORY_MAIL, CAROL_MAIL = (
    f"{name}@example.org" for name in ("ada", "bob", "mallory", "carol")
)
PEOPLE = {"ada": ADA, "bob": BOB, "mallory": MALLORY, "carol": CAROL}


def security_key(flags: int = 0x01, *, of: str = "ada", counter: int = 1) -> SecurityKey:
    """The security key of a person, whose next signature carries these flags."""
    return SecurityKey(seed(f"{of}-sk"), comment=f"{of}-sk", flags=flags, counter=counter)


def private_key_file(key: PlainKey) -> str:
    """The text of an unencrypted private key (OpenSSH PROTOCOL.key)."""
    public = expand_seed(key.seed)[2]
    section = struct.pack(">II", 7, 7) + pack(
        key.algorithm, public, key.seed + public, key.comment
    )
    section += bytes(range(1, 1 + -len(section) % 8))
    whole = (
        b"openssh-key-v1\0"
        + pack("none", "none", b"")
        + struct.pack(">I", 1)
        + pack(key.blob, section)
    )
    lines = textwrap.wrap(base64.b64encode(whole).decode(), 70)
    return "\n".join(
        [
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            *lines,
            "-----END OPENSSH PRIVATE KEY-----",
            "",
        ]
    )


def signer(principal: str, key: Key, options: str = BOUND) -> str:
    """A line of the signers file."""
    return " ".join(each for each in (principal, options, key.public_line()) if each)


def canonical(value: Any) -> str:
    """JSON in the one form that counts: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def envelope(payload: str, signature: str) -> str:
    """A line of a note."""
    return canonical({"payload": payload, "signature": signature})


def signed(
    statement: Mapping[str, Any] | str,
    key: Key,
    namespace: str = NAMESPACE,
    hash_name: str = "sha512",
) -> str:
    """A statement, or any text in its place, signed by a key: a line of a note."""
    payload = statement if isinstance(statement, str) else canonical(statement)
    return envelope(
        payload, sshsig(key, payload.encode("utf-8", "surrogatepass"), namespace, hash_name)
    )


def changed(statement: Mapping[str, Any], **values: Any) -> dict[str, Any]:
    """A copy of a statement, with other values in its predicate."""
    copy: dict[str, Any] = json.loads(json.dumps(statement))
    copy["predicate"] |= values
    return copy


def with_subject(
    statement: Mapping[str, Any], name: str, digest: Mapping[str, str] | None
) -> dict[str, Any]:
    """A copy of a statement, with another digest of a subject, or without the subject."""
    copy: dict[str, Any] = json.loads(json.dumps(statement))
    copy["subject"] = [each for each in copy["subject"] if each["name"] != name]
    if digest is not None:
        copy["subject"].append({"digest": dict(digest), "name": name})
    return copy


@dataclass(frozen=True)
class World:
    """A repository in the hands of one person."""

    repo: Repo
    folder: Path
    # Where the judged range begins: what was recorded before the change.
    marks: dict[str, str] = field(default_factory=dict)
    # What has `cli-guard` loaded, for the hook of a server: see preloaded.py.
    preloaded: Path | None = None
    # What this is a copy of, with and without the usual change, and its index: see `copy_world`.
    origin: Path | None = None
    changed: Path | None = None
    index: bytes = b""

    @property
    def base(self) -> str:
        return self.marks["base"]

    @property
    def state(self) -> Path:
        return self.repo.path / ".git" / "cli-guard"

    def by(self, name: str, **variables: str) -> "World":
        """The same repository in the hands of another person."""
        return replace(
            self, repo=Repo(self.repo.path, person(self.folder, name) | variables)
        )

    def guard(
        self, *argv: str, env: Mapping[str, str] | None = None, **options: Any
    ) -> Done:
        return call(self.repo.path, self.repo.env | dict(env or {}), *argv, **options)

    def record(self, message: str, files: Mapping[str, str | bytes] | None = None) -> str:
        """Commit files without a hook."""
        return self.repo.commit(message, dict(files or {}))

    def start_here(self) -> str:
        """From now on, what is committed is the change that is judged."""
        self.marks["base"] = self.repo.git("rev-parse", "HEAD")
        return self.base

    def set_base(self, files: Mapping[str, str | bytes]) -> str:
        """Record files before the change."""
        self.record("Before", files)
        return self.start_here()

    def set_policy(self, text: str, **files: str) -> str:
        return self.set_base({"cli-guard.toml": text, **files})

    def set_signers(self, *lines: str) -> str:
        """Have these lines and no others in the signers file before the change."""
        return self.set_base(
            {SIGNERS: "".join(f"{line}\n" for line in (self.repository_line(), *lines))}
        )

    def repository_line(self) -> str:
        return f"# repository {self.root()}"

    def root(self) -> str:
        return self.repo.git("rev-list", "--max-parents=0", "HEAD")

    def stage(self, files: Mapping[str, str | bytes] | None = None) -> None:
        for name, content in (files or {"report.py": RISKY}).items():
            self.repo.write(name, content)
        self.repo.git("add", "-A")

    def change(self, files: Mapping[str, str | bytes] | None = None) -> dict[str, Any]:
        """Commit a risky change; return the statement that would approve it."""
        if files is None and self.changed and self.is_untouched():
            shutil.copytree(
                self.changed / "repo", self.repo.path, dirs_exist_ok=True, symlinks=True
            )
            self.repo.git("update-index", "-q", "--refresh")
            return read_statement(self.changed)
        self.stage(files)
        statement = self.statement()
        self.record("Add the report")
        return statement

    def is_untouched(self) -> bool:
        """Whether this is still what it is a copy of, in the hands of Ada: every file but what Git notes of times."""
        return (
            self.origin is not None
            and self.repo.env == person(self.folder, "ada")
            and (self.repo.path / ".git/index").read_bytes() == self.index
            and contents(self.folder) == contents(self.origin)
        )

    def statement(self, principal: str = ADA_MAIL, **values: Any) -> dict[str, Any]:
        """The statement of an approval of what is staged, as `approve` would write it."""
        before = set(self.pending())
        done = self.guard("hook", "pre-commit")
        assert done.code == 3, done.all
        [review_id] = [name for name in self.pending() if name not in before] or list(
            before
        )
        asked = json.loads((self.state / "waiting" / f"{review_id}.json").read_text())
        report = json.loads((self.state / "last-report.json").read_text())
        found = {
            each["fingerprint"]: each
            for each in (*report["findings"], *report["suppressed"])
            if each["fingerprint"] in asked["fingerprints"]
        }
        tree = self.repo.git("write-tree")
        blobs = {}
        for entry in self.repo.git("ls-files", "-s", "-z").rstrip("\0").split("\0"):
            about, _, path = entry.partition("\t")
            blobs[path] = about.split()[1]
        files = {
            f"file:{each['path']}": blobs[each["path"]]
            for each in found.values()
            if each["path"] in blobs
        }
        base, parent = self.repo.git("rev-parse", "HEAD^{tree}", "HEAD").split()
        return make_statement(
            content=asked["content"],
            tree=tree,
            base=base,
            parent=parent,
            files=files,
            findings=[(each["fingerprint"], each["rule"]) for each in found.values()],
            policy=asked["shared"],
            principal=principal,
            repository=[self.root()],
            **values,
        )

    def payload(self) -> dict[str, Any]:
        """The statement in the only line of the notes."""
        [line] = self.lines()
        statement: dict[str, Any] = json.loads(json.loads(line)["payload"])
        return statement

    def pending(self) -> list[str]:
        return sorted(path.stem for path in (self.state / "waiting").glob("*.json"))

    def forget(self) -> None:
        """Remove what cli-guard remembers in this clone: pending reviews, approvals, the audit log."""
        shutil.rmtree(self.state, ignore_errors=True)

    def note(self, line: str | bytes, *objects: str, ref: str = NOTES) -> None:
        """Append a line to the note on objects: the tree and the files of HEAD, unless others are named."""
        raw = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        listed = self.repo.try_git("notes", f"--ref={ref}", "list").out.splitlines()
        old = {noted: blob for blob, noted in (each.split() for each in listed)}
        # What has the same note before has the same after, and a blob is written once.
        blobs: dict[str, str] = {}
        for each in dict.fromkeys(objects or self.noted()):
            before = old.get(each, "")
            if before not in blobs:
                text = (
                    self.repo.run("git", "cat-file", "-p", before).out.encode()
                    if before
                    else b""
                )
                blobs[before] = self.repo.git(
                    "hash-object", "-w", "--stdin", stdin=text + raw + b"\n"
                )
            self.repo.git("notes", f"--ref={ref}", "add", "-f", "-C", blobs[before], each)

    def noted(self, commit: str = "HEAD") -> list[str]:
        """What an approval of a commit is noted on: its tree, and each file that it changes."""
        changed = self.repo.git(
            "diff-tree", "-r", "--no-commit-id", "--no-renames", self.base, commit
        ).splitlines()
        blobs = [line.split()[3] for line in changed]
        return [
            self.repo.git("rev-parse", f"{commit}^{{tree}}"),
            *(each for each in blobs if set(each) != {"0"}),
        ]

    def lines(self, ref: str = NOTES) -> list[str]:
        """Every different line of every note."""
        listed = self.repo.try_git("notes", f"--ref={ref}", "list").out.split()
        texts = (
            self.repo.git("cat-file", "-p", blob) for blob in dict.fromkeys(listed[::2])
        )
        return list(
            dict.fromkeys(line for text in texts for line in text.splitlines() if line)
        )

    def verify(self, where: str = "", **options: Any) -> Done:
        """Verify the change, as CI does."""
        return self.guard("verify", "--range", where or f"{self.base}..HEAD", **options)

    def verify_as(self, style: str) -> Done:
        """Verify the change, with the report in a format."""
        return self.guard("verify", "--range", f"{self.base}..HEAD", "--format", style)

    def hook(self, **options: Any) -> Done:
        """Run the commit hook on what HEAD records, staged on top of the base."""
        self.repo.git("reset", "-q", "--soft", self.base)
        done = self.guard("hook", "pre-commit", **options)
        self.repo.git("reset", "-q", "--soft", "ORIG_HEAD")
        return done

    def hook_on_staged(self) -> Done:
        return self.guard("hook", "pre-commit")

    def approve(
        self, *argv: str, answer: str = "yes", env: Mapping[str, str] | None = None
    ) -> Done:
        """Run `cli-guard approve` at a terminal that a program pretends."""
        return self.guard("approve", *argv, stdin=Terminal(f"{answer}\n"), env=env)

    def key_file(self, name: str) -> Path:
        """The private key of a person."""
        return self.folder / name / ".ssh" / "id_ed25519"

    @contextmanager
    def agent(self, *keys: Key, **options: Any) -> Iterator[dict[str, str]]:
        """Run an agent with keys; yield what the environment needs to reach it."""
        with (
            tempfile.TemporaryDirectory(prefix="cg-agent-") as folder,
            running_agent(keys, folder, **options) as path,
        ):
            yield {"SSH_AUTH_SOCK": path}

    def approve_with(self, key: Key, *argv: str) -> Done:
        """Approve with a key that only an agent holds."""
        public = self.folder / "agent.pub"
        public.write_text(f"{key.public_line()}\n")
        with self.agent(key) as env:
            return self.approve(*argv, "--key", str(public), env=env)


def make_statement(
    *,
    content: str,
    tree: str,
    base: str,
    files: Mapping[str, str],
    findings: Sequence[tuple[str, str]],
    parent: str,
    policy: str,
    principal: str,
    repository: Sequence[str],
    **values: Any,
) -> dict[str, Any]:
    """A statement, field by field."""
    subjects = [
        {"digest": {"sha256": content}, "name": "content"},
        {"digest": {"gitTree": tree}, "name": "tree"},
        {"digest": {"gitTree": base}, "name": "base"},
        {"digest": {"gitCommit": parent}, "name": "parent"},
        *(
            {"digest": {"gitBlob": blob}, "name": name}
            for name, blob in sorted(files.items())
        ),
    ]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "predicate": {
            "at": "2026-10-02T12:00:00+00:00",
            "decision": "approve",
            "expires": "",
            "findings": [
                {"fingerprint": each, "rule": rule} for each, rule in sorted(findings)
            ],
            "policy": policy,
            "principal": principal,
            "reason": "",
            "repository": list(repository),
            "version": "0.1.0",
        }
        | values,
        "predicateType": "cli-guard/approval/v1",
        "subject": subjects,
    }


def person(folder: Path, name: str) -> dict[str, str]:
    """The environment of a person, in a home with a key."""
    env = isolated_environment(folder / name)
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in name_and_mail(name)
    }
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-10-01T12:00:00Z")
    return env | who | dates | {"CLI_GUARD_SERVER": "0"}


def name_and_mail(name: str) -> list[tuple[str, str]]:
    return [("NAME", name.title()), ("EMAIL", f"{name}@example.org")]


def build(folder: Path) -> None:
    """The world that every forgery begins with: signers Ada, Bob and Ada's security key, and a policy."""
    folder.mkdir()
    for name, key in PEOPLE.items():
        home = folder / name / ".ssh"
        home.mkdir(parents=True, mode=0o700)
        private = home / "id_ed25519"
        private.write_text(private_key_file(key))
        private.chmod(0o600)
        Path(f"{private}.pub").write_text(f"{key.public_line()}\n")
    (folder / "ada-sk.pub").write_text(f"{security_key().public_line()}\n")
    world = World(Repo.create(folder / "repo", person(folder, "ada")), folder)
    world.record("Start", {"app.py": "x = 1\n"})
    keys = (
        (ADA_MAIL, "ada/.ssh/id_ed25519.pub"),
        (BOB_MAIL, "bob/.ssh/id_ed25519.pub"),
        (ADA_MAIL, "ada-sk.pub"),
    )
    for mail, file in keys:
        done = world.guard("signers", "add", str(folder / file), "--principal", mail)
        assert done.code == 0, done.all
    world.record(
        "Say who approves",
        {"cli-guard.toml": '[approvals]\ncritical = "key"\nhigh = "key"\n'},
    )
    world.forget()


def build_changed(origin: Path, folder: Path) -> None:
    """A copy of a world after `change`, and the statement that would approve that."""
    world = copy_world(origin, folder)
    (folder / STATEMENT).write_text(json.dumps(world.change()))


def read_statement(changed: Path) -> dict[str, Any]:
    statement: dict[str, Any] = json.loads((changed / STATEMENT).read_text())
    return statement


def copy_world(origin: Path, folder: Path, **values: Any) -> World:
    """A copy of a world, in Ada's hands; what it holds is what was recorded before the change."""
    shutil.copytree(origin, folder, symlinks=True)
    repo = Repo(folder / "repo", person(folder, "ada"))
    # The index knows each file by its inode.
    repo.git("update-index", "-q", "--refresh")
    world = World(
        repo, folder, origin=origin, index=(repo.path / ".git/index").read_bytes(), **values
    )
    world.start_here()
    return world


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The mode and the content of each file and link below a folder, but for the index of its repository."""
    found = {}
    for name, _, files in os.walk(folder):
        for file in files:
            path = Path(name, file)
            content = (
                os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            )
            found[str(path.relative_to(folder))] = (path.lstat().st_mode, content)
    found.pop("repo/.git/index")
    return found


def sign_all(world: World, statement: dict[str, Any], *pairs: tuple[str, Key]) -> None:
    for principal, key in pairs:
        world.note(signed(changed(statement, principal=principal), key))


def new_signers(world: World, *lines: str) -> str:
    """The signers file before the change, with these lines after it."""
    old = world.repo.git("show", f"{world.base}:{SIGNERS}")
    return "\n".join([old, *lines, ""])
