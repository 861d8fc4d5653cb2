"""Measure how well requests and changes are routed to a tier of model, and what that saves.

    python -m benchmarks.routing [--half development|kept] [--wrong]

Over the labelled cases of fixtures/routing: the confusion matrix, the rate of wrong tiers, and the money that is saved
against sending everything to the heavy tier, at list prices (genai-prices) and by the tokens of each case. Beside it
length alone with two thresholds fitted on the development half, always the medium tier, and the labels themselves.
"""

import argparse
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from pathlib import Path
from statistics import mean, median
from typing import get_args

from genai_prices import Usage, calc_price

from cli_guard.llm.routing import ChangedFile, Route, route_change, route_request
from cli_guard.policy.language_model import Tier

FOLDER = Path(__file__).parent.parent / "fixtures" / "routing"
TIERS: tuple[Tier, ...] = get_args(Tier)
KINDS = ("request", "change")
PROVIDER = "openai"
MODELS = dict(zip(TIERS, ("gpt-5-nano", "gpt-5-mini", "gpt-5"), strict=True))
FOLDS = 5


@dataclass(frozen=True)
class Case:
    """A request, or a request about a change, with its tier and the tokens that an answer takes."""

    kind: str
    tier: Tier
    text: str
    message: str
    files: tuple[ChangedFile, ...]
    findings: tuple[str, ...]
    tokens_in: int
    tokens_out: int

    @property
    def length(self) -> int:
        """The characters of a request, the changed lines of a change."""
        return (
            sum(file.added + file.removed for file in self.files)
            if self.files
            else len(self.text)
        )

    @property
    def fold(self) -> int:
        """The part of a cross-validation that it belongs to, by its text."""
        return hashlib.sha256(f"{self.message}{self.text}".encode()).digest()[0] % FOLDS

    def route(self) -> Route:
        """Route it as the product does."""
        if self.kind == "change":
            return route_change(self.message, self.files, self.findings, self.text)
        return route_request(self.text)

    def price(self, tier: Tier) -> float:
        """Return what it costs on a tier, in US dollars."""
        usage = Usage(input_tokens=self.tokens_in, output_tokens=self.tokens_out)
        return float(calc_price(usage, MODELS[tier], provider_id=PROVIDER).total_price)


def read_cases(half: str) -> list[Case]:
    """Read the labelled cases of one half."""
    rows = map(json.loads, (FOLDER / f"{half}.jsonl").read_text("utf-8").splitlines())
    return [
        Case(
            row["kind"],
            row["tier"],
            row["text"],
            row.get("message", ""),
            tuple(ChangedFile(**file) for file in row.get("files", ())),
            tuple(row.get("findings", ())),
            row["tokens_in"],
            row["tokens_out"],
        )
        for row in rows
    ]


def tier_of(value: float, thresholds: Sequence[float]) -> Tier:
    """Return the tier of a value by the thresholds of medium and heavy."""
    return TIERS[sum(value >= each for each in thresholds)]


def fit(values: Sequence[float], tiers: Sequence[Tier]) -> tuple[float, ...]:
    """Return the two thresholds with the fewest wrong tiers."""

    def count_wrong(thresholds: tuple[float, ...]) -> int:
        return sum(
            tier_of(value, thresholds) != tier
            for value, tier in zip(values, tiers, strict=True)
        )

    return min(
        combinations_with_replacement([*sorted(set(values)), float("inf")], 2),
        key=count_wrong,
    )


def cross_validate(cases: Sequence[Case]) -> float:
    """Return the rate of wrong tiers where each fold has the thresholds that are best for the other folds."""
    wrong = 0
    for kind in KINDS:
        scored = [(case, case.route().score) for case in cases if case.kind == kind]
        for fold in range(FOLDS):
            others = [(score, case.tier) for case, score in scored if case.fold != fold]
            thresholds = fit([score for score, _ in others], [tier for _, tier in others])
            wrong += sum(
                tier_of(score, thresholds) != case.tier
                for case, score in scored
                if case.fold == fold
            )
    return wrong / len(cases)


def report(name: str, cases: Sequence[Case], choose: Callable[[Case], Tier]) -> None:
    """Print the confusion matrix of a way to route, its wrong tiers, and what it saves."""
    chosen = {case: choose(case) for case in cases}
    matrix = Counter((case.tier, tier) for case, tier in chosen.items())
    wrong = sum(case.tier != tier for case, tier in chosen.items())
    always = sum(case.price("heavy") for case in cases)
    saved = 1 - sum(case.price(tier) for case, tier in chosen.items()) / always
    each = mean(1 - case.price(tier) / case.price("heavy") for case, tier in chosen.items())
    print(f"\n{name}\n{'should be / is':16}" + "".join(f"{tier:>8}" for tier in TIERS))
    for wanted in TIERS:
        print(
            f"{wanted:16}" + "".join(f"{matrix[wanted, tier] or '.':>8}" for tier in TIERS)
        )
    print(f"wrong tier {wrong / len(cases):.1%}, heavy on light {matrix['heavy', 'light']}")
    print(f"saved {saved:.1%} of the money; {each:.1%} as a mean of the cases")


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--half", choices=("development", "kept"), default="development")
    parser.add_argument(
        "--wrong", action="store_true", help="print each case on a wrong tier, and why"
    )
    options = parser.parse_args()
    cases = read_cases(options.half)
    development = read_cases("development")
    by_length = {}
    for kind in KINDS:
        fitted = [case for case in development if case.kind == kind]
        by_length[kind] = fit(
            [case.length for case in fitted], [case.tier for case in fitted]
        )
    print(f"{len(cases)} cases ({options.half}); {PROVIDER}: {', '.join(MODELS.values())}")
    report("routing", cases, lambda case: case.route().tier)
    report("length alone", cases, lambda case: tier_of(case.length, by_length[case.kind]))
    report("always medium", cases, lambda case: "medium")
    report("as labelled", cases, lambda case: case.tier)
    if options.half == "development":
        print(
            f"\ncross-validated ({FOLDS} folds, thresholds alone): {cross_validate(cases):.1%} wrong"
        )
    times = []
    for case in cases:
        started = time.process_time()
        route = case.route()
        times.append((time.process_time() - started) * 1000)
        if options.wrong and route.tier != case.tier:
            print(
                f"{case.tier} -> {route}: {' '.join((case.message + ' ' + case.text).split())[:100]}"
            )
    print(f"a route takes {median(times):.2f} ms, at most {max(times):.2f} ms")


if __name__ == "__main__":
    main()
