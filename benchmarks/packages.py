"""Real packages as the worlds of a benchmark: their source archives, with tests, documents and changelogs.

A package is named `pypi:NAME==VERSION` or `npm:NAME==VERSION`. Its archive is fetched once with pip or npm, and kept.
"""

import io
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

KEPT = Path(tempfile.gettempdir()) / "cli-guard-packages"
LARGEST = 2_000_000
# Nothing that pip or npm would read as an option, an address or a path.
NAMED = re.compile(
    r"(?:pypi|npm):(?:@[a-z0-9-]+/)?[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.+-]*"
)


def read_archive(package: str, folder: Path = KEPT) -> bytes:
    """Return the source archive of a package, from the folder or its index. Raises OSError, CalledProcessError."""
    kept = path_of(package, folder)
    index, name, version = parts_of(package)
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            command = fetch_command(index, name, version)
            subprocess.run(
                command, cwd=temporary, capture_output=True, check=True, timeout=300
            )
            downloaded = next(Path(temporary).glob("*gz"), None)
            if downloaded is None:
                raise FileNotFoundError(f"{package}: no source archive")
            downloaded.replace(kept)
    return kept.read_bytes()


def parts_of(package: str) -> tuple[str, str, str]:
    """Split `pypi:NAME==VERSION` into its index, name and version."""
    index, _, rest = package.partition(":")
    name, _, version = rest.rpartition("==")
    return index, name, version


def path_of(package: str, folder: Path = KEPT) -> Path:
    """Return where the archive of a package is kept, whether or not it is there."""
    index, name, version = parts_of(package)
    return folder / f"{index}--{name.replace('/', '~')}--{version}.tar.gz"


def fetch_command(index: str, name: str, version: str) -> list[str]:
    """Return the command that downloads a source archive into the current folder; pip builds its metadata."""
    if index == "npm":
        return ["npm", "pack", "--silent", f"{name}@{version}"]
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--no-binary",
        name,
    ]
    return [*pip, f"{name}=={version}"]


def texts_of(content: bytes) -> dict[str, str]:
    """Return the text files of an archive, without its top folder."""
    texts = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as opened:
        for member in opened:
            file = (
                opened.extractfile(member)
                if member.isfile() and member.size <= LARGEST
                else None
            )
            raw = file.read() if file else b"\0"
            if b"\0" not in raw[:8_000]:
                texts[member.name.partition("/")[2]] = raw.decode(
                    "utf-8", "surrogateescape"
                )
    return texts
