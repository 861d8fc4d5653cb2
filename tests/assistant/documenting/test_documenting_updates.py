"""Documentation whose parameters no longer fit: put right, the rest of it as it was."""

from assistant.documenting.checks import whole
from examples import table

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


JAVA = """public class A {
    /**
     * Finds it.
     *
     * @param name the name
     * @param deep gone
     */
    public User find(String name, int limit) {
        return db.find(name, limit);
    }
}
"""


@table(
    ("path", "text", "name", "removed", "added"),
    [
        ("a.py", GOOGLE, "read", ["mode: How to open it."], ["encoding: How to open it."]),
        (
            "a.py",
            NUMPY,
            "area",
            ["depth : float"],
            ["unit : float"],
        ),
        ("a.py", SPHINX, "send", [":param c: Gone."], [":param b: Gone."]),
        (
            "a.js",
            JS,
            "load",
            ["* @param {boolean} deep - Gone."],
            ["* @param {boolean} strict - Gone."],
        ),
        ("A.java", JAVA, "find", ["* @param deep gone"], ["* @param limit gone"]),
    ],
)
def test_exactly_the_wrong_lines_are_put_right(path, text, name, removed, added, tmp_path):
    answer = whole(f"update the outdated documentation of {name}", {path: text}, tmp_path)
    lines = [line for line in answer.patch.split("\n")[3:] if line[:1] in "+-"]
    assert [line[1:].strip() for line in lines if line.startswith("-")] == removed
    assert [line[1:].strip() for line in lines if line.startswith("+")] == added
    assert [(p.kind, p.symbol.rpartition(".")[2]) for p in answer.proposals] == [
        ("update", name)
    ]
    assert answer.proposals[0].note.endswith("the words are kept, check them")
    again = document(f"update the outdated documentation of {name}", answer.changes)
    assert again.proposals == ()


def test_what_is_stale_and_what_is_missing_is_said():
    text = SPHINX.replace("send(a, b)", "send(self_id, a, b)")
    answer = document("document send", {"a.py": text})
    proposal = answer.proposals[0]
    assert (proposal.kind, proposal.line, proposal.symbol) == ("update", 2, "send")
    assert proposal.note == "stale: `c`; missing: `self_id`, `b`"
    assert (
        ":param self_id: TODO: describe.\n    :param a: First.\n    :param b: TODO: describe.\n"
        in proposal.text
    )


def test_parameters_in_front_of_all_documented_ones_keep_their_order():
    text = SPHINX.replace("send(a, b)", "send(x, y, a)").replace(
        "    :param c: Gone.\n", ""
    )
    assert (
        ":param x: TODO: describe.\n    :param y: TODO: describe.\n    :param a: First."
        in (document("document send", {"a.py": text}).changes["a.py"])
    )


def test_line_ends_are_kept_in_a_repair(tmp_path):
    answer = whole("document send", {"a.py": SPHINX.replace("\n", "\r\n")}, tmp_path)
    assert answer.changes["a.py"] == SPHINX.replace(":param c", ":param b").replace(
        "\n", "\r\n"
    )


def test_of_a_file_only_docstrings_that_name_most_parameters_are_completed():
    text = SPHINX.replace("send(a, b)", "send(x, y, a)").replace(
        "    :param c: Gone.\n", ""
    )
    answer = document("fix the docstrings in a.py", {"a.py": text})
    assert answer.proposals == answer.by_hand == ()


def test_a_repair_that_cannot_be_made_is_left_to_a_person():
    answer = document(
        "document f",
        {"a.js": "/** @param c - Gone. */\nexport function f(a) {\n  g(a);\n}\n"},
    )
    assert answer.proposals == ()
    assert answer.by_hand == ("a.js:2: `f`: stale: `c`; missing: `a`",)
    example = SPHINX.replace("    :param c", "    >>> send(1, 2)\n    :param c")
    answer = document("document send", {"a.py": example})
    assert (answer.proposals, len(answer.by_hand)) == ((), 1)


def test_a_whole_file_is_put_right_and_nothing_is_added_to_it():
    text = GOOGLE + "\n\ndef undocumented(x):\n    return g(x)\n"
    answer = document("fix the outdated docstrings in a.py", {"a.py": text})
    assert [(p.symbol, p.kind) for p in answer.proposals] == [("read", "update")]


@table(
    "text",
    [
        'def f(a, b):\n    """Do.\n\n    Args:\n        a: A.\n        b: B.\n    """\n    return g(a, b)\n',
        'def f(a):\n    """Do it with no word about parameters."""\n    return g(a)\n',
        'def f(cls_, b):\n    """Do.\n\n    Args:\n        cls_: A.\n        b: B.\n    """\n    return g(a, b)\n',
        'def f(a, b):\n    """:param a: A.\n    :param b: B.\n    """\n    return g(a, b)\n',
        'def f(a, *args, _c):\n    """Do.\n\n    :param a: A.\n    """\n    return g(a)\n',
        '@wraps_it\ndef f(a):\n    """Do.\n\n    :param a: A.\n    :param z: Z.\n    """\n    return g(a)\n',
        'def f(**options):\n    """Do.\n\n    Args:\n        depth: Of the options.\n    """\n    return g(options)\n',
    ],
)
def test_what_is_not_certainly_wrong_is_left(text):
    answer = document("update the outdated docstring of f", {"a.py": text})
    assert answer.proposals == answer.by_hand == ()
