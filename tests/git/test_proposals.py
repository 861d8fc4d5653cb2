"""Patches read back: only those of our own form, shown line for line, and made in bounded time for any text."""

from pathlib import Path

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st
from repositories import Repo, key
from watching import cpu_seconds

from cli_guard.assistant.proposals import STARS, mask_patch
from cli_guard.repository.unified import apply_in_memory, unified_diff
from cli_guard.secrets.redact import redact

LINES = st.lists(
    st.sampled_from(
        ["a", "b", "c", "", " a", "-a", "+a", "--- a/x", "diff --git a/x b/x", "\\"]
    )
)
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"])
)
NAMES = st.sampled_from(["x", "a b", "tab\tname", 'quo"te', "line\nend", "é", "a/b -> c"])


@given(st.dictionaries(NAMES, TEXTS), st.dictionaries(NAMES, TEXTS))
def test_what_is_written_is_read_back(old: dict[str, str], new: dict[str, str]) -> None:
    patch = unified_diff(old, new)
    made = apply_in_memory(patch, old)
    assert {**old, **made} == {**dict.fromkeys(old), **new}
    assert mask_patch(patch, lambda text, path: text, old) == patch


def test_git_reads_it_alike(committed: Repo) -> None:
    """Texts of many equal lines, whose differences are found by another way than difflib's own."""
    old = "".join(f"{n % 7}\n" for n in range(900)) + "".join(
        f"line {n}\n" for n in range(900)
    )
    new = old.replace("3\n", "three\n", 40).replace("line 5", "LINE 5")
    committed.commit("Old", {"f": old})
    assert committed.git("apply", "-", stdin=unified_diff({"f": old}, {"f": new})) == ""
    assert (committed.path / "f").read_text() == new


@table(
    ("old", "new"),
    [
        ("a\n" * 300_000, "b\n" + "a\n" * 299_998 + "b\n"),
        (
            "".join(f"{n}\n" for n in range(50_000)),
            "".join(f"{n * (n % 5 > 0)}\n" for n in range(50_000)),
        ),
        ("a\nb\n" * 20_000, "b\na\n" * 20_000),
        ("x" * 1_000_000, "y" * 1_000_000),
    ],
    ids=["equal lines", "every fifth line", "alternating", "one long line"],
)
def test_any_text_in_bounded_time(old: str, new: str) -> None:
    with cpu_seconds(10):
        patch = unified_diff({"f": old}, {"f": new})
    assert apply_in_memory(patch, {"f": old}) == {"f": new}


HEAD = "diff --git a/f b/f\n"
HUNK = "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+b\n"


@table(
    "patch",
    [
        HEAD + "rename from f\nrename to g\n",
        HEAD + "old mode 100644\nnew mode 100755\n",
        HEAD
        + "new file mode 120000\n--- /dev/null\n+++ b/f\n@@ -0,0 +1,1 @@\n+/etc/passwd\n",
        HEAD + "GIT binary patch\nliteral 1\nIcmZPo00961\n",
        HEAD + HUNK + "--- a/.git/config\n+++ b/.git/config\n@@ -1,1 +1,1 @@\n-a\n+b\n",
        HEAD + HUNK + "-- \n2.39.5\n",
        HEAD + HUNK + HEAD + HUNK,
        HEAD + "--- a/f\n+++ b/g\n@@ -1,1 +1,1 @@\n-a\n+b\n",
        "diff --git a/f b/g\n" + HUNK,
        "note\n" + HEAD + HUNK,
        HEAD + HUNK.replace("1,1 @@", "1,2 @@"),
        HEAD + HUNK.replace("@@ -1,1", "@@ -1,99999999999999999999"),
        HEAD + HUNK[:-1],
        HEAD,
    ],
)
def test_any_other_form_is_refused(patch: str) -> None:
    with pytest.raises(ValueError):
        mask_patch(patch, redact, {"f": "a\n"})
    assert mask_patch(HEAD + HUNK, redact, {"f": "a\n"}) == HEAD + HUNK, "a near miss"


def test_a_changed_secret_is_a_change_that_is_seen() -> None:
    """A patch of both sides without their secrets would say that nothing happens."""
    old = f'KEY = "{key()}"\nx = 1\n'
    new = f'KEY = "{key()[:-4]}QWER"\nx = 1\n'
    shown = mask_patch(unified_diff({"f": old}, {"f": new}), redact, {"f": old})
    assert key() not in shown and key()[:-4] not in shown
    assert sum(line.startswith(("-KEY", "+KEY")) for line in shown.split("\n")) == 2


def test_no_line_of_a_private_key_is_shown(tmp_path: Path) -> None:
    body = "".join(
        f"MIIEowIBAAKCAQEAx7Kq2mZr9Tb4Wn8Yc3Vd6Hf1Jg5LsPaQe0Rx7Kq2m{n}Z\n" for n in range(9)
    )
    block = f"-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\n"
    old = f'K = """{block}"""\nx = 1\n'
    shown = mask_patch(
        unified_diff({"f.py": old}, {"f.py": old.replace("x = 1", "x = 2")}),
        redact,
        {"f.py": old},
    )
    assert "MIIE" not in shown
    assert STARS in shown and "-x = 1\n+x = 2\n" in shown
