"""The wheel and the sdist hold what the program needs, and nothing else."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cli_guard import __version__

ROOT = Path(__file__).parent.parent
RULE_SOURCE = re.compile(r"cli_guard/rules/.*\.(toml|yml|txt)$")
COMPILED = "cli_guard/rules/compiled/"
BUILD = (sys.executable, "-m", "hatchling", "build", "-d")


def tracked_files() -> set[str]:
    """The files of the package as the wheel names them: what Git knows or would add."""
    listed = subprocess.run(
        ("git", "ls-files", "-z", "-co", "--exclude-standard", "cli_guard", "hooks"),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    names = {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}
    rules = {name for name in names if RULE_SOURCE.match(name)}
    assert len(rules) > 1_000
    return {re.sub("^hooks/", "cli_guard/hook_scripts/", name) for name in names - rules}


def test_the_wheel_of_the_sdist_holds_the_package_and_runs(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    subprocess.run(
        (*BUILD, tmp_path, "-t", "sdist"), cwd=ROOT, check=True, capture_output=True
    )
    # Our own; tarfile has filters only since Python 3.11.4.
    shutil.unpack_archive(next(tmp_path.glob("*.tar.gz")), tmp_path)
    (source,) = (each for each in tmp_path.iterdir() if each.is_dir())
    # As `pip install cli_guard-….tar.gz` does: from the sdist alone.
    subprocess.run(
        (*BUILD, tmp_path, "-t", "wheel"), cwd=source, check=True, capture_output=True
    )
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        wheel.extractall(tmp_path / "site")
    expected = tracked_files()
    assert (
        len(expected) > 500
        and {"cli_guard/py.typed", "cli_guard/hook_scripts/review"} <= expected
    )
    compiled = {name for name in names if name.startswith(COMPILED)}
    assert {f"{COMPILED}secrets.json", f"{COMPILED}flow.python.json"} <= compiled
    assert (sorted(expected - names), sorted(names - expected - compiled)) == ([], [])

    # An environment that has the wheel and borrows the libraries, but not this checkout.
    shutil.rmtree(source)
    subprocess.run(
        (sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"), check=True
    )
    (site,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (site / "borrowed.pth").write_text(
        f"{tmp_path / 'site'}\n{Path(pytest.__file__).parent.parent}\n"
    )

    def run(*words: str, code: int = 0) -> str:
        done = subprocess.run(
            (tmp_path / "venv/bin/python", "-m", "cli_guard", *words),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (code, ""), done
        return done.stdout

    assert run("--version") == f"cli-guard {__version__}\n"
    # Its rules are the compiled ones.
    assert "Reported" in run("explain", "secret-aws-access-key")
    assert "git" in run("check-command", "git push --force origin main", code=3)
