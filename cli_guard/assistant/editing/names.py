"""Reads a Python file once for the places of all names in it."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from cli_guard.assistant.editing.scopes import (
    MODULE,
    FileNames,
    NameRole,
    NameScope,
    Occurrence,
    find_homes,
)
from cli_guard.assistant.editing.sources import LineMap, Sources
from cli_guard.code.syntax import Trees

# Calls that reach a name through a string, and calls whose first argument is the name of what they make.
DYNAMIC = frozenset(
    "getattr setattr hasattr delattr attrgetter methodcaller import_module".split()
)
NAMING = frozenset(
    "TypeVar ParamSpec TypeVarTuple NewType namedtuple NamedTuple TypedDict TypeAliasType".split()
)
HEAD = re.compile(r"(?:async[\s\\]+)?(?:def|class)[\s\\]+")
STRING_HEAD = re.compile(r"[rRuU]?('''|\"\"\"|'|\")")
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def read_names(sources: Sources, path: str) -> FileNames:
    """Return the names of a Python file; nothing for one that cannot be read, which is then skipped."""
    module = sources.module(path)
    reader = NameReader(sources, path)
    try:
        if module is not None:
            reader.visit(module)
    except RecursionError:
        sources.skip(path, "nested too deeply: its syntax was not read")
        return FileNames()
    for found in reader.names.places.values():
        found.sort(key=lambda each: each.start)
        find_homes(found)
    return reader.names


class NameReader(ast.NodeVisitor):
    """Collects the places of all names of one file."""

    def __init__(self, sources: Sources, path: str) -> None:
        self.names = FileNames()
        self._sources = sources
        self._path = path
        self._text = sources.texts[path]
        self._map = sources.lines(path)
        self._scopes: tuple[NameScope, ...] = (MODULE,)
        self._around: ast.AST | None = None
        self._is_type = False

    def note(
        self,
        name: str,
        start: int,
        role: NameRole,
        node: ast.AST,
        scopes: tuple[NameScope, ...] | None = None,
    ) -> None:
        """Add a place, unless the text says otherwise there: `ast` normalizes names."""
        if self._text.startswith(name, start):
            found = Occurrence(
                self._path, name, start, role, scopes or self._scopes, node, self._around
            )
            self.names.places.setdefault(name, []).append(found)
            if role != "imported":
                self.names.by_node[node] = found
            if isinstance(node, ast.ClassDef) and role == "definition":
                self.names.classes.append(found)

    def start(self, node: ast.AST) -> int:
        return self._map.span(node)[0]

    def end(self, node: ast.AST) -> int:
        return self._map.span(node)[1]

    @contextmanager
    def within(
        self, *, scope: NameScope | None = None, around: ast.AST | None = None
    ) -> Iterator[None]:
        """Visit in a scope, or in a statement."""
        before = self._scopes, self._around, self._is_type
        if scope is not None:
            self._scopes = (scope, *self._scopes)
        self._around = around or self._around
        self._is_type = False
        yield
        self._scopes, self._around, self._is_type = before

    def visit_all(self, nodes: Iterable[ast.AST | None], *, is_type: bool = False) -> None:
        before = self._is_type
        self._is_type = is_type
        for node in nodes:
            if node is not None:
                self.visit(node)
        self._is_type = before

    # Definitions

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        start = self._head(node)
        is_static = any(last_name(mark) == "staticmethod" for mark in node.decorator_list)
        first = next(
            (
                each.arg
                for each in (*node.args.posonlyargs, *node.args.args)
                if not is_static
            ),
            "",
        )
        self._function(
            node, NameScope("function", start, node.name, first), node.body, [node.returns]
        )

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node, NameScope("function", self.start(node)), [node.body], [])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        start = self._head(node)
        self.visit_all(node.bases)
        with self.within(around=node):
            self._keywords(node.keywords)
        with self.within(scope=NameScope("class", start, node.name)):
            self._type_parameters(node)
            self.visit_all(node.body)

    def _head(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
        self.visit_all(node.decorator_list)
        start = self.start(node)
        head = HEAD.match(self._text, start)
        if head is not None:
            self.note(node.name, head.end(), "definition", node)
        return start

    def _function(
        self,
        node: FunctionNode,
        scope: NameScope,
        body: Sequence[ast.AST],
        types: list[ast.expr | None],
    ) -> None:
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
        every += filter(None, (given.vararg, given.kwarg))
        self.visit_all([*given.defaults, *given.kw_defaults])
        self.visit_all([*(each.annotation for each in every), *types], is_type=True)
        with self.within(scope=scope, around=node):
            self._type_parameters(node)
            for each in every:
                self.note(each.arg, self.start(each), "parameter", each)
            self.visit_all(body)

    def _type_parameters(self, node: ast.AST) -> None:
        for each in getattr(node, "type_params", ()):
            start = self.start(each)
            start += self._text[start : start + 2].count("*")
            self.note(each.name, start, "binding", each)
            self.visit_all([getattr(each, "bound", None)], is_type=True)

    def _comprehension(
        self, node: ast.AST, generators: list[ast.comprehension], *inner: ast.expr
    ) -> None:
        self.visit(generators[0].iter)
        with self.within(scope=NameScope("comprehension", self.start(node))):
            for number, each in enumerate(generators):
                self.visit_all([each.target, *each.ifs, *([each.iter] if number else [])])
            self.visit_all(inner)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        self._comprehension(node, node.generators, node.elt)

    visit_SetComp = visit_GeneratorExp = visit_ListComp  # noqa: N815

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node, node.generators, node.key, node.value)

    # Statements that bind

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        # It binds outside of the comprehension that it is in.
        outer = tuple(scope for scope in self._scopes if scope.kind != "comprehension")
        self.note(node.target.id, self.start(node.target), "binding", node.target, outer)
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign | ast.AugAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        name = targets[0].id if isinstance(targets[0], ast.Name) else ""
        value = node.value
        if name == "__all__":
            self._note_listed(value)
        elif isinstance(value, ast.Call) and last_name(value.func) in NAMING and value.args:
            first = value.args[0]
            if isinstance(first, ast.Constant) and first.value == name:
                self._note_listed(first)
        with self.within(around=node):
            self.visit_all([*targets, value])

    visit_AugAssign = visit_Assign  # noqa: N815

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        with self.within(around=node):
            self.visit(node.target)
            self.visit_all([node.annotation], is_type=True)
            self.visit_all([node.value], is_type=last_name(node.annotation) == "TypeAlias")

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name and node.type is not None:
            self._after(
                re.compile(r"[\s\\)]*\bas[\s\\]+"), self.end(node.type), node.name, node
            )
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        role: NameRole = "global" if isinstance(node, ast.Global) else "nonlocal"
        start = self.start(node)
        end = self.end(node)
        for name in node.names:
            for match in re.finditer(
                rf"(?<!\w){re.escape(name)}(?!\w)", self._text[start:end]
            ):
                self.note(name, start + match.start(), role, node)

    visit_Nonlocal = visit_Global  # noqa: N815

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.note(node.name, self.end(node) - len(node.name), "binding", node)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs  # noqa: N815

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            begin = self.end(node.patterns[-1]) if node.patterns else self.start(node)
            self._after(re.compile(r"[^*]*\*\*\s*"), begin, node.rest, node)
        self.generic_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            self.note(
                name,
                self._text.rfind(name, self.start(node), self.start(pattern)),
                "attribute",
                node,
            )
        self.generic_visit(node)

    def _after(
        self, pattern: re.Pattern[str], start: int, name: str, node: ast.AST
    ) -> None:
        match = pattern.match(self._text, start)
        if match is not None:
            self.note(name, match.end(), "binding", node)

    # Imports

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.names.imports.append(node)
        with self.within(around=node):
            for each in node.names:
                start = self.start(each)
                if each.asname:
                    if isinstance(node, ast.ImportFrom):
                        self.note(each.name, start, "imported", each)
                    self.note(
                        each.asname, self.end(each) - len(each.asname), "import", each
                    )
                elif each.name != "*":
                    self.note(each.name.partition(".")[0], start, "import", each)

    visit_ImportFrom = visit_Import  # noqa: N815

    # Expressions

    def visit_Name(self, node: ast.Name) -> None:
        role: NameRole = "read" if isinstance(node.ctx, ast.Load) else "binding"
        self.note(node.id, self.start(node), role, node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.note(node.attr, self.end(node) - len(node.attr), "attribute", node)
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        name = last_name(node.func)
        self.visit(node.func)
        if isinstance(node.func, ast.Attribute) and last_name(node.func.value) == "__all__":
            for each in node.args:
                self._note_listed(each)
        typed = name in ("TypeVar", "NewType", "ForwardRef")
        with self.within(around=node):
            for number, argument in enumerate(node.args):
                if name in DYNAMIC:
                    self._note_string(argument, "dynamic")
                is_type = (name == "cast" and not number) or (typed and number > 0)
                self.visit_all([argument], is_type=is_type)
            self._keywords(node.keywords, is_type=typed)

    def _keywords(self, keywords: list[ast.keyword], *, is_type: bool = False) -> None:
        for each in keywords:
            if each.arg is not None:
                self.note(each.arg, self.start(each), "keyword", each)
            self.visit_all([each.value], is_type=is_type and each.arg == "bound")

    def visit_Subscript(self, node: ast.Subscript) -> None:
        name = last_name(node.value)
        self.visit(node.value)
        if name == "Annotated" and isinstance(node.slice, ast.Tuple):
            self.visit_all(node.slice.elts[:1], is_type=self._is_type)
            self.visit_all(node.slice.elts[1:])
        else:
            self.visit_all([node.slice], is_type=self._is_type and name != "Literal")

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, str):
            return
        if self._map is self._sources.lines(self._path):
            self.names.strings.append((self.start(node), self.end(node)))
        start = self.string_start(node) if self._is_type else None
        if start is not None and re.fullmatch(r"[\w.,\[\]\s|]{1,500}", node.value):
            self._piece(node.value, start, is_type=True)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        if sys.version_info >= (3, 12):
            self.generic_visit(node)
            return
        # Before 3.12 the positions inside of an f-string are wrong: its parts are found by another grammar.
        start = self.start(node)
        end = self.end(node)
        at = start
        root = Trees().root("python", f"({self._text[start:end]})")
        for part in root.find_all(
            any=[{"kind": "interpolation"}, {"kind": "format_expression"}]
        ):
            inner = part.field("expression") or next(iter(part.named_children()), None)
            place = inner.range() if inner is not None else part.range()
            first, last = (start - 1 + each.index for each in (place.start, place.end))
            if inner is not None and at < first:
                self._piece(self._text[first:last], first)
                at = last

    def _piece(self, text: str, start: int, *, is_type: bool = False) -> None:
        """Visit an expression that is written in a string."""
        try:
            tree = ast.parse(f"({text})", mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        before = self._map
        self._map = LineMap(f"({text})", start - 1)
        self.visit_all([tree.body], is_type=is_type)
        self._map = before

    def _note_listed(self, value: ast.AST) -> None:
        for each in ast.walk(value):
            self._note_string(each, "listed")

    def _note_string(self, node: ast.AST, role: NameRole) -> None:
        start = self.string_start(node)
        if start is not None and isinstance(node, ast.Constant):
            self.note(str(node.value), start, role, node)

    def string_start(self, node: ast.AST) -> int | None:
        """Return where the text of a plain string begins; None for what is none, or is written in several parts."""
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            return None
        head = STRING_HEAD.match(self._text, self.start(node))
        if head is None or not self._text.startswith(node.value + head[1], head.end()):
            return None
        return head.end()


def last_name(node: ast.AST | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
