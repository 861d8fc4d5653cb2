"""`cli-guard stats`: how often this repository was reviewed, what was found, and what became of the questions."""

import json
from collections import Counter

import click

from cli_guard.cli.app import FORMAT, Command
from cli_guard.cli.audit import readable
from cli_guard.cli.io import Io
from cli_guard.cli.last import read_text
from cli_guard.errors import GitError
from cli_guard.git.repository import Repository
from cli_guard.secrets.printable import printable
from cli_guard.state.advice import AdviceStore
from cli_guard.state.audit import AuditLog

# A question was acted on if its line changes within so many commits.
COMMITS = 5


@click.pass_obj
def run(io: Io, /, format: str) -> int:
    repository = Repository.discover(io.cwd, io.env)
    with readable():
        # A change that was reviewed again counts once, as it ended.
        ended = {
            each["content"]: each for each in AuditLog(repository.state_folder).entries() if "rules" in each
        }
    found = Counter[str]()
    for each in ended.values():
        found.update(each["rules"] if isinstance(each["rules"], dict) else {})
    counts: dict[str, dict[str, int]] = {
        "reviews": dict(sorted(Counter(str(each["decision"]) for each in ended.values()).items())),
        "findings": dict(found.most_common()),
        "questions": count_questions(repository),
    }
    if format == "json":
        io.say(json.dumps(counts, indent=2))
        return 0
    for name, table in counts.items():
        io.say(f"{name}:" if table else f"{name}: none")
        io.say("\n".join(f"  {printable(key):<32} {number:>6}" for key, number in table.items()))
    return 0


def count_questions(repository: Repository) -> dict[str, int]:
    """Count the model's questions: all, shown by `last`, acted on after that, withdrawn before it."""
    counts = dict.fromkeys(("asked", "shown", "acted on", "withdrawn"), 0)
    for advice in AdviceStore(repository.state_folder).every():
        counts["asked"] += len(advice.questions)
        counts["shown"] += len(advice.questions) if advice.shown else 0
        if advice.questions and (later := find_later(repository, advice.commit)):

            def read(commit: str, path: str, later: str = later) -> str | None:
                return read_text(repository, commit or later, path)

            kept = advice.open_questions(read)
            counts["acted on" if advice.shown else "withdrawn"] += len(advice.questions) - len(kept)
    return counts


def find_later(repository: Repository, commit: str) -> str:
    """Return the last of the COMMITS commits of this branch after one, or after what has amended it; "" for none."""
    try:
        log = repository.git.text(
            "log", "--first-parent", "--reverse", "--format=%H %at %P", f"{commit}..HEAD"
        )
        own = repository.git.text("log", "-1", "--format=%at %P", commit)
    except GitError:  # the commit is gone
        return ""
    later = [line.partition(" ") for line in log.splitlines()[:COMMITS]]
    # An amend keeps the author's time and the parents; without the commit or its amend this is another branch.
    return later[-1][0] if later and (later[0][2] == own or repository.is_ancestor(commit, "HEAD")) else ""


command = Command(
    "stats",
    callback=run,
    help="Count the reviews of this repository, their findings by rule, each change as it ended, and the questions of"
    f" the model: shown by `last`, acted on (the line changed within {COMMITS} commits), withdrawn before that.",
    params=[FORMAT],
)
