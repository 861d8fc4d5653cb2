"""The effects of JavaScript's functions and of Node's own modules."""

from collections.abc import Callable

from cli_guard.commands.inline.code import Node
from cli_guard.commands.inline.language import (
    both,
    computes,
    does,
    gives,
    not_understood,
    note_shell,
    note_words,
    opens,
    runs_code,
    runs_shell,
    same,
    sends,
    table,
    talks,
)
from cli_guard.commands.inline.model import Act
from cli_guard.commands.inline.state import FunctionCall, Language
from cli_guard.commands.inline.values import (
    ANY,
    MADE,
    Data,
    Literal,
    Sequence,
    Value,
    Values,
    as_text,
    path_of,
    taint_of,
)
from cli_guard.commands.model import Kind

FILE: Values = (Data(local=True),)
HARMLESS = frozenset(
    """console JSON Math Object Array String Number Boolean Date RegExp Map Set WeakMap WeakSet Promise Symbol BigInt
    Error TypeError RangeError SyntaxError parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent
    encodeURI decodeURI escape unescape Buffer URL URLSearchParams TextEncoder TextDecoder Intl structuredClone
    setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate queueMicrotask performance Infinity
    NaN undefined arguments Uint8Array Uint16Array Uint32Array Int8Array Int16Array Int32Array Float32Array
    Float64Array ArrayBuffer DataView Atomics AbortController Event EventTarget btoa atob __dirname __filename exports
    AggregateError EvalError ReferenceError URIError Iterator BigInt64Array
    path util url querystring assert buffer string_decoder events os crypto perf_hooks readline zlib punycode
    stream timers constants async_hooks
    process.argv process.argv0 process.execPath process.version process.versions process.platform process.arch
    process.cwd process.exit process.stdin process.stdout process.stderr process.uptime process.memoryUsage
    process.hrtime process.nextTick process.on process.once process.pid process.ppid process.exitCode process.title
    process.release process.features process.cpuUsage process.getuid process.geteuid process.emitWarning
    process.execArgv process.config process.resourceUsage
    fs.existsSync fs.exists fs.stat fs.statSync fs.lstat fs.lstatSync fs.constants fs.access fs.accessSync fs.fstatSync
    fs.closeSync fs.close fs.realpath fs.realpathSync http.STATUS_CODES http.METHODS module.exports require.main
    require.resolve""".split()
)
MODULES = frozenset(
    """fs child_process http https http2 net tls dgram dns vm worker_threads cluster module process v8 inspector repl
    path util url querystring assert buffer string_decoder events os crypto perf_hooks readline zlib punycode
    stream timers constants async_hooks""".split()
)
# Parts that lead from harmless data to functions that make code, or into the loader.
ODD = frozenset(
    """constructor __proto__ prototype mainModule binding _linkedBinding _load __defineGetter__ __lookupGetter__
    getBuiltinModule dlopen caller callee eval Function process globalThis""".split()
)
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
        note_words(calling, whole if not calling.given(1) or lists else Sequence((value, Data())))
        if len(calling.arguments) > 1 + bool(lists):
            note_shell(calling, [whole])
    return FILE


def decode_buffer(calling: FunctionCall) -> Values:
    form = as_text(calling.given(1)[0]) if calling.given(1) else "text"
    return computes(MADE.get(form or "", MADE["text"]))(calling) if form in (*MADE, "utf8", "utf-8") else FILE


def characters(calling: FunctionCall) -> Values:
    """Handle `String.fromCharCode(114, 109)`."""
    codes = [value.value for values in calling.arguments for value in values if isinstance(value, Literal)]
    known = [chr(each) for each in codes if type(each) is int and 0 <= each < 0x110000]
    return (Literal("".join(known)),) if len(known) == len(calling.arguments) else ANY


def joined_path(calling: FunctionCall) -> Values:
    """Handle `path.join("a", "b")`."""
    values = [each[0] for each in calling.arguments if len(each) == 1]
    return (path_of(values) if len(values) == len(calling.arguments) else taint_of(calling.everything()),)


def look_up_host(calling: FunctionCall) -> Values:
    """Handle a DNS look-up."""
    known = all(text is not None for text in calling.texts(calling.given(0)))
    return (does(Kind.SERVICE_READ) if known else sends())(calling)


def fs(names: str) -> str:
    """Yield the functions of `fs` in their two forms."""
    return " ".join(f"fs.{name} fs.{name}Sync" for name in names.split())


CALLS = table(
    {
        "require import": require,
        "eval vm.runInThisContext vm.runInNewContext vm.runInContext vm.Script vm.compileFunction": runs_code(),
        "Function": lambda calling: calling.run.code(
            calling.given(len(calling.arguments) - 1) or ANY, "makes a function"
        ),
        "child_process.exec child_process.execSync": runs_shell(),
        "child_process.spawn child_process.spawnSync child_process.execFile child_process.execFileSync": spawn,
        "child_process.fork": does(Kind.EXEC),
        "Buffer.from": decode_buffer,
        "atob": computes(MADE["base64"]),
        "String.fromCharCode String.fromCodePoint": characters,
        "String": computes(MADE["text"]),
        "path.join path.resolve": joined_path,
        "path.normalize": same(),
        "os.homedir": gives(Literal("~")),
        "process.cwd": gives(Literal(".")),
        "process.kill process.abort": does(Kind.PROCESS, -1),
        "process.chdir": not_understood("goes to another folder"),
        "crypto.setEngine": does(Kind.EXEC),
        "os.setPriority": does(Kind.PROCESS, -1),
        "process.setuid process.setgid process.seteuid process.setegid": does(Kind.PRIVILEGE, -1),
        f"{fs('readFile readdir readlink opendir')} fs.createReadStream": does(Kind.READ, result=FILE),
        fs("writeFile appendFile mkdir mkdtemp chmod lchmod chown lchown utimes truncate"): does(Kind.WRITE),
        "fs.createWriteStream": does(Kind.WRITE),
        fs("unlink rm rmdir"): does(Kind.DELETE),
        fs("rename"): both(does(Kind.DELETE, 0, reason="is moved away"), does(Kind.WRITE, 1)),
        fs("copyFile cp"): both(does(Kind.READ), does(Kind.WRITE, 1)),
        fs("link symlink"): does(Kind.WRITE, 1),
        fs("open"): opens(),
        "fs.readSync fs.read": gives(*FILE),
        "fs.writeSync fs.write fs.ftruncateSync fs.fchmodSync": gives(*ANY),
        "fetch": talks(0, "", ((1, ""),)),
        "http.get https.get": talks(),
        "http.request https.request net.connect net.createConnection net.Socket tls.connect dgram.createSocket"
        " http2.connect WebSocket XMLHttpRequest EventSource": sends(),
        "http.createServer https.createServer net.createServer": sends(99),
        "dns.lookup dns.resolve dns.resolve4 dns.resolve6 dns.resolveTxt dns.resolveMx": look_up_host,
    }
)
METHODS = table(
    {
        "execSync exec spawn spawnSync execFile": lambda calling: (
            runs_shell()(calling) if any(isinstance(v, Literal | Sequence) for v in calling.given(0)) else ANY
        ),
        "writeFileSync writeFile unlinkSync rmSync unlink": does(Kind.WRITE),
        "require": require,
    }
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
        between=",",
        changeable=frozenset(("module", "process", "exports", "module.exports")),
    )
