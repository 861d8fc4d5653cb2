"""`cli-guard chat`: a session with the model of the user's own configuration, at a terminal."""

import click

from cli_guard.cli.app import Command, option
from cli_guard.cli.io import Io
from cli_guard.cli.prompt import person_needed
from cli_guard.errors import UsageError


@click.pass_obj
def run(io: Io, /, resume: str | None, model: str) -> int:
    from importlib.util import find_spec

    from cli_guard.policy.config import read_user_config
    from cli_guard.policy.language_model import ModelSection
    from cli_guard.runtime import missing_extra, user_file

    if not (io.stdin.isatty() and io.stdout.isatty()):
        raise UsageError("a chat needs a terminal: for scripts there is `cli-guard ask`")
    if model and ":" not in model:
        raise UsageError(
            f"--model {model}: name it as provider:name, such as openai:gpt-5-mini"
        )
    user = read_user_config(io.env)
    config = user.model if user else ModelSection()
    if not (model or config.is_configured):
        raise UsageError(
            f"no model is configured: name one in [model] of {user_file(io.env)}, or with --model"
        )
    if not all(map(find_spec, ("rich", "prompt_toolkit", "langchain"))):
        raise UsageError(missing_extra("a chat", "llm"))
    if not find_spec("termios"):
        raise UsageError("chat needs a POSIX terminal; use `cli-guard ask`")
    from cli_guard.llm.chat.chat import Host
    from cli_guard.llm.chat.commands import run_chat
    from cli_guard.mcp.client.tools import open_servers

    def check_person() -> None:
        person_needed(io, "an approval", "chat")
        if io.env.get("CI") or io.env.get("TERM", "dumb") == "dumb":
            raise UsageError(
                "an approval needs a person at a terminal that is not dumb, and not CI"
            )

    host = Host(
        io.stdin,
        io.stdout,
        io.env,
        lambda: io.invocation,
        check_person,
        open_servers,
        io.colored("auto"),
    )
    run_chat(host, config, resume, model)
    return 0


command = Command(
    "chat",
    callback=run,
    help="Talk with a model about the repository, if your own configuration names one. It reads the work tree; a patch"
    " or a command of it is shown first and needs your approval, as with `approve`; what policy denies stays denied."
    " The session is stored in the repository's state folder.",
    params=[
        option(
            "--resume",
            "[ID]",
            "Go on with a session (the last one).",
            is_flag=False,
            flag_value="",
        ),
        option("--model", "NAME", "Use this model (provider:name).", default=""),
    ],
)
