"""Run the graph for a review or a request, and resume a run that paused for a person.

Only a run that waits for a person has a checkpoint. Each is in its own SQLite file, so that a broken or locked file
affects no other run.
"""

import contextlib
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from langchain_core.callbacks import CallbackManager
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from cli_guard.errors import UsageError
from cli_guard.graph.build import Graph, build_graph
from cli_guard.graph.context import Context
from cli_guard.graph.deferred import DeferredModule, keep_callbacks
from cli_guard.graph.state import Data, State, is_intact, requested
from cli_guard.hooks import MESSAGE, PUSH, event_of
from cli_guard.lazy import frozen
from cli_guard.model import Action
from cli_guard.secrets.redact import mask_everywhere, masks_in

keep_callbacks()
LOCK_SECONDS = 2
EXACT = ("tool_requests", "proposal", "repo_snapshot", "allowed_paths")
THREAD: Any = {"configurable": {"thread_id": "review"}}
CHANGE = "review the change that is about to be recorded"
REQUESTS = {
    MESSAGE: "review the message of the commit that is about to be recorded",
    PUSH: "review the commits that are about to be pushed",
}


@frozen
class Pause:
    """A run that waits for a person, still in memory."""

    connection: sqlite3.Connection

    def keep(self, path: Path) -> None:
        """Write the checkpoint to a file. Raises sqlite3.Error or OSError."""
        # Written to another file and renamed: a file at `path` may be broken, or be read at this moment.
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(descriptor)
        try:
            with contextlib.closing(sqlite3.connect(name)) as file:
                # Nor does the rest of a pending review survive a power failure, and a torn file says so.
                file.execute("PRAGMA synchronous = OFF")
                self.connection.backup(file)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def run_review(context: Context) -> tuple[State, Pause | None]:
    """Review the subject of a context; return its state, and the pause if it waits for a person."""
    assert context.subject is not None  # noqa: S101 - a review has a subject
    event = event_of(context.subject.event)
    request: State = {
        "input": REQUESTS.get(event.request, CHANGE),
        "task_type": "change_review",
        "metadata": {"event": event.name, "policy": context.policy.identity},
    }
    return run_graph(request, context)


@contextlib.contextmanager
def suspend_tracing() -> Iterator[None]:
    """Switch LangSmith off where a caller in Python has loaded it: it would find its own way into a run."""
    if not isinstance(sys.modules.get("langsmith.run_helpers"), DeferredModule | None):
        from langsmith import tracing_context

        with tracing_context(enabled=False):
            yield
    else:
        yield


@suspend_tracing()
def run_graph(request: State, context: Context) -> tuple[State, Pause | None]:
    """Run the graph on a request; return its state, and the pause if it waits for a person."""
    done = build_graph().invoke(request, without_tracing({}), context=context, version="v2")
    state: State = done.value
    if state["status"] != "needs_review" or not state["review_id"]:
        return state, None
    return waiting(state, context)


def without_tracing(config: Any) -> Any:
    """Add an empty callback manager: only without one would the library trace the run, if the environment says so.

    A diff must not leave the machine because a variable was set for another program.
    """
    return config | {"callbacks": CallbackManager([])}


@suspend_tracing()
def waiting(state: State, context: Context) -> tuple[State, Pause]:
    """Give a run that needs a person a checkpoint just before the node that asks.

    Most runs need no person, and a checkpoint at every step would take a third of the graph's own time.
    """
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    graph = build_graph(checkpointer=saver(connection))
    # The node that asks runs again and logs its entry again.
    before = state | {"action_log": state["action_log"][:-1]}
    # The request may hold a secret. A patch is kept unmasked: it is written as it is, and its hash is its id.
    exact = {key: before[key] for key in EXACT if key in before}  # type: ignore[literal-required]
    before = cast(State, mask_everywhere(before, masks_in(state["input"])) | exact)
    asks = Command(update=before, goto="request_human_review")
    graph.update_state(without_tracing(THREAD), asks, as_node="policy_gate")
    stopped: Any = graph.invoke(
        None, without_tracing(THREAD), context=context, durability="exit"
    )
    (asked,) = stopped.pop("__interrupt__")
    return stopped | {"final_output": asked.value["final_output"]}, Pause(connection)


def saver(connection: sqlite3.Connection) -> SqliteSaver:
    """Return a checkpointer that reads only plain data and the library's own types; the graph adds its types.

    By default it would call any function that a file names, with the arguments in the file.
    """
    return SqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))


@suspend_tracing()
def resume_review(
    path: Path,
    *,
    by: str,
    reason: str,
    approved: bool = True,
    context: Context | None = None,
    requests: list[Action] | None = None,
) -> State:
    """Resume a paused run with a person's answer. Raises UsageError for a file that holds none.

    The file is only read: if the run fails, because the work tree has changed, it can be answered again.
    `requests` are those that the person was shown; raises UsageError if the run has others.
    """
    with open_paused(path) as graph:
        if requests is not None and requested(graph.get_state(THREAD).values) != requests:
            raise UsageError("the pending request is not the one that was shown: ask again")
        answer: Any = Command(resume={"approved": approved, "by": by, "reason": reason})
        context = context or Context()
        return cast(
            State,
            graph.invoke(
                answer, without_tracing(THREAD), context=context, durability="exit"
            ),
        )


def waiting_requests(path: Path) -> list[Action]:
    """Return the actions that an approval of a paused run starts. Raises UsageError."""
    return requested(waiting_state(path))


def waiting_state(path: Path) -> State:
    """Return the state in which a run paused. Raises UsageError."""
    with open_paused(path) as graph:
        return cast(State, graph.get_state(THREAD).values)


@contextlib.contextmanager
def open_paused(path: Path) -> Iterator[Graph]:
    """Open the graph of a paused run on a copy of its checkpoint in memory. Raises UsageError."""
    try:
        with contextlib.closing(
            sqlite3.connect(":memory:", check_same_thread=False)
        ) as memory:
            copy(path, memory)
            graph = build_graph(checkpointer=saver(memory))
            if not waits(graph):
                raise UsageError(
                    "this review is no longer pending: run the commit or push again"
                )
            yield graph
    except sqlite3.Error as error:
        raise UsageError(
            f"the paused review cannot be read ({error}): run the commit or push again"
        ) from error


def copy(path: Path, memory: sqlite3.Connection) -> None:
    """Copy the database of a paused run. Raises sqlite3.Error, also if it stays locked for LOCK_SECONDS."""
    deadline = time.monotonic() + LOCK_SECONDS

    def step(status: int, remaining: int, total: int) -> None:
        # `backup` itself waits for a lock without limit.
        if (
            status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            and time.monotonic() > deadline
        ):
            raise sqlite3.OperationalError("database is locked")

    with contextlib.closing(open_file(path)) as file:
        file.backup(memory, progress=step, sleep=0.05)


def open_file(path: Path) -> sqlite3.Connection:
    """Open the existing database of a paused run. Raises sqlite3.Error."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=LOCK_SECONDS, check_same_thread=False)


def waits(graph: Graph) -> bool:
    """Return whether the checkpoint waits for a person. Raises sqlite3.Error, also for one of another version."""
    try:
        paused = graph.get_state(THREAD)
        if not paused.next:
            return False
        if is_intact(paused.values):
            return True
    except (ValueError, TypeError, KeyError) as error:
        raise sqlite3.DatabaseError("its content is broken") from error
    raise sqlite3.DatabaseError("another version of cli-guard wrote it")


def values_graph(connection: sqlite3.Connection) -> Any:
    """Build a graph that only holds values; its checkpoints are read as strictly as those of a paused run."""
    graph = StateGraph(dict)  # type: ignore[type-var]
    graph.add_node("hold", lambda state: state)
    graph.add_edge(START, "hold")
    graph.add_edge("hold", END)
    return graph.compile(checkpointer=saver(connection))


def save_values(path: Path, values: Data) -> None:
    """Write plain data to a file, all of it or nothing. Raises sqlite3.Error, OSError; TypeError for other data."""
    with contextlib.closing(sqlite3.connect(":memory:", check_same_thread=False)) as memory:
        values_graph(memory).update_state(without_tracing(THREAD), values, as_node="hold")
        Pause(memory).keep(path)


def load_values(path: Path) -> Data:
    """Return the plain data of a file. Raises sqlite3.Error, also for a file that has none."""
    with contextlib.closing(sqlite3.connect(":memory:", check_same_thread=False)) as memory:
        copy(path, memory)
        try:
            return dict(values_graph(memory).get_state(THREAD).values)
        except (ValueError, TypeError, KeyError) as error:
            raise sqlite3.DatabaseError("its content is broken") from error
