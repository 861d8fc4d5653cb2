"""Real repositories in temporary folders, with Git's own configuration shut out."""

import gc
import hashlib
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest
import repositories
from examples import report_totals
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers
from preloaded import folder_of, start_python, use_preloaded
from repositories import Repo, isolated_environment
from sampling import NIGHTLY, choose_items
from watching import make_once, marked

import cli_guard
from cli_guard.git.hooks import scripts_folder

if TYPE_CHECKING:
    from forging.honest import Person

# To look for garbage while the tests are loaded and listed, of which nothing is garbage, takes a quarter of that time.
gc.disable()
# No test depends on chance or on how busy the machine is. `--hypothesis-profile=search` looks for new examples.
settings.register_profile(
    "search", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("any machine", settings.get_profile("search"), derandomize=True)
settings.load_profile("any machine")
# Nor on the modules that earlier tests have loaded, whose constants it would take for examples. To read them also takes
# each worker some seconds.
if settings.get_current_profile_name() == "any machine":
    providers._get_local_constants = lambda: providers._local_constants

# Without chance, each run repeats the examples of the one before; the nightly run takes all that a test allows.
EXAMPLES = 10_000 if NIGHTLY else 20


def bound_examples(test: Any) -> None:
    """Have a test of a property take no more examples than EXAMPLES, unless it searches for new ones."""
    own = test._hypothesis_internal_use_settings
    if own.derandomize and own.max_examples > EXAMPLES:
        test._hypothesis_internal_use_settings = settings(own, max_examples=EXAMPLES)


# What `make test-slow` runs: frameworks, installations, servers, processes, bash chains, bounds, judged
# days. Files, folders or tests, by how their names begin; each takes some seconds or starts many processes.
SLOW = (
    "agents/test_probe.py",
    "assistant/documenting/test_documenting_properties.py",
    "assistant/editing/test_hostile.py",
    "assistant/editing/test_rename.py::test_a_renamed_package_compiles_and_loads",
    "assistant/projects/test_hostile.py",
    "assistant/retrieval/test_search.py::test_hostile_files_are_answered_in_time",
    "assistant/sandbox/test_agent_lines.py",
    "assistant/sandbox/test_bash.py",
    "assistant/sandbox/test_boundary.py::test_five_thousand_files",
    "assistant/sandbox/test_differences.py",
    "assistant/sandbox/test_syntax.py",
    "assistant/test_bad_input.py",
    "assistant/test_everyday.py",
    "assistant/test_recording.py",
    "bash_oracle/",
    "benchmarks/",
    "cli/test_answers_under_attack.py",
    "cli/test_ask.py::test_in_another_process",
    "cli/test_ask_now.py",
    "cli/test_audit.py",
    "cli/test_background.py",
    "cli/test_ci_templates.py",
    "cli/test_documented_ci.py",
    "cli/test_exec",
    "cli/test_report.py::test_the_page_in_a_browser",
    "cli/test_runs.py",
    "cli/test_working_day.py::test_a_day",
    "cli/test_second_lock.py::test_what_no_review_allowed",
    "code/test_syntax.py::test_yaml_of_many_levels",
    "code/test_taint.py::test_a_program_that_is_too_big",
    "code/test_taint.py::test_many_branches",
    "code/test_taint.py::test_places_in_a_long_line",
    "commands/inline/test_any_text.py::test_long_text_takes_no_long_time",
    "commands/test_day.py",
    "commands/test_executed.py",
    "commands/test_patterns.py::test_no_labelled_danger",
    "commands/test_patterns.py::test_no_pattern_that_allows_everything",
    "commands/test_properties.py",
    "commands/test_tables.py::test_a_table_is_true",
    "commands/test_verdict.py::test_a_heavy_command",
    "execution/",
    "forging/test_bad_input.py",
    "forging/test_forgeries.py",
    "forging/test_honest_histories.py",
    "frameworks/",
    "git/test_commits.py",
    "git/test_framework_pushes.py",
    "git/test_many_refs.py",
    "git/test_messages.py",
    "git/test_names.py::test_all_names_at_once",
    "git/test_properties.py",
    "git/test_push_bases.py",
    "git/test_pushes.py",
    "git/test_second_reader.py",
    "graph/test_deferred.py",
    "graph/test_langgraph_server.py",
    "graph/test_pause.py::test_goes_on_in_a_fresh_process",
    "graph/test_requirement.py::test_large_context",
    "graph/test_servers.py",
    "install/",
    "llm/",
    "mcp/",
    "review/render/test_hostile.py",
    "review/test_scan_on_dask.py",
    "reviewers/code/test_code_review.py::test_deep_tree",
    "reviewers/code/test_code_review.py::test_what_was_too_much_before",
    "reviewers/code/test_flows.py::test_a_file_too_big",
    "reviewers/commands/test_command_review.py::test_a_long",
    "reviewers/commands/test_command_review.py::test_a_script_with_too_much",
    "reviewers/commands/test_extraction.py::test_what_nests_deep",
    "reviewers/dependencies/test_labelled_changes.py",
    "reviewers/docs/test_docs_properties.py",
    "reviewers/drift/test_drift_cases.py",
    "reviewers/test_clean_files.py::test_a_second_review",
    "reviewers/test_registry.py::test_a_new_reviewer",
    "reviewers/test_shard.py",
    "secrets/test_labelled_secrets.py",
    "secrets/test_shown_values.py::test_hostile",
    "server/",
    "state/test_obstacles.py",
    "test_bad_input.py",
    "test_distribution.py",
    "test_embedded_repository.py",
    "test_new_roles.py",
    "test_platforms.py",
    "test_pushed_names.py",
    "test_recipes.py",
    "test_self_excuse.py",
    "test_site.py",
    "test_unread_content.py",
    "test_ways_past.py",
)
# The one hook path that `make test` walks.
QUICK = ("git/test_commits.py::test_a_plain_commit_passes_and_one_with_a_secret_does_not",)
QUICK_FILES = tuple(each.partition("::")[0] for each in QUICK)
HERE = Path(__file__).parent
PACKAGE = Path(cli_guard.__file__).parent
NUMBERS = count()
# Folders of tests that start the installed program: see `is_forked`.
REAL = ("graph", "install", "server")


# The folder of the warm server that does the reviews of this session.
OWN_FOLDER = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Have reviews done as users have them done, by a warm server: one for all workers, in a folder of its own.

    `CLI_GUARD_SERVER=0 pytest ...` does each in its own process; with `require` one that no server does fails.
    """
    wanted = os.environ.setdefault("CLI_GUARD_SERVER", "1")
    given = wanted == "require" and "XDG_RUNTIME_DIR" in os.environ
    if wanted != "0" and not given and not hasattr(config, "workerinput"):
        config.stash[OWN_FOLDER] = os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(
            prefix="cg-"
        )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    required = pytest.mark.skipif(
        os.environ["CLI_GUARD_SERVER"] == "require",
        reason="a run of its own is what this is about",
    )
    for item in items:
        name = f"{item.path.relative_to(HERE)}::{item.name}"
        if name.startswith(SLOW) and not name.startswith(QUICK):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("cold"):
            item.add_marker(required)
        if isinstance(item, pytest.Function) and is_hypothesis_test(item.obj):
            bound_examples(getattr(item.obj, "__func__", item.obj))
    slow = [item for item in items if item.get_closest_marker("slow")]
    left_out = {*slow}.difference(choose_items(slow))
    config.hook.pytest_deselected(items=[*left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """What is loaded by now stays to the end: have the garbage collector leave it alone, and come less often."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(200_000, 20, 50)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file with nothing to run: loading the files of the other half takes seconds in each worker."""
    if collection_path.suffix != ".py" or not collection_path.is_relative_to(HERE):
        return None
    name = f"{collection_path.relative_to(HERE)}"
    half = config.getoption("markexpr")
    if half == "slow":
        return (
            None
            if name.startswith(tuple(each.partition("::")[0] for each in SLOW))
            else True
        )
    if half == "not slow":
        return (
            True
            if f"{name}::".startswith(SLOW) and not name.startswith(QUICK_FILES)
            else None
        )
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says how many examples the tests have checked, those of all workers together."""
    reports = [
        *terminalreporter.getreports("passed"),
        *terminalreporter.getreports("failed"),
    ]
    if line := report_totals(report for report in reports if report.when == "call"):
        terminalreporter.write_line(line)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the servers that did the runs of this session."""
    required = os.environ["CLI_GUARD_SERVER"] == "require" and os.environ["XDG_RUNTIME_DIR"]
    folder = config.stash.get(OWN_FOLDER, required)
    if folder and not hasattr(config, "workerinput"):
        for pid in marked(f"{folder}/cli-guard"):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    if OWN_FOLDER in config.stash:
        shutil.rmtree(config.stash[OWN_FOLDER])


# A shell has what it runs in the background ignore Ctrl-C, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new folder each time: to number one, pytest would look at those of all tests before."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture
def tmp_path(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """The same as that of pytest, which looks at the folders of all tests before to number one."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}{next(NUMBERS)}"
    path.mkdir(mode=0o700)
    return path


def set_environment(env: dict[str, str]) -> None:
    """Have the variables of this process be these; few differ, and each that is set costs time in each test."""
    for name in set(os.environ) - set(env):
        del os.environ[name]
    for name, value in env.items():
        if os.environ.get(name) != value:
            os.environ[name] = value


@pytest.fixture(autouse=True)
def isolated(
    homes: Iterator[Path], request: pytest.FixtureRequest
) -> Iterator[dict[str, str]]:
    """No configuration, hook or variable of whoever runs the tests reaches Git or us."""
    home = next(homes)
    home.mkdir()
    before = dict(os.environ)
    env = isolated_environment(home)
    if request.node.get_closest_marker("cold"):
        env["CLI_GUARD_SERVER"] = "0"
    elif is_forked(request):
        repositories.find_stand_in = partial(request.getfixturevalue, "preloaded")
    set_environment(env)
    yield env
    repositories.find_stand_in = None
    set_environment(before)


def is_forked(request: pytest.FixtureRequest) -> bool:
    """Whether a run of `cli-guard` may be a fork of a preloaded one.

    A warm server is quicker and costs as much as a cold run: after each it has another child review its samples. What
    is about servers, installations or what is loaded gets the real program.
    """
    if os.environ["CLI_GUARD_SERVER"] != "1" or request.node.get_closest_marker("cold"):
        return False
    return request.path.relative_to(HERE).parts[0] not in REAL


@pytest.fixture(scope="session")
def shared(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """A folder of this session that all workers see: for what is dear to make, see `make_once`."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if hasattr(request.config, "workerinput") else own


@pytest.fixture(scope="session")
def installed(shared: Path) -> Path:
    """A virtual environment that holds this package as a wheel would, compiled, and borrows what it depends on."""

    def install(folder: Path) -> None:
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=120
        )
        (site,) = folder.glob("lib/python3*/site-packages")
        shutil.copytree(PACKAGE, site / "cli_guard")
        scripts = scripts_folder()
        shutil.copytree(scripts, site / "cli_guard/hook_scripts", dirs_exist_ok=True)
        (site / "borrowed.pth").write_text(f"{Path(click.__file__).parent.parent}\n")
        subprocess.run(
            [sys.executable, "-m", "compileall", "-q", site / "cli_guard"],
            check=True,
            timeout=120,
        )

    return make_once(shared / "installed", install)


@pytest.fixture(scope="session")
def preloaded(shared: Path, request: pytest.FixtureRequest) -> Path:
    """A folder with a `python` and a `cli-guard` that have everything loaded: see preloaded.py. One for all workers."""
    owner = os.getppid() if hasattr(request.config, "workerinput") else os.getpid()
    return folder_of(make_once(shared / "preloaded", partial(start_python, owner=owner)))


@pytest.fixture
def venv(tmp_path: Path, isolated: dict[str, str], installed: Path) -> Path:
    """A copy of it. A warm server of its own, which another interpreter needs, would serve one test alone."""
    if isolated["CLI_GUARD_SERVER"] == "1":
        isolated["CLI_GUARD_SERVER"] = "0"
    copy = tmp_path / "a venv"
    # Python takes four times the processor's time for these 2,000 files.
    subprocess.run(("cp", "-a", installed, copy), check=True, timeout=60)
    return copy


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """An empty repository, and one with a commit, made once and copied for each test."""
    folder = tmp_path_factory.mktemp("templates")
    env = isolated_environment(folder)
    empty = Repo.create(folder / "empty", env)
    started = Repo.create(folder / "started", env)
    started.write("app.py", "x = 1\n")
    started.git("add", "-A")
    started.git("commit", "-q", "-m", "Start")
    for sample in folder.glob("*/.git/hooks/*.sample"):
        sample.unlink()
    return empty.path, started.path


def refresh_index(repo: Path) -> None:
    """Have the index know the one file of a copy, whose times and inode are its own, as `update-index --refresh` does.

    What reads an index that knows another file takes the copy for changed; a process a test would take longer.
    """
    index = repo / ".git/index"
    file = (repo / "app.py").stat()
    raw = bytearray(index.read_bytes()[:-20])
    times = (*divmod(file.st_ctime_ns, 10**9), *divmod(file.st_mtime_ns, 10**9))
    # gitformat-index(5): a header of 12 bytes, the entry, and in the end a SHA-1 of all that.
    struct.pack_into(">6I", raw, 12, *times, file.st_dev, file.st_ino % 2**32)
    index.write_bytes(raw + hashlib.sha1(raw).digest())


@pytest.fixture
def repo(tmp_path: Path, isolated: dict[str, str], templates: tuple[Path, Path]) -> Repo:
    """An empty repository."""
    return Repo(
        Path(shutil.copytree(templates[0], tmp_path / "repo", symlinks=True)), isolated
    )


@pytest.fixture
def committed(
    tmp_path: Path, isolated: dict[str, str], templates: tuple[Path, Path]
) -> Repo:
    """A repository with one commit that holds `app.py`."""
    repo = Repo(
        Path(shutil.copytree(templates[1], tmp_path / "repo", symlinks=True)), isolated
    )
    refresh_index(repo.path)
    return repo


@pytest.fixture
def ada(tmp_path: Path, shared: Path) -> "Person":
    """Somebody with a key, and in the folder of the test what `forging.honest.build_team` makes."""
    from forging.honest import copy_team

    return copy_team(shared, tmp_path)


@pytest.fixture
def bob(ada: "Person", tmp_path: Path) -> "Person":
    """Another one, with a home beside hers."""
    return type(ada).living("Bob", tmp_path)


@pytest.fixture(scope="session")
def native(templates: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of Git in a repository where our native hooks are installed: made once and copied for each test."""
    folder = tmp_path_factory.mktemp("native")
    repo = Repo(
        Path(shutil.copytree(templates[1], folder / "repo")), isolated_environment(folder)
    )
    done = repo.guard("install")
    assert done.code == 0, done.all
    return repo.path / ".git"


@pytest.fixture
def guarded(committed: Repo, native: Path) -> Repo:
    """A repository with one commit and our native hooks: what `install` writes, which is the same everywhere."""
    shutil.copy2(native / "config", committed.path / ".git/config")
    shutil.copytree(native / "hooks", committed.path / ".git/hooks", dirs_exist_ok=True)
    return committed


@pytest.fixture
def forked(guarded: Repo, preloaded: Path) -> Repo:
    """The same for what is not about a process of its own: each hook that Git starts is a fork, see preloaded.py."""
    for hook in (guarded.path / ".git/hooks").iterdir():
        use_preloaded(hook, preloaded)
    return guarded


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands of agents' hooks that `install` would have started before it wrote them, and here takes for good."""
    from cli_guard.agents.settings import Protocol

    commands: list[str] = []

    def check(_: Protocol, command: str, repository: object) -> None:
        commands.append(command)

    monkeypatch.setattr(Protocol, "check", check)
    return commands
