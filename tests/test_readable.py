"""The code reads like plain English: one thing a statement, one name a type, docstrings that say what is done.

The ways of packing that these tests name are what made an earlier state of this code hard to read.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from sources import FILES, name_of, nodes_of, tree_of

# Two classes of one name are two things to a reader. These two names are in the public API, and again elsewhere:
SHARED = {
    "Context": "where a command would run (api), and the run context that LangGraph asks for by that name",
    "Verdict": "what the judge says of a command (api), and what the gate says of an action",
}
PARTICIPLE = re.compile(
    r"_?([a-z]+ed|told|said|held|gone|taken|given|made|known|kept|seen|found|shown|done|read|left)$"
)
# Words that end like a participle and are none, or are the verb itself.
VERBS = {"read", "feed", "need", "embed", "speed", "seed", "proceed"}
# What a docstring begins with that describes or asks: an article, a question, the third person, a value.
NO_VERB = re.compile(
    r"(?:The|An?|This|These|It|Its|One|Every|All|Each|No|Whether|What|Where|Which|Who|How|When|Why"
    r"|Is|Are|Does|Has|May|Can|Must|[A-Z][a-z]*[^s\W]s|\w+:)(?:\W|$)|[^A-Z]"
)
# Not rewritten yet.
UNSETTLED = ("mcp/client/",)

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(nodes: Iterable[ast.AST]) -> Iterator[Function]:
    return (node for node in nodes if isinstance(node, Function))


def is_property(node: Function) -> bool:
    return any("property" in ast.unparse(each) for each in node.decorator_list)


def is_tuple_assignment(node: ast.AST) -> bool:
    """Return whether a statement assigns values at once that do not need each other, as those of a swap do."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    values = [parts_of(value) for value in node.value.elts]
    for target in node.targets:
        if isinstance(target, ast.Tuple):
            names = [ast.unparse(each) for each in target.elts]
            return not any(
                name in parts
                for place, name in enumerate(names)
                for other, parts in enumerate(values)
                if other != place
            )
    return False


def parts_of(value: ast.expr) -> set[str]:
    return {ast.unparse(each) for each in ast.walk(value) if isinstance(each, ast.expr)}


def conditionals(nodes: Iterable[ast.AST]) -> list[ast.IfExp]:
    return [node for node in nodes if isinstance(node, ast.IfExp)]


def packed_lines(nodes: Iterable[ast.AST]) -> list[int]:
    """Return the lines that begin more than one conditional expression, or one that holds another."""
    found = conditionals(nodes)
    lines = Counter(node.lineno for node in found)
    packed = [line for line, number in lines.items() if number > 1]
    return packed + [node.lineno for node in found if len(conditionals(ast.walk(node))) > 1]


def is_misnamed(node: Function) -> bool:
    """Return whether a function is named as a yes or no (`is_`, `has_`) and returns something else."""
    returns = ast.unparse(node.returns) if node.returns else ""
    is_answer = node.name.lstrip("_").startswith(("is_", "has_"))
    return is_answer and returns not in ("bool", "bool | None")


def describes(node: Function) -> bool:
    """Return whether a docstring describes or asks, where it should say what the function does."""
    text = ast.get_docstring(node) or ""
    if re.search(r"\w\?(\s|$)", text):
        return True
    # What a property is called is a noun, and so may be what says more about it.
    return NO_VERB.match(text) is not None and not is_property(node)


def test_a_statement_does_one_thing() -> None:
    several = []
    packed = []
    for file in FILES:
        packed += [f"{name_of(file)}:{line}" for line in packed_lines(nodes_of(file))]
        several += [
            f"{name_of(file)}:{node.lineno}"
            for node in nodes_of(file)
            if isinstance(node, ast.stmt) and is_tuple_assignment(node)
        ]
    assert several == [], "assigns values that do not need each other in one statement"
    assert packed == [], "more than one conditional expression a line: write an `if`"


def test_only_a_yes_or_no_is_called_is_or_has() -> None:
    wrong = [
        f"{name_of(file)}:{node.lineno} {node.name}"
        for file in FILES
        for node in functions(nodes_of(file))
        if is_misnamed(node)
    ]
    assert wrong == []


def test_a_class_has_a_name_of_its_own() -> None:
    places = defaultdict(list)
    for file in FILES:
        for node in nodes_of(file):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(name_of(file))
    shared = {name: found for name, found in places.items() if len(found) > 1}
    assert shared.keys() == SHARED.keys(), shared


def test_docstrings_say_what_a_function_does() -> None:
    wrong = [
        f"{name_of(file)}:{node.lineno} {node.name}"
        for file in FILES
        if not name_of(file).startswith(UNSETTLED)
        for node in functions(nodes_of(file))
        if describes(node)
    ]
    assert wrong == [], "begin with the verb: Return, Yield, Read, ..."


def test_names_and_first_lines_are_plain() -> None:
    number = 0
    participles = []
    for file in FILES:
        if file.read_text("utf-8").strip():
            assert ast.get_docstring(tree_of(file)), (
                f"{name_of(file)}: the first line says what it is for"
            )
        for node in functions(nodes_of(file)):
            number += 1
            is_boolean = node.returns is not None and ast.unparse(node.returns) == "bool"
            if PARTICIPLE.match(node.name) and node.name not in VERBS and not is_boolean:
                participles.append(node.name)
    print(f"{len(participles)} of {number} functions are named by a bare participle")
    assert len(participles) < 0.02 * number, participles


def test_these_tests_see_what_they_look_for() -> None:
    for swap in ("a, b = b, a", "x.left, x.right = x.right, x.left", "a, b = b, a + b"):
        assert not is_tuple_assignment(ast.parse(swap).body[0]), swap
    for packed in (
        "a, b = 1, 2",
        "a, b = a + 1, 2",
        "x.a, b = f(), c",
        "A, B = C = (1, 2)",
    ):
        assert is_tuple_assignment(ast.parse(packed).body[0]), packed
    assert packed_lines(ast.walk(ast.parse("f(a if b else c, d if e else g)"))) == [1]
    assert packed_lines(ast.walk(ast.parse("x = (\na if b else\n(c if d else e)\n)"))) == [
        2
    ]
    assert packed_lines(ast.walk(ast.parse("x = a if b else c\ny = d if e else f"))) == []
    for text, is_wrong in (
        ("Return the name.", False),
        ("Pass it on.", False),
        ("The name.", True),
        ("Do edits change it?", True),
        ("Returns the name.", True),
        ("`a..b`", True),
    ):
        node = next(functions(ast.walk(ast.parse(f'def f(): "{text}"'))))
        assert describes(node) == is_wrong, text
    for head, is_wrong in (
        ("is_port() -> object", True),
        ("_has_port()", True),
        ("is_port() -> bool | None", False),
        ("port() -> int", False),
    ):
        node = next(functions(ast.walk(ast.parse(f"def {head}: ..."))))
        assert is_misnamed(node) == is_wrong, head
    for name in ("told", "_resolved"):
        assert PARTICIPLE.match(name)
    assert not PARTICIPLE.match("find_used")
