"""Two conditions that ask the same in another style have the same tokens, and others do not."""

from examples import examples, near_misses

from cli_guard.code.changes.asked import names_in, plain_tokens
from cli_guard.code.changes.difference import compare_file
from cli_guard.code.changes.facts import JUDGED, CodeFact
from cli_guard.code.syntax import Trees
from cli_guard.model import FileChange, Hunk, Status

FORMS = {
    "py": "def f(a):\n    if {}:\n        return\n    g(a)\n",
    "rb": "def f(a)\n  return if {}\n  g(a)\nend\n",
    "php": "<?php\nfunction f($a) {{\n  if ({}) {{ return; }}\n  g($a);\n}}\n",
    "ts": "function f(a) {{\n  if ({}) return;\n  g(a);\n}}\n",
    "c": "int f(int a) {{\n  if ({})\n    return 1;\n  return g(a);\n}}\n",
    "java": "class A {{ void f(B a) {{ if ({}) {{ return; }} g(a); }} }}\n",
}


def condition(ending: str, text: str) -> CodeFact:
    """The fact of a guard with this condition, which a change takes away with its file."""
    whole = FORMS[ending].format(text)
    lines = tuple(whole.split("\n"))
    hunks = (Hunk(1, 1, lines, ()),)
    change = FileChange(f"a.{ending}", Status.MODIFIED, hunks=hunks)
    file = compare_file(Trees(), change, whole, "")
    return next(fact for fact in file.went if fact.kind in JUDGED)


SAME = (
    ("py", "self._isOpen(a)", "is_open(a)"),
    ("py", "(a.level() < 2)", "a.level<2"),
    ("py", 'a.kind == "x;y"', "a.kind == 'x;y'"),
    ("rb", "self.owner?(a)", "owner?(a)"),
    ("php", "$this->user->getId() !== $a", "$this->user->get_id !== $a"),
    ("ts", "this.ctx?.user() === a", "ctx.user === a"),
    ("ts", "a.kind === `x` /* one */", "a.kind === 'x'"),
    ("c", "a->len > MAX", "a -> len > MAX"),
)
OTHER = (
    ("py", "is_open(a)", "is_open(b)"),
    ("py", "a.kind == 'self.x'", "a.kind == 'x'"),
    ("py", "a.kind == 'x_y'", "a.kind == 'xy'"),
    ("rb", "owner?(a)", "!owner?(a)"),
    ("php", "$a->b()->c", "$a->c"),
    ("ts", "a.kind === `x${b}`", "a.kind === `x${c}`"),
    ("c", "a->len > MAX", "a->len >= MAX"),
)


@examples(("ending", "one", "other"), SAME)
def test_the_same_is_asked_in_another_style(ending: str, one: str, other: str) -> None:
    asked = [plain_tokens(condition(ending, text).asked) for text in (one, other)]
    assert asked[0] == asked[1]


@near_misses(("ending", "one", "other"), OTHER)
def test_something_else_is_asked(ending: str, one: str, other: str) -> None:
    asked = [plain_tokens(condition(ending, text).asked) for text in (one, other)]
    assert asked[0] != asked[1]


@examples(
    ("ending", "text", "names"),
    (
        ("py", 'a.kind == "b" and f"{c.d} e" in g', "a kind c d g"),
        ("php", "$a['key'] === \"x$b\"", "$a $b"),
        ("ts", "a.b /* not c */ > `${d} e`", "a b d"),
        ("c", "sizeof(*a) < b.c", "sizeof a b c"),
    ),
)
def test_what_is_quoted_is_no_name(ending: str, text: str, names: str) -> None:
    found = set(names_in(condition(ending, text).asked))
    assert set(names.split()) <= found
    assert found.isdisjoint(("key", "e", "not", "c") if ending == "ts" else ("key", "e"))
