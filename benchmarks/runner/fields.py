"""Read a TOML table with types. Every error names the key; that of an unknown key names the nearest known one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmarks.runner.contents import fill_secrets
from cli_guard.errors import ConfigError
from cli_guard.policy.config import nearest


@dataclass(frozen=True)
class Table:
    """One table of a task file; `invocation` is its name in the file, "" for the file itself."""

    source: str
    invocation: str
    data: Mapping[str, object]

    def only(self, known: Iterable[str]) -> "Table":
        """Return the table itself. Raises ConfigError if it holds another key than these."""
        known = tuple(known)
        for key in self.data:
            if key not in known:
                raise ConfigError(
                    f"{self.source}: unknown key {self.name(key)!r}{nearest(key, known)}"
                )
        return self

    def name(self, key: str) -> str:
        """Return the full name of a key."""
        return f"{self.invocation}.{key}" if self.invocation else key

    def wrong(self, key: str, wanted: str) -> ConfigError:
        """Build the error for an invalid value."""
        given = repr(self.data.get(key))
        shown = f" (it says {given})" if len(given) < 60 else ""
        return ConfigError(f"{self.source}: {self.name(key)!r} must be {wanted}{shown}")

    def require(self, key: str) -> "Table":
        """Return the table itself. Raises ConfigError if the key is missing."""
        if key not in self.data:
            raise ConfigError(f"{self.source}: {self.name(key)!r} is missing")
        return self

    def text(self, key: str, default: str = "") -> str:
        """Return a string with its placeholders filled in. Raises ConfigError."""
        value = self.data.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(key, "a string")
        return fill_secrets(value)

    def choice(self, key: str, known: Iterable[str], default: str = "") -> str:
        """Return one of the known words. Raises ConfigError."""
        value = self.text(key, default)
        known = tuple(known)
        if value not in known:
            raise ConfigError(
                f"{self.source}: {self.name(key)!r} is {value!r}, not one of {', '.join(known)}"
                f"{nearest(value, known)}"
            )
        return value

    def number(self, key: str, default: float, *, least: float, most: float) -> float:
        """Return a number within bounds. Raises ConfigError."""
        value = self.data.get(key, default)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not least <= value <= most
        ):
            raise self.wrong(key, f"a number from {least:g} to {most:g}")
        return value

    def whole(self, key: str) -> int | None:
        """Return a whole number, None if the key is missing. Raises ConfigError."""
        value = self.data.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise self.wrong(key, "a whole number")
        return value

    def flag(self, key: str) -> bool | None:
        """Return true or false, None if the key is missing. Raises ConfigError."""
        value = self.data.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def words(self, key: str) -> tuple[str, ...] | None:
        """Return a list of strings, None if the key is missing. Raises ConfigError."""
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(key, "a list of strings")
        return tuple(map(fill_secrets, value))

    def strings(self, key: str) -> dict[str, str]:
        """Return a table of strings. Raises ConfigError."""
        table = self.table(key)
        return {each: table.text(each) for each in table.data}

    def table(self, key: str) -> "Table":
        """Return a table in this one, an empty one if the key is missing. Raises ConfigError."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, "a table")
        return Table(self.source, self.name(key), value)

    def tables(self, key: str) -> tuple["Table", ...]:
        """Return a list of tables. Raises ConfigError."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.wrong(key, "a list of tables")
        return tuple(
            Table(self.source, f"{self.name(key)}[{number}]", each)
            for number, each in enumerate(value)
        )
