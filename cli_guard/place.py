"""Where and when a command runs: handed down from the front door, never looked up below it."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Place:
    """Where and when a command runs."""

    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    now: datetime.datetime

    @property
    def user(self) -> str:
        """Who runs it, by the environment or the password file."""
        try:
            import getpass

            return self.env.get("LOGNAME") or self.env.get("USER") or getpass.getuser()
        except (KeyError, OSError):
            return "unknown"


def user_file(env: Mapping[str, str]) -> Path | None:
    """The user's own file in the platform's configuration folder (XDG base directory specification)."""
    base = env.get("XDG_CONFIG_HOME") or (f"{env['HOME']}/.config" if env.get("HOME") else None)
    return Path(base) / "cli-guard" / "config.toml" if base else None
