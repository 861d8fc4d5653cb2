"""What a function does besides answering: files, requests, commands, the environment, its own object."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.bodies import Body
from cli_guard.assistant.documenting.facts.code import code, names_credential, quotable
from cli_guard.assistant.documenting.facts.nodes import (
    CALLS,
    SUBSCRIPTS,
    attribute,
    callee,
    expressions,
    keyword,
    line_of,
    positional,
    string_value,
    unwrapped,
)
from cli_guard.assistant.documenting.facts.origin import local_free, origin_of

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST = 6
HTTP = re.compile(
    r"(?:requests|httpx|session|client|axios|http)\.(get|post|put|patch|delete|head)", re.IGNORECASE
)
# What is called -> the sentence; {} stands for its first argument.
CALLED = {
    "os.remove": "Deletes the file {}",
    "os.unlink": "Deletes the file {}",
    "shutil.rmtree": "Deletes the folder {} with all it holds",
    "os.makedirs": "Makes the folder {}",
    "os.mkdir": "Makes the folder {}",
    "shutil.copy": "Copies the file {}",
    "shutil.copyfile": "Copies the file {}",
    "shutil.copytree": "Copies the folder {}",
    "shutil.move": "Moves {}",
    "os.rename": "Renames {}",
    "os.replace": "Renames {}",
    "os.chdir": "Changes the working folder to {}",
    "time.sleep": "Waits {} seconds",
    "asyncio.sleep": "Waits {} seconds",
    "urllib.request.urlopen": "Opens the address {}",
    "urlopen": "Opens the address {}",
    "fetch": "Sends an HTTP request to {}",
    "print": "Prints to standard output",
    "click.echo": "Prints to standard output",
    "input": "Asks the user for a line of input",
    "sys.exit": "Ends the process",
    "process.exit": "Ends the process",
    "System.exit": "Ends the process",
    "os.Exit": "Ends the process",
    "os.system": "Runs the command {} in a shell",
    "fs.writeFileSync": "Writes the file {}",
    "fs.writeFile": "Writes the file {}",
    "fs.readFileSync": "Reads the file {}",
    "fs.readFile": "Reads the file {}",
    "fs.unlinkSync": "Deletes the file {}",
    "fs.mkdirSync": "Makes the folder {}",
    "Files.writeString": "Writes the file {}",
    "Files.write": "Writes the file {}",
    "Files.readString": "Reads the file {}",
    "Files.readAllLines": "Reads the file {}",
    "Files.delete": "Deletes the file {}",
    "fs::read_to_string": "Reads the file {}",
    "fs::read": "Reads the file {}",
    "fs::write": "Writes the file {}",
    "fs::remove_file": "Deletes the file {}",
    "fs::create_dir_all": "Makes the folder {}",
    "File::open": "Reads the file {}",
    "File::create": "Writes the file {}",
    "os.ReadFile": "Reads the file {}",
    "os.WriteFile": "Writes the file {}",
    "os.Create": "Writes the file {}",
    "os.Remove": "Deletes {}",
    "os.RemoveAll": "Deletes {} with all it holds",
    "os.MkdirAll": "Makes the folder {}",
    "http.Get": "Sends an HTTP GET request to {}",
    "http.Post": "Sends an HTTP POST request to {}",
    "System.out.println": "Prints to standard output",
    "fmt.Println": "Prints to standard output",
    "fmt.Printf": "Prints to standard output",
}
RUNS = frozenset({"subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output"})
RUNS |= {"subprocess.Popen", "exec.Command", "execSync", "child_process.execSync"}
# A method name that says what happens to the object it is called on, whatever that is.
METHODS = {
    "write_text": "Writes the file {}",
    "write_bytes": "Writes the file {}",
    "read_text": "Reads the file {}",
    "read_bytes": "Reads the file {}",
    "unlink": "Deletes the file {}",
    "rmdir": "Deletes the folder {}",
    "mkdir": "Makes the folder {}",
    "commit": "Commits on {}",
    "rollback": "Rolls back on {}",
}
READERS = frozenset(
    {
        "os.environ.get",
        "os.getenv",
        "environ.get",
        "getenv",
        "os.Getenv",
        "os.LookupEnv",
        "System.getenv",
        "env::var",
        "std::env::var",
    }
)
ENVIRONMENTS = ("os.environ", "environ", "process.env")


@dataclass(frozen=True, slots=True)
class Effect:
    """A sentence without its full stop, and the line it rests on."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable that is read. `default` is source, None where there is none to show."""

    name: str
    default: str | None
    line: int
    required: bool = False


def effects(body: Body) -> tuple[Effect, ...]:
    """The effects in source order, each said once."""
    found: dict[str, int] = {}
    origin = origin_of(body)
    for step in body.steps:
        if step.node.kind() in CALLS:
            text = local_free(_of_call(step.node), origin)
            if text:
                found.setdefault(text, line_of(step.node))
    return tuple(Effect(text, line) for text, line in list(found.items())[:MOST])


def attributes_set(body: Body) -> tuple[Effect, ...]:
    """The attributes of its own object that a method assigns: the name, and the line."""
    found: dict[str, int] = {}
    for step in body.steps:
        if step.node.kind() not in (
            "assignment",
            "augmented_assignment",
            "assignment_expression",
            "assignment_statement",
        ):
            continue
        left = step.node.field("left")
        for target in expressions(left) if left is not None else ():
            pair = attribute(target)
            if pair and pair[0].text() in ("self", "this", "cls") and not pair[1].startswith("_"):
                found.setdefault(pair[1], line_of(target))
    return tuple(Effect(name, line) for name, line in found.items())


def _of_call(call: "SgNode") -> str:
    name, given = callee(call).removeprefix("std::"), positional(call)
    first = given[0] if given else None
    if name in ("open", "io.open") or name.endswith(".open"):
        return _opened(name, call, given)
    template = CALLED.get(name) or CALLED.get(name.removeprefix("this."))
    if template is None and name in RUNS:
        return _run(first)
    request = HTTP.fullmatch(name.removeprefix("self.").removeprefix("self._"))
    if template is None and request and first is not None and len(given) <= 3:
        template = f"Sends an HTTP {request[1].upper()} request to {{}}"
        if "url" not in first.text().lower() and "http" not in first.text() and "/" not in first.text():
            return ""
    if template is not None:
        return _filled(template, first)
    owner, _, method = name.rpartition(".")
    if method in METHODS and owner:
        return METHODS[method].format(code(owner)) if code(owner) else ""
    return ""


def _filled(template: str, first: "SgNode | None") -> str:
    if "{}" not in template:
        return template
    what = code(first.text().removeprefix("&")) if first is not None else ""
    if what:
        return template.format(what)
    bare = (
        template.replace(" the file {}", " a file")
        .replace(" the folder {}", " a folder")
        .replace(" to {}", "")
    )
    return bare if "{}" not in bare else ""


def _opened(name: str, call: "SgNode", given: list["SgNode"]) -> str:
    plain = name in ("open", "io.open")
    where = given[0].text() if plain and given else name.removesuffix(".open")
    mode = keyword(call, "mode") or (given[1] if plain and len(given) > 1 else None)
    if not plain:
        mode = mode or (given[0] if given else None)
        if mode is None or string_value(mode) is None:
            return ""  # many things have an `open`; only a mode says that it is a file
    value = string_value(mode) if mode is not None else "r"
    if value is None or not set(value) <= set("rwaxbt+U"):
        return ""
    verb = "Appends to" if "a" in value else "Writes" if set("wx") & set(value) else "Reads"
    what = code(where)
    return f"{verb} the file {what}" if what else f"{verb} a file"


def _run(first: "SgNode | None") -> str:
    if first is None:
        return "Runs a command"
    if first.kind() == "list" and first.named_children():
        program = string_value(first.named_children()[0])
        if program and quotable(program):
            return f"Runs the command `{quotable(program)}`"
    text = string_value(first)
    program = quotable((text or "").split(" ")[0])
    return f"Runs the command `{program}`" if program else "Runs a command"


def environment(steps: "list[SgNode]") -> tuple[Variable, ...]:
    """The environment variables that these nodes read. A default that may be a credential is not given."""
    found: dict[str, Variable] = {}
    for node in steps:
        variable = _variable(node)
        if variable is not None:
            found.setdefault(variable.name, variable)
    return tuple(found.values())


def _variable(node: "SgNode") -> Variable | None:
    if node.kind() in CALLS and callee(node) in READERS:
        given = positional(node)
        name = string_value(given[0]) if given else None
        default = given[1] if len(given) > 1 else keyword(node, "default")
        return _made(name, default, node, False)
    if node.kind() in SUBSCRIPTS:
        owner = node.field(SUBSCRIPTS[node.kind()])
        index = node.field("subscript") or node.field("index")
        if owner is None or owner.text() not in ENVIRONMENTS or _assigned(node):
            return None
        name = string_value(index)
        return _made(name, None, node, owner.text() != "process.env" and not _guarded(node, name or ""))
    pair = attribute(node)
    if pair and pair[0].text() == "process.env" and not _assigned(node):
        parent = node.parent()
        right = parent.field("right") if parent is not None and parent.kind() == "binary_expression" else None
        default = right if right is not None and right.range() != node.range() else None
        return _made(pair[1], default, node, False)
    return None


def _guarded(node: "SgNode", name: str) -> bool:
    """Is it asked before whether the variable is there, or the error of its absence caught?"""
    for around in node.ancestors():
        condition = around.field("condition")
        if around.kind() == "try_statement" or (condition is not None and name in condition.text()):
            return True
        if around.kind() == "conditional_expression" and name in around.text().partition(" if ")[2]:
            return True
    return False


def _assigned(node: "SgNode") -> bool:
    parent = node.parent()
    left = parent.field("left") if parent is not None and "assignment" in parent.kind() else None
    return left is not None and left.range() == node.range()


def _made(name: str | None, default: "SgNode | None", node: "SgNode", required: bool) -> Variable | None:
    if not name or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,80}", name):
        return None
    shown = None
    if default is not None and not names_credential(name):
        shown = quotable(unwrapped(default).text(), 40) or None
    return Variable(name, shown, line_of(node), required)
