"""What the tests of the server share: a folder for its socket, and the end of every server that was started there."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from repositories import Done, Repo, isolated_environment
from watching import eventually, marked


def at_work(server: psutil.Process) -> list[psutil.Process]:
    """The children that do a run: each leads a group of its own, the spare one does not."""
    found = []
    for each in server.children():
        with suppress(ProcessLookupError):
            if os.getpgid(each.pid) == each.pid and each.status() != psutil.STATUS_ZOMBIE:
                found.append(each)
    return found


@dataclass(frozen=True)
class Servers:
    """A folder of sockets, and the environment in which clients look there."""

    folder: Path
    env: dict[str, str]

    @property
    def required(self) -> dict[str, str]:
        """What makes a run fail that no server does."""
        return self.env | {"CLI_GUARD_SERVER": "require"}

    def processes(self) -> list[psutil.Process]:
        """The servers, not their children."""
        found = []
        for pid in marked(str(self.folder / "cli-guard")):
            with suppress(psutil.NoSuchProcess):
                found.append(psutil.Process(pid))
        pids = {each.pid for each in found}
        alone = []
        for each in found:
            with suppress(psutil.NoSuchProcess):
                if each.ppid() not in pids:
                    alone.append(each)
        return alone

    def start(self, repo: Repo) -> psutil.Process:
        """Starts a server and gives its process."""
        done = repo.guard("server", "start", env=self.env)
        assert done.code == 0, done.all
        (process,) = self.processes()
        return process

    def status(self, repo: Repo) -> Done:
        """What `cli-guard server status` says."""
        return repo.guard("server", "status", env=self.env)

    def listens(self) -> bool:
        """Whether a server has opened its door, loaded or not."""
        for path in (self.folder / "cli-guard").glob("*[!k]"):
            with socket.socket(socket.AF_UNIX) as door, suppress(OSError):
                door.connect(str(path))
                return True
        return False

    def answers(self, repo: Repo, *program: str) -> bool:
        """Wait for a server that answers. To ask for its status time and again would take more than it does to load."""
        status = (*(program or ("cli-guard",)), "server", "status")
        return eventually(self.listens) and eventually(
            lambda: repo.run(*status, env=self.env).code == 0
        )

    def runs(self, repo: Repo) -> int:
        """How many runs the server has done."""
        words = self.status(repo).out.split()
        return int(
            words[
                next(at for at, word in enumerate(words) if word in ("run,", "runs,")) - 1
            ]
        )

    def at_work(self) -> list[psutil.Process]:
        """The children of the server that do a run."""
        return [each for server in self.processes() for each in at_work(server)]

    def end(self) -> None:
        """Ends whatever was started here."""

        def ended() -> bool:
            pids = marked(str(self.folder / "cli-guard"))
            for pid in pids:
                with suppress(psutil.NoSuchProcess):
                    psutil.Process(pid).kill()
            return not pids

        assert eventually(ended)


def made() -> Servers:
    """A folder of its own, with a name that is short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix="cg-", dir="/tmp"))
    return Servers(folder, {"CLI_GUARD_SERVER": "1", "XDG_RUNTIME_DIR": str(folder)})


@pytest.fixture
def servers() -> Iterator[Servers]:
    """A folder where no server is yet."""
    here = made()
    yield here
    here.end()
    shutil.rmtree(here.folder)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """A folder with a server that a whole file of tests asks."""
    here = made()
    env = isolated_environment(tmp_path_factory.mktemp("home"))
    here.start(Repo(Path(os.sep), env))
    yield here
    here.end()
    shutil.rmtree(here.folder)
