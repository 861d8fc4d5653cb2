"""Comparisons, patterns, values and the order of acts: what lets more through than before, and what does not."""

import pytest
from examples import table

from cli_guard.code.changes.comparisons import looser_comparison
from cli_guard.code.changes.facts import CodeUnit
from cli_guard.code.changes.order import LateCheck, facts_of_unit, late_checks, raw_checks
from cli_guard.code.changes.patterns import compare_patterns
from cli_guard.code.changes.values import amount_of, loosened_value
from cli_guard.code.syntax import Trees

# Before, after, whether it is a guard that leaves where it is true; `bound`, `fits` or nothing.
COMPARISONS = (
    ("a == b", "a.startswith(b)", False, "fits"),
    ("a != b", "!a.startsWith(b)", True, "fits"),
    ("a === b", "a == b", False, "fits"),
    ("a === b", "a.indexOf(b) !== -1", False, "fits"),
    ("$a === $b", "strpos($a, $b) !== false", False, "fits"),
    ("host == allowed", "strings.HasSuffix(host, allowed)", False, "fits"),
    ("strcmp(a, b) == 0", "strcasecmp(a, b) == 0", False, "fits"),
    ("!strcmp(a, b)", "!strncmp(a, b, n)", False, "fits"),
    ("a.equals(b)", "a.equalsIgnoreCase(b)", False, "fits"),
    ("role == 'a'", "role in ('a', 'b')", False, "fits"),
    ("role not in ('a', 'b')", "role not in ('a', 'b', 'c')", True, "fits"),
    # A guard that refuses less of what it finds.
    ("'..' in name", "name == '..'", True, "fits"),
    ("x in ('a', 'b')", "x in ('a',)", True, "fits"),
    ("n >= MAX", "n > MAX", True, "bound"),
    ("MAX <= n", "MAX < n", True, "bound"),
    ("n > 255", "n > 65535", True, "bound"),
    ("n > 2 * 1024", "n > 4 * 1024", True, "bound"),
    ("n < 3", "n <= 3", False, "bound"),
    # One term went, or came.
    ("n > left - (used + 2)", "n > left - used", True, "bound"),
    ("at + n >= buf.length", "n >= buf.length", True, "bound"),
    ("n < left - sizeof(x)", "n < left", False, "bound"),
    ("n->len <= end - n->at", "n->len <= end", False, "bound"),
    ("n >= buf.length", "at + n >= buf.length", True, ""),
    ("n < left", "n < left - sizeof(x)", False, ""),
    ("n > left - used", "n > right - used", True, ""),
    ("n > a--", "n > a", True, ""),
    ("len(k) != 16", "len(k) < 16", True, "bound"),
    # The other way round, and what nobody can say.
    ("a.startswith(b)", "a == b", False, ""),
    ("a == b", "a.startswith(c)", False, ""),
    ("a == b", "b == a", False, ""),
    ("n > MAX", "n >= MAX", True, ""),
    ("n > 255", "n > 65535", False, ""),
    ("n > 255", "m > 65535", True, ""),
    ("n > LIMIT", "n > OTHER", True, ""),
    ("f(a)", "g(a)", False, ""),
    ("(a == b", "a.startswith(b", False, ""),
)


@table(("old", "new", "refuses", "sort"), COMPARISONS)
def test_a_comparison_that_lets_more_through(
    old: str, new: str, refuses: bool, sort: str
) -> None:
    found = looser_comparison(old, new, refuses=refuses)
    assert (found is not None) == bool(sort)
    assert found is None or found.is_bound == (sort == "bound")


PATTERNS = (
    (r'r"^[a-z]+$"', r'r"^[a-z0-9]+$"', True),
    (r'"^[a-z]{1,8}$"', r'"^[a-z]{1,80}$"', True),
    (r"/^[A-Z]{6}$/", r"/^[A-Z]{6,600}$/", True),
    (r"/^(a|b)$/", r"/^(a|b|c)$/", True),
    (r"/^([a-z]+:)\/\//", r"/^([a-z]+:)?\/\//", True),
    (r'"^\\d+$"', r'"^.+$"', True),
    (r"/^x\.org$/", r"/^x.org$/", True),
    (r"/^a$/", r"/^a$/i", True),
    (r"'/^\w+$/D'", r"'/^\w+/'", True),
    (r"%r{\Aa\z}", r"%r{\Aa}", True),
    (r"/[^a-z\/]/", r"/[^a-z]/", True),
    # Narrower, the same, or not to be compared.
    (r"/^[\w.]+$/", r"/^\w+$/", False),
    (r"/^[a-z]+$/", r"/^[a-z]+$/", False),
    (r"/^[ab]$/", r"/^[ba]$/", False),
    (r"/^(a)$/", r"/^(b)$/", False),
    (r"/^\p{L}$/", r"/^\p{N}$/", False),
    (r"/^(?=a)b$/", r"/^(?=c)b$/", False),
)


@table(("old", "new", "wider"), PATTERNS)
def test_a_pattern_that_fits_more(old: str, new: str, wider: bool) -> None:
    change = compare_patterns(old, new)
    assert change is not None
    assert change.is_wider is wider


@pytest.mark.parametrize(
    "text",
    [
        '"' + "(" * 200 + '"',
        '"[a"',
        '"a{9999999}"',
        "/" + "(a|b)*" * 40 + "/",
        '"' + "a?" * 140 + '"',
        '"\\"',
        "x",
        '"*"',
        '"[z-a]"',
    ],
)
def test_a_pattern_of_any_form_ends_quickly(text: str) -> None:
    change = compare_patterns(text, text)
    assert change is None or not (change.is_wider or change.is_narrower)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("60 * 60", 3600),
        ("'15m'", 900),
        ("7.days", 604800),
        ("24 * time.Hour", 86400),
        ("0o600", 0o600),
        ("0x10", 16),
        ("600_000", 600_000),
        ("10mb", 10 * 1024 * 1024),
        ("later", None),
        ("60 + 60", None),
        ("1.14.2", None),
        ("9" * 15 + "*" + "9" * 15 + "*" + "9" * 15 + "*" + "9" * 15, None),
        ("", None),
    ],
)
def test_an_amount_is_read_with_its_unit(text: str, amount: int | None) -> None:
    assert amount_of(text) == amount


VALUES = (
    ("verify_tls", "True", "False", True),
    ("cookie.httpOnly", "true", "false", True),
    ("allow_insecure", "no", "yes", True),
    ("session_max_age", "3600", "86400", True),
    ("jwt.expiresIn", "'15m'", "'30d'", True),
    ("bcrypt_cost", "12", "4", True),
    ("FILE_MODE", "0o600", "0o644", True),
    ("verify_tls", "False", "True", False),
    ("cache_max_age", "3600", "86400", False),
    ("session_max_age", "60 * 60", "3600", False),
    ("width", "12", "4", False),
)


@table(("key", "old", "new", "looser"), VALUES)
def test_a_value_that_protects_less(key: str, old: str, new: str, looser: bool) -> None:
    assert bool(loosened_value(key, old, new)) is looser


def late(old: str, new: str, checks: set[str]) -> list[LateCheck]:
    before, after = (
        facts_of_unit(Trees(), "python", text, CodeUnit("a.py", "f", 1, 9, text))
        for text in (old, new)
    )
    found = list(late_checks(before, after, checks))
    return found + list(raw_checks(before, after, checks))


ORDERS = (
    ("may(u, p)\n    p.write(t)", "p.write(t)\n    may(u, p)", True),
    ("n = unquote(n)\n    may(n)\n    g(n)", "may(n)\n    n = unquote(n)\n    g(n)", True),
    (
        "m = unquote(n)\n    if bad(m):\n        return\n    g(m)",
        "if bad(n):\n        return\n    m = unquote(n)\n    g(m)",
        True,
    ),
    (
        "m = unquote(m)\n    if bad(m):\n        return\n    g(m)",
        "m = unquote(m)\n    if bad(m):\n        raise E\n    g(m)",
        False,
    ),
    # What makes the value comes first, on others nothing depends, and a check that comes earlier is none that is late.
    ("p = load(t)\n    may(u, p)", "may(u, p)\n    p = load(t)", False),
    ("may(u, p)\n    p = read(t)", "p = read(t)\n    may(u, p)", False),
    ("may(u, p)\n    other.write(t)", "other.write(t)\n    may(u, p)", False),
    ("may(u, p)\n    log(p)", "log(p)\n    may(u, p)", False),
    ("p.write(t)\n    may(u, p)", "may(u, p)\n    p.write(t)", False),
)


@table(("old", "new", "is_late"), ORDERS)
def test_a_check_that_comes_behind_what_it_guarded(
    old: str, new: str, is_late: bool
) -> None:
    head = "def f(u, p, t, n):\n    "
    found = late(f"{head}{old}\n", f"{head}{new}\n", {"may", "bad(m)"})
    assert bool(found) is is_late
