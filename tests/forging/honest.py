"""People with keys of their own, who approve, commit and verify in real repositories."""

import datetime
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from in_process import RISKY, Terminal, approve, guard, waiting
from repositories import Done, Repo, isolated_environment
from watching import make_once

from cli_guard.cli.io import Io
from cli_guard.runtime import Invocation

NOTES = "refs/notes/cli-guard"
POLICY = '[approvals]\nhigh = "key"\ncritical = "key"\n'

needs_ssh_keygen = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="ssh-keygen is missing"
)


def refused_today(reason: str) -> pytest.MarkDecorator:
    """A test of what should be, and is not yet."""
    return pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True)


def risky(name: str = "report") -> str:
    """A module with one finding that needs a person; another name gives another finding."""
    return RISKY.replace("render-report", f"render-{name}")


@dataclass(frozen=True)
class Person:
    """Somebody with a home, a name in Git, and a key in ~/.ssh."""

    name: str
    env: dict[str, str]

    @classmethod
    def create(cls, name: str, folder: Path, *, key: bool = True) -> "Person":
        """A new home, with a new key."""
        person = cls.living(name, folder)
        home = Path(person.env["HOME"])
        (home / ".ssh").mkdir(parents=True, mode=0o700)
        (home / ".gitconfig").write_text(
            f"[user]\n\tname = {name}\n\temail = {person.mail}\n"
        )
        if key:
            make_key(home / ".ssh" / "id_ed25519", f"{name} at work")
        return person

    @classmethod
    def living(cls, name: str, folder: Path) -> "Person":
        """Somebody with a home that was made before, or is made later."""
        who = {f"GIT_{role}_NAME": name for role in ("AUTHOR", "COMMITTER")}
        who |= {
            f"GIT_{role}_EMAIL": f"{name.lower()}@example.org"
            for role in ("AUTHOR", "COMMITTER")
        }
        return cls(name, isolated_environment(folder / f"home of {name}") | who)

    @property
    def mail(self) -> str:
        return self.env["GIT_AUTHOR_EMAIL"]

    @property
    def ssh(self) -> Path:
        """The folder of the person's keys."""
        return Path(self.env["HOME"], ".ssh")

    @property
    def public_key(self) -> Path:
        return self.ssh / "id_ed25519.pub"

    def at(self, repo: Repo) -> Repo:
        """The same repository in the hands of this person."""
        return Repo(repo.path, self.env)

    def clone(self, source: Path, to: Path, *options: str) -> Repo:
        """A clone that belongs to this person. Git ignores `--depth` for a path, not for a URL."""
        command = ("git", "clone", "-q", *options, source.as_uri(), str(to))
        subprocess.run(command, env=self.env, check=True, timeout=60, capture_output=True)
        return Repo(to, self.env)


def make_key(path: Path, comment: str = "", kind: str = "ed25519") -> None:
    """Make a key without a passphrase."""
    command = ("ssh-keygen", "-q", "-t", kind, "-N", "", "-C", comment, "-f", str(path))
    subprocess.run(command, check=True, timeout=60, stdin=subprocess.DEVNULL)


def start(repo: Repo, *people: Person, policy: str = POLICY) -> str:
    """Commit a file, then the policy and the keys of some people; return that commit."""
    repo.commit("Start", {"app.py": "x = 1\n"})
    for each in people:
        done = guard(repo, "signers", "add", str(each.public_key), "--principal", each.mail)
        assert done.code == 0, done.all
    return repo.commit("Say who approves", {"cli-guard.toml": policy})


def build_team(folder: Path) -> None:
    """Homes of Ada and Bob; a repository where they may approve since `base`; one with a commit, and no signers."""
    ada, bob = (Person.create(each, folder) for each in ("Ada", "Bob"))
    signed = Repo.create(folder / "signed", ada.env)
    start(signed, ada, bob)
    signed.git("branch", "base")
    Repo.create(folder / "plain", ada.env).commit("Start", {"app.py": "x = 1\n"})


def copy_team(shared: Path, folder: Path) -> Person:
    """Copy to a folder what `build_team` made, once; return Ada."""
    shutil.copytree(
        make_once(shared / "team", build_team), folder, symlinks=True, dirs_exist_ok=True
    )
    ada = Person.living("Ada", folder)
    for each in ("signed", "plain"):
        Repo(folder / each, ada.env).git("update-index", "-q", "--refresh")
    return ada


def stage(repo: Repo, files: Mapping[str, str | bytes | None]) -> None:
    """Write files, delete those without a content, and stage everything."""
    for name, content in files.items():
        if content is None:
            (repo.path / name).unlink()
        else:
            repo.write(name, content)
    repo.git("add", "-A")


def pending(repo: Repo) -> str:
    """The id of the one review that waits for a person."""
    found = waiting(repo)
    assert len(found) == 1, f"{len(found)} reviews wait for a person, not one"
    return found[0]


def approve_staged(repo: Repo, *options: str, level: str = "key") -> None:
    """What is staged needs a person, who signs; then the hook lets it pass."""
    done = guard(repo, "approve", *options, stdin=Terminal("yes\n"))
    assert done.code == 0, done.all
    assert f"({level})" in done.out, done.all
    passed = guard(repo, "hook", "pre-commit")
    assert passed.code == 0, passed.all


def commit_approved(
    repo: Repo,
    message: str,
    files: Mapping[str, str | bytes | None],
    *options: str,
    level: str = "key",
) -> str:
    """Stage files that need a person, approve them with a key, commit, and return the commit."""
    stage(repo, files)
    approve_staged(repo, *options, level=level)
    repo.git("commit", "-q", "--no-verify", "-m", message)
    return repo.git("rev-parse", "HEAD")


def approve_range(repo: Repo, base: str, head: str = "HEAD", *options: str) -> Done:
    """Approve all of a range that is recorded already."""
    assert guard(repo, "review", "--range", f"{base}..{head}").code == 3
    done = approve(repo, pending(repo), *options)
    assert done.code == 0, done.all
    return done


def verify(repo: Repo, base: str, head: str = "HEAD") -> Done:
    """Verify a range as CI does."""
    return guard(repo, "verify", "--range", f"{base}..{head}")


def assert_verified(repo: Repo, base: str, head: str = "HEAD") -> Done:
    """A range is verified, by the approvals alone: without them it is not."""
    done = verify(repo, base, head)
    assert done.code == 0, done.all
    assert "cli-guard: verified; " in done.out
    assert done.err == ""
    notes = repo.git("rev-parse", NOTES)
    repo.git("update-ref", "-d", NOTES)
    assert verify(repo, base, head).code == 3
    repo.git("update-ref", NOTES, notes)
    return done


def assert_clean(repo: Repo, base: str, head: str = "HEAD") -> None:
    """A range is verified, and nothing in it needs a person."""
    done = verify(repo, base, head)
    assert done.code == 0, done.all
    assert "approved" not in done.out


def rebase(repo: Repo, upstream: str, *todo: str) -> None:
    """Rebase interactively: each word of `todo` is a command, or a commit by its place (`2` is the second)."""
    script = repo.path / ".git" / "todo.py"
    script.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[-1])\n"
        "picks = [line.split(' ', 1)[1] for line in path.read_text().splitlines() if line[:5] == 'pick ']\n"
        "chosen = [each.split('-') for each in sys.argv[1:-1]]\n"
        "path.write_text(''.join(f'{word} {picks[int(at) - 1]}\\n' for word, at in chosen))\n"
    )
    editor = f"'{sys.executable}' '{script}' {' '.join(todo)}"
    repo.git("rebase", "-q", "-i", upstream, env={"GIT_SEQUENCE_EDITOR": editor})


def set_clock(monkeypatch: pytest.MonkeyPatch, days: float) -> None:
    """Have it be some days later for every command in this process."""
    now = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    monkeypatch.setattr(
        Io, "invocation", property(lambda io: Invocation(io.cwd, io.env, now))
    )


def set_policy(repo: Repo, policy: str) -> None:
    """Record a policy without asking anybody; what comes next starts from it (`base`)."""
    repo.commit("Say what needs a person", {"cli-guard.toml": policy})
    repo.git("branch", "-f", "base")


def set_origin(repo: Repo, path: Path, main: str = "main") -> Repo:
    """Make an empty bare repository the `origin` of this one, and push a branch as its main."""
    form = repo.git("rev-parse", "--show-object-format")
    bare = Repo.create(path, repo.env, "--bare", f"--object-format={form}")
    repo.git("remote", "add", "origin", bare.path.as_uri())
    repo.git("push", "-q", "origin", f"{main}:refs/heads/main")
    return bare


def install_server_hook(bare: Repo) -> None:
    """Install what verifies a push, and give it more time than a server has: tests run on machines that are busy."""
    done = guard(bare, "install", "--hook-type", "pre-receive")
    assert done.code == 0, done.all
    hook = bare.path / "hooks" / "pre-receive"
    before = "import run; run()"
    # Without its libraries, as it starts, the module cannot be loaded.
    late = "import cli_guard.cli.pre_receive as it; it.SECONDS = 100; run()"
    after = f"import complete, run; complete(); {late}"
    text = hook.read_text()
    assert before in text
    hook.write_text(text.replace(before, after))
