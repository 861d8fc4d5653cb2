"""What it says of a parameter that it is handed to a call: a path to `open`, a statement to `execute`."""

from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.code import code
from cli_guard.assistant.documenting.facts.nodes import (
    CALLS,
    arguments,
    attribute,
    callee,
    positional,
    same,
    string_value,
)
from cli_guard.assistant.documenting.facts.use import Use

if TYPE_CHECKING:
    from ast_grep_py import SgNode

FILE = {
    "read_text": "read",
    "read_bytes": "read",
    "write_text": "written",
    "write_bytes": "written",
    "unlink": "deleted",
}
PASSED = {
    "Path": "", "str": "", "repr": "", "len": "", "isinstance": "", "type": "", "bool": "", "hasattr": "", "id": "",
    "int": "Converted to an int", "float": "Converted to a float",
    "json.loads": "JSON text that is parsed", "json.load": "Open file whose JSON is read",
    "json.dumps": "Value that is written as JSON", "yaml.safe_load": "YAML that is parsed",
    "JSON.parse": "JSON text that is parsed", "JSON.stringify": "Value that is written as JSON",
    "re.compile": "Regular expression", "os.listdir": "Folder whose entries are listed",
    "os.makedirs": "Folder that is made", "os.mkdir": "Folder that is made",
    "os.remove": "File that is deleted", "os.unlink": "File that is deleted", "shutil.rmtree": "Folder that is deleted",
    "requests.get": "Address of the request", "requests.post": "Address of the request",
    "urlopen": "Address that is opened", "fetch": "Address of the request",
    "time.sleep": "Seconds to wait", "range": "", "enumerate": "Iterated over", "sorted": "Iterated over, sorted",
    "sum": "Numbers that are added up", "print": "Printed", "os.path.exists": "Path that is looked for",
    "subprocess.run": "Command that is run", "os.ReadFile": "Path of the file that is read",
    "os.Open": "Path of the file that is read", "os.WriteFile": "Path of the file that is written",
    "os.Create": "Path of the file that is written", "fs.readFileSync": "Path of the file that is read",
    "fs.writeFileSync": "Path of the file that is written", "http.Get": "Address of the request",
    "fs.existsSync": "Path that is looked for", "Files.readString": "Path of the file that is read",
}  # fmt: skip
OF_RANGE = ("Where the range starts", "Where the range ends", "Step width of the range")


def done_by(mode: str | None) -> str:
    """What a mode of `open` does to the file; None is a mode that the code does not show."""
    if mode is None:
        return "opened"
    if "a" in mode:
        return "appended to"
    return "written" if set("wx") & set(mode) else "read"


def handed(node: "SgNode", parent: "SgNode", line: int) -> list[Use]:
    """The use of a parameter that stands among the arguments of a call."""
    named = ""
    if parent.kind() == "keyword_argument":
        label, listed = parent.field("name"), parent.parent()
        named = label.text() if label is not None else ""
    else:
        listed = parent
    call = listed.parent() if listed is not None else None
    if call is None or call.kind() not in CALLS:
        return []
    name, given = callee(call).removeprefix("std::"), positional(call)
    first = bool(given) and same(given[0], node)
    if name in ("open", "io.open") and first:
        mode = string_value(given[1]) if len(given) > 1 else "r"
        return [Use(0, f"Path of the file that is {done_by(mode)}", line)]
    if name == "isinstance" and first and len(given) == 2:
        return []
    if name in PASSED and (first or name == "print"):
        return [Use(1, PASSED[name], line)] if PASSED[name] else _wrapped(call, line)
    if name == "range" and not named:
        place = next((n for n, each in enumerate(given) if same(each, node)), 3) if len(given) > 1 else 3
        return [Use(3, OF_RANGE[place], line)] if place < len(OF_RANGE) else []
    if name.endswith((".append", ".add", ".push")) and first:
        owner = code(name.rsplit(".", 1)[0])
        return [Use(5, f"Added to {owner}", line)] if owner else []
    if name.endswith(".execute") and first:
        return [Use(1, "SQL statement that is executed", line)]
    if name.split(".")[0] in ("logger", "logging", "log", "LOG", "console"):
        return []
    shown = code(name, 44)
    if not shown or name.startswith("super"):
        return (
            [Use(7, f"Passed to the base class's `{name.rsplit('.', 1)[-1]}`", line)]
            if name.startswith("super()")
            else []
        )
    text = f"Passed to {shown}" if not named or named == node.text() else f"Passed to {shown} as `{named}`"
    return [Use(7, text, line)]


def _wrapped(call: "SgNode", line: int) -> list[Use]:
    """`Path(p).read_text()`, `open(str(p))`: what happens to the wrapped value happens to the parameter."""
    parent = call.parent()
    if parent is None or callee(call) not in ("Path", "str", "range"):
        return []
    if callee(call) == "range":
        return [Use(3, "Number of rounds", line)] if len(arguments(call)) == 1 else []
    pair = attribute(parent)
    if pair is not None and pair[1] in FILE:
        return [Use(0, f"Path of the file that is {FILE[pair[1]]}", line)]
    return []
