"""What the models have cost: prices, tokens and money of each call, and the budget of a day.

One JSON line a call in the user's own state folder, as a budget is a person's and not a repository's.
"""

import datetime
import json
import os
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from cli_guard.errors import CliGuardError
from cli_guard.lazy import dataclass, frozen
from cli_guard.llm.providers import ModelError
from cli_guard.policy.language_model import ModelSection
from cli_guard.runtime import user_state
from cli_guard.state.files import lock, open_state, read_state

FILE = "model.jsonl"
OLD = ".old.jsonl"
KEPT_BYTES = 4_000_000
MOST_TOKENS = 1_000_000_000
MOST_USD = 1_000_000.0


@frozen
class Usage:
    """The tokens of a call; `estimated` where the server did not say."""

    input: int = 0
    output: int = 0
    estimated: bool = False


@dataclass
class Total:
    """What some calls cost together; `usd` counts those of a known price, `unpriced` the others."""

    calls: int = 0
    input: int = 0
    output: int = 0
    usd: float = 0.0
    unpriced: int = 0

    def add(self, entry: Mapping[str, Any]) -> None:
        """Count an entry of the ledger."""
        usd = entry["usd"]
        self.calls += 1
        self.input += entry["in"]
        self.output += entry["out"]
        self.usd += usd or 0.0
        self.unpriced += usd is None

    def __str__(self) -> str:
        price = (
            f"USD {self.usd:.4f}"
            if self.unpriced < self.calls or not self.calls
            else "price unknown"
        )
        also = (
            f" and {self.unpriced} of unknown price"
            if 0 < self.unpriced < self.calls
            else ""
        )
        calls = "call" if self.calls == 1 else "calls"
        return (
            f"{self.calls} {calls}, {self.input:,} + {self.output:,} tokens, {price}{also}"
        )


def price_of(model: str, usage: Usage, config: ModelSection) -> float | None:
    """Return what a call costs in US dollars, None if the price is not known (list prices: genai-prices)."""
    if own := config.prices.get(model):
        return (usage.input * own.input + usage.output * own.output) / 1_000_000
    provider, _, name = model.partition(":")
    if provider == "openai" and config.for_model(model).base_url:
        # A server of one's own has names of its own, and no list price.
        return None
    try:
        import genai_prices
    except ImportError:
        return None
    counted = genai_prices.Usage(input_tokens=usage.input, output_tokens=usage.output)
    try:
        return float(
            genai_prices.calc_price(counted, name, provider_id=provider).total_price
        )
    except (LookupError, ValueError):
        return None


def read_entry(line: str) -> dict[str, Any]:
    """Return the entry of a line of the file, whose numbers can be added up. Raises ValueError."""
    try:
        entry = json.loads(line)
        tokens = (entry["in"], entry["out"])
        usd = entry["usd"]
        is_valid = all(
            type(each) is int and 0 <= each <= MOST_TOKENS for each in tokens
        ) and (usd is None or (type(usd) in (int, float) and 0 <= usd <= MOST_USD))
        datetime.datetime.fromisoformat(entry["at"])
    except (ValueError, TypeError, KeyError, RecursionError):
        is_valid = False
    if not is_valid:
        raise ValueError("no entry of a call")
    return dict(entry)


@dataclass
class Ledger:
    """The calls of a session, and of a day from the user's file; `session` names the first, `now` is its beginning.

    With a budget, a call is entered before it is made, at the most that it can cost, and once more under the same
    `id` when that is known: neither two processes at once nor one that is killed can spend what is not there.
    """

    config: ModelSection
    env: Mapping[str, str]
    now: datetime.datetime
    session: str = ""
    total: Total = field(default_factory=Total)
    _began: float = field(default_factory=time.monotonic, init=False)

    @property
    def path(self) -> Path | None:
        """Return the file of the user, None without a home folder."""
        folder = user_state(self.env)
        return folder / FILE if folder else None

    def clock(self) -> datetime.datetime:
        """Return the time in UTC; a session may see the next day."""
        since = datetime.timedelta(seconds=time.monotonic() - self._began)
        return self.now.astimezone(datetime.UTC) + since

    def entries(
        self, day: datetime.date | None = None, *, strict: bool = False
    ) -> Iterator[dict[str, Any]]:
        """Yield the calls that are on record, of one day (UTC) or all; of what cannot be read, none.

        With `strict` that raises ModelError instead.
        """
        wanted = day.isoformat() if day else ""
        found = {}
        for path in (self.path.with_suffix(OLD), self.path) if self.path else ():
            try:
                lines = read_state(path).decode("utf-8", "replace").splitlines()
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (CliGuardError, OSError) as error:
                if strict:
                    raise unusable(path, error) from None
                continue
            for number, line in enumerate(lines, 1):
                try:
                    entry = read_entry(line)
                except ValueError:
                    if strict:
                        raise unusable(
                            path, f"line {number} is damaged: remove the line"
                        ) from None
                    continue
                if entry["at"].startswith(wanted):
                    found[str(entry.get("id") or f"{path.name}:{number}")] = entry
        yield from (entry for entry in found.values() if not entry.get("void"))

    def total_of_day(self, *, strict: bool = False) -> Total:
        """Return what was spent today (UTC). With `strict`, raises ModelError if that cannot be known."""
        total = Total()
        for each in self.entries(self.clock().date(), strict=strict):
            total.add(each)
        return total

    def reserve(self, model: str, prompt_tokens: int, **entry: Any) -> str:
        """Enter a call before it is made, and return its id, "" without a budget.

        Raises ModelError if it could pass the budget of the day, or if that cannot be known.
        """
        budget = self.config.budget_usd_per_day
        if budget is None:
            return ""
        usage = Usage(prompt_tokens, self.config.answer_tokens, estimated=True)
        cost = price_of(model, usage, self.config)
        path = self.path
        if cost is None:
            raise ModelError(
                f'its price is not known, so no budget can hold: add "{model}" to [model.prices]'
            )
        if not path:
            raise ModelError(
                "there is no home folder for the record that the budget needs: set HOME"
            )
        mark = uuid.uuid4().hex
        try:
            with lock(path):
                spent = self.total_of_day(strict=True).usd
                if spent + cost > budget:
                    raise ModelError(
                        f"the budget of the day does not allow it: USD {spent:.4f} of {budget:g} are spent, and this"
                        f" call may cost {cost:.4f} (model.budget_usd_per_day)"
                    )
                self.append(path, id=mark, model=model, usage=usage, usd=cost, **entry)
        except ModelError:
            raise
        except (CliGuardError, OSError) as error:
            raise unusable(path, error) from None
        return mark

    def record(
        self, model: str, usage: Usage | None, mark: str = "", **entry: Any
    ) -> float | None:
        """Count a call, append it to the user's file as far as that can be written, and return what it has cost.

        `mark` is what `reserve` returned; without `usage` nothing was sent, and that is taken back.
        """
        usd = price_of(model, usage, self.config) if usage else None
        if usage:
            self.total.add({"in": usage.input, "out": usage.output, "usd": usd})
        if self.path and (usage or mark):
            if mark:
                entry |= {"id": mark, "void": usage is None}
            with suppress(OSError, CliGuardError):
                self.append(
                    self.path, model=model, usage=usage or Usage(), usd=usd, **entry
                )
        return usd

    def append(self, path: Path, *, usage: Usage, **entry: Any) -> None:
        """Append an entry to a file. Raises CliGuardError, OSError."""
        counted = {"in": usage.input, "out": usage.output, "estimated": usage.estimated}
        at = self.clock().isoformat(timespec="seconds")
        line = (
            json.dumps(
                {"at": at, "session": self.session, **counted, **entry}, sort_keys=True
            )
            + "\n"
        )
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.drop_old(path)
        # One write of one line: two sessions may append at once.
        descriptor = open_state(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        with os.fdopen(descriptor, "ab", buffering=0) as file:
            file.write(line.encode("ascii"))

    def drop_old(self, path: Path) -> None:
        """Start the file anew when it has grown too large; the last one is kept beside it. Raises OSError."""
        old = path.with_suffix(OLD)
        with suppress(FileNotFoundError):
            if path.lstat().st_size <= KEPT_BYTES:
                return
            # Calls of today must stay on record.
            today = self.clock().date()
            with suppress(FileNotFoundError):
                if (
                    datetime.datetime.fromtimestamp(
                        old.lstat().st_mtime, datetime.UTC
                    ).date()
                    >= today
                ):
                    return
            path.replace(old)


def unusable(path: Path, why: object) -> ModelError:
    """Return the error of a record without which no budget can hold."""
    words = why.strerror if isinstance(why, OSError) else why
    return ModelError(f"the budget cannot be checked: {path}: {words}")
