"""A macro that is a statement and asks something is a guard; its name says whether it leaves where that is true."""

from examples import examples, near_misses
from rules.example_kinds import changed_files

from cli_guard.code.changes.difference import compare_file
from cli_guard.code.changes.facts import JUDGED, CodeFact
from cli_guard.code.syntax import Trees
from cli_guard.model import FileChange, Hunk, Status
from cli_guard.reviewers.protections import review


def conditions_in(path: str, statement: str) -> list[CodeFact]:
    text = f"int f(size_t n) {{\n  {statement}\n  return g(n);\n}}\n"
    hunks = (Hunk(1, 1, tuple(text.split("\n")), ()),)
    change = FileChange(path, Status.MODIFIED, hunks=hunks)
    went = compare_file(Trees(), change, text, "").went
    return [fact for fact in went if fact.kind in JUDGED]


GUARDS = (
    ("a.c", "CHECK(n <= 9);", "not (n <= 9)", "CHECK"),
    ("a.c", "VERIFY_OR_RETURN(n <= MAX, -1);", "not (n <= MAX)", "VERIFY_OR_RETURN -1"),
    ("a.c", "RETURN_IF(n > MAX, -1);", "n > MAX", "RETURN_IF -1"),
    ("a.c", "RETURN_IF_NOT(ok && n < MAX);", "not (ok && n < MAX)", "RETURN_IF_NOT"),
    ("a.c", "BUG_ON(!is_valid(n));", "!is_valid(n)", "BUG_ON"),
    ("a.cc", 'CHECK(n <= MAX) << "long";', "not (n <= MAX)", "CHECK"),
    ("a.c", "LOG_IF(n > MAX);", "n > MAX", ""),
)
OTHERS = (
    ("a.c", "check(n <= 9);"),
    ("a.c", "ASSERT(n <= 9);"),
    ("a.c", "RETURN_IF_ERROR(f(n));"),
    ("a.c", "n = MIN(n <= 9);"),
    ("a.c", "SHIFT(-n, n + 9);"),
    ("a.c", "CHECK();"),
)


@examples(("path", "statement", "condition", "leaving"), GUARDS)
def test_a_macro_that_asks_is_a_guard(
    path: str, statement: str, condition: str, leaving: str
) -> None:
    found = [(fact.name, fact.detail) for fact in conditions_in(path, statement)]
    assert found == [(condition, leaving)]


@near_misses(("path", "statement"), OTHERS)
def test_any_other_call_is_none(path: str, statement: str) -> None:
    assert conditions_in(path, statement) == []


CHANGE = """<<path:src/a.c>>
 int f(size_t n) {
-    REMOVED
+    ADDED
     memcpy(out, in, n);
     return 0;
 }
"""


@examples(
    ("removed", "added", "rule"),
    (
        ("CHECK(n <= MAX_SIZE);", "", "protection-bounds"),
        ("RETURN_IF(n >= MAX_N);", "RETURN_IF(n > MAX_N);", "protection-weaker-value"),
        ("CHECK(n < MAX_N);", "CHECK(n <= MAX_N);", "protection-weaker-value"),
        ("CHECK(n < MAX_N);", "CHECK(n < MAX_N || n == 7);", "protection-weaker-condition"),
        # The same, written out and turned round.
        ("CHECK(n <= MAX_SIZE);", "CHECK( n <= MAX_SIZE );", ""),
        ("if (n > MAX_SIZE) return -1;", "RETURN_IF(n > MAX_SIZE, -1);", ""),
        ("if (n > MAX_SIZE) return -1;", "CHECK(n <= MAX_SIZE);", ""),
    ),
)
def test_what_it_asks_is_compared(removed: str, added: str, rule: str) -> None:
    change = CHANGE.replace("REMOVED", removed).replace("ADDED", added)
    found = [each.rule for each in review(changed_files(change)).findings]
    assert found == ([rule] if rule else [])
