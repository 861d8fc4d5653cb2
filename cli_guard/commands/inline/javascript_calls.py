"""The effects of JavaScript's functions and of Node's own modules."""

from collections.abc import Callable

from cli_guard.commands.inline import language as make
from cli_guard.commands.inline.code import Node
from cli_guard.commands.inline.model import Act, unseen_command
from cli_guard.commands.inline.state import FunctionCall, Language
from cli_guard.commands.inline.texts import MADE, as_text
from cli_guard.commands.inline.values import ANY, Data, Function, Literal, Sequence, Value, Values
from cli_guard.commands.model import Kind
from cli_guard.rules import tables

FILE: Values = (Data(local=True),)
WORDS = tables.words("javascript")
HARMLESS, MODULES, ODD = (frozenset(WORDS[each]) for each in ("harmless", "modules", "odd"))
GLOBALS = ("globalThis.", "global.", "window.", "self.")


def require(calling: FunctionCall) -> Values:
    """Handle `require("fs")`; a JSON file is only read."""
    found: list[Value] = []
    for name in calling.texts(calling.given(0)):
        if name is None:
            calling.note(Act(Kind.EXEC, None, "loads a module that the text does not name"))
        elif name.endswith(".json"):
            calling.note(Act(Kind.READ, name))
            found.append(Data(local=True))
        else:
            found.extend(calling.run.module(name))
    return tuple(found) or ANY


def spawn(calling: FunctionCall) -> Values:
    lists = [value for value in calling.given(1) if isinstance(value, Sequence)]
    more = lists[0].parts if len(lists) == 1 else ()
    for value in calling.given(0) or ANY:
        whole = Sequence((value, *more))
        make.note_words(calling, whole if not calling.given(1) or lists else Sequence((value, Data())))
    note_options(calling, 1 + bool(lists))
    return FILE


def runs_text(calling: FunctionCall) -> Values:
    """Handle `execSync("ls", {stdio: "inherit"})`."""
    note_options(calling, 1)
    return make.runs_shell(calling)


def note_options(calling: FunctionCall, first: int) -> None:
    """Record that a command runs with a folder, a shell or an environment of its own, unless it has plain options."""
    for value in (each for values in calling.arguments[first:] for each in values):
        if value != Literal(None) and not isinstance(value, Function):
            calling.note(unseen_command())


def decode_buffer(calling: FunctionCall) -> Values:
    """Handle `Buffer.from("cm0=", "base64")`."""
    form = as_text(calling.only(1)) if calling.arguments[1:] else "text"
    made = MADE.get("text" if form in ("utf8", "utf-8") else form or "")
    return make.computes(made)(calling) if made else FILE


CALLS = make.read_effects(WORDS["effects"]) | make.table(
    {
        "require import": require,
        "eval vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script vm.compileFunction": make.runs_code(),
        "Function": lambda calling: calling.run.code(
            calling.given(len(calling.arguments) - 1) or ANY, "makes a function"
        ),
        "child_process.exec child_process.execSync": runs_text,
        "child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync": spawn,
        "Buffer.from": decode_buffer,
        "atob": make.computes(MADE["base64"]),
        "String.fromCharCode String.fromCodePoint": make.characters,
        "String": make.computes(MADE["text"]),
        "path.join path.resolve": make.joined_path,
        "path.normalize": make.same(),
        "path.basename": make.path_part("name"),
        "path.dirname": make.path_part("parent"),
        "os.homedir": make.gives(Literal("~")),
        "process.cwd": make.gives(Literal(".")),
        "fs.readdir fs.readdirSync": make.lists(),
        "fs.open fs.openSync": make.opens(),
        "fs.readSync fs.read": make.gives(*FILE),
        "fs.writeSync fs.write fs.ftruncateSync fs.fchmodSync": make.gives(*ANY),
        "fetch": make.talks(0, "", ((1, ""),)),
        "http.get https.get": make.talks(),
        "dns.lookup dns.resolve dns.resolve4 dns.resolve6 dns.resolveTxt dns.resolveMx": make.look_up_host,
    }
)
METHODS = make.read_effects(WORDS["methods"]) | make.table(
    {"execSync exec spawn spawnSync execFile": make.with_known(make.runs_shell), "require": require}
)


def full_name(name: str) -> str:
    """Return one name for each function: without `node:`, `globalThis.`, `promises` and `default`."""
    name = name.removeprefix("node:").replace("fs/promises", "fs").removeprefix("process.mainModule.")
    for prefix in GLOBALS:
        name = name.removeprefix(prefix)
    for part in (".promises", ".default", ".posix", ".webcrypto"):
        name = name.replace(part, "", 1)
    for end in (".call", ".apply", ".bind"):
        own = name.removesuffix(end)
        name = own if own in CALLS else name
    return name


def harmless(name: str) -> bool:
    """Return whether this name can be called and passed on without harm."""
    if name in CALLS:
        return name in HARMLESS or name in ("String", "Buffer.from")
    parts = name.split(".")
    if name == "console.constructor" or len(parts) > 4:
        return False
    return any(".".join(parts[: i + 1]) in HARMLESS for i in range(len(parts)))


def language(read: Callable[[str], Node]) -> Language:
    """Return JavaScript as a language, with the function that reads its text."""
    return Language(
        read=read,
        calls=CALLS,
        harmless=harmless,
        modules=MODULES,
        methods=METHODS,
        is_internal_name=ODD.__contains__,
        same=full_name,
        environment=frozenset(("process.env",)),
        environment_members=True,
        known={"__dirname": "."},
        packages="./node_modules/",
        built_in=frozenset(WORDS["built_in"]),
        between=",",
        changeable=frozenset(("module", "process", "exports", "module.exports")),
    )
