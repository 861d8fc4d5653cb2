"""What needs an extra says so in one line, with a command that installs it from where the package came from."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import guard
from repositories import Repo

import cli_guard
from cli_guard.runtime import missing_extra

DASK = ("scan", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1")
COMMIT = "5f1e0c9a2b7d4e6f8a1b3c5d7e9f0a2b4c6d8e0f"
ORIGINS = {
    "a folder": (
        '{"url": "file:///srv/cli-guard", "dir_info": {}}',
        "pip",
        "",
        "pip install '/srv/cli-guard[mcp]'",
    ),
    "an editable folder": (
        '{"url": "file:///srv/cli%20guard", "dir_info": {"editable": true}}',
        "pip",
        "",
        "pip install --editable '/srv/cli guard[mcp]'",
    ),
    "a wheel": (
        '{"url": "file:///srv/cli_guard-0.1.0-py3-none-any.whl", "archive_info": {}}',
        "pip",
        "",
        "pip install '/srv/cli_guard-0.1.0-py3-none-any.whl[mcp]'",
    ),
    "a repository": (
        f'{{"url": "https://git.example.com/g", "vcs_info": {{"vcs": "git", "commit_id": "{COMMIT}"}}}}',
        "pip",
        "",
        f"pip install 'cli-guard[mcp] @ git+https://git.example.com/g@{COMMIT}'",
    ),
    "a repository on this machine": (
        f'{{"url": "file:///srv/g", "vcs_info": {{"vcs": "git", "commit_id": "{COMMIT}"}}}}',
        "pip",
        "",
        f"pip install 'cli-guard[mcp] @ git+file:///srv/g@{COMMIT}'",
    ),
    "an address": (
        '{"url": "https://example.com/g.whl", "archive_info": {}}',
        "pip",
        "",
        "pip install 'cli-guard[mcp] @ https://example.com/g.whl'",
    ),
    "an index": (
        "",
        "pip",
        "",
        "pip install 'cli-guard[mcp]', from the index that cli-guard came from",
    ),
    "uv": (
        '{"url": "file:///srv/g", "dir_info": {}}',
        "uv",
        "",
        "uv pip install '/srv/g[mcp]'",
    ),
    "a tool of uv": (
        '{"url": "file:///srv/g", "dir_info": {}}',
        "uv",
        "uv-receipt.toml",
        "uv tool install --force '/srv/g[mcp]'",
    ),
    "pipx": (
        '{"url": "file:///srv/g", "dir_info": {}}',
        "pip",
        "pipx_metadata.json",
        "pipx install --force '/srv/g[mcp]'",
    ),
    "a broken record": ("{", "pip", "", "install cli-guard again, with this extra"),
}


@pytest.mark.parametrize(
    ("origin", "installer", "receipt", "command"), ORIGINS.values(), ids=ORIGINS
)
def test_a_missing_extra_is_installed_from_where_the_package_came_from(
    origin: str,
    installer: str,
    receipt: str,
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = tmp_path / "cli_guard-0.1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: cli-guard\nVersion: 0.1.0\n"
    )
    (record / "INSTALLER").write_text(f"{installer}\n")
    if origin:
        (record / "direct_url.json").write_text(origin)
    if receipt:
        (tmp_path / receipt).touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert (
        missing_extra("MCP", "mcp")
        == f"MCP needs the extra `mcp`, which is not installed: {command}"
    )


def test_what_needs_an_extra_names_it(
    committed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library, argv, said in (
        (
            "bashkit",
            ("shell", "ls"),
            "the sandboxed shell needs the extra `shell`, which is not installed: ",
        ),
        ("mcp", ("mcp",), "MCP needs the extra `mcp`, which is not installed: "),
        (
            "distributed",
            DASK,
            ". not scanned: --engine dask needs the extra `dask`, which is not installed: ",
        ),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, library, None)
            done = guard(committed, *argv)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"cli-guard: {said}") and done.err.count("\n") == 1, (
            done.err
        )
        assert "pip install" in done.err, "this environment was installed from a folder"


def test_the_guard_works_without_the_assistants_half(
    committed: Repo, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    shutil.copytree(
        Path(cli_guard.__file__).parent,
        site / "cli_guard",
        ignore=shutil.ignore_patterns("assistant", "llm", "mcp"),
    )
    libraries = Path(pytest.__file__).parents[1]
    start = f"import sys; sys.path[:0] = [{str(site)!r}, {str(libraries)!r}]"
    program = f"{start}; from cli_guard.__main__ import run; run()"

    def run(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            (sys.executable, "-E", "-S", "-c", program, *words),
            cwd=committed.path,
            env={**committed.env, "CLI_GUARD_SERVER": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, f"{done.stdout}{done.stderr}"

    committed.write("run.py", "import os\n\n\ndef f(x):\n    os.system(f'ls {x}')\n")
    committed.git("add", "-A")
    assert run("review")[0] == 3
    assert run("check-command", "ls -la")[0] == 0
    assert run("explain", "secret-aws-access-key")[0] == 0
    for words in (("ask", "Where is f defined?"), ("explain", "run.py"), ("mcp",)):
        code, said = run(*words)
        assert code == 2 and said.count("\n") == 1, said
        assert "needs the extra `llm`" in said
