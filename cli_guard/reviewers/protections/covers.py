"""Checks that a change moves to what stands around many functions: a router, a group of routes, a class or its base."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import PurePosixPath

from cli_guard.code.changes.comparisons import split_arguments
from cli_guard.code.changes.difference import (
    ChangeDifference,
    FileDifference,
)
from cli_guard.code.changes.facts import IDENTIFIER, CodeFact, FactKind, short_name
from cli_guard.code.changes.naming import write_dotted
from cli_guard.code.languages import language_for
from cli_guard.code.taint.naming import top_imports
from cli_guard.lazy import frozen
from cli_guard.reviewers.protections.loss import Loss, members, net_key, plain_name
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import data

TABLE = "protections/frameworks.toml"
QUOTES = "\"'`"
MOST_CHECKS = 200
SELVES = ("", "$this", "this", "self")
# Whether a method must be named to be asked, None where nobody can say.
LIMITS = {"only": True, "except": False, "if": None, "unless": None}
ASKING = (FactKind.CALL, FactKind.ARGUMENT, FactKind.DECORATOR)
QUALIFIED = re.compile(r"[\w$]+(?:(?:::|\\|\.)[\w$]+)*")
# What a handler has as its parameters a filter has as well.
BARE_NAMES = re.compile(r"[\w$@., ]*")


@cache
def _covering() -> tuple[str, ...]:
    """Return the names of the calls that put a check before all that they, or what they make, stand around."""
    return tuple(data.read(TABLE)["covers"]["calls"].split())


@frozen
class Cover:
    """A check that came, the call that puts it around others, and the file where it does."""

    check: CodeFact
    call: CodeFact
    file: FileDifference

    @property
    def is_new(self) -> bool:
        return self.call in self.file.came


def is_covered(loss: Loss, subject: ReviewInput, difference: ChangeDifference) -> bool:
    """Return whether a check came to what stands around the place that lost the same check."""
    return any(
        covers(each, loss, subject, difference) for each in covers_of(loss, difference)
    )


def covers(
    cover: Cover, loss: Loss, subject: ReviewInput, difference: ChangeDifference
) -> bool:
    return (
        covers_class(cover, loss, difference)
        or covers_route(cover, loss)
        or covers_file(cover, loss, subject)
    )


def find_misplaced(subject: ReviewInput, difference: ChangeDifference) -> Iterator[Loss]:
    """Yield the checks that moved to what stands around others, but not around the place where they were.

    Such a check is there as often as before, so nothing else would miss it.
    """
    if not any(call in file.came for file, call in covering_calls(difference)):
        return
    for file in difference.files:
        for loss in islice(members(file, file.old.facts), MOST_CHECKS):
            if (
                file.hunk_of(loss.fact)
                and any(each.is_new for each in covers_of(loss, difference))
                and is_gone_here(loss)
                and not is_covered(loss, subject, difference)
            ):
                yield loss


def is_in_caller(loss: Loss) -> bool:
    """Return whether a check came to a function of the file that calls, further down, the one that lost the check."""
    fact = loss.fact
    name = short_name(fact.unit)
    callers = {
        unit.name: unit
        for unit in loss.file.new.units
        if name in unit.words and short_name(unit.name) != name
    }
    asked = net_key(fact)
    for check in loss.file.new.facts if callers else ():
        if check.unit in callers and net_key(check) == asked:
            unit = callers[check.unit]
            behind = unit.text.split("\n")[check.end_line - unit.line + 1 :]
            if any(name in IDENTIFIER.findall(line) for line in behind):
                return True
    return False


def is_gone_here(loss: Loss) -> bool:
    """Return whether the route, or else the method, that had a check is there without it."""
    fact = loss.fact
    file = loss.file
    if route := route_of(loss):
        now = route_now(route, file)
        return now is not None and not is_named_in(now, fact)
    return file.new.unit_named(fact.unit) is not None and not any(
        new.unit == fact.unit and is_same_check(fact, new) for new in file.new.facts
    )


def covers_of(loss: Loss, difference: ChangeDifference) -> Iterator[Cover]:
    """Yield where the check of a loss stands in a covering call now."""
    if loss.fact.kind not in ASKING:
        return
    for file, call in covering_calls(difference):
        for check in file.new.facts:
            if is_same_check(loss.fact, check) and has(call, check):
                yield Cover(check, call, file)


def covering_calls(
    difference: ChangeDifference,
) -> Iterator[tuple[FileDifference, CodeFact]]:
    """Yield the calls that are there after the change and put checks around others."""
    for name in _covering():
        yield from difference.calls_now.get(name, ())


def is_same_check(old: CodeFact, new: CodeFact) -> bool:
    """Return whether two facts are one check with the same arguments, or the new one is handed on to be called."""
    if new.kind not in ASKING or plain_name(old) != plain_name(new):
        return False
    if new.kind is FactKind.ARGUMENT:
        return old.kind is FactKind.ARGUMENT or BARE_NAMES.fullmatch(old.detail) is not None
    return old.kind is not FactKind.ARGUMENT and old.detail == new.detail


def has(call: CodeFact, check: CodeFact) -> bool:
    """Return whether a check is part of a call of its own side."""
    is_inside = call.line <= check.line <= call.end_line
    return is_inside and is_named_in(call, check)


def is_named_in(call: CodeFact, check: CodeFact) -> bool:
    """Return whether a check is named among the arguments of a call, or in the chain that the call ends."""
    name = check.last_name
    is_given = any(name in IDENTIFIER.findall(each) for each in plain_arguments(call))
    return is_given or f".{name}." in f".{call.name}"


def plain_arguments(call: CodeFact) -> tuple[str, ...]:
    """Return the arguments of a call but for functions that are written there."""
    every = split_arguments(call.detail)
    return tuple(each for each in every if "{" not in each or each.startswith("{"))


def covers_class(cover: Cover, loss: Loss, difference: ChangeDifference) -> bool:
    """Return whether a filter of a class runs before the method of a loss, or before those of a class below."""
    owner = cover.call.unit
    inner = loss.fact.unit
    if not owner or cover.call.name.rpartition(".")[0] not in SELVES:
        return False
    if inner.startswith(f"{owner}."):
        return applies_to(cover, short_name(inner))
    class_name = inner.partition(".")[0]
    for file in difference.files:
        unit = file.new.unit_named(class_name)
        if unit is not None and unit.path == loss.change.path:
            heading = unit.text.partition("\n")[0].replace(class_name, "", 1)
            bases = map(write_dotted, QUALIFIED.findall(heading))
            is_below = any(is_same_class(base, write_dotted(owner)) for base in bases)
            return is_below and not any(limits_of(cover))
    return False


def is_same_class(one: str, other: str) -> bool:
    """Return whether two names, of which one may be shorter than the other, end with the same parts."""
    return f".{one}".endswith(f".{other}") or f".{other}".endswith(f".{one}")


def limits_of(cover: Cover) -> Iterator[CodeFact]:
    """Yield what limits a filter to some methods: `only: [:a]`, `except: %i[b]`, `->only('a')`, `if: :open?`."""
    for fact in cover.file.new.facts:
        is_here = cover.call.line <= fact.line <= cover.call.end_line
        may_limit = is_here and fact.kind in (FactKind.OPTION, FactKind.CALL)
        if may_limit and fact.last_name in LIMITS:
            yield fact


def applies_to(cover: Cover, method: str) -> bool:
    """Return whether a filter runs before a method; one with a condition may not."""
    for limit in limits_of(cover):
        is_named = method in IDENTIFIER.findall(limit.detail)
        wanted = LIMITS[limit.last_name]
        if wanted is None or is_named is not wanted:
            return False
    return True


def covers_route(cover: Cover, loss: Loss) -> bool:
    """Return whether a router asks before the route that a loss was in, or a group stands around that route."""
    if cover.file is not loss.file:
        return False
    route = route_of(loss)
    now = route_now(route, loss.file) if route else None
    if route is None or now is None:
        return False
    if cover.call.line <= now.line and now.end_line <= cover.call.end_line:
        return now is not cover.call
    return cover.call.line < now.line and any(
        owner == now.name.partition(".")[0] for owner in owners_of(cover)
    )


def owners_of(cover: Cover) -> Iterator[str]:
    """Yield the routers that a covering call is called on, or makes; none of one that asks below a path alone."""
    if path_of(cover.call) == "" and "." in cover.call.name:
        yield cover.call.name.rpartition(".")[0]
    for fact in cover.file.new.facts:
        is_here = fact.line <= cover.call.line and cover.call.end_line <= fact.end_line
        if fact.is_option and is_here and "." not in fact.name:
            yield fact.name


def path_of(call: CodeFact) -> str:
    """Return the constant text that a call has as its first argument, "" for another one."""
    first = next(iter(split_arguments(call.detail)), "")
    return first if first[:1] in QUOTES else ""


def route_of(loss: Loss) -> CodeFact | None:
    """Return the call with a path that had the check of a loss among its arguments, or in its chain."""
    name = loss.fact.name
    around = [
        fact
        for fact in loss.file.old.facts
        if fact.is_call and path_of(fact) and fact is not loss.fact
        if has(fact, loss.fact) or name.startswith(f"{fact.name}.")
    ]
    near = (each for each in around if each.line <= loss.fact.line <= each.end_line)
    return max(near, key=lambda fact: fact.line, default=None)


def route_now(route: CodeFact, file: FileDifference) -> CodeFact | None:
    """Return the call that a route has become: the one with the same last name and path."""
    wanted = (route.last_name, path_of(route))
    found = [
        fact
        for fact in file.new.facts
        if fact.is_call and (fact.last_name, path_of(fact)) == wanted
    ]
    return found[0] if len(found) == 1 else None


def covers_file(cover: Cover, loss: Loss, subject: ReviewInput) -> bool:
    """Return whether another file puts the check before the router that it imports from the file of a loss."""
    if cover.file is loss.file or route_of(loss) is None:
        return False
    change = cover.file.change
    language = language_for(change.path)
    text = subject.contents.new(change)
    if language is None or text is None:
        return False
    imports = top_imports(subject.trees.root(language, text), language, text)
    path = PurePosixPath(loss.change.path)
    module = path.parent if path.stem in ("index", "__init__") else path.with_suffix("")
    given = plain_arguments(cover.call)
    names = {IDENTIFIER.findall(each)[0] for each in given if IDENTIFIER.match(each)}
    return any(
        is_from(imports[name], module, change.path) for name in names if name in imports
    )


def is_from(imported: str, module: PurePosixPath, importer: str) -> bool:
    """Return whether a dotted name leads to a module, as seen from the folder of the file that imports it."""
    base = PurePosixPath(importer).parent
    wanted = {".".join(module.parts)}
    if module.is_relative_to(base):
        wanted.add(".".join(module.relative_to(base).parts))
    return any(imported == each or imported.startswith(f"{each}.") for each in wanted)
