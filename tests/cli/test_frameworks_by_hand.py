"""A framework that is run by hand or in CI, not by a commit: with nothing staged it must not pass as a review."""

import os
from pathlib import Path

import pytest
from examples import table
from in_process import guard, stage
from repositories import GUARD, Done, Repo, key

from cli_guard import __version__

HAND = {"PRE_COMMIT": "1"}
NOTHING = {"PRE_COMMIT_FROM_REF": "HEAD", "PRE_COMMIT_TO_REF": "HEAD"}


def hook(repo: Repo, *options: str, **env: str) -> Done:
    return guard(repo, "hook", "pre-commit", *(options or ("--framework",)), env=HAND | env)


def test_nothing_staged_is_refused_with_the_line_to_use(committed: Repo) -> None:
    done = hook(committed)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "NOTHING WAS REVIEWED" in done.err and "SKIP=cli-guard" in done.err
    assert "`pre-commit run --from-ref origin/main --to-ref HEAD`" in done.err
    committed.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    done = hook(committed, PREK_HOOK_STAGE="pre-commit")
    assert "`prek run --from-ref origin/trunk --to-ref HEAD`" in done.err
    done = hook(committed, GITHUB_BASE_REF="x;\x1b[1mrm -rf ~")
    assert "--from-ref 'origin/x;" in done.err and "\x1b" not in done.err


def test_what_is_staged_and_what_is_named_is_reviewed(committed: Repo) -> None:
    committed.commit("Add the key", {"key.py": f'KEY = "{key()}"\n'})
    refs = {"PRE_COMMIT_FROM_REF": "HEAD~1", "PRE_COMMIT_TO_REF": "HEAD"}
    done = hook(committed, **refs)
    assert done.code == 1 and "key.py:1" in done.out
    assert hook(committed, **NOTHING).code == 0
    committed.write("key.py", "KEY = None\n")
    committed.git("add", "key.py")
    assert "1 file reviewed" in hook(committed).out


def test_the_environment_takes_nothing_from_what_is_staged(guarded: Repo) -> None:
    stage(guarded, {"key.py": f'KEY = "{key()}"\n'})
    for options in (("--framework",), ("--",)):
        done = hook(guarded, *options, **NOTHING)
        assert done.code == 1 and "key.py:1" in done.out, options
    done = guarded.try_git("commit", "-qm", "Add it", env=HAND | NOTHING)
    assert done.code == 1 and "key.py:1" in done.all


def test_a_range_is_reviewed_beside_what_is_staged(committed: Repo) -> None:
    committed.commit("Add the key", {"key.py": f'KEY = "{key()}"\n'})
    stage(committed, {"other.py": "x = 1\n"})
    refs = {"PRE_COMMIT_FROM_REF": "HEAD~1", "PRE_COMMIT_TO_REF": "HEAD"}
    assert hook(committed, **refs).code == 1
    assert hook(committed, "--", **refs).code == 0


@pytest.mark.parametrize(
    ("place", "version", "said"),
    [
        ("../usual", __version__, "cli-guard"),
        ("../usual", "0.0.1", GUARD),
        ("../usual", "", GUARD),
        ("tools", __version__, GUARD),
        ("", "", GUARD),
    ],
    ids=["its version", "another version", "unknown", "of the work tree", "none"],
)
def test_what_is_printed_can_be_typed(
    committed: Repo, place: str, version: str, said: str
) -> None:
    """The framework puts its own environment first on PATH; a person's shell has what comes after."""
    folders = [str(Path(GUARD).parent), "/usr/bin", "/bin"]
    if place:
        program = committed.write(f"{place}/bin/cli-guard", "#!/bin/sh\n")
        program.chmod(0o755)
        folders.insert(1, str(program.parent))
        committed.write(
            f"{place}/lib/python3/site-packages/cli_guard-{version}.dist-info/METADATA", ""
        )
    stage(committed, {"key.py": f'KEY = "{key()}"\n'})
    done = hook(committed, PATH=os.pathsep.join(folders))
    assert done.code == 1
    assert f" {said} ignore secret-aws-access-key key.py" in done.out


def test_a_link_on_path_is_this_program(committed: Repo, tmp_path: Path) -> None:
    (tmp_path / "cli-guard").symlink_to(GUARD)
    stage(committed, {"key.py": f'KEY = "{key()}"\n'})
    done = hook(committed, PATH=f"{tmp_path}:/usr/bin:/bin")
    assert done.code == 1 and " cli-guard ignore secret-aws" in done.out


@table("refs", [{}, NOTHING], ids=["no range", "a range"])
def test_an_entry_without_the_option_is_asked_for_it(
    committed: Repo, refs: dict[str, str]
) -> None:
    done = hook(committed, "--", **refs)
    assert (
        done.code == 2 and "NOTHING WAS REVIEWED" in done.err and "--framework" in done.err
    )


@pytest.mark.parametrize(
    "given", [{"GIT_INDEX_FILE": ".git/index"}, {"SKIP": "cli-guard"}], ids=str
)
def test_an_empty_commit_passes_and_so_does_a_run_without_us(
    committed: Repo, given: dict[str, str]
) -> None:
    assert hook(committed, **given).code == 0
