"""Compare two calls: does the new one ask for less, or bound less?"""

import re
from collections.abc import Iterator, Sequence

from cli_guard.code.changes.comparisons import split_arguments, split_outside
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    VALUES,
    CodeFact,
    FactKind,
    Looser,
    words_of_name,
)
from cli_guard.code.changes.values import read_strength_words

# Whose row a query finds: a column, and the place of a value that it is given.
OWNER_COLUMN = re.compile(
    r"(?i)\b(?:where|and) (?:[\w\"`]+\.)?[\"`]?"
    r"((?:user|owner|account|team|tenant|org|organization|author|customer)_?id)[\"`]?"
    r" ?= ?(?:\$\d|\?|%s|%\(|[:@]\w|\$?\{)"
)
COLUMN = re.compile(r"([\w.\"`]+) ?= ?(?:\$\d|\?|%|[:@]\w|\$?\{)")
# What makes a number wide: a cast, a conversion. The `L` of Python 2 says nothing, so no suffix counts.
WIDENING = re.compile(
    r"\(\s*(?:u?int64_t|size_t|ssize_t|(?:curl_)?off_t|u?long(?: long)?|unsigned long(?: long)?|u?int64)\s*\)\s*"
    r"|static_cast<[^<>]{1,40}>|\bu?int64(?=\()| as [ui](?:64|128|size)\b"
)
JOINED = re.compile(r"[\w)\]] ?(?:\*|\+(?!\+)|<<) ?[\w(]")
BRACKETS = re.compile(r"[()\s]")
# An argument, or an entry of one, that says which thing is meant.
IS_KEY = re.compile(
    r"^[\w$.>-]*(?:_id|[a-z]I[dD]|[uU]uid)$|^\w*(?:_id|[a-z]I[dD]): ?[\w$.]+$"
)
KEYWORD = re.compile(r"\w+ ?[=:]")
# What an error says, or where it was raised.
ERROR_TEXT = re.compile(
    r"\b(?:e|ex|err|exc|error|exception)(?:\.|->|\?\.)(?:message|stack\w*|getMessage\(|getTrace\w*\(|Error\(\)|ToString\(|Message|to_s)"
    r"|\b(?:str|repr)\((?:e|ex|err|exc|error|exception)\)|\bformat_exc\(|\{(?:e|ex|err|exc|error|exception)\}"
)
NAME = re.compile(r"[A-Za-z_][\w.]*(?:\(\))?")
NOTHING = ("null", "nil", "None", "undefined", "nullptr", "NULL")
# https://guides.rubyonrails.org/action_controller_overview.html#filters
FILTERED = re.compile(
    r"\b(only|except)(?:\(|: ?|['\"]? ?=> ?)(\[[^\]]*\]|%i\[[^\]]*\]|:\w+|['\"]\w+['\"])"
)
FLAG = re.compile(r"(?:\w+(?:\.|::))*[A-Z][A-Z0-9_]+")
# A text in a language of queries, its parameters, and the place where a value is put into it.
QUERY = re.compile(
    r"(?i)\W*(?:select|insert|update|delete|replace|with|from|where|and|or)\b|.{0,3}//.*\[@"
)
QUOTED_VALUE = re.compile(r"(?i)(?:=|\blike|\(|,) ?['`](?:[\"']$|#\{|\$\{|\{\$?\w|\$\w|%s)")
QUOTES = str.maketrans("", "", "\"'`")
PARAMETER = re.compile(r"(?<!\w)(?:\?|\$\d+|[:@]\w+|%s)(?!\w)")
PUT_IN = re.compile(r"\$\{|#\{|\{\w+\}|\$[a-z]\w*|= ?[\"'`]$")
QUOTE = re.compile(r"[\"'`/]")
# Of flags; Kotlin has `or`.
JOINERS = ("|", "or")
# A mode of files, and what it lets others than the owner do.
RIGHTS = re.compile(r"0o?[0-7]{3,4}")
OF_OTHERS = 0o077


def lost_scope(old: CodeFact, new: CodeFact) -> str:
    """Return why a call asks for less: its name lost words of whose thing it is, and it got fewer arguments."""
    if not old.is_call:
        return ""
    known = read_strength_words()
    was = words_of_name(old.last_name)
    now = words_of_name(new.last_name)
    lost = set(was) - set(now)
    rest = tuple(word for word in was if word in now)
    scopes = known["restricted"]
    if not known["checks"].isdisjoint(was[:1]):
        scopes |= known["rights"] | known["writes"]
    if old.detail.count(",") > new.detail.count(","):
        scopes |= known["scopes"]
    if lost & scopes and rest == now and len(now) > 1:
        return f"`{new.name}` no longer asks whose it is, as `{old.name}` did"
    return ""


def lost_owner(old: CodeFact, new: CodeFact) -> str:
    """Return why a search is no longer told whose thing it looks for, "" if it is or was not."""
    gone = lost_argument(old, new)
    known = read_strength_words()
    # A constant that names a right is asked for wherever it is given.
    is_right = is_constant(gone) and not known["rights"].isdisjoint(words_of_name(gone))
    is_owner = KEYWORD.match(gone) and not known["owners"].isdisjoint(words_of_name(gone))
    is_asked = is_right or (is_search(old) and (is_owner or is_second_key(gone, new)))
    return f"`{new.name}` no longer asks for `{gone}`" if is_asked else ""


def searches_of_everybody(
    went: Sequence[CodeFact], came: Sequence[CodeFact]
) -> Iterator[Looser]:
    """Yield the searches that looked among what somebody has, each with one by the same key that looks everywhere."""
    searches = [fact for fact in came if is_search(fact)]
    after = [fact for fact in searches if not owner_in(fact)]
    # The same search on another object: `s.users.find` is `h.users.find` where a handler has a type of its own.
    still = {fact.last_name.lower() for fact in searches if owner_in(fact)}
    if not after or any(owner_in(fact) for fact in came if fact.is_judged):
        return
    for old in went:
        is_lost = is_search(old) and old.last_name.lower() not in still
        owner = owner_in(old) if is_lost else ""
        for new in after if owner else ():
            keys = set(VALUES.findall(old.detail)) & set(VALUES.findall(new.detail))
            if new.name != old.name and any(map(is_key_name, keys)):
                why = f"`{new.name}` no longer asks for `{owner}`"
                yield Looser(old, new, "member", why)
                break


def answers_with_errors(
    went: Sequence[CodeFact], came: Sequence[CodeFact]
) -> Iterator[Looser]:
    """Yield the answers that tell whoever asked what an error says, each with the same call that did not."""
    answers = read_strength_words()["answers"]
    for old in went:
        if not old.is_call or old.last_name.lower() not in answers:
            continue
        for new in came:
            is_same = new.is_call and new.name == old.name
            told = ERROR_TEXT.search(new.detail) if is_same else None
            if told and ERROR_TEXT.search(old.detail) is None:
                why = f"`{new.name}` answers with `{told[0]}`"
                yield Looser(old, new, "told", why)
                break


def lost_actions(old: CodeFact, new: CodeFact) -> str:
    """Return why a filter runs before fewer methods: fewer are named after `only`, or more after `except`."""
    is_same = old.is_call and old.name == new.name and old.detail != new.detail
    if not is_same or split_arguments(old.detail)[:1] != split_arguments(new.detail)[:1]:
        return ""
    was = methods_filtered(old)
    now = methods_filtered(new)
    only = now.get("only")
    is_less = only is not None and ("only" not in was or only < was["only"])
    is_more = was.get("except", set()) < now.get("except", set())
    first = split_arguments(new.detail)[0]
    return f"`{first}` runs before fewer methods now" if is_less or is_more else ""


def methods_filtered(call: CodeFact) -> dict[str, set[str]]:
    """Return the methods that a filter names after `only` and after `except`."""
    return {
        key: set(IDENTIFIER.findall(names)) for key, names in FILTERED.findall(call.detail)
    }


def is_search(fact: CodeFact) -> bool:
    finds = read_strength_words()["finds"]
    return fact.is_call and not finds.isdisjoint(words_of_name(fact.last_name))


def is_key_name(name: str) -> bool:
    return not read_strength_words()["keys"].isdisjoint(words_of_name(name))


def owner_in(fact: CodeFact) -> str:
    """Return the name of whoever a fact speaks of, also as a key in quotes, "" for nobody; a class is nobody."""
    owners = read_strength_words()["owners"]
    receiver = fact.name.rpartition(".")[0] if fact.is_call else fact.name
    names = IDENTIFIER.findall(f"{receiver} {fact.detail if fact.is_call else ''}")
    return next(
        (n for n in names if n[0].islower() and not owners.isdisjoint(words_of_name(n))), ""
    )


def lost_owner_column(old: CodeFact, new: CodeFact) -> str:
    """Return why the same query finds the rows of everybody now, "" if it does not or did before."""
    if not old.is_call or old.name != new.name:
        return ""
    was = OWNER_COLUMN.search(old.detail)
    if was is None or OWNER_COLUMN.search(new.detail):
        return ""
    before = old.detail[: was.start()].rstrip()
    # In a function that is handed over, the query is that of another call.
    is_same = "{" not in before and new.detail.startswith(before)
    # Found by another column, it may be that of somebody as well.
    if not set(COLUMN.findall(new.detail)) <= set(COLUMN.findall(old.detail)):
        return ""
    return f"`{new.name}` no longer asks for `{was[1]}`" if is_same else ""


def is_second_key(gone: str, new: CodeFact) -> bool:
    """Return whether a search that is still told one key was told another one as well: `get(photo_id, album_id)`."""
    return IS_KEY.search(gone) is not None and any(
        IS_KEY.search(each) for each in split_arguments(new.detail)
    )


def is_constant(argument: str) -> bool:
    """Return whether an argument is the name of a constant: `Roles.ADMIN`."""
    name = argument.rpartition(".")[2]
    return name.isidentifier() and name.isupper()


def lost_name(old: CodeFact, new: CodeFact) -> str:
    """Return the name that a decorator is no longer given, or that went from the list under a key, "" for none."""
    if old.name != new.name or old.kind not in (FactKind.DECORATOR, FactKind.OPTION):
        return ""
    is_list = all(each.detail[:1] in ("[", "(") for each in (old, new))
    if old.is_option and not is_list:
        return ""
    gone = left_out(*(each.detail.strip("[]()") for each in (old, new)))
    return gone[0] if gone and (not old.is_option or NAME.fullmatch(gone[0])) else ""


def lost_width(old: CodeFact, new: CodeFact) -> str:
    """Return why a product or sum may wrap around: its terms are no longer made wide before they are joined."""
    one, two = (each.name if each.is_judged else each.detail for each in (old, new))
    was, count = WIDENING.subn("", one)
    now, left = WIDENING.subn("", two)
    is_same_sum = BRACKETS.sub("", was) == BRACKETS.sub("", now)
    if count <= left or not is_same_sum or JOINED.search(two) is None:
        return ""
    return f"`{two}` may wrap around, `{one}` could not"


def lost_parameter(old: CodeFact, new: CodeFact) -> str:
    """Return why a query has a value in its text that was a parameter of it, "" if it has not."""
    # What a query does, and to which table, however that is quoted.
    begins, still = (each.name.translate(QUOTES).split()[:2] for each in (old, new))
    is_query = old.kind is FactKind.TEXT and begins == still and QUERY.match(new.name)
    is_less = len(PARAMETER.findall(new.name)) < len(PARAMETER.findall(old.name))
    is_put_in = is_query and is_less and PUT_IN.search(new.name) is not None
    return f"a value is put into {new.name}" if is_put_in else ""


def quoting_texts(went: Sequence[CodeFact], came: Sequence[CodeFact]) -> Iterator[Looser]:
    """Yield the query that came with a value between quotes, with a call that went, if none was so before."""
    new = next(filter(is_quoting, came), None)
    old = next((fact for fact in went if fact.is_call), None)
    if old and new and not any(map(is_quoting, went)):
        yield Looser(old, new, "query", f"a value is put into {new.name}")


def is_quoting(fact: CodeFact) -> bool:
    is_query = fact.kind is FactKind.TEXT and QUERY.match(fact.name)
    return bool(is_query) and QUOTED_VALUE.search(fact.name) is not None


def lost_argument(old: CodeFact, new: CodeFact) -> str:
    """Return the one argument that the same call is no longer given, "" if anything else changed."""
    if not old.is_call or old.name != new.name:
        return ""
    gone = left_out(old.detail, new.detail)
    return gone[0] if len(gone) == 1 else ""


def left_out(old: str, new: str) -> list[str]:
    """Return the arguments that a list of them no longer has, none if anything else changed."""
    was = split_arguments(old)
    now = split_arguments(new)
    gone = [each for each in was if each not in now]
    return gone if len(gone) + len(now) == len(was) else []


def lost_subject(old: CodeFact, new: CodeFact) -> str:
    """Return why a call is told nothing, or of a value that was made safe, of the value as it came; "" if neither."""
    one = changed_argument(old, new)
    if one is None:
        return ""
    was, now = one
    if now in NOTHING and IDENTIFIER.match(was) and was not in NOTHING:
        return f"`{new.name}` is given `{now}`, not `{was}`"
    made_safe = read_strength_words()["made_safe"]
    words = words_of_name(was)
    rest = [word for word in words if word not in made_safe]
    is_same = len(rest) < len(words) and list(words_of_name(now)) == rest
    return f"`{new.name}` is given `{now}`, no longer asks for `{was}`" if is_same else ""


def changed_argument(old: CodeFact, new: CodeFact) -> tuple[str, str] | None:
    """Return the one argument in which two calls of one function differ, before and after."""
    if not old.is_call or old.name != new.name:
        return None
    was = split_arguments(old.detail)
    now = split_arguments(new.detail)
    changed = [(one, two) for one, two in zip(was, now, strict=False) if one != two]
    return changed[0] if len(was) == len(now) and len(changed) == 1 else None


def lost_flag(old: CodeFact, new: CodeFact) -> str:
    """Return why a call is no longer given a flag that makes it safer, or is given more rights: `0o600` is `0o644`."""
    if not old.is_call or old.name != new.name:
        return ""
    was = split_arguments(old.detail)
    now = split_arguments(new.detail)
    if len(was) != len(now):
        return ""
    for one, other in zip(was, now, strict=True):
        flags = split_outside(one, JOINERS)
        is_joined = len(flags) > 1 and not QUOTE.search(one)
        gone = set(flags).difference(split_outside(other, JOINERS)) if is_joined else ()
        for flag in sorted(gone):
            words = words_of_name(flag.rpartition(".")[2])
            is_constant_name = FLAG.fullmatch(flag) is not None
            if is_constant_name and not read_strength_words()["flags"].isdisjoint(words):
                return f"`{new.name}` is no longer given `{flag}`"
        if RIGHTS.fullmatch(one) and RIGHTS.fullmatch(other):
            before, after = (int(each.replace("o", ""), 8) for each in (one, other))
            if after & ~before & OF_OTHERS:
                return f"`{other}` gives more rights than `{one}`"
    return ""
