"""Measure what an installation of cli-guard takes on disk: MB in all, and of the largest packages.

    python benchmarks/install_size.py [--extra NAME]... [--environment FOLDER] [--all]

It installs this checkout into a new virtual environment (a minute), or measures the one that is named. pip and
setuptools are not counted. `bytecode` is what pip compiles while it installs; uv does so only when asked. `for` says
which packages ask for one.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import venv
from collections import defaultdict
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path

ROOT = Path(__file__).parent.parent
NOT_COUNTED = ("pip", "setuptools")
MOST = 15
MB = 1e6


@dataclass(frozen=True)
class Package:
    """A package, the bytes of its files and of their bytecode, and the packages that require it."""

    name: str
    files: int
    bytecode: int
    required_by: tuple[str, ...]


def normalise(name: str) -> str:
    """Return the name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def measure_files(package: Distribution) -> tuple[int, int]:
    """Return the bytes of a package and of its bytecode."""
    files = bytecode = 0
    for each in package.files or ():
        path = Path(str(package.locate_file(each)))
        if not path.is_file() or path.suffix == ".pyc":
            continue
        files += path.stat().st_size
        compiled = path.parent / "__pycache__"
        if path.suffix == ".py" and compiled.is_dir():
            bytecode += sum(
                found.stat().st_size for found in compiled.glob(f"{path.stem}.*.pyc")
            )
    return files, bytecode


def measure(environment: Path) -> list[Package]:
    """Return the packages of a virtual environment, the largest first."""
    (site,) = environment.glob("[lL]ib/**/site-packages")
    found = {
        normalise(each.metadata["Name"]): each for each in distributions(path=[str(site)])
    }
    required_by = defaultdict(list)
    for name, package in found.items():
        for requirement in package.requires or ():
            if "extra ==" not in requirement:
                needed = re.match(r"[\w.-]+", requirement)
                required_by[normalise(needed[0]) if needed else ""].append(name)
    packages = [
        Package(name, *measure_files(package), tuple(required_by[name]))
        for name, package in found.items()
        if name not in NOT_COUNTED
    ]
    return sorted(packages, key=lambda each: -each.files)


def install(environment: Path, extras: list[str]) -> None:
    """Install this checkout with some extras, compiled."""
    venv.create(environment, with_pip=True)
    program = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    target = f"{ROOT}[{','.join(extras)}]" if extras else str(ROOT)
    pip = (
        program,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        target,
    )
    subprocess.run(pip, check=True)


def show(packages: list[Package], most: int) -> None:
    """Print the table."""
    files, bytecode = (
        sum(getattr(each, name) for each in packages) for name in ("files", "bytecode")
    )
    print(
        f"{len(packages)} packages, {files / MB:.0f} MB, with bytecode {(files + bytecode) / MB:.0f} MB\n"
    )
    print(f"{'MB':>6} {'bytecode':>9}  package (for)")
    for each in packages[:most]:
        asked = ", ".join(each.required_by) or "you"
        print(f"{each.files / MB:6.1f} {each.bytecode / MB:9.1f}  {each.name} ({asked})")
    left = packages[most:]
    if left:
        print(f"{sum(each.files for each in left) / MB:6.1f} {'':9}  {len(left)} others")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--extra", action="append", default=[])
    parser.add_argument("--environment", type=Path)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = options.environment or Path(folder) / "environment"
        if not options.environment:
            install(environment, options.extra)
        show(measure(environment), sys.maxsize if options.all else MOST)


if __name__ == "__main__":
    main()
