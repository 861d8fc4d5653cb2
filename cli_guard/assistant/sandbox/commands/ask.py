"""`ask`: a question about the repository, answered by the assistant, where its answer can go down a pipe."""

from cli_guard.assistant.sandbox.commands.command import OwnCommand
from cli_guard.assistant.sandbox.model import Answer, Call, CommandFailure

# The kinds of requests that are answered by reading. What proposes a change or a run needs the terminal.
READING = ("repo_qna", "command_help")
MOST_CHARS = 2_000


def ask(call: Call) -> Answer:
    """Answer a question about the files and the history."""
    # The graph takes long to import, and `ls` does not need it.
    from cli_guard.assistant import propose
    from cli_guard.assistant.local import LocalAssistant
    from cli_guard.assistant.request import read_request
    from cli_guard.graph.context import Context
    from cli_guard.graph.state import normalise

    request = " ".join(call.arguments)
    if len(request) > MOST_CHARS:
        raise CommandFailure(f"a question has at most {MOST_CHARS:,} characters")
    kind = read_request(normalise(request)).kind
    if kind not in READING:
        raise CommandFailure(
            f"this is no question, but {kind.replace('_', ' ')}: ask it at the terminal, cli-guard ask REQUEST"
        )
    context = Context(assistant=LocalAssistant(call.world), review_only=True)
    proposal = propose(request, call.world.snapshot, context=context)
    return Answer.from_text(proposal.text, 0 if proposal.status == "ok" else 1)


ASK = OwnCommand(
    "ask",
    "a question about the repository, in words: where, what, which, how",
    "QUESTION",
    "It reads only; a request for a change is one for cli-guard ask, at the terminal.",
    run=ask,
    needs=1,
)
