"""`cli-guard demo`: four real runs of Git in a scratch repository, shown as they are."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError
from cli_guard.lazy import frozen
from cli_guard.state.records import Records

# Assembled here, so that this file itself holds no key.
KEY = "".join(("AKIA", "Z7QW3XNB", "5TRM2LKD"))
TOKEN = "".join(("glpat", "-", "R4mZ8qTn2VbX7cWy5KdL"))

PROMPT = b"[N]o: "

CLEAN = '''"""Arithmetic."""


def add(a: int, b: int) -> int:
    """Gives the sum of two numbers."""
    return a + b
'''
RISKY = '''"""Runs reports."""

import subprocess


def render(name: str) -> None:
    """Renders the report of a name."""
    subprocess.run("render-report " + name, shell=True)
'''


@frozen
class Scratch:
    """A scratch repository, and the terminal that shows its runs."""

    path: Path
    env: dict[str, str]
    io: Io

    def show(self, *command: str, expect: str = "") -> bool:
        """Run a command and show it with its output; return whether it ended as expected.

        `expect` must be in the output; if it ends with a colon, the command must fail as well.
        """
        self.io.say(f"$ {self.format_command(command)}")
        done = subprocess.run(
            command,
            cwd=self.path,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        printed = done.stdout.decode("utf-8", "replace")
        self.io.say(printed)
        return expect in printed and (done.returncode != 0) == expect.endswith(":")

    def show_typing(self, answer: str, *command: str) -> bool:
        """Do the same at a pseudo-terminal, typing an answer at the prompt."""
        self.io.say(f"$ {self.format_command(command)}")
        terminal, other = os.openpty()
        process = subprocess.Popen(
            command, cwd=self.path, env=self.env, stdin=other, stdout=other, stderr=other
        )
        os.close(other)
        shown = b""
        asked = False
        while True:
            try:
                part = os.read(terminal, 65_536)
            except OSError:  # Linux reports the end of a pseudo-terminal as an error, not as an end of file
                break
            if not part:
                break
            shown += part
            if not asked and PROMPT in shown:
                asked = True
                os.write(terminal, f"{answer}\n".encode())
        os.close(terminal)
        self.io.say(shown.decode("utf-8", "replace").replace("\r\n", "\n"))
        return process.wait() == 0

    def format_command(self, command: tuple[str, ...]) -> str:
        """Format a command as it would be typed."""
        words = [
            Path(word).name if index == 0 else word for index, word in enumerate(command)
        ]
        return " ".join(f"'{word}'" if " " in word else word for word in words)

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text, "utf-8")

    def quietly(self, *command: str) -> None:
        """Run a command without showing it. Raises CalledProcessError."""
        subprocess.run(
            command, cwd=self.path, env=self.env, check=True, capture_output=True
        )

    def title(self, text: str) -> None:
        self.io.say(f"\n== {text}\n")


def environment(io: Io, home: Path) -> dict[str, str]:
    """Return an environment with Git's defaults and this cli-guard first on PATH."""
    kept = {name: value for name, value in io.env.items() if not name.startswith("GIT_")}
    kept.pop("SKIP", None)
    kept.pop("CLI_GUARD", None)
    return kept | {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "NO_COLOR": "1",
        # A server would outlive the scratch folder.
        "CLI_GUARD_SERVER": "0",
        "GIT_TERMINAL_PROMPT": "0",  # the hooks must not ask
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{io.env.get('PATH', os.defpath)}",
    }


def set_the_scene(scratch: Scratch) -> None:
    """Create a repository with a remote and the hooks."""
    scratch.quietly("git", "init", "-q", "--bare", "-b", "main", "../remote.git")
    scratch.quietly("git", "init", "-q", "-b", "main")
    scratch.quietly("git", "remote", "add", "origin", "../remote.git")
    scratch.show("cli-guard", "install")


def clean_commit(scratch: Scratch) -> bool:
    """Show a commit that passes."""
    scratch.title("1. A clean commit passes")
    scratch.write("arithmetic.py", CLEAN)
    scratch.show("git", "add", "arithmetic.py")
    return scratch.show("git", "commit", "-q", "-m", "Add sums", expect="nothing to report")


def credential(scratch: Scratch) -> bool:
    """Show a commit that is denied for a credential."""
    scratch.title("2. A credential must be fixed")
    scratch.write("settings.py", f'"""Settings."""\n\naws_access_key_id = "{KEY}"\n')
    scratch.show("git", "add", "settings.py")
    denied = scratch.show("git", "commit", "-q", "-m", "Add settings", expect="must fix:")
    scratch.show("git", "rm", "-q", "--force", "settings.py")
    return denied


def approval(scratch: Scratch) -> bool:
    """Show a commit that needs review, is approved and passes."""
    scratch.title("3. A finding that needs approval is approved once")
    scratch.write("reports.py", RISKY)
    scratch.show("git", "add", "reports.py")
    stopped = scratch.show(
        "git", "commit", "-q", "-m", "Add reports", expect="needs approval:"
    )
    waiting = Records(scratch.path / ".git" / "cli-guard").pending()
    approved = bool(waiting) and scratch.show_typing(
        "yes", "cli-guard", "approve", waiting[0].id
    )
    return (
        stopped
        and approved
        and scratch.show(
            "git", "commit", "-q", "-m", "Add reports", expect="not shown (approved)"
        )
    )


def push(scratch: Scratch) -> bool:
    """Show a push that is denied for a commit in the middle."""
    scratch.title(
        "4. A push is stopped for a key that one of its commits adds and a later one removes"
    )
    scratch.write("deploy.py", f'"""Deploys."""\n\ntoken = "{TOKEN}"\n')
    scratch.show("git", "add", "deploy.py")
    scratch.show("git", "commit", "-q", "--no-verify", "-m", "Add a deployment")
    scratch.write(
        "deploy.py", '"""Deploys."""\n\nimport os\n\ntoken = os.environ["DEPLOY_TOKEN"]\n'
    )
    scratch.show("git", "commit", "-q", "-a", "-m", "Read the token from the environment")
    scratch.write("README.md", "# Sums and reports\n")
    scratch.show("git", "add", "README.md")
    scratch.show("git", "commit", "-q", "-m", "Add a README")
    return scratch.show("git", "push", "-q", "origin", "main", expect="must fix:")


@click.pass_obj
def run(io: Io, /) -> int:
    """Run the four scenes; return 1 if one of them did not end as expected."""
    if not hasattr(os, "openpty"):
        raise CliGuardError(
            "the demo types at a pseudo-terminal, which this system does not have"
        )
    with tempfile.TemporaryDirectory(prefix="cli-guard-demo-") as folder:
        path = Path(folder) / "repository"
        path.mkdir()
        scratch = Scratch(path, environment(io, Path(folder)), io)
        set_the_scene(scratch)
        ended = [step(scratch) for step in (clean_commit, credential, approval, push)]
    io.say(f"\n{sum(ended)} of {len(ended)} runs ended as expected.")
    return 0 if all(ended) else 1


command = Command(
    "demo", callback=run, help="Show four real runs of Git in a scratch repository."
)
