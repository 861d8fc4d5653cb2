"""Runs the graph for a review, and goes on with one that paused for a person.

A run keeps its checkpoint in memory; only one that pauses is written to disk, each to a SQLite file of its
own, so that a broken or locked file stands in the way of nothing but itself.
"""

import contextlib
import os
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command
from langsmith.run_helpers import tracing_context

from cli_guard.errors import UsageError
from cli_guard.graph.build import Graph, build_graph
from cli_guard.graph.context import Context
from cli_guard.graph.state import State

LOCK_SECONDS = 2
THREAD: Any = {"configurable": {"thread_id": "review"}}
REQUESTS = {
    "commit-msg": "review the message of the commit that is about to be recorded",
    "pre-push": "review the commits that are about to be pushed",
}


@dataclass(frozen=True)
class Pause:
    """A run that waits for a person, still in memory."""

    connection: sqlite3.Connection

    def keep(self, path: Path) -> None:
        """Writes the checkpoint to a file. Raises sqlite3.Error or OSError."""
        # Into a file of its own first: what lies in the place may be broken, or be read at this moment.
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(descriptor)
        try:
            with contextlib.closing(sqlite3.connect(name)) as file:
                self.connection.backup(file)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def run_review(context: Context) -> tuple[State, Pause | None]:
    """Runs the graph over the subject of a context; the pause is there if it waits for a person."""
    assert context.subject is not None  # noqa: S101 - a review has a subject
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    graph = build_graph(checkpointer=SqliteSaver(connection))
    event = context.subject.event
    request: State = {
        "input": REQUESTS.get(event, "review the change that is about to be recorded"),
        "task_type": "change_review",
        "metadata": {"event": event, "policy": context.policy.identity},
    }
    # A diff must not leave the machine because somebody traces another program of theirs; a context variable
    # overrides the environment of the process, which two reviews in two threads share.
    with tracing_context(enabled=False):
        state: Any = graph.invoke(request, THREAD, context=context, durability="exit")
    waiting = state.pop("__interrupt__", None)
    if not waiting:
        connection.close()
        return state, None
    return state | {"final_output": waiting[0].value["final_output"]}, Pause(connection)


def resume_review(path: Path, *, by: str, reason: str) -> State:
    """Goes on with a paused run after a person's approval. Raises UsageError for a file that holds none."""
    try:
        with contextlib.closing(open_file(path)) as file:
            graph = build_graph(checkpointer=SqliteSaver(file))
            if not waits(graph):
                raise UsageError("this review waits no longer: run the commit or push again")
            answer: Any = Command(resume={"approved": True, "by": by, "reason": reason})
            with tracing_context(enabled=False):
                return cast(State, graph.invoke(answer, THREAD, context=Context(), durability="exit"))
    except sqlite3.Error as error:
        raise UsageError(
            f"the paused review cannot be read ({error}): run the commit or push again"
        ) from error


def open_file(path: Path) -> sqlite3.Connection:
    """The database of a paused run, which must be there. Raises sqlite3.Error."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=LOCK_SECONDS, check_same_thread=False)


def waits(graph: Graph) -> bool:
    """Does the graph's checkpoint wait for a person? Raises sqlite3.Error, also for one that says nothing."""
    try:
        return bool(graph.get_state(THREAD).next)
    except (ValueError, TypeError, KeyError) as error:
        raise sqlite3.DatabaseError("its content is broken") from error
