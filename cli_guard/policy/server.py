"""`[server]`: may a process stay behind that does later runs? The user's own file alone says so."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from cli_guard.errors import ConfigError

KEY = "server"


class ServerSection(BaseModel):
    """`[server]`: the warm server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: Annotated[
        bool, Field(description="Whether a server is started and asked. In a user's own file only.")
    ] = True


def check_not_shared(keys: set[str], source: str, user_file: str) -> None:
    """What runs on a machine is its user's to say, not a repository's. Raises ConfigError."""
    if KEY in keys:
        raise ConfigError(
            f"{source}: 'server' belongs in the user's own file, {user_file}: a repository starts no process"
        )
