"""Approve a request of the assistant, a patch or a command, for `cli-guard approve`."""

from functools import partial

from cli_guard.assistant.approve import (
    approve_request,
    describe_requests,
    find_requests,
)
from cli_guard.cli.approve import confirm
from cli_guard.cli.io import Io
from cli_guard.mcp.client.tools import open_servers
from cli_guard.repository.protocol import Repository
from cli_guard.secrets.printable import printable
from cli_guard.state.records import PendingReview


def approve_asked(
    io: Io, repository: Repository, review: PendingReview, reason: str
) -> int | None:
    """Approve a request of the assistant after showing what it does; None if the person declines."""
    requests = find_requests(repository, review, io.invocation)
    details = describe_requests(repository, requests)
    if not confirm(io, review, (), details, partial(str, details)):
        return None
    state = approve_request(
        repository,
        review,
        io.invocation,
        reason,
        requests,
        servers=open_servers,
        say=lambda line: io.say(line or "\n"),
    )
    io.say(printable(state["final_output"] or "", keep_newlines=True))
    return 0 if state["status"] == "ok" else 1
