"""The quick search of raw patches finds every key that the search of binary files finds."""

from examples import table

from cli_guard.rules.catalog import load
from cli_guard.rules.examples import expand, split_path
from cli_guard.secrets import scan_keys
from cli_guard.secrets.patches import commits_with_keys, may_add_key

# In a structure of several lines: docs/policy.md says that they are not searched for.
SEVERAL_LINES = {"secret-jwk", "secret-split-key"}
OID = "a" * 40
KEY = expand("AKIA<<base32:16>>", 3)
HEAD = f"commit {OID}\ntree {'b' * 40}\nauthor A <a@b.c> 1 +0000\n\n    Work\n\ndiff --git a/a b/a\n"


def test_the_examples_of_every_rule() -> None:
    missed = []
    number = 0
    for rule in load("secrets"):
        for example in rule.fires:
            text = expand(split_path(example)[1], 1)
            found = {hit.rule for hit in scan_keys(text).hits} - SEVERAL_LINES
            added = "".join(f"+{line}\n" for line in text.split("\n"))
            number += bool(found)
            if found and not may_add_key((HEAD + added).encode()):
                missed.append((rule.id, text))
    assert missed == []
    assert number > 80


@table(
    "patch, found",
    [
        (f"@@ -0,0 +1 @@\n+{KEY}\n", True),
        (f"@@@ -1 -1 +1 @@@\n +{KEY}\n", True),
        ("+++ b/" + KEY + ".txt\n", True),
        (f"@@ -1 +0,0 @@\n-{KEY}\n", False),
        (f"@@ -1 +1 @@ {KEY}\n+nothing\n", False),
        ("+AKIAIOSFODNN7EXAMPLE\n", False),
        (f"+commit {'c' * 40}\n+{KEY}\n", True),
        (f"+\ncommit {'c' * 40}\ntree x\n\n    Nothing\n", False),
    ],
)
def test_the_commit_of_a_key(patch: str, found: bool) -> None:
    assert list(commits_with_keys((HEAD + patch).encode())) == ([OID] if found else [])
