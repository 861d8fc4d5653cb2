"""`cli-guard ask`: a request in a developer's words, answered from the repository; nothing is written or run."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from cli_guard.assistant import Proposal
from cli_guard.assistant.ask import ask_request
from cli_guard.cli.app import FORMAT, Command, flag, option
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.graph.answer import lacks_patch
from cli_guard.review.paths import Paths
from cli_guard.secrets.printable import printable, printable_text

if TYPE_CHECKING:
    from cli_guard.llm.guest import Guest

EXIT_CODES = {"ok": 0, "needs_review": 3, "failed": 1}
MOST_BYTES = 4_000_000


@click.pass_obj
def run(
    io: Io,
    /,
    request: str,
    path: tuple[str, ...],
    rev: str | None,
    worktree: bool,
    **shown: object,
) -> int:
    from cli_guard.mcp.client.tools import open_servers

    said = request_from(io, request)
    guest = invite(io, said, shown)
    asked = ask_request(
        said,
        io.invocation,
        paths=from_the_top(io, path),
        revision=rev,
        worktree=worktree,
        servers=open_servers,
        equip=guest.equip if guest else None,
    )
    if guest and shown["show_prompt"]:
        io.say(guest.show_prompts())
        return 0
    for note in asked.notes:
        io.warn(f"cli-guard: {printable(note)}")
    if shown["patch"]:
        io.write_bytes(patch_of(asked).encode("utf-8", "surrogateescape"), b"")
    elif shown["format"] == "json":
        import json

        from cli_guard.secrets.printable import json_value

        io.say(json.dumps(json_value(asked.data), indent=2))
    else:
        io.say(printable_text(asked.text))
        if shown["explain"]:
            io.say("\n".join(map(printable, explain_plan(asked.data))))
            if guest:
                io.say(f"route: {printable(str(guest.route))}")
    is_empty = asked.state is not None and lacks_patch(asked.state)
    return EXIT_CODES["failed" if is_empty else asked.status]


def invite(io: Io, request: str, shown: Mapping[str, object]) -> "Guest | None":
    """Return the model that may help, None if none is configured or wanted. Raises ConfigError, UsageError."""
    from cli_guard.policy.config import read_user_config
    from cli_guard.policy.language_model import ModelSection, check_model_name

    if shown["no_model"]:
        return None
    user = read_user_config(io.env)
    config = user.model if user else ModelSection()
    named = str(shown["model"] or "")
    try:
        named = named and check_model_name(named)
    except ValueError as error:
        raise UsageError(f"--model {named}: {error}") from error
    if not (named or config.is_configured):
        if shown["show_prompt"]:
            raise UsageError(
                "--show-prompt needs a model: name one in [model] of your own file, or with --model"
            )
        return None
    from cli_guard.llm.guest import open_guest

    return open_guest(
        request, config, io.invocation, forced=named, preview=bool(shown["show_prompt"])
    )


def request_from(io: Io, request: str) -> str:
    """Return the request: the argument, or standard input for `-`. Raises UsageError."""
    raw = io.read_bytes() if request == "-" else request.encode("utf-8", "surrogateescape")
    if len(raw) > MOST_BYTES:
        raise UsageError(f"the request is longer than {MOST_BYTES:,} bytes: shorten it")
    return raw.decode("utf-8", "replace")


def from_the_top(io: Io, paths: tuple[str, ...]) -> list[str]:
    """Return the paths relative to the top of the repository. Raises UsageError for one outside it."""
    return [*Paths.parse(paths, io.find_repository(), io.cwd).wanted] if paths else []


def patch_of(asked: Proposal) -> str:
    """Return the exact patch. Raises CliGuardError if there is none to show."""
    if asked.patch:
        return asked.patch
    is_withheld = asked.state is not None and bool(asked.state["proposal"].get("patch"))
    why = "the patch contains a secret" if is_withheld else "the answer is no patch"
    raise CliGuardError(f"{why}: see the answer without --patch")


def explain_plan(data: dict[str, object]) -> list[str]:
    """Format the plan and the log, one line per step."""
    lines = ["", "plan:"]
    plan = data["plan"]
    log = data["action_log"]
    assert isinstance(plan, Sequence) and isinstance(log, Sequence)  # noqa: S101 - of a state, or of a review
    lines += [
        f"  {each['tool']} [{each['risk']}]: {each['purpose']} {each['arguments']}"
        for each in plan
    ]
    lines.append("log:")
    for each in log:
        details = ", ".join(
            f"{key}={value}" for key, value in each.items() if key != "node"
        )
        lines.append(f"  {each['node']}: {details}")
    return lines


command = Command(
    "ask",
    callback=run,
    help="Answer a request about the repository: where something is, documentation, a refactoring, the command for a"
    " task, the tests that cover it, a change. Works on what is staged, without a network; a model helps only if your"
    " own configuration names one. Nothing is written or run before `cli-guard approve`: neither a patch nor the"
    " command to test, check or build. Exit codes: 0 answered, 3 needs approval, 1 failed or no patch.",
    params=[
        click.Argument(["request"]),
        option(
            "--path -p",
            "PATH",
            "Use only this file or folder; may be repeated.",
            multiple=True,
        ),
        option("--rev", "REV", "Use a commit instead of what is staged.", rare=True),
        flag("--worktree", "Use the files of the work tree."),
        FORMAT,
        flag("--patch", "Print the proposed patch alone, for `git apply`."),
        option(
            "--model",
            "NAME",
            "Use this model (provider:name) in place of the configured ones.",
        ),
        flag("--no-model", "Use no model, whatever is configured."),
        flag(
            "--show-prompt", "Print what would be sent to a model; send nothing.", rare=True
        ),
        flag("--explain", "Show the plan, what the gate decided, and the log.", rare=True),
    ],
)
