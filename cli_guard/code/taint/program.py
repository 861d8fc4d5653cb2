"""The shape of a program that is left when data is followed through it: the same for every language."""

from collections.abc import Iterator, Sequence

from cli_guard.lazy import dataclass


@dataclass(slots=True, eq=False)
class FlowNode:
    """A statement or expression.

    `op` says what its `parts` are:

        name        none; `name` is the variable, without a sigil
        member      the object; `name` is the member
        index       the object, what selects in it
        call        what is called, the arguments; `keys` their keywords or None, `name` the source's word for a call in
                    all but form (`echo`)
        constant    none; `text` is what was written
        text        the pieces of a text that is put together
        group       any parts, whose values are united; `keys` as for a call if they are named
        test        operands of the comparison `name`
        not, and, or, return, leave, block, try    operands or statements in order
        cast        the value; `name` is the type
        assign      target, value; `name` is the operator
        if          condition, then, else
        loop        assignment of the variable or condition, body
        switch      subject, cases; a `case` has its body, then the values that select it
        function    none; `function` is it
        class       members; `name` is the class
    """

    op: str
    line: int
    start: int
    end: int
    parts: tuple["FlowNode", ...] = ()
    name: str = ""
    keys: tuple[str | None, ...] = ()
    text: str = ""
    function: "FlowFunction | None" = None

    def beside(
        self, op: str, parts: tuple["FlowNode", ...] = (), name: str = ""
    ) -> "FlowNode":
        """Return another node at the same place."""
        return FlowNode(op, self.line, self.start, self.end, parts, name)

    def word(self, name: str) -> "FlowNode":
        """Return a name that nobody wrote, at the beginning of this node."""
        return FlowNode("name", self.line, self.start, self.start, name=name)


@dataclass(slots=True, eq=False)
class FlowParameter:
    """`names` are the variables that it binds, `text` its whole text with annotations."""

    names: tuple[str, ...]
    text: str
    type: str = ""


@dataclass(slots=True, eq=False)
class FlowFunction:
    """A function, method, closure or (with the name "") the statements of the file outside of any.

    `heading` is the text of its decorators, annotations and signature; `owner` the class that it belongs to.
    """

    name: str
    parameters: tuple[FlowParameter, ...]
    body: FlowNode
    heading: str = ""
    owner: str = ""
    line: int = 1

    @property
    def parameter_names(self) -> list[str]:
        """Return the first name of each parameter, "" for one without."""
        return [each.names[0] if each.names else "" for each in self.parameters]


def leaves(nodes: Sequence[FlowNode]) -> Iterator[FlowNode]:
    """Yield the names, members and constants in some nodes."""
    for node in nodes:
        if node.parts and node.op != "member":
            yield from leaves(node.parts)
        else:
            yield node
