"""A repository with signers and a risky change, and the tools of a forger: any statement, key, note and state file."""

import base64
import hashlib
import json
import os
import shutil
import struct
import tempfile
import textwrap
import zlib
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
from watching import make_once

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
    # What the hook said of worlds like this one, for all tests of a session: see `statement`.
    kept: Path | None = None
    # What `noted` said of a base and a commit.
    noted_before: dict[tuple[str, str], list[str]] = field(default_factory=dict)

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
        self.marks["base"] = self.repo.head()
        return self.base

    def set_base(self, files: Mapping[str, str | bytes]) -> str:
        """Record files before the change."""
        self.marks["base"] = self.record("Before", files)
        return self.base

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
        self.stage(files)
        statement = self.statement()
        self.record("Add the report")
        return statement

    def statement(self, principal: str = ADA_MAIL, **values: Any) -> dict[str, Any]:
        """The statement of an approval of what is staged, as `approve` would write it.

        The hook judges a world once: where another test has the very same, its answer is taken, and what it remembered.
        """
        tree = self.repo.git("write-tree")
        if self.kept is None:
            return changed(self.judge_staged(tree), principal=principal, **values)

        def judge(folder: Path) -> None:
            statement = self.judge_staged(tree)
            shutil.copytree(self.state, folder / "state")
            (folder / STATEMENT).write_text(json.dumps(statement))

        judged = make_once(self.kept / self.digest(tree), judge)
        shutil.rmtree(self.state, ignore_errors=True)
        shutil.copytree(judged / "state", self.state)
        for waiting in (self.state / "waiting").glob("*.json"):
            review = json.loads(waiting.read_text())
            waiting.write_text(json.dumps({**review, "root": str(self.repo.path / ".git")}))
        statement = json.loads((judged / STATEMENT).read_text())
        return changed(statement, principal=principal, **values)

    def digest(self, tree: str) -> str:
        """A hash of all that the hook may read: every file but objects and logs, and whose hands this is in."""
        env = {
            name: value.replace(str(self.folder), "")
            for name, value in self.repo.env.items()
            if not name.startswith("PYTEST_")
        }
        whole = (tree, sorted(env.items()), sorted(contents(self.folder).items()))
        return hashlib.sha256(repr(whole).encode()).hexdigest()

    def judge_staged(self, tree: str) -> dict[str, Any]:
        """Have the hook judge what is staged; the statement of Ada's approval."""
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
            findings=[
                {
                    "fingerprint": mark,
                    "rule": each["rule"],
                    "lines": asked["lines"].get(mark, ""),
                }
                for mark, each in sorted(found.items())
            ],
            policy=asked["shared"],
            repository=[self.root()],
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
        """Append a line to the note on objects: the tree and the files of HEAD, unless others are named.

        What `git notes append` writes, without its nine processes a line.
        """
        raw = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        notes = self.notes(ref)
        texts = {
            each: self.read(notes[each]) if each in notes else b""
            for each in objects or self.noted()
        }
        notes |= {
            each: self.write("blob", text + raw + b"\n") for each, text in texts.items()
        }
        tree = b"".join(
            b"100644 %s\0%s" % (each.encode(), bytes.fromhex(blob))
            for each, blob in sorted(notes.items())
        )
        before = self.tip(ref)
        parent = f"parent {before}\n" if before else ""
        who = "Ada <ada@example.org> 1790856000 +0000"
        commit = f"tree {self.write('tree', tree)}\n{parent}author {who}\ncommitter {who}\n\nNotes\n"
        path = self.repo.path / ".git" / ref
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{self.write('commit', commit.encode())}\n")

    def tip(self, ref: str) -> str:
        """The commit of a ref, nothing if there is none."""
        path = self.repo.path / ".git" / ref
        if path.exists():
            return path.read_text().strip()
        return self.repo.try_git("rev-parse", "-q", "--verify", ref).out.strip()

    def notes(self, ref: str) -> dict[str, str]:
        """The blob of each note."""
        if not self.tip(ref):
            return {}
        listed = self.repo.try_git("notes", f"--ref={ref}", "list").out.splitlines()
        return {noted: blob for blob, noted in (each.split() for each in listed)}

    def object_file(self, name: str) -> Path:
        return self.repo.path / ".git" / "objects" / name[:2] / name[2:]

    def read(self, blob: str) -> bytes:
        """The content of a blob."""
        if self.object_file(blob).exists():
            return zlib.decompress(self.object_file(blob).read_bytes()).partition(b"\0")[2]
        return self.repo.run("git", "cat-file", "-p", blob).out.encode()

    def write(self, kind: str, content: bytes) -> str:
        """Write an object; its name."""
        whole = f"{kind} {len(content)}\0".encode() + content
        name = hashlib.sha1(whole).hexdigest()
        path = self.object_file(name)
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.write_bytes(zlib.compress(whole, 1))
        return name

    def noted(self, commit: str = "HEAD") -> list[str]:
        """What an approval of a commit is noted on: its tree, and each file that it changes."""
        at = (self.base, self.repo.head() if commit == "HEAD" else commit)
        if at not in self.noted_before:
            self.noted_before[at] = self.list_noted(*at)
        return self.noted_before[at]

    def list_noted(self, base: str, commit: str) -> list[str]:
        changed = self.repo.git(
            "diff-tree", "-r", "--no-commit-id", "--no-renames", base, commit
        ).splitlines()
        blobs = [line.split()[3] for line in changed]
        return [
            self.repo.git("rev-parse", f"{commit}^{{tree}}"),
            *(each for each in blobs if set(each) != {"0"}),
        ]

    def lines(self, ref: str = NOTES) -> list[str]:
        """Every different line of every note."""
        texts = (
            self.read(blob).decode("utf-8", "replace")
            for blob in dict.fromkeys(self.notes(ref).values())
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
    findings: Sequence[Mapping[str, str]],
    parent: str,
    policy: str,
    repository: Sequence[str],
) -> dict[str, Any]:
    """The statement of Ada's approval, field by field."""
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
            "findings": list(findings),
            "policy": policy,
            "principal": ADA_MAIL,
            "reason": "",
            "repository": list(repository),
            "version": "0.1.0",
        },
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


def copy_world(origin: Path, folder: Path, **values: Any) -> World:
    """A copy of a world, in Ada's hands; what it holds is what was recorded before the change."""
    shutil.copytree(origin, folder, symlinks=True)
    repo = Repo(folder / "repo", person(folder, "ada"))
    # The index knows each file by its inode.
    repo.git("update-index", "-q", "--refresh")
    world = World(repo, folder, **values)
    world.start_here()
    return world


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The mode and the content of each file and link of a world, but for its objects, its index and what Git logs."""
    found = {}
    for name, folders, files in os.walk(folder):
        if Path(name, "objects").is_dir():
            folders[:] = [each for each in folders if each not in ("objects", "logs")]
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
