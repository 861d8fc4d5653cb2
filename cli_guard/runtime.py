"""Where and when a command runs: passed down from the entry point, never looked up below it."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Invocation:
    """Where and when a command runs."""

    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    now: datetime.datetime

    @property
    def user(self) -> str:
        """Return who runs it, from the environment or the password file."""
        try:
            import getpass

            return self.env.get("LOGNAME") or self.env.get("USER") or getpass.getuser()
        except (KeyError, OSError):
            return "unknown"


def user_state(env: Mapping[str, str]) -> Path | None:
    """Return the user's own state folder (XDG base directory specification: a relative path is ignored).

    None if there is no home folder.
    """
    base, home = Path(env.get("XDG_STATE_HOME", "")), Path(env.get("HOME", ""))
    if base.is_absolute():
        return base / "cli-guard"
    return home / ".local" / "state" / "cli-guard" if home.is_absolute() else None


def user_file(env: Mapping[str, str]) -> Path | None:
    """Return the user's own file in the platform's configuration folder (XDG base directory specification)."""
    base = env.get("XDG_CONFIG_HOME") or (f"{env['HOME']}/.config" if env.get("HOME") else None)
    return Path(base) / "cli-guard" / "config.toml" if base else None
