"""What holds for any text: no failure, only touched lines, and suggestions that answer what they are about."""

import ast
import keyword

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reviewers.docs.before_after import changed, found, reviewed

PATHS = ["a.py", "a.js", "a.ts", "a.tsx", "a.go", "A.java"]
PIECES = {
    "a.py": [
        "def f(a, b: int = 1):\n",
        "class A(B):\n",
        "    ",
        '"""Args:\n',
        '"""',
        "    x = 1\n",
        ":param x:\n",
        "@d\n",
    ],
    "a.js": [
        "export function f(a, {b}) {\n",
        "class A {\n",
        "}\n",
        "/** @param {x} a */\n",
        "export { f }\n",
        "get x() {\n",
    ],
    "a.ts": [
        "export const f = (a: X): Y => {\n",
        "}\n",
        "/**\n * @param\n */\n",
        "abstract class A<T> {\n",
        "x?.y\n",
    ],
    "a.tsx": [
        "export function F() { return <b/> }\n",
        "export default class A {\n",
        "m(a) {\n",
        "}\n",
        "// c\n",
    ],
    "a.go": [
        "package x\n",
        "func (s *S) F(a, b int) error {\n",
        "}\n",
        "// F x\n",
        "type S struct {\n",
        "type (\n",
        ")\n",
    ],
    "A.java": [
        "public class A {\n",
        "public int f(int a, String... b) {\n",
        "}\n",
        "/** @param a */\n",
        "@Override\n",
        "x = 1;\n",
    ],
}


def texts(path: str) -> st.SearchStrategy[str]:
    pieces = st.sampled_from(PIECES[path])
    return st.lists(st.one_of(pieces, pieces, st.text(max_size=8)), max_size=14).map(
        "".join
    )


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_text_is_reviewed_and_only_touched_lines_are_reported(
    path: str, data: st.DataObject
) -> None:
    before = data.draw(texts(path))
    after = data.draw(texts(path))
    report = reviewed(path, after, before)
    change = changed(path, before, after)
    for finding in report.findings:
        assert finding.line is not None
        assert (
            change.touches(finding.line, finding.end_line)
            or "removed here" in finding.message
        )
    assert list(report.findings) == sorted(
        report.findings, key=lambda f: (f.path, f.line or 0, f.rule)
    )


NAMES = st.from_regex(r"[a-z]{1,6}(_[a-z]{1,6}){0,3}", fullmatch=True).filter(
    str.isidentifier
)
TYPES = st.sampled_from(
    [
        "",
        "int",
        "dict[str, int] | None",
        "'Later'",
        r'Literal["\\n", """x"""]',
        "Callable[[int], str]",
    ]
)
PARAMETERS = st.lists(st.tuples(NAMES, TYPES), max_size=5, unique_by=lambda pair: pair[0])


@given(
    name=NAMES,
    parameters=PARAMETERS,
    returns=TYPES,
    tab=st.booleans(),
    method=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_pasted_docstring_parses_and_silences(
    name: str, parameters: list[tuple[str, str]], returns: str, tab: bool, method: bool
) -> None:
    unit = "\t" if tab else "    "
    listed = ", ".join(f"{p}: {kind}" if kind else p for p, kind in parameters)
    head = f"def {name}({'self, ' if method else ''}{listed}){f' -> {returns}' if returns else ''}:"
    checked = parameters[0][0] if parameters else "x"
    lines = [
        head,
        f"{unit}if not {checked}:",
        f"{unit}{unit}raise ValueError({checked})",
        f"{unit}return 1",
    ]
    if method:
        lines = ["class A:", f'{unit}"""A."""', *(unit + line for line in lines)]
    text = "\n".join(lines) + "\n"
    try:
        ast.parse(text)
    except SyntaxError:
        return  # a keyword for a name
    findings = found("a.py", text)
    assert len(findings) == (name != "main" and bool(parameters))
    for finding in findings:
        place = int(finding.message.rsplit("below line ", 1)[1].rstrip("."))
        lines[place:place] = (finding.suggestion or "").split("\n")
        pasted = "\n".join(lines) + "\n"
        node = next(
            n for n in ast.walk(ast.parse(pasted)) if isinstance(n, ast.FunctionDef)
        )
        assert ast.get_docstring(node)
        assert found("a.py", pasted) == []


OTHER = [
    (
        "a.js",
        "export async function {n}({a}, {b} = 2) {{\n  {b} = {b} ?? {a};\n  return {b};\n}}\n",
    ),
    (
        "a.ts",
        "export const {n} = ({a}: Map<string, X>, {b}?: number): number => {{\n  {a}.clear();\n  return {b};\n}};\n",
    ),
    (
        "a.ts",
        "/** A. */\nexport class A {{\n  public {n}({a}: string): void {{\n"
        "    if (!{a}) {{\n      throw new X();\n    }}\n    y();\n  }}\n}}\n",
    ),
    (
        "a.go",
        "package x\n\nfunc {N}({a} int, {b} string) error {{\n\tif {a} > 1 {{\n\t\treturn errMany\n\t}}\n"
        "\treturn {b}\n}}\n",
    ),
    (
        "A.java",
        "/** A. */\npublic class A {{\n  @Deprecated\n  public int {n}(int {a}, String... {b}) {{\n"
        "    setTimeout(x, {a});\n    return 1;\n  }}\n}}\n",
    ),
]


@pytest.mark.parametrize(
    ("path", "form"), OTHER, ids=["js", "ts-arrow", "ts-method", "go", "java"]
)
@given(names=st.lists(NAMES, min_size=3, max_size=3, unique=True))
@settings(max_examples=40, deadline=None)
def test_pasted_comment_silences(path: str, form: str, names: list[str]) -> None:
    name, a, b = (f"x{n.replace('_', 'Y')}" for n in names)
    text = form.format(n=name, N=name.capitalize(), a=a, b=b)
    findings = found(path, text)
    assert len(findings) == 1
    place = int(findings[0].message.rsplit("above line ", 1)[1].rstrip("."))
    lines = text.split("\n")
    lines[place - 1 : place - 1] = (findings[0].suggestion or "").split("\n")
    assert found(path, "\n".join(lines)) == []


STYLES = {
    "google": (
        "a.py",
        "    Args:\n        {}: first of {}\n        {}: second\n        {}: third",
    ),
    "numpy": (
        "a.py",
        "    Parameters\n    ----------\n    {} : int\n        First {}.\n    {}, {} : str\n        Both.",
    ),
    "sphinx": (
        "a.py",
        "    :param {}: first of {}\n    :param str {}: second\n    :param {}: third",
    ),
    "jsdoc": (
        "a.js",
        " * @param {{string}} {} - first of {}\n * @param {{string=}} {} - second\n * @param {{Map<string, int>}} {}",
    ),
    "javadoc": (
        "A.java",
        " * @param {} first of {}\n * @param {} second\n * @param {} third",
    ),
}
FORMS = {
    "a.py": 'def f({0}, {1}, {2}):\n    """Do it.\n\n{doc}\n    """\n    x = 1\n    return x\n',
    "a.js": "/**\n * Do it.\n *\n{doc}\n */\nexport function f({0}, {1}, {2}) {{\n  x();\n  return 1;\n}}\n",
    "A.java": "/** A. */\npublic class A {{\n/**\n * Does it.\n *\n{doc}\n */\n"
    "public int f(int {0}, int {1}, int {2}) {{\n    x();\n    return 1;\n}}\n}}\n",
}
KEPT = frozenset(
    "abstract assert boolean break byte case catch char class const default delete do double else enum export extends"
    " final float for function goto if import in int let long native new null package public return short static"
    " super switch this throw throws true try typeof var void while with yield await async args self".split()
)
# Each letter of the words around a name, and a name within another: what a search for the name would hit first.
LETTERS = st.one_of(
    st.sampled_from("paramstringchosecdftw"),
    st.from_regex(r"[a-z]{1,3}", fullmatch=True),
    NAMES,
)


@pytest.mark.parametrize("style", STYLES)
@given(
    names=st.lists(
        LETTERS.filter(lambda n: n not in KEPT and not keyword.iskeyword(n)),
        min_size=4,
        max_size=4,
        unique=True,
    ),
    at=st.integers(0, 2),
)
@settings(max_examples=60, deadline=None)
def test_repair_of_a_renamed_parameter_changes_its_name_alone(
    style: str, names: list[str], at: int
) -> None:
    path, entries = STYLES[style]
    *old, fresh = names
    new = [fresh if n == at else name for n, name in enumerate(old)]

    def comment(listed: list[str]) -> str:
        return entries.format(listed[0], old[0], *listed[1:])

    before = FORMS[path].format(*old, doc=comment(old))
    after = FORMS[path].format(*new, doc=comment(old))
    (finding,) = found(path, after, before)
    assert finding.rule == "docs-parameter-gone"
    assert comment(new) in (finding.suggestion or "")
