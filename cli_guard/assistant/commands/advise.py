"""What the model says about a commit, for `cli-guard last` and after a hook."""

from contextlib import suppress
from dataclasses import replace

from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError
from cli_guard.llm.summary import advise, advise_after_hook, last_entry
from cli_guard.policy.language_model import ModelSection
from cli_guard.repository.protocol import Repository
from cli_guard.secrets.printable import printable
from cli_guard.state.advice import Advice


def ask_in_background(io: Io, config: ModelSection) -> None:
    """Advise on the commit that is being made; `last` reports what goes wrong, when it tries again."""
    # The index that Git names to a hook may be a temporary one.
    env = {name: value for name, value in io.env.items() if name != "GIT_INDEX_FILE"}
    with suppress(CliGuardError, OSError):
        advise_after_hook(
            replace(io, env=env).find_repository(), config, replace(io.invocation, env=env)
        )


def find_advice(io: Io, repository: Repository, config: ModelSection) -> Advice | None:
    """Return what the model says about the last commit, asking it now if need be; a failure is one line."""
    commit = repository.head
    # The report is of a change that was not recorded.
    if commit is None or last_entry(repository).get("decision") in ("deny", "review"):
        return None
    about = f"the model about {commit[:7]}"
    try:
        words = f"cli-guard: asking {about} (at most {config.deadline_s:g} s)"
        return advise(repository, commit, config, io.invocation, lambda: io.warn(words))
    except (CliGuardError, OSError) as error:
        io.warn(f"cli-guard: nothing from {about}: {printable(str(error))}")
        return None
