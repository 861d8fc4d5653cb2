"""Documentation whose parameters no longer fit: put right, the rest of it as it was."""

import pytest
from documenting.checks import docstrings, whole, without_docstrings

from cli_guard.assistant.documenting import document

GOOGLE = '''def read(path, encoding="utf-8"):
    """Read a file, as it is.

    Args:
        path: The file, long explained
            over two lines.
        mode: How to open it.

    Returns:
        The text.
    """
    with open(path, encoding=encoding) as f:
        return f.read()
'''
NUMPY = '''def area(width, height, unit):
    """Area of a rectangle.

    Parameters
    ----------
    width : float
        One side.
    height : float
        The other.
    depth : float
        Not any more.
    """
    return convert(width * height, unit)
'''
SPHINX = '''def send(a, b):
    """Send it.

    :param a: First.
    :param c: Gone.
    """
    return go(a, b)
'''
JS = """/**
 * Load it.
 *
 * @param {string} id - Which.
 * @param {boolean} deep - Gone.
 */
export function load(id, strict) {
  if (strict) {
    check(id);
  }
  return get(id);
}
"""


def test_a_renamed_parameter_keeps_its_words_and_a_new_one_gets_those_of_the_body(tmp_path):
    answer = whole("update the outdated docstring of area", {"a.py": NUMPY}, tmp_path)
    doc = docstrings(answer.changes["a.py"])["area"]
    assert "depth" not in doc
    assert "height : float\n    The other." in doc
    assert "unit" in doc
    assert answer.proposals[0].kind == "update"
    assert (answer.proposals[0].line, answer.proposals[0].symbol) == (2, "area")
    assert without_docstrings(answer.changes["a.py"]) == without_docstrings(NUMPY)


@pytest.mark.parametrize(
    ("path", "text", "name", "gone", "kept"),
    [
        ("a.py", GOOGLE, "read", "mode", "over two lines."),
        ("a.py", SPHINX, "send", ":param c:", ":param a: First."),
        ("a.js", JS, "load", "deep", "@param {string} id - Which."),
    ],
)
def test_what_is_gone_goes_and_what_holds_stays(path, text, name, gone, kept, tmp_path):
    answer = whole(f"update the outdated documentation of {name}", {path: text}, tmp_path)
    assert [p.kind for p in answer.proposals] == ["update"]
    assert gone not in answer.proposals[0].text
    assert kept in answer.proposals[0].text
    assert answer.proposals[0].note
    again = document(f"update the outdated documentation of {name}", answer.changes)
    assert again.proposals == ()


def test_a_whole_file_is_put_right_and_nothing_is_added_to_it():
    text = GOOGLE + "\n\ndef undocumented(x):\n    return g(x)\n"
    answer = document("fix the outdated docstrings in a.py", {"a.py": text})
    assert [(p.symbol, p.kind) for p in answer.proposals] == [("read", "update")]


@pytest.mark.parametrize(
    "text",
    [
        'def f(a, b):\n    """Do.\n\n    Args:\n        a: A.\n        b: B.\n    """\n    return g(a, b)\n',
        'def f(a):\n    """Do it with no word about parameters."""\n    return g(a)\n',
        'def f(**options):\n    """Do.\n\n    Args:\n        depth: Of the options.\n    """\n    return g(options)\n',
    ],
)
def test_what_is_not_certainly_wrong_is_left(text):
    answer = document("update the outdated docstring of f", {"a.py": text})
    assert answer.proposals == ()
    assert answer.skipped
