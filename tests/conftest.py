"""Real repositories in temporary folders, with Git's own configuration shut out."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from repositories import Repo, isolated_environment
from watching import marked

# No test depends on how busy the machine is.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


# What `make test-slow` runs besides: frameworks, installations, servers, processes, bash chains, bounds.
SLOW = (
    *(
        "assistant/sandbox/test_bash.py",
        "assistant/sandbox/test_differences.py",
        "benchmarks/",
        "cli/test_bench.py",
    ),
    *(
        "cli/test_background.py",
        "cli/test_exec",
        "cli/test_runs.py",
        "execution/",
        "frameworks/",
        "install/",
        "mcp/",
    ),
    *("server/", "test_bad_input.py", "test_recipes.py"),
)
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if str(item.path.relative_to(HERE)).startswith(SLOW):
            item.add_marker(pytest.mark.slow)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Ends the servers that did the runs of this session, where `CLI_GUARD_SERVER=require` asked for them."""
    folder = os.environ.get("XDG_RUNTIME_DIR")
    if (
        folder
        and os.environ.get("CLI_GUARD_SERVER") == "require"
        and not hasattr(session.config, "workerinput")
    ):
        for pid in marked(f"{folder}/cli-guard"):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


# A shell has what it runs in the background ignore Ctrl-C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def isolated(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """No configuration, hook or variable of whoever runs the tests reaches Git or us."""
    env = isolated_environment(tmp_path_factory.mktemp("home"))
    for name in list(os.environ):
        if name not in env:
            monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    yield env


@pytest.fixture
def repo(tmp_path: Path, isolated: dict[str, str]) -> Repo:
    """An empty repository."""
    return Repo.create(tmp_path / "repo", isolated)


@pytest.fixture
def committed(repo: Repo) -> Repo:
    """A repository with one commit that holds `app.py`."""
    repo.write("app.py", "x = 1\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Start")
    return repo


@pytest.fixture
def guarded(committed: Repo) -> Repo:
    """A repository with one commit and our native hooks."""
    committed.guard("install")
    return committed
