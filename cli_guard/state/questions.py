"""The last commands that coding agents were asked about, for `cli-guard allow --last`: one list for each user.

They are kept in the user's own state folder, one JSON line each, readable only by their owner.
"""

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from cli_guard.lazy import frozen
from cli_guard.runtime import Env, Invocation, user_state
from cli_guard.secrets.redact import redact
from cli_guard.state.files import check_fields, lock, read_lines, write_atomically

MOST = 20
# As many characters as are judged in full. A longer command gets no rule: its beginning shows which it was, without
# what may be half a secret at the cut.
LONGEST = 40_000
KEPT = 4_000


@frozen
class KeptQuestion:
    """A command that needed a person. `at` is an ISO 8601 time.

    `masked`: the command held a secret, which is replaced by stars, or was too long: no pattern can be built from it.
    """

    at: str
    agent: str
    folder: str
    command: str
    masked: bool = False


def remember_question(
    invocation: Invocation, agent: str, folder: str, command: str
) -> None:
    """Add a question, and drop the oldest beyond MOST. Raises OSError, CliGuardError if the list is locked."""
    path = find_list(invocation.env)
    if path is None:
        return
    shown = redact(command[:LONGEST])
    if len(command) > LONGEST:
        shown = shown[:KEPT]
    question = KeptQuestion(
        invocation.now.isoformat(), agent, folder, shown, shown != command
    )
    with lock(path):
        lines = [*read_lines(path), json.dumps(asdict(question))][-MOST:]
        write_atomically(path, "\n".join(lines) + "\n")


def last_questions(invocation: Invocation) -> list[KeptQuestion]:
    """Return the questions that can be read, the latest first. Raises OSError, CliGuardError for no plain file."""
    path = find_list(invocation.env)
    found = []
    for line in read_lines(path) if path else ():
        with suppress(ValueError, TypeError):
            found.append(check_fields(KeptQuestion(**json.loads(line))))
    return found[::-1]


def find_list(env: Env) -> Path | None:
    folder = user_state(env)
    return folder / "questions.jsonl" if folder else None
