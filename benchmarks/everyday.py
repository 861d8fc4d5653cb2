"""Measure how many everyday requests are answered usefully: of the right kind, with what the answer must hold.

    python -m benchmarks.everyday [--half development|kept] [--wrong] [--write] [--only KIND] [--world FOLDER]

Each line of fixtures/requests/everyday-HALF.jsonl is asked of a repository with `ask`: a real package, or the small
service of fixtures/shell/world with its history. An answer is useful if it holds every text of `shows` and none of
`never`. Printed by kind: requests, those read as the right kind, those answered usefully, and the median time. With
--write, the requests about the service that are not answered usefully go to `wrong.json` beside the set, with which the
tests compare.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.known_wrong import write_wrong
from benchmarks.packages import read_archive, texts_of
from benchmarks.runner.scratch import NOW, environment, leads_out
from cli_guard.assistant.ask import ask_request
from cli_guard.errors import CliGuardError
from cli_guard.runtime import Invocation

ROOT = Path(__file__).parent.parent
REQUESTS = ROOT / "fixtures" / "requests"
# The package that is no package but the small service.
SERVICE = "world"
# The types of the graph that each kind of request may be read as; a kind without an entry is one of them itself.
TYPES = {
    "explain": ("repo_qna", "command_help"),
    "history": ("repo_qna",),
    "record": ("code_change", "repo_qna", "command_help"),
    "nonsense": ("repo_qna",),
    # Which tests cover something is a question too.
    "test_workflow": ("test_workflow", "repo_qna"),
}


@dataclass(frozen=True)
class Answered:
    """A request with its answer."""

    kind: str
    request: str
    type: str
    text: str
    missing: tuple[str, ...]
    seconds: float

    @property
    def right(self) -> bool:
        """Return whether it was read as the right kind."""
        return self.type in TYPES.get(self.kind, (self.kind,))


def make_repository(package: str, folder: Path, world: Path) -> Path:
    """Make the repository of a package, or of the service, below a folder. Raises OSError, SubprocessError."""
    root = folder / "".join(each if each.isalnum() else "-" for each in package)
    if root.exists():
        return root
    if package == SERVICE:
        subprocess.run(
            ["bash", str(world.parent / "history.sh"), str(root)],
            check=True,
            capture_output=True,
        )
        return root
    index, _, rest = package.partition(":")
    named = package if "==" in rest else f"{index}:{'=='.join(rest.rsplit('@', 1))}"
    for path, text in texts_of(read_archive(named)).items():
        if not leads_out(path):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8", "surrogateescape")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "Start")):
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)
    return root


def answer(row: Mapping[str, object], root: Path, env: Mapping[str, str]) -> Answered:
    """Ask one request."""
    request = str(row["request"])
    started = time.perf_counter()
    try:
        done = ask_request(request, Invocation(root, dict(env), NOW))
        kind = str(done.data["task_type"])
        text = done.text
    except CliGuardError as error:
        kind = "repo_qna" if row["kind"] == "nonsense" else "error"
        text = str(error)
    seconds = time.perf_counter() - started
    shows = row["shows"]
    never = row.get("never", ())
    assert isinstance(shows, list) and isinstance(never, list | tuple)
    missing = [each for each in shows if each not in text]
    missing += [f"not {each}" for each in never if each in text]
    return Answered(str(row["kind"]), request, kind, text, tuple(missing), seconds)


def read_rows(half: str) -> list[dict[str, object]]:
    """Read the requests of one half."""
    lines = (REQUESTS / f"everyday-{half}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def judge_service(half: str, folder: Path) -> dict[str, bool]:
    """Ask the requests of one half about the service; return by the request whether its answer is useful."""
    env = environment(folder, os.environ)
    Path(env["HOME"]).mkdir()
    root = make_repository(SERVICE, folder, ROOT / "fixtures" / "shell" / "world")
    rows = [row for row in read_rows(half) if row["package"] == SERVICE]
    return {str(row["request"]): not answer(row, root, env).missing for row in rows}


def print_table(answered: list[Answered]) -> None:
    """Print the counts by kind and in all."""
    print(f"{'kind':16}{'requests':>9}{'kind right':>12}{'useful':>8}{'ms':>7}")
    for kind in (*dict.fromkeys(each.kind for each in answered), "all"):
        rows = [each for each in answered if kind in (each.kind, "all")]
        useful = sum(not each.missing for each in rows)
        took = statistics.median(each.seconds for each in rows) * 1_000
        print(
            f"{kind:16}{len(rows):>9}{sum(each.right for each in rows):>12}{useful:>8}{took:>7.0f}"
        )


def main() -> int:
    """Ask the requests and print the table."""
    parser = argparse.ArgumentParser(
        description="Measure how many everyday requests are answered usefully."
    )
    parser.add_argument("--half", choices=("development", "kept"), default="development")
    parser.add_argument(
        "--wrong", action="store_true", help="print each that is not right or not useful"
    )
    parser.add_argument(
        "--write", action="store_true", help="write what is not useful beside the set"
    )
    parser.add_argument("--only", help="only the requests of this kind")
    parser.add_argument("--world", type=Path, default=ROOT / "fixtures" / "shell" / "world")
    options = parser.parse_args()
    if options.write:
        with tempfile.TemporaryDirectory() as temporary:
            right = judge_service(options.half, Path(temporary))
        write_wrong(REQUESTS, f"everyday-{options.half}", right)
    rows = [row for row in read_rows(options.half) if options.only in (None, row["kind"])]
    answered = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        env = environment(folder, os.environ)
        Path(env["HOME"]).mkdir()
        for row in rows:
            try:
                root = make_repository(str(row["package"]), folder, options.world)
            except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
                print(f"skipped {row['package']}: {error}")
                continue
            answered.append(answer(row, root, env))
    for each in answered if options.wrong else ():
        if each.missing or not each.right:
            print(
                f"{each.kind}, read as {each.type}: {each.request}\n  lacks {', '.join(each.missing) or '-'}"
            )
            print("".join(f"    | {line}\n" for line in each.text.splitlines()[:8]))
    if answered:
        print_table(answered)
    return 0


if __name__ == "__main__":
    sys.exit(main())
