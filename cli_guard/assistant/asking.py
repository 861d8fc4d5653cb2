"""The world of the run tool over a repository: beside bash it has `ask`, the history, memory, and kept output."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cli_guard.assistant.sandbox.model import CommandWorld
from cli_guard.errors import UsageError

if TYPE_CHECKING:
    from cli_guard.repository.protocol import Repository
    from cli_guard.repository.snapshot import Snapshot


def world_of(repository: Repository, snapshot: Snapshot) -> CommandWorld:
    """Return the world of a command over a state of a repository."""
    from cli_guard.state.memory import Memory

    folder = repository.state_folder
    world = CommandWorld(snapshot, repository, Memory(folder), state_folder=folder)
    return replace(world, ask=partial(answer_question, world))


def answer_question(world: CommandWorld, question: str) -> str:
    """Answer a question about a snapshot by reading. Raises UsageError for any other request."""
    # The graph takes long to import, and `ls` does not need it.
    from cli_guard.assistant import propose
    from cli_guard.assistant.local import LocalAssistant
    from cli_guard.assistant.request import read_request
    from cli_guard.graph.context import Context
    from cli_guard.graph.state import normalise

    kind = read_request(normalise(question)).kind
    if kind not in ("repo_qna", "command_help"):
        raise UsageError(
            f"this is no question ({kind}): at the terminal, cli-guard ask takes requests"
        )
    context = Context(assistant=LocalAssistant(world), review_only=True)
    return propose(question, world.snapshot, context=context).text
