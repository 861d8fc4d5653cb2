"""The syntax tree of a piece of Python, and what its text alone shows: ways around names, and suspect texts."""

import ast
import warnings
from collections.abc import Iterator

from cli_guard.commands.inline import python_calls as python
from cli_guard.commands.inline.model import Act, NotUnderstood
from cli_guard.commands.inline.values import InlineFunction
from cli_guard.commands.model import EffectKind

# Methods of paths that act on files, and attributes of every object that lead nowhere else.
ACTING = frozenset(
    "touch mkdir rmdir unlink write_text write_bytes read_text read_bytes rename symlink_to hardlink_to chmod"
    " iterdir".split()
)
PLAIN_DUNDERS = ("__name__", "__file__", "__doc__", "__version__", "__len__", "__all__")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def find_detours(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield each way to a method that acts on files by another name, and to what is behind an object."""
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    imported = {
        name.asname or name.name
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    for node in nodes:
        if isinstance(node, ast.FormattedValue) and ast.unparse(node.value).endswith(
            "environ"
        ):
            yield "the environment as a whole"
        if not isinstance(node, ast.Attribute):
            continue
        owner = node.value
        is_class = isinstance(owner, ast.Name) and owner.id in imported
        is_class = is_class or (
            isinstance(owner, ast.Attribute) and owner.attr[:1].isupper()
        )
        if node.attr.startswith("__") and node.attr not in PLAIN_DUNDERS:
            yield f"{node.attr} of an object"
        elif node.attr in (python.METHODS if is_class else ACTING) and (
            is_class or id(node) not in called
        ):
            yield f"{node.attr} by another name"


def suspects(nodes: list[ast.AST]) -> Iterator[Act]:
    """Return the texts in each call, which may be a command or the words of one."""
    for call in nodes:
        if isinstance(call, ast.Call):
            constants = [
                each.value for each in ast.walk(call) if isinstance(each, ast.Constant)
            ]
            texts = [each for each in constants if isinstance(each, str)]
            yield from (
                Act(EffectKind.EXEC, None, suspect=text)
                for text in dict.fromkeys((*texts, " ".join(texts)))
            )


def read(text: str) -> ast.Module:
    """Parse a program. Raises NotUnderstood."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip())
    except (SyntaxError, ValueError) as error:
        raise NotUnderstood("text that is not Python") from error


def nodes_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what is in it, in the order of the text."""
    yield node
    for child in ast.iter_child_nodes(node):
        yield from nodes_of(child)


def name_parameters(tree: ast.AST, functions: dict[ast.AST, InlineFunction]) -> None:
    """Give each function a number, and its parameters names with that number in its body."""
    for node in reversed(list(ast.walk(tree))):
        if isinstance(node, Definition):
            names = [each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)]
            plain = len(names) == len(node.args.args)
            function = InlineFunction(len(functions), tuple(names) if plain else ())
            functions[node] = function
            body = node.body if isinstance(node.body, list) else [node.body]
            for inner in (inner for part in body for inner in ast.walk(part)):
                if isinstance(inner, ast.Name) and inner.id in names:
                    inner.id = f"{inner.id} {function.number}"
