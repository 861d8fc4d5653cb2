"""Which protections a change takes away: net over the change, and only where what they guarded still stands."""

import re
from collections.abc import Iterator, Sequence
from itertools import product

from cli_guard.code.changes.asked import names_in
from cli_guard.code.changes.difference import ChangeDifference, FileDifference
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    VALUES,
    CodeFact,
    CodeUnit,
    FactKind,
    has_word,
    short_name,
    words_of_text,
)
from cli_guard.code.changes.naming import join_names
from cli_guard.lazy import frozen
from cli_guard.model import Contents, FileChange, group_by
from cli_guard.reviewers.protections.containers import (
    is_denied_unlisted,
    is_list_gone,
    parent_is_gone,
    stands_without,
)
from cli_guard.reviewers.protections.loss import (
    COMMON,
    DOTTED,
    FITTING,
    LONGEST_LINE,
    MOST_LINES,
    ORDINARY,
    Loss,
    body_is_gone,
    every,
    is_form_gone,
    is_made_anew,
    is_of_flag,
    is_opened_no_more,
    is_own_guard,
    lines_of,
    members,
    names_gone,
    net,
    plain_name,
)
from cli_guard.reviewers.protections.replacements import covers, is_replaced, paths_asked

BLANKS = re.compile(r"\s+")
# Of one family. A change that takes away more is not told more.
MOST_LOSSES = 50
PATH_OF_NAMES = re.compile(r"[\w$]{1,60}(?:(?:\.|->|::)[\w$]{1,60}){0,9}")
# A text that says why.
REFUSAL = re.compile(r"\"[^\"\\]{10,}\"|'[^'\\]{10,}'")
# What is quoted in the arguments of a call is no name, unless a name is put into it.
QUOTED = re.compile(r"'[^'{$#\n]*'|\"[^\"{$#\n]*\"")
# What a check of a request is given, whoever asks for what.
REQUEST = frozenset("$_POST $_GET $_REQUEST $_SERVER $_COOKIE request req ctx env".split())
OWN_PLACE = frozenset("__dir__ __file__ __DIR__ __FILE__ __dirname __filename".split())
CONSTANT = re.compile(r"\b[A-Z]\w*(?:\.|::)[A-Z][A-Z0-9_]+\b")


@frozen
class Losses:
    """Finds the losses of a change; `contents` has what stands after it, `own_guards` what the policy calls guards."""

    difference: ChangeDifference
    contents: Contents
    own_guards: tuple[str, ...] = ()

    def find(self) -> list[Loss]:
        """Return the losses by family, file and line."""
        files = self.difference.files
        lost = (each for file in files for each in self.members(file, file.went))
        went = group_by(lost, lambda each: each.family)
        # Of most files nothing went that protects.
        kept = files if went else ()
        won = (each for f in kept for each in self.members(f, f.came, came=True))
        came = group_by(won, lambda each: each.family)
        found: list[Loss] = []
        gains = net(every(came), every(went))
        for family, losses in went.items():
            known = came.get(family, [])
            left = net(losses, [*known, *self.other_conditions(known)])
            gained = net(known, losses)
            if lines_of(gained) < lines_of(left):
                found += [
                    stands
                    for loss in left[:MOST_LOSSES]
                    for stands in self.standing(loss)
                    if not is_replaced(stands, gains)
                ]
        return found

    def standing(self, loss: Loss) -> Iterator[Loss]:
        """Yield a loss if what it guarded is still there; that of a helper which went, where the helper was called."""
        if self.still_stands(loss):
            yield loss
            return
        helpers = set(self.units_gone(loss.file, loss.fact.unit))
        for file in self.difference.files if helpers else ():
            for fact in file.went:
                if helpers.isdisjoint(names_used(fact)) or fact.unit == loss.fact.unit:
                    continue
                use = Loss(loss.family, fact, file, loss.fact)
                is_kept = fact.unit and self.difference.pair_of(file, fact.unit)
                if is_kept and (not fact.is_call or self.still_stands(use)):
                    yield use
                    return

    def units_gone(self, file: FileDifference, name: str) -> Iterator[str]:
        """Yield the last part of the name of a unit, and of those around it, that went."""
        while name and self.difference.pair_of(file, name) is None:
            yield short_name(name)
            name = name.rpartition(".")[0]

    def members(
        self, file: FileDifference, facts: Sequence[CodeFact], *, came: bool = False
    ) -> Iterator[Loss]:
        """Yield the members of each family among some facts, and those of the repository's own guards."""
        yield from members(file, facts, came=came)
        for fact in facts if self.own_guards else ():
            if is_own_guard(fact, self.own_guards):
                yield Loss("own", fact, file)

    def other_conditions(self, known: Sequence[Loss]) -> Iterator[Loss]:
        """Yield the conditions that came and are no known members: one still asked is not gone, whatever it answers."""
        members_of_family = {each.fact for each in known}
        for file in self.difference.files:
            for fact in file.came:
                if fact.is_judged and fact not in members_of_family:
                    yield Loss("", fact, file)

    def still_stands(self, loss: Loss) -> bool:
        """Return whether the unit of a lost member is there after the change, with something of what it guarded."""
        if loss.change.is_deleted:
            return False
        text = self.contents.new(loss.change) or ""
        fact = loss.fact
        pair = self.difference.pair_of(loss.file, fact.unit) if fact.unit else None
        if self.is_needed_no_more(loss, text, pair):
            return False
        if fact.is_guard and pair and paths_asked(fact) <= names_gone(loss):
            return stands_at_source(loss, guarded_words(fact), pair.text, pair.words)
        if fact.is_guard and pair and is_like_before(loss, pair):
            return True
        if fact.is_call and pair and use_is_gone(loss, pair):
            return False
        if loss.family in FITTING and is_made_anew(loss):
            return False
        if fact.is_call and (stands_without(loss) or is_link_gone(loss)):
            return True
        return self.stands_by_name(loss, text, pair)

    def is_needed_no_more(self, loss: Loss, text: str, pair: CodeUnit | None) -> bool:
        """Return whether what a member belongs to went with it, or the file does the same in another way."""
        fact = loss.fact
        if fact.unit and pair is None and self.unit_is_gone(loss, text):
            return True
        if fact.kind is FactKind.DECORATOR and is_owner_gone(loss, text):
            return True
        if fact.kind is FactKind.DEFINITION and not self.is_hook(fact, text, pair):
            return True
        if fact.kind is FactKind.CONDITION and body_is_gone(loss):
            return True
        if loss.family in ORDINARY and self.is_still_refused(loss, text):
            return True
        if loss.family == "validation" and is_field_gone(loss):
            return True
        if is_of_flag(loss) or (fact.kind is FactKind.OUTPUT and is_form_gone(loss)):
            return True
        if fact.kind is FactKind.ENTRY and is_list_gone(loss, text):
            return True
        if loss.family == "path" and pair and is_opened_no_more(loss, pair):
            return True
        if fact.is_option and loss.family == "secrecy" and pair:
            # The variable that was emptied went.
            return fact.last_name not in pair.words
        return fact.is_option and (parent_is_gone(loss) or is_denied_unlisted(loss))

    def stands_by_name(self, loss: Loss, text: str, pair: CodeUnit | None) -> bool:
        """Return whether the names that a member spoke of are there after the change."""
        fact = loss.fact
        words = pair.words if pair else words_of_text(text)
        guarded = guarded_words(fact)
        old = self.contents.old(loss.change) or ""
        fits = loss.family in (*FITTING, "path")
        if fits and is_given_constants(fact):
            return False
        if fact.is_call and not fact.detail and is_imported(fact, old):
            return True
        if was := loss.file.old.unit_named(fact.unit):
            # The module of an imported function is written at the top of the file.
            guarded &= was.words
        if not guarded - OWN_PLACE - REQUEST:
            # A check of a whole program's own state is given nothing: `Validator.new.validate`.
            is_of_class = fact.name[:1].isupper() and not QUOTED.search(fact.detail)
            is_given_nothing = loss.family in ORDINARY and is_of_class
            return not (fact.is_call and is_given_nothing)
        if fits and guarded <= names_bound_anew(loss):
            return False
        if not guarded.isdisjoint(words):
            return True
        if not pair and fact.unit:
            return False
        return stands_at_source(loss, guarded, pair.text if pair else text, words)

    def unit_is_gone(self, loss: Loss, text: str) -> bool:
        """Return whether the line that defines the unit went, nothing has its name, or the class around it went."""
        owner, _, name = loss.fact.unit.rpartition(".")
        was = loss.file.old.unit_named(loss.fact.unit)
        if was is not None and was.line in loss.change.removed:
            return True
        return not has_word(text, name) or (
            loss.file.old.unit_named(owner) is not None
            and self.difference.pair_of(loss.file, owner) is None
        )

    def is_still_refused(self, loss: Loss, text: str) -> bool:
        """Return whether the file says as often as before what a guard said, in a `switch` or a handler."""
        fact = loss.fact
        said = REFUSAL.findall(fact.detail) if fact.is_guard else ()
        old = self.contents.old(loss.change) or ""
        return bool(said) and all(text.count(each) >= old.count(each) for each in said)

    def is_hook(self, fact: CodeFact, text: str, pair: CodeUnit | None) -> bool:
        """Return whether a definition is a method that a framework calls: no call of it was there, and none is now.

        Its class goes on.
        Any other is called where it protects: a call that stays finds it elsewhere, one that went is a loss itself.
        What it calls by its own name is that of its base.
        """
        name = plain_name(fact)
        inside = join_names(fact.unit, fact.name)
        others = (
            each for file in self.difference.files for each in (*file.went, *file.came)
        )
        return (
            pair is not None
            and short_name(pair.name) == short_name(fact.unit)
            and not has_word(text, fact.name)
            and not any(
                each.is_call and plain_name(each) == name and each.unit != inside
                for each in others
            )
        )


def names_used(fact: CodeFact) -> tuple[str, ...]:
    """Return the names of functions and classes that a fact may use."""
    if fact.kind is FactKind.TYPE:
        return tuple(IDENTIFIER.findall(fact.detail))
    if fact.is_call:
        return tuple(fact.name.split("."))
    is_named = fact.kind in (FactKind.ARGUMENT, FactKind.TEXT, FactKind.DECORATOR)
    return (fact.last_name.strip("'\""),) if is_named else ()


def is_link_gone(loss: Loss) -> bool:
    """Return whether a chain of calls goes on without the call, or ends before it.

    `A.where(owner).find(x)` is `A.find(x)`, `z.string().max(9)` is `z.string()`.
    """
    fact = loss.fact
    owner = fact.name.rpartition(".")[0]
    behind = {
        (f"{owner}{old.name.removeprefix(fact.name)}", old.detail)
        for old in loss.file.went
        if old.is_call and old.name.startswith(f"{fact.name}.")
    }
    if any(new.is_call and (new.name, new.detail) in behind for new in loss.file.came):
        return True
    before = {each.name for each in loss.file.old.facts if each.is_call}
    return loss.hunk is not None and any(
        new.is_call
        and new.name in before
        and fact.name.startswith(f"{new.name}.")
        and covers(loss.hunk, new)
        for new in loss.file.new.facts
    )


def is_field_gone(loss: Loss) -> bool:
    """Return whether the key that a chain of calls describes went with it: `name: z.string().max(9)` of a schema."""
    fact = loss.fact
    kept = {each.name for each in loss.file.came if each.is_option}
    return fact.name.count(".") > 1 and any(
        each.is_option
        and each.line <= fact.line <= each.end_line
        and each.name not in kept
        and f".{fact.last_name}(" in each.detail
        for each in loss.file.went
    )


def is_owner_gone(loss: Loss, text: str) -> bool:
    """Return whether what a decorator stood before is there by no name, whatever is like it."""
    name = short_name(loss.fact.unit)
    return not has_word(text, loss.file.renames.get(name, name))


def is_like_before(loss: Loss, pair: CodeUnit) -> bool:
    """Return whether the unit around a guard goes on doing what it did, whether or not it names what was asked."""
    was = loss.file.old.unit_named(loss.fact.unit)
    return was is not None and loss.file.goes_on(loss.fact, was, pair)


def stands_at_source(
    loss: Loss, names: frozenset[str], text: str, words: frozenset[str]
) -> bool:
    """Return whether what a variable was made of is still there, where the variable went with its check.

    Of ordinary checks only the very same expression is, or what it was made of in the place of the variable.
    """
    bound = [
        each
        for each in loss.file.went
        if each.is_option and each.unit == loss.fact.unit and each.last_name in names
    ]
    made_of = [each.detail for each in bound]
    if loss.family in ORDINARY:
        was = loss.file.old.unit_named(loss.fact.unit)
        return any("(" in detail and detail in text for detail in made_of) or any(
            is_bare_by_name(each.last_name, DOTTED.findall(each.detail), loss.change, was)
            for each in bound
        )
    sources = {
        name for detail in made_of for name in VALUES.findall(QUOTED.sub("", detail))
    }
    return not words.isdisjoint(sources - COMMON - names)


def is_given_constants(fact: CodeFact) -> bool:
    """Return whether a call is given only what is written there, or the place of its file, which is fit as it is."""
    given = IDENTIFIER.findall(QUOTED.sub(" ", fact.detail))
    # What a method is called on is given, too.
    is_all = bool(given) or fact.name[:1].isupper() or "." not in fact.name
    return fact.is_call and bool(fact.detail) and is_all and OWN_PLACE.issuperset(given)


def names_bound_anew(loss: Loss) -> frozenset[str]:
    """Return the names that stand for other values now: for those of what the unit did not have, as a new parameter."""
    unit = loss.fact.unit
    was = loss.file.old.unit_named(unit)
    bound = [each for each in loss.file.came if each.is_option and each.unit == unit]
    # `: Type` is what a parameter has.
    known = {each.name for each in bound if not each.detail.startswith(":")}
    known |= was.words if was else frozenset()
    return frozenset(
        each.name
        for each in bound
        if PATH_OF_NAMES.fullmatch(each.detail)
        and known.isdisjoint(IDENTIFIER.findall(each.detail)[:1])
    )


def is_imported(call: CodeFact, text: str) -> bool:
    """Return whether a call is one of a module that a text imports: it says who checks, not what is guarded."""
    module = re.escape(call.name.rpartition(".")[0].rpartition(".")[2])
    form = rf"(?m)^[ \t]*(?:(?:import|from|use)\b.*|\w* ?\"[\w./-]*|.*= ?require\(.*)\b{module}\b"
    return bool(module) and re.search(form, text) is not None


def guarded_words(fact: CodeFact) -> frozenset[str]:
    """Return the names that a member speaks of: the arguments of a call, the variables of a condition."""
    if fact.is_call:
        receiver = fact.name.rpartition(".")[0]
        # A class or module says who checks, and a constant of one for what, not what is guarded.
        text = fact.detail if receiver[:1].isupper() else f"{receiver} {fact.detail}"
        text = CONSTANT.sub(" ", text)
    elif fact.is_judged:
        return frozenset(names_in(fact.asked)) - COMMON
    elif fact.kind is FactKind.OUTPUT:
        text = fact.name
    else:
        return frozenset()
    return frozenset(IDENTIFIER.findall(QUOTED.sub(" ", text))) - COMMON


def use_is_gone(loss: Loss, pair: CodeUnit) -> bool:
    """Return whether what a call made fit is used nowhere now, nor the variable that held the result."""
    fact = loss.fact
    was = loss.file.old.unit_named(fact.unit)
    if (
        loss.family not in FITTING
        or was is None
        or not PATH_OF_NAMES.fullmatch(fact.detail)
    ):
        return False
    held = [
        each.last_name
        for each in loss.file.old.facts
        if each.is_option and each.line == fact.line and fact.detail in each.detail
    ]
    # `value, err = f(value)` binds what it was given anew.
    if any(
        name in pair.words
        or name.startswith(fact.detail)
        or is_bare_by_name(name, (fact.detail,), loss.change, was)
        for name in held
    ):
        return False
    named = frozenset((fact.detail,))
    is_elsewhere = fact.detail not in pair.words
    if is_elsewhere and stands_at_source(loss, named, pair.text, pair.words):
        return False
    lines = was.text.split("\n")
    del lines[fact.line - was.line : fact.end_line - was.line + 1]
    return pair.text.count(fact.detail) <= "\n".join(lines).count(fact.detail)


def is_bare_by_name(
    name: str, values: Sequence[str], change: FileChange, was: CodeUnit | None
) -> bool:
    """Return whether a line that used a result by its name is there with one of the values instead."""
    if not name:
        return False
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?!\w)")
    for hunk in change.hunks:
        if was and not was.line <= hunk.old_start <= was.end_line:
            continue
        added = set(map(without_blanks, hunk.added[:MOST_LINES]))
        users = (line for line in hunk.removed[:MOST_LINES] if word.search(line))
        for line, value in product(users, values):
            pieces = word.split(line)
            if without_blanks(value.join(pieces)) in added:
                return True
    return False


def without_blanks(text: str) -> str:
    return BLANKS.sub("", text[: 20 * LONGEST_LINE])
