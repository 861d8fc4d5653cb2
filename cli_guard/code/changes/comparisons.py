"""Compare two comparisons of the same things: does the new one let more through?

A comparison is read from its text as written in any language: `a == b`, `a.startswith(b)`, `strings.Contains(a, b)`,
`!strcmp(a, b)`, `len(a) > MAX`. Brackets are kept whole. What it lets through is what it is true for, or in a guard,
which leaves where it is true, what it is false for.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import replace
from functools import cache, lru_cache

from cli_guard.code.changes.facts import short_name, words_of_name
from cli_guard.code.changes.sums import count_taken, difference_of_sums
from cli_guard.code.changes.values import amount_of, read_strength_words
from cli_guard.lazy import frozen

TOKEN = re.compile(
    r"'[^']*'|\"[^\"]*\"|[\w$.@?]+|&&|\|\||===|!==|==|!=|<=|>=|->|::|=~|\S|\s+"
)
CALL = re.compile(r"(?P<name>[\w$.?!:>-]*[\w?!])\((?P<inside>.*)\)", re.DOTALL)
NEGATION = re.compile(r"(?:!(?!=)|not\b)\s*")
PAIRS = {"(": ")", "[": "]", "{": "}"}
SIGNS = {
    "===": "identical",
    "==": "exact",
    "!==": "identical",
    "!=": "exact",
    "is": "exact",
    "eq": "exact",
    "ne": "exact",
    "in": "holds",
    "<": "<",
    "<=": "<=",
    ">": ">",
    ">=": ">=",
}
DENIED = frozenset(("!==", "!=", "ne"))
COMPLEMENT = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
WIDER = {"<": "<=", ">": ">="}
# The strictest first: two texts are equal and of one type, equal, equal but for case, the one begins or ends with the
# other, holds it.
RANKS = {"identical": 0, "exact": 1, "caseless": 2, "begins": 3, "holds": 4}
EQUAL = ("identical", "exact")
LIST = re.compile(r"[(\[{].*[)\]}]", re.DOTALL)
NOT_FOUND = ("0", "-1", "false", "nil", "None")


@frozen
class Comparison:
    """`left` and `right` in a relation: one of RANKS or a sign of COMPLEMENT; `is_denied`: it must not hold."""

    relation: str
    left: str
    right: str
    is_denied: bool = False

    @property
    def without_denial(self) -> "Comparison":
        """Return the same with its denial moved into its sign, and a plain amount at its right."""
        found = self
        if found.relation not in COMPLEMENT:
            return found
        if found.is_denied:
            found = replace(found, relation=COMPLEMENT[found.relation], is_denied=False)
        if is_amount(found.left) and not is_amount(found.right):
            relation = FLIPPED[found.relation]
            found = Comparison(relation, found.right, found.left)
        return found


@frozen
class LooserComparison:
    """Why a comparison lets more through; `is_bound`: by an amount."""

    why: str
    is_bound: bool


def looser_comparison(old: str, new: str, *, refuses: bool) -> LooserComparison | None:
    """Return how the new comparison lets more through than the old one, None if it does not or nobody can say."""
    was = read_comparison(old)
    now = read_comparison(new)
    if was is None or now is None:
        return None
    if refuses:
        was = replace(was, is_denied=not was.is_denied)
        now = replace(now, is_denied=not now.is_denied)
    was = was.without_denial
    now = now.without_denial
    if has_looser_bound(was, now):
        return LooserComparison(f"`{new}` lets more through than `{old}`", is_bound=True)
    if has_looser_relation(was, now) or has_longer_list(was, now):
        return LooserComparison(f"`{new}` fits more than `{old}`", is_bound=False)
    return None


def overflowing_sum(old: str, new: str) -> bool:
    """Return whether a comparison adds up what it took off before: `b > n - a` has become `a + b > n`."""
    was = read_comparison(old)
    now = read_comparison(new)
    if was is None or now is None or was.relation != now.relation not in COMPLEMENT:
        return False
    is_same = not difference_of_sums((was.left, was.right), (now.left, now.right))
    return is_same and count_taken(was.left, was.right) > count_taken(now.left, now.right)


def has_looser_bound(was: Comparison, now: Comparison) -> bool:
    """Return whether an amount that is let through may be further out."""
    if now.relation not in COMPLEMENT:
        return False
    if (was.left, was.right) == (now.left, now.right):
        is_exact = was.relation in EQUAL and not was.is_denied
        is_wider = WIDER.get(was.relation) == now.relation
        return is_wider or (is_exact and now.relation in ("<=", ">="))
    grown = difference_of_sums((was.left, was.right), (now.left, now.right))
    # Of several terms nobody knows which one counts more.
    if was.relation != now.relation or len(grown) != 1:
        return False
    is_grown = min(grown.values()) > 0
    return is_grown != was.relation.startswith("<")


def has_looser_relation(was: Comparison, now: Comparison) -> bool:
    """Return whether two texts must be less alike than before."""
    if was.relation not in RANKS or now.relation not in RANKS:
        return False
    if was.is_denied != now.is_denied or not is_about_the_same(was, now):
        return False
    if LIST.fullmatch(was.right) or LIST.fullmatch(now.right):
        return False
    change = RANKS[now.relation] - RANKS[was.relation]
    return change < 0 if was.is_denied else change > 0


def is_about_the_same(was: Comparison, now: Comparison) -> bool:
    sides = {was.left, was.right}
    return sides == {now.left, now.right} and len(sides) == 2


def has_longer_list(was: Comparison, now: Comparison) -> bool:
    """Return whether one of more constants is enough, or one of fewer is refused."""
    if was.left != now.left or was.is_denied != now.is_denied:
        return False
    before = constants_of(was)
    after = constants_of(now)
    if was.is_denied:
        before, after = after, before
    return bool(before) and before < after


def constants_of(comparison: Comparison) -> frozenset[str]:
    """Return the constants that are enough, none if it is no comparison with constants."""
    text = comparison.right
    if comparison.relation == "holds" and LIST.fullmatch(text):
        parts = split_arguments(text[1:-1])
    elif comparison.relation in EQUAL:
        parts = (text,)
    else:
        return frozenset()
    return (
        frozenset(parts) if all(each[:1] in ("'", '"') for each in parts) else frozenset()
    )


@lru_cache(maxsize=2_000)
def read_comparison(text: str) -> Comparison | None:
    """Return the comparison that a text is, None for any other."""
    text, is_denied = without_denials(text)
    found = read_sign(text) or read_call(text)
    if found is None:
        return None
    return replace(found, is_denied=found.is_denied != is_denied)


@lru_cache(maxsize=2_000)
def question_of(operand: str) -> str:
    """Return what an operand asks, in one form for it and its denial: `a == b` of `a != b` as well."""
    found = read_comparison(operand)
    if found is None:
        return without_denials(operand)[0]
    plain = found.without_denial
    relation = "exact" if plain.relation in EQUAL else plain.relation
    if relation in (">=", "<="):
        relation = COMPLEMENT[relation]
    return f"{plain.left} {relation} {plain.right}"


def without_denials(text: str) -> tuple[str, bool]:
    """Return a condition without what denies it and its brackets, and whether it was denied."""
    text = text.strip()
    is_denied = False
    while match := NEGATION.match(text):
        text = without_brackets(text[match.end() :])
        is_denied = not is_denied
    return without_brackets(text), is_denied


def sides_of_equality(text: str) -> tuple[str, ...]:
    """Return the two sides of a `==` or `!=` in any language, none for anything else."""
    found = read_sign(without_denials(text)[0])
    return (found.left, found.right) if found and found.relation in EQUAL else ()


def read_sign(text: str) -> Comparison | None:
    """Return the comparison by the one sign outside of all brackets."""
    tokens = list(outer_tokens(text))
    at = [number for number, token in enumerate(tokens) if token in SIGNS]
    if len(at) != 1 or any(token in ("&&", "||", "and", "or", "?") for token in tokens):
        return None
    sign = tokens[at[0]]
    left = "".join(tokens[: at[0]]).strip()
    right = "".join(tokens[at[0] + 1 :]).strip()
    is_denied = sign in DENIED
    # `a not in b`, `a is not b`
    if left.endswith(" not") or right.startswith("not "):
        left = left.removesuffix("not").strip()
        right = right.removeprefix("not").strip()
        is_denied = not is_denied
    if not left or not right:
        return None
    found = Comparison(SIGNS[sign], left, right, is_denied)
    return of_result(found) or found


def of_result(comparison: Comparison) -> Comparison | None:
    """Return what `strcmp(a, b) == 0`, `a.indexOf(b) >= 0` or `strpos($a, $b) === 0` compares, None for any other."""
    inner = read_call(comparison.left)
    if inner is None or comparison.right not in NOT_FOUND:
        return None
    name = last_words(comparison.left.partition("(")[0])
    if name & read_strength_words()["differences"]:
        # 0 says that they are equal.
        is_zero = comparison.right == "0" and comparison.relation in EQUAL
        is_denied = inner.is_denied == comparison.is_denied
        return replace(inner, is_denied=is_denied) if is_zero else None
    if not name & read_strength_words()["places"]:
        return None
    if comparison.right == "0" and comparison.relation in EQUAL:
        return replace(inner, relation="begins", is_denied=comparison.is_denied)
    is_found = comparison.relation in EQUAL and not comparison.is_denied
    return replace(inner, is_denied=is_found)


def read_call(text: str) -> Comparison | None:
    """Return what a call compares: two arguments, or what it is called on and its argument."""
    match = CALL.fullmatch(text)
    if match is None or not is_whole(match["inside"]):
        return None
    owner, _, name = match["name"].replace("->", ".").replace("::", ".").rpartition(".")
    relation = relation_of(name)
    if not relation:
        return None
    sides = list(split_arguments(match["inside"]))
    if len(sides) == 1 and owner:
        sides.insert(0, owner)
    if len(sides) < 2:
        return None
    is_difference = bool(last_words(name) & read_strength_words()["differences"])
    return Comparison(relation, sides[0], sides[1], is_difference)


@cache
def relation_of(name: str) -> str:
    """Return the relation that a function asks for, by the words of its name, "" for any other."""
    words = last_words(name)
    known = read_strength_words()
    if words & known["caseless"]:
        return "caseless"
    found = next((key for key in ("exact", "begins", "holds") if words & known[key]), "")
    # A function that compares converts no type.
    return "identical" if found == "exact" else found


def last_words(name: str) -> frozenset[str]:
    """Return the words of the last part of a name, and all of them as one."""
    words = words_of_name(short_name(name))
    return frozenset((*words, "".join(words)))


def outer_tokens(text: str) -> Iterator[str]:
    """Yield the tokens of a text; what is in brackets stays with its brackets in one."""
    depth = 0
    kept = ""
    for token in TOKEN.findall(text):
        depth += token in PAIRS
        kept += token
        depth -= token in PAIRS.values()
        if depth <= 0:
            yield kept
            kept = ""
    if kept:
        yield kept


def split_arguments(text: str) -> tuple[str, ...]:
    """Return what stands between the commas outside of all brackets."""
    return tuple(filter(None, split_outside(text, (",",))))


def asks_less(old: str, new: str, *, refuses: bool) -> bool:
    """Return whether one operand asks for some of what it asked for, or refuses some of what it refused."""
    joiners = ("||", "or") if refuses else ("&&", "and")
    was = set(split_outside(without_brackets(old), joiners))
    now = set(split_outside(without_brackets(new), joiners))
    if now < was:
        return True
    others = ("&&", "and") if refuses else ("||", "or")
    was = set(split_outside(without_brackets(old), others))
    now = set(split_outside(without_brackets(new), others))
    gone = was - now
    added = now - was
    is_one = len(gone) == len(added) == 1 < len(was)
    return is_one and asks_less(min(gone), min(added), refuses=refuses)


def split_outside(text: str, marks: Container[str]) -> list[str]:
    """Return what stands between some marks outside of all brackets."""
    parts = [""]
    for piece in outer_tokens(text):
        if piece in marks:
            parts.append("")
        else:
            parts[-1] += piece
    return [part.strip() for part in parts]


def without_brackets(text: str) -> str:
    text = text.strip()
    while text[:1] == "(" and text[-1:] == ")" and is_whole(text[1:-1]):
        text = text[1:-1].strip()
    return text


def is_whole(text: str) -> bool:
    """Return whether every bracket in a text is closed in it."""
    depth = 0
    for token in TOKEN.findall(text):
        depth += (token in PAIRS) - (token in PAIRS.values())
        if depth < 0:
            return False
    return depth == 0


def is_amount(text: str) -> bool:
    return amount_of(text) is not None or text.isupper()
