"""The effects of Python's functions and of its standard library."""

from collections import defaultdict
from collections.abc import Callable

from cli_guard.commands.inline.code import Node
from cli_guard.commands.inline.language import (
    about,
    both,
    computes,
    does,
    gives,
    is_object,
    not_understood,
    opens,
    runs_code,
    same,
    sends,
    table,
    talks,
)
from cli_guard.commands.inline.python_handlers import (
    PATH,
    archive,
    character,
    connects,
    get_attribute,
    import_module,
    join_path,
    joined_path,
    make_list,
    map_elements,
    partial,
    path_opened,
    set_variable,
    statements,
    variable_of,
)
from cli_guard.commands.inline.python_processes import PROCESSES
from cli_guard.commands.inline.state import Handler, Language
from cli_guard.commands.inline.values import (
    ANY,
    MADE,
    Data,
    Literal,
    Reference,
    Sequence,
    Values,
    taint_of,
)
from cli_guard.commands.model import Kind
from cli_guard.rules import tables

WORDS = tables.words("python")
COMPUTING, SINGLE, MIXED = WORDS["computing"], WORDS["single"], WORDS["mixed"]
HARMFUL, SAFE_DUNDERS = frozenset(WORDS["harmful"]), frozenset(WORDS["safe_dunders"])
NAMES = frozenset((*COMPUTING, *MIXED)).difference(WORDS["foreign"])
HARMLESS = frozenset((*WORDS["of_builtins"], *SINGLE, *(each for each in COMPUTING if each != "builtins")))
MODULES: dict[str, list[str]] = defaultdict(list)
for _name in (*COMPUTING, *SINGLE):
    MODULES[_name.partition(".")[0]].append(_name)
READ, WRITE, DELETE = Kind.READ, Kind.WRITE, Kind.DELETE
TREE = "xml.etree.ElementTree()"
OBJECTS = (f"{PATH}.", "zipfile.ZipFile().", "sqlite3.connect().", f"{TREE}.")
ENTRANCES = ("__import__", "__init__")
FRAMES = frozenset(
    "gi_frame cr_frame ag_frame tb_frame f_back f_globals f_builtins f_locals gi_code cr_code get_field vformat".split()
)
PATH_VALUE: Values = (Reference(PATH),)
MOVES = both(does(DELETE, 0, "src", "is moved away"), does(WRITE, 1, "dst"))
UNPICKLES = "unpickles: the data can hold code"
POST = ((1, "data"), (99, "json"), (99, "files"), (99, "params"), (99, "auth"), (99, "cookies"))


CALLS = table(
    {
        "open io.open codecs.open tokenize.open fileinput.FileInput": opens(),
        "gzip.open bz2.open lzma.open gzip.GzipFile bz2.BZ2File": opens(0, "filename"),
        "io.FileIO": opens(0, "file"),
        "os.open": both(does(WRITE, 0, "path"), gives(Data(local=True))),
        "fileinput.input": both(does(READ, 0, "files"), gives(Data(local=True))),
        "exec eval": runs_code(),
        # Two pieces of code; the second may be at many positions.
        "timeit.timeit timeit.repeat timeit.Timer": runs_code(9),
        "compile": same(),
        "getattr": get_attribute,
        "__import__ importlib.import_module importlib.__import__": import_module,
        "setattr delattr globals locals vars breakpoint": not_understood(
            "changes or shows names while it runs"
        ),
        "map filter": map_elements,
        "functools.partial": partial,
        "chr": character,
        "list tuple bytes bytearray sorted reversed": make_list,
        "str repr": both(computes(MADE["text"])),
        "bytes.fromhex bytearray.fromhex binascii.unhexlify binascii.a2b_hex": computes(MADE["hex"]),
        "base64.b64decode base64.decodebytes base64.standard_b64decode base64.urlsafe_b64decode binascii.a2b_base64": (
            computes(MADE["base64"])
        ),
        "codecs.decode codecs.encode": lambda calling: (
            computes(MADE["rot13"])
            if "rot" in str(calling.texts(calling.given(1))[0])
            else computes(MADE["text"], 99)
        )(calling),
        "os.remove os.unlink os.rmdir os.removedirs": does(DELETE, 0, "path"),
        "shutil.rmtree": does(DELETE, 0, "path", "deletes a whole folder"),
        "os.rename os.renames os.replace shutil.move": MOVES,
        "shutil.copy shutil.copy2 shutil.copyfile shutil.copytree": both(
            does(READ, 0, "src"), does(WRITE, 1, "dst")
        ),
        "shutil.copymode shutil.copystat os.link os.symlink": does(WRITE, 1, "dst"),
        "shutil.make_archive": does(WRITE, 0, "base_name"),
        "shutil.unpack_archive": both(does(READ, 0, "filename"), does(WRITE, 1, "extract_dir")),
        "os.chmod os.lchmod os.chown os.lchown shutil.chown os.utime os.truncate os.mkdir os.makedirs os.mkfifo"
        " os.mknod os.setxattr": does(WRITE, 0, "path"),
        "os.listdir os.scandir os.walk os.fwalk": does(READ, 0, "path", result=(Data(local=True),)),
        "xml.etree.ElementTree.parse": both(does(READ, 0, "source"), gives(Reference(TREE))),
        "xml.etree.ElementTree.ElementTree": both(does(READ, 1, "file"), gives(Reference(TREE))),
        f"{TREE}.write": does(WRITE, 0, "file_or_filename"),
        "glob.glob glob.iglob linecache.getline linecache.getlines filecmp.cmp "
        " xml.dom.minidom.parse xml.sax.parse zipfile.is_zipfile tarfile.is_tarfile os.readlink": does(
            READ, 0, "filename", result=(Data(local=True),)
        ),
        "os.path.join posixpath.join": joined_path,
        "os.path.expanduser os.path.abspath os.path.normpath os.path.realpath os.fspath posixpath.expanduser": same(),
        "os.getcwd": gives(Literal(".")),
        "os.getenv os.environ.get": variable_of,
        "os.environ.setdefault os.environ.pop os.environ.update os.environ.clear os.putenv os.unsetenv": set_variable,
        # The module search path decides whose code runs.
        "sys.path.insert sys.path.append sys.path.extend": set_variable,
        "os.chdir os.fchdir os.chroot": not_understood("goes to another folder"),
        "os.kill os.killpg os.abort os.nice os.setpriority signal.raise_signal": does(Kind.PROCESS, -1),
        "os.setuid os.setgid os.seteuid os.setreuid os.setresuid os.setgroups": does(Kind.PRIVILEGE, -1),
        "tempfile.NamedTemporaryFile tempfile.TemporaryFile tempfile.mkstemp tempfile.mkdtemp"
        " tempfile.TemporaryDirectory": does(WRITE, -1, reason="makes a temporary file"),
        "zipfile.ZipFile tarfile.open tarfile.TarFile": archive,
        "zipfile.ZipFile().extractall": does(WRITE, 0, "path"),
        "zipfile.ZipFile().extract": does(WRITE, 1, "path"),
        "zipfile.ZipFile().read": gives(Data(local=True)),
        "py_compile.compile compileall.compile_dir compileall.compile_file": does(WRITE, 0),
        "logging.FileHandler": does(WRITE, 0, "filename"),
        "logging.basicConfig": lambda calling: (
            does(WRITE, 99, "filename")(calling) if {"filename", "*"} & set(calling.named) else ANY
        ),
        "shelve.open dbm.open": both(does(WRITE, 0), does(Kind.EXEC, -1, reason=UNPICKLES)),
        "sqlite3.connect": connects,
        "sqlite3.connect().execute sqlite3.connect().executemany sqlite3.connect().executescript": statements,
        "sqlite3.connect().cursor": gives(Reference("sqlite3.connect()")),
        "sqlite3.connect().load_extension": does(Kind.EXEC, 0),
        "sqlite3.connect().backup sqlite3.connect().enable_load_extension": not_understood("a database call"),
        "pickle.load pickle.loads pickle.Unpickler marshal.load marshal.loads": (
            lambda calling: calling.run.code((taint_of(calling.everything()),), UNPICKLES)
        ),
        "runpy.run_path runpy.run_module": does(Kind.EXEC, 0),
        "ctypes.CDLL ctypes.PyDLL ctypes.cdll.LoadLibrary ctypes.util.find_library": does(Kind.EXEC, 0),
        "urllib.request.urlopen": talks(0, "url", ((1, "data"),)),
        "urllib.request.Request": both(talks(0, "url", ((1, "data"), (99, "headers"))), same(0, "url")),
        "urllib.request.urlretrieve": both(does(WRITE, 1, "filename"), talks(0, "url", ((3, "data"),))),
        "requests.get requests.head requests.options httpx.get httpx.head": talks(0, "url", POST),
        "requests.post requests.put requests.patch requests.delete httpx.post httpx.put httpx.patch"
        " httpx.delete": sends(0, "url"),
        "requests.request httpx.request": sends(1, "url"),
        "requests.Session requests.session": gives(Reference("requests")),
        "httpx.Client": gives(Reference("httpx")),
        "http.client.HTTPConnection http.client.HTTPSConnection smtplib.SMTP smtplib.SMTP_SSL ftplib.FTP"
        " ftplib.FTP_TLS telnetlib.Telnet imaplib.IMAP4 imaplib.IMAP4_SSL poplib.POP3 xmlrpc.client.ServerProxy"
        " asyncio.open_connection webbrowser.open webbrowser.open_new_tab": sends(0, "host"),
        "socket.create_connection": sends(0, "address"),
        "socket.socket socket.fromfd http.server.HTTPServer http.server.ThreadingHTTPServer http.server.test"
        " socketserver.TCPServer": sends(99),
        "socket.gethostbyname socket.getaddrinfo socket.gethostbyaddr": lambda calling: (
            does(Kind.SERVICE_READ, 0) if calling.texts(calling.given(0))[0] is not None else sends(99)
        )(calling),
        "netrc.netrc": does(Kind.CREDENTIAL, 0),
        "spwd.getspnam spwd.getspall": does(Kind.CREDENTIAL, -1),
        "pathlib.Path pathlib.PurePath pathlib.PosixPath pathlib.PurePosixPath": is_object(PATH),
        "pathlib.Path.home": gives(Reference(PATH, "~")),
        "pathlib.Path.cwd": gives(Reference(PATH, ".")),
        f"{PATH}.joinpath": join_path,
        f"{PATH}.resolve {PATH}.absolute {PATH}.expanduser": lambda calling: (
            Reference(PATH, calling.function.about),
        ),
        f"{PATH}.with_name {PATH}.with_suffix {PATH}.relative_to {PATH}.with_stem": gives(*PATH_VALUE),
        f"{PATH}.read_text {PATH}.read_bytes": about(READ, result=(Data(local=True),)),
        f"{PATH}.glob {PATH}.rglob {PATH}.iterdir": about(READ, result=(Sequence(PATH_VALUE),)),
        f"{PATH}.write_text {PATH}.write_bytes {PATH}.touch {PATH}.mkdir {PATH}.chmod {PATH}.symlink_to"
        f" {PATH}.hardlink_to": about(WRITE),
        f"{PATH}.unlink {PATH}.rmdir": about(DELETE),
        f"{PATH}.rename {PATH}.replace": both(about(DELETE, "is moved away"), does(WRITE, 0, "target")),
        f"{PATH}.open": path_opened,
    }
)
CALLS |= PROCESSES
# The effects of a method whose object is unknown.
METHODS: dict[str, Handler] = table(
    {
        "unlink rmdir": does(DELETE, -1),
        "write_text write_bytes touch mkdir chmod symlink_to hardlink_to rename extractall dump_stats tofile": does(
            WRITE, -1
        ),
        "replace": lambda calling: does(WRITE, -1)(calling) if len(calling.arguments) == 1 else ANY,
        "open": lambda calling: opens(99, "", 0)(calling),
        "read parse": lambda calling: (
            does(READ, 0)(calling)
            if any(isinstance(v, Literal | Sequence) for v in calling.given(0))
            else ANY
        ),
        "read_text read_bytes rglob iterdir": does(READ, -1),
        "execute executescript executemany": statements,
        "load exec_module load_module system popen connect sendall sendto load_extension find_class": not_understood(
            "a method with a dangerous name"
        ),
    }
)


def harmless(name: str) -> bool:
    """Return whether this name can be called and passed on without harm."""
    if name in CALLS or name in HARMLESS:
        return name in HARMLESS
    top, _, rest = name.partition(".")
    parts = rest.split(".")
    if rest in SAFE_DUNDERS or f"{name}.".startswith(OBJECTS):
        return True
    if any(part in HARMFUL or (part.startswith("_") and part not in SAFE_DUNDERS) for part in parts):
        return False
    prefix = next((module for module in MODULES.get(top, ()) if name.startswith(f"{module}.")), None)
    return prefix is not None and name.removeprefix(prefix).count(".") <= 2


def same_module(name: str) -> str | None:
    """Return the module that another one exposes: `glob.os`."""
    last = name.rpartition(".")[2]
    own = name in CALLS or name in HARMLESS or name in NAMES
    return last if last in MIXED and not own else None


def is_internal_name(name: str) -> bool:
    """Return whether a part of this name leads into the interpreter."""
    return name in FRAMES or (name.startswith("__") and name not in SAFE_DUNDERS and name not in ENTRANCES)


def plain_name(name: str) -> str:
    """Return the name without its optional module."""
    own = name.removeprefix("builtins.").removeprefix("sys.modules.")
    return own if own in CALLS or own in HARMLESS or own in NAMES else name


def language(read: Callable[[str], Node]) -> Language:
    """Return Python as a language, with the function that reads its text."""
    other = {"__builtins__": "builtins", f"{PATH}.parent": PATH}
    return Language(
        read=read,
        calls=CALLS,
        harmless=harmless,
        modules=NAMES,
        methods=METHODS,
        is_internal_name=is_internal_name,
        same=lambda name: other.get(name) or same_module(name) or plain_name(name),
        environment=frozenset(("os.environ", "os.environb")),
        takes_functions=frozenset(
            ("getattr", "map", "filter", "functools.partial", "compile", "str", "repr")
        ),
        paths=frozenset((PATH,)),
        changeable=frozenset(("sys.stdout", "sys.stderr")),
    )
