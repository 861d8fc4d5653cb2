"""The real pre-commit and prek over this source tree, each with one store of environments for all tests."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from frameworks.programs import Framework
from repositories import Repo, isolated_environment
from watching import make_once

ROOT = Path(__file__).parents[2]
STAGES = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push")
LIBRARIES = str(Path(pytest.__file__).parents[1])
# An index that cannot be reached fails within a minute.
IMPATIENT = {
    "PIP_RETRIES": "1",
    "PIP_DEFAULT_TIMEOUT": "30",
    "UV_HTTP_TIMEOUT": "30",
    "UV_HTTP_RETRIES": "1",
}
# uv, which prek installs with, brings certificates of its own and would not know a company's.
TRUSTING = {"UV_SYSTEM_CERTS": "1"}


@pytest.fixture(scope="session")
def source(shared: Path) -> Repo:
    """A repository with one commit: this source tree, as a framework would clone it."""

    def copy(base: Path) -> None:
        repo = Repo.create(base / "cli-guard", isolated_environment(base / "home"))
        list_files = (
            "git",
            "-C",
            str(ROOT),
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        )
        listed = subprocess.run(
            list_files, capture_output=True, check=True, timeout=60
        ).stdout.decode()
        for name in filter(None, listed.split("\0")):
            if (ROOT / name).is_file():
                (repo.path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, repo.path / name)
        repo.commit("Everything")

    base = make_once(shared / "source", copy)
    return Repo(base / "cli-guard", isolated_environment(base / "home"))


@pytest.fixture(scope="session")
def configuration(source: Repo) -> str:
    """`.pre-commit-config.yaml` with every hook of ours, as users write it."""
    ids = "".join(
        f"      - id: {entry['id']}\n"
        for entry in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    )
    revision = source.git("rev-parse", "HEAD")
    return f"repos:\n  - repo: {source.path}\n    rev: {revision}\n    hooks:\n{ids}"


def pip_options(shared: Path) -> dict[str, str]:
    """Download once; leave compiling to the first run, because most of what is installed is never imported."""
    return {"PIP_CACHE_DIR": str(shared / "pip"), "PIP_NO_COMPILE": "1"}


@pytest.fixture(scope="session")
def quick_pip(shared: Path) -> dict[str, str]:
    """What makes pip quick, where a test builds an environment of its own."""
    return pip_options(shared)


def prepared(name: str, base: Path, configuration: str) -> Framework:
    """The framework with our environment installed."""
    store = base / "store"
    stores = {"PRE_COMMIT_HOME": str(store), "PREK_HOME": str(store)}
    framework = Framework(name, stores | IMPATIENT | TRUSTING | pip_options(base.parent))

    def prepare(base: Path) -> None:
        repo = Repo.create(base / "repo", isolated_environment(base / "home"))
        repo.commit("Start", {".pre-commit-config.yaml": configuration})
        command = ("install-hooks",) if name == "pre-commit" else ("prepare-hooks",)
        # What we depend on is fetched and unpacked for prek: for pip, what it would fetch is there.
        there = {"PYTHONPATH": LIBRARIES, "PIP_NO_BUILD_ISOLATION": "0"}
        env = there if name == "pre-commit" else {}
        done = repo.run(*framework.command, *command, env=framework.env | env)
        if done.code != 0:
            pytest.fail(
                f"{name} could not install cli-guard; is the package index reachable?\n{done.all}",
                pytrace=False,
            )

        for package in store.rglob("site-packages/cli_guard"):
            if env:
                (package.parent / "borrowed.pth").write_text(f"{LIBRARIES}\n")
            offer_preloaded(package.parents[3] / "bin/python")

    make_once(base, prepare)
    return framework


# The interpreter of an environment, but where a test names a folder that has everything loaded: see preloaded.py.
INTERPRETER = """#!/bin/sh
case "${PRELOADED:+$*}" in
*"-m cli_guard"*) exec "$PRELOADED/python" "$@" ;;
esac
exec "${0%/*}/python-itself" "$@"
"""


def offer_preloaded(python: Path) -> None:
    """Have hooks be forks of a loaded Python where `PRELOADED` names its folder."""
    python.rename(python.with_name("python-itself"))
    python.write_text(INTERPRETER)
    python.chmod(0o755)


@pytest.fixture(scope="session")
def pre_commit(shared: Path, configuration: str) -> Framework:
    """pre-commit, ready."""
    return prepared("pre-commit", shared / "pre-commit", configuration)


@pytest.fixture(scope="session")
def prek(shared: Path, configuration: str) -> Framework:
    """prek, ready."""
    return prepared("prek", shared / "prek", configuration)


@pytest.fixture(params=["pre-commit", "prek"])
def framework(request: pytest.FixtureRequest, preloaded: Path) -> Framework:
    """Each of the two; in a test that is not `cold` it and its hooks are forks where they are Python."""
    found: Framework = request.getfixturevalue(request.param.replace("-", "_"))
    if request.node.get_closest_marker("cold"):
        return found
    return replace(found, preloaded=preloaded)


@pytest.fixture
def framed(
    committed: Repo,
    framework: Framework,
    configuration: str,
) -> Iterator[Repo]:
    """A repository with one commit, the framework's hooks of all our stages, and a remote that has nothing yet."""
    remote = committed.path.parent / "remote.git"
    committed.git("init", "-q", "--bare", str(remote))
    committed.git("remote", "add", "origin", str(remote))
    committed.write(".pre-commit-config.yaml", configuration)
    committed.commit("Configure")
    framework.run(
        committed, "install", *(word for stage in STAGES for word in ("-t", stage))
    )
    env = committed.env | framework.env
    if framework.preloaded:
        env["PRELOADED"] = str(framework.preloaded)
    yield Repo(committed.path, env)
