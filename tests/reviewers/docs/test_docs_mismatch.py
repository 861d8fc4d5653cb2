"""Comments that no longer fit the signature: what is certain is said, and the repaired comment fits."""

import ast

import pytest
from examples import table
from reviewers.docs.before_after import found

GOOGLE = '''def f(a, b, c):
    """Do it.

    Args:
        a: First,
            on two lines.
        b (int): Second.
        c: Third.

    Returns:
        Something.
    """
    x = a
    return x
'''
NUMPY = '''def f(a, b, c):
    """Do it.

    Parameters
    ----------
    a, b : int
        Both.
    c : str
        Third.

    Returns
    -------
    int
        Something.
    """
    x = a
    return x
'''
SPHINX = '''def f(a, b, c):
    """Do it.

    :param a: first,
        on two lines
    :param int b: second
    :param c: third
    :returns: something
    """
    x = a
    return x
'''


@table("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
@table(
    ("head", "rules"),
    [
        pytest.param("f(a, b)", ["docs-parameter-gone"], id="last gone"),
        pytest.param("f(b, c)", ["docs-parameter-gone"], id="first gone"),
        pytest.param("f(c)", ["docs-parameter-gone"], id="two gone"),
        pytest.param("f()", ["docs-parameter-gone"], id="all gone"),
        pytest.param("f(a, b, c, d)", ["docs-parameter-new"], id="new at the end"),
        pytest.param("f(z, a, b, c)", ["docs-parameter-new"], id="new in front"),
        pytest.param("f(a, b, d)", ["docs-parameter-gone"], id="renamed"),
        pytest.param("f(a, x, y)", ["docs-parameter-gone"], id="two for two"),
        pytest.param("f(a, b, c, *rest)", [], id="rest needs no word"),
        pytest.param("f(a, b, c, _hidden=1)", [], id="private needs no word"),
        pytest.param("f(a, **options)", [], id="any name may be among the options"),
        pytest.param("f(a, b: int, c='x')", [], id="same names"),
    ],
)
def test_signature_changes_and_the_repaired_comment_fits(
    text: str, head: str, rules: list[str]
) -> None:
    defaults = "".join(f"    {name} = {name} or 4\n" for name in "dxyz")
    after = text.replace("f(a, b, c)", head, 1).replace(
        "    x = a\n", f"    x = a\n{defaults}"
    )
    findings = found("m.py", after, text)
    assert [f.rule for f in findings] == rules
    for finding in findings:
        lines = after.split("\n")
        end = next(n for n, line in enumerate(lines) if line.strip() == '"""')
        repaired = "\n".join([lines[0], finding.suggestion or "", *lines[end + 1 :]])
        ast.parse(repaired)
        assert found("m.py", repaired, text) == []
        assert ("Returns" in repaired or ":returns:" in repaired) and "Do it." in repaired


@table(
    ("body", "words"),
    [
        ("x = d", None),
        ("d = d or Path.cwd()", "d: Defaults to `Path.cwd()`."),
        ("time.sleep(d)", "d: In seconds."),
        ("d = d or 4\n    time.sleep(d)", "d: Defaults to `4` and is in seconds."),
    ],
)
@table("head", ["f(a, b, c, d)", "f(a, b, c, *, d)", "f(a, b, c, d=None)"])
def test_new_parameter_is_described_by_more_than_its_name_or_not_at_all(
    head: str, body: str, words: str | None
) -> None:
    (finding,) = found(
        "m.py", GOOGLE.replace("f(a, b, c)", head).replace("x = a", body), GOOGLE
    )
    assert "takes `d`" in finding.message
    assert (
        finding.suggestion is None if words is None else words in (finding.suggestion or "")
    )


@table(
    ("path", "before", "after"),
    [
        (
            "m.py",
            SPHINX.replace(":param c: third", ":param c: third\n    :type c: str"),
            "f(a, b, d)",
        ),
        (
            "m.py",
            SPHINX.replace(":param c: third", ":param c: third\n    :type c: str"),
            "f(a, b)",
        ),
    ],
)
def test_type_of_a_parameter_goes_with_it(path: str, before: str, after: str) -> None:
    suggestion = (
        found(path, before.replace("f(a, b, c)", after), before)[0].suggestion or ""
    )
    assert "type c" not in suggestion and ("type d: str" in suggestion) == ("d" in after)


def test_what_was_wrong_before_is_left_alone() -> None:
    before = GOOGLE.replace("f(a, b, c)", "f(a, b)")
    assert (
        found(
            "m.py",
            before.replace("f(a, b)", "f(a, b, *rest)").replace("First", "1st"),
            before,
        )
        == []
    )


def test_documented_parameter_of_a_setter_is_left_alone() -> None:
    text = GOOGLE.replace("f(a, b, c)", "f(self, a)")
    text = "class A:\n    @property\n" + "".join(
        f"    {line}\n" for line in text.splitlines()
    )
    assert [f.rule for f in found("m.py", text)] == []
    assert [f.rule for f in found("m.py", text.replace("property", "abstractmethod"))] == [
        "docs-parameter-gone"
    ]


def test_renamed_parameter_keeps_its_words() -> None:
    finding = found("m.py", GOOGLE.replace("f(a, b, c)", "f(a, b, d)"), GOOGLE)[0]
    assert "d: Third." in (finding.suggestion or "") and "c:" not in (
        finding.suggestion or ""
    )


def test_only_removed_lines_still_count() -> None:
    before = GOOGLE.replace("f(a, b, c)", "f(\n    a,\n    b,\n    c,\n)")
    finding = found("m.py", before.replace("    c,\n", "", 1), before)[0]
    assert finding.rule == "docs-parameter-gone" and "removed here" in finding.message


@table(
    "text",
    [
        pytest.param(
            GOOGLE.replace("x = a", "x = b"), id="untouched comment and signature"
        ),
        pytest.param(
            "@click.option('d')\n" + GOOGLE.replace("f(a, b, c)", "f(a)"),
            id="unknown decorator",
        ),
        pytest.param(GOOGLE.replace("def f(a, b, c)", "def _f(a)"), id="private"),
        pytest.param(
            GOOGLE.replace("b (int): Second.", "- b is second").replace(
                "f(a, b, c)", "f(a)"
            ),
            id="unreadable",
        ),
    ],
)
def test_what_is_not_certain_is_not_said(text: str) -> None:
    assert found("m.py", text, GOOGLE) == []


def test_sections_of_an_example_are_not_ours() -> None:
    text = 'def f(a):\n    """Do it.\n\n    Example::\n\n        def g(x):\n            """Args:\n'
    text += (
        "            Args:\n                bar: no\n    '''\n    \"\"\"\n    return a\n"
    )
    assert found("m.py", text) == []


def test_long_comment_is_shown_as_a_patch() -> None:
    middle = "    More.\n" * 40
    before = GOOGLE.replace("    Args:\n", middle + "\n    Args:\n", 1)
    finding = found("m.py", before.replace("f(a, b, c)", "f(a, b)"), before)[0]
    assert (finding.suggestion or "").startswith(
        "@@ -49 +48,0 @@"
    ) and "-        c: Third." in (finding.suggestion or "")
    assert len((finding.suggestion or "").split("\n")) < 8


JSDOC = """/**
 * Put it in.
 *
 * @param {Cart} cart - the cart
 * @param {string} [item="x"] - what
 *   to put in
 * @returns {number} how many
 */
export function put(cart, item) {
  count = count ?? 2;
  cart.push(item);
  return cart.length;
}
"""


@table(
    ("words", "kept"),
    [
        ("{Cart} cart - the cart", "{Cart} wagon - the cart"),
        (
            "{Cart} cart.items - its items of the cart",
            "{Cart} wagon.items - its items of the cart",
        ),
        ("{Cart} [cart=cart] - the cart", "{Cart} [wagon=cart] - the cart"),
    ],
)
def test_jsdoc_renames_the_parameter_and_its_properties(words: str, kept: str) -> None:
    before = JSDOC.replace("{Cart} cart - the cart", f"{{Cart}} cart\n * @param {words}")
    (finding,) = found(
        "src/a.js", before.replace("put(cart, item)", "put(wagon, item)"), before
    )
    assert f" * @param {{Cart}} wagon\n * @param {kept}\n" in (finding.suggestion or "")


@table(
    ("gone", "kept"),
    [
        ("a, ab : int", "ab : int"),
        ("ab, a, b : int", "ab, b : int"),
        ("ab, `a` : int", "ab : int"),
    ],
)
def test_of_several_names_only_the_removed_one_goes(gone: str, kept: str) -> None:
    before = NUMPY.replace("a, b : int", gone).replace("f(a, b, c)", "f(a, ab, b, c)")
    (finding,) = found("m.py", before.replace("f(a, ab, b, c)", "f(ab, b, c)"), before)
    assert f"\n    {kept}\n" in (finding.suggestion or "")


@table(
    ("head", "rules", "part"),
    [
        ("put(cart)", ["docs-parameter-gone"], "@returns"),
        ("put(cart, thing)", ["docs-parameter-gone"], "[thing="),
        (
            "put(cart, item, count)",
            ["docs-parameter-new"],
            " * @param count - Defaults to `2`.",
        ),
        ("put({ cart }, item)", [], ""),
    ],
)
def test_jsdoc(head: str, rules: list[str], part: str) -> None:
    findings = found("src/a.js", JSDOC.replace("put(cart, item)", head), JSDOC)
    assert [f.rule for f in findings] == rules
    for finding in findings:
        assert part in (finding.suggestion or "")
        after = f"{finding.suggestion}\n" + JSDOC.split("*/\n")[1].replace(
            "put(cart, item)", head
        )
        assert found("src/a.js", after, JSDOC) == []
