"""Read rules of Codex (`.codex/rules/*.rules`), which are calls in Starlark, as a table of lists.

Starlark has the syntax of Python as far as these files go: a call is read by Python's own parser, and nothing is run.
A file becomes `{prefix_rule: [{pattern: [words], decision: ...}]}`; alternatives in a pattern become a rule each.
"""

import ast
from itertools import islice, product

from cli_guard.reviewers.commands.extract.nodes import Document, Items, Scalar, Table

MOST_RULES = 2_000
LONGEST = 200_000


def read_rules(path: str, text: str) -> Document:
    """Read the rules of a file; one that is no Starlark says so."""
    root = Table()
    if len(text) > LONGEST:
        return Document(path, (root,), f"more than {LONGEST:,} characters")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Document(path, (root,), "it is no Starlark")
    rules = Items()
    root.pairs.append(("prefix_rule", rules))
    for each in tree.body:
        call = call_of(each)
        if call is None:
            return Document(path, (root,), f"line {each.lineno} is no rule")
        if isinstance(call.func, ast.Name) and call.func.id == "prefix_rule":
            rules.nodes.extend(rules_of(call))
        if len(rules.nodes) > MOST_RULES:
            return Document(path, (root,), f"more than {MOST_RULES:,} rules")
    return Document(path, (root,))


def call_of(statement: ast.stmt) -> ast.Call | None:
    """Return the call that a statement is; None for what is not read here, such as a loop."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return value if isinstance(value, ast.Call) else None


def rules_of(call: ast.Call) -> list[Table]:
    """Return the rules that a call stands for, one for each choice of the words in its pattern."""
    given = {each.arg: each.value for each in call.keywords}
    pattern = given.get("pattern")
    words = (
        [words_of(each) for each in pattern.elts] if isinstance(pattern, ast.List) else []
    )
    decision = given.get("decision")
    decided = decision.value if isinstance(decision, ast.Constant) else "allow"
    last = call.end_lineno or call.lineno
    rules: list[Table] = []
    for choice in islice(product(*words), MOST_RULES):
        node = Scalar(((call.lineno, ""), (last, " ".join(choice))))
        decides = Scalar(((last, str(decided)),))
        rules.append(Table([("pattern", node), ("decision", decides)]))
    return rules


def words_of(node: ast.expr) -> list[str]:
    """Return the words that may stand at one place of a pattern; one that is computed may be anything."""
    if isinstance(node, ast.List):
        return [word for each in node.elts for word in words_of(each)]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    return ["*"]
