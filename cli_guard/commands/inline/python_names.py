"""The names of Python that do no harm: functions, and modules all of whose functions only compute."""

from collections import defaultdict

# `a.b` counts only `a.b...`, not the rest of `a`.
COMPUTING = """json re math cmath datetime time calendar zoneinfo collections itertools functools operator string
textwrap unicodedata difflib pprint statistics random secrets decimal fractions numbers struct zlib base64 binascii
hashlib hmac html html.parser urllib.parse urllib.error xml.etree.ElementTree xml.dom.minidom xml.sax.saxutils uuid
enum abc copy heapq bisect array keyword token tokenize ast dis tomllib configparser csv ipaddress shlex argparse
getopt fnmatch stat errno traceback warnings weakref contextlib dataclasses typing platform locale
sysconfig importlib.metadata quopri colorsys graphlib email mimetypes pwd grp
reprlib io codecs glob linecache filecmp gzip bz2 lzma zipfile tarfile threading queue __future__
builtins os.path posixpath sched contextvars timeit resource
selectors select tempfile getpass netrc concurrent.futures
fileinput plistlib pickletools""".split()

OF_BUILTINS = """print len range str int float bool complex list tuple dict set frozenset bytes bytearray memoryview
sum min max abs round pow divmod sorted reversed enumerate zip any all repr ascii format ord chr hex oct bin
hash id isinstance issubclass callable iter next slice input type super object property staticmethod classmethod
dir hasattr exit quit map filter aiter anext NotImplemented Ellipsis __name__ __file__ __doc__ Exception
BaseException ValueError TypeError KeyError IndexError RuntimeError OSError IOError FileNotFoundError
AttributeError ImportError ModuleNotFoundError StopIteration SystemExit KeyboardInterrupt ZeroDivisionError
AssertionError NotImplementedError UnicodeDecodeError UnicodeError PermissionError LookupError ArithmeticError
EOFError BrokenPipeError TimeoutError Warning UserWarning RecursionError MemoryError StopAsyncIteration""".split()

SINGLE = """sys.argv sys.stdin sys.stdout sys.stderr sys.version sys.version_info sys.platform sys.maxsize sys.exit
sys.executable sys.path sys.prefix sys.base_prefix sys.exec_prefix sys.byteorder sys.getsizeof sys.implementation
sys.flags sys.hexversion sys.maxunicode sys.getdefaultencoding sys.getfilesystemencoding sys.getrecursionlimit
sys.setrecursionlimit sys.float_info sys.int_info sys.api_version sys.abiflags sys.stdlib_module_names
sys.builtin_module_names sys.intern sys.getrefcount sys.set_int_max_str_digits sys.copyright sys.ps1 sys.exc_info
sys.__stdout__ sys.__stderr__ sys.__stdin__ sys.thread_info sys.hash_info sys.getwindowsversion sys.stdin.buffer
os.sep os.linesep os.name os.curdir os.pardir os.pathsep os.devnull os.extsep os.path os.getcwd os.getcwdb os.getpid
os.getppid os.getuid os.geteuid os.getgid os.getegid os.getgroups os.getlogin os.cpu_count os.uname os.stat os.lstat
os.fstat os.statvfs os.access os.isatty os.get_terminal_size os.getloadavg os.times os.urandom os.strerror
os.fsencode os.fsdecode os.fspath os.sched_getaffinity os.umask os.F_OK os.R_OK os.W_OK os.X_OK os.O_RDONLY
os.get_exec_path os.sysconf os.confstr os.nice os.read os.error os.PathLike os.supports_follow_symlinks
shutil.which shutil.disk_usage shutil.get_terminal_size shutil.SameFileError shutil.Error
subprocess.PIPE subprocess.DEVNULL subprocess.STDOUT subprocess.CalledProcessError subprocess.TimeoutExpired
subprocess.list2cmdline pathlib.Path pathlib.PurePath pathlib.PurePosixPath pathlib.PosixPath
socket.gethostname socket.getfqdn socket.AF_INET socket.AF_INET6 socket.SOCK_STREAM socket.SOCK_DGRAM socket.timeout
socket.inet_aton socket.inet_ntoa socket.inet_pton socket.inet_ntop socket.htons socket.ntohs socket.AF_UNIX
socket.SOL_SOCKET socket.SO_REUSEADDR socket.gaierror signal.SIGTERM signal.SIGINT signal.SIGKILL signal.SIGPIPE
signal.SIG_DFL signal.SIG_IGN signal.Signals signal.signal signal.alarm pickle.HIGHEST_PROTOCOL pickle.dumps
pickle.dump marshal.dumps sys.modules.keys ctypes.sizeof ctypes.c_int ctypes.c_long ctypes.c_void_p
multiprocessing.cpu_count urllib.request.quote urllib.request.unquote requests.exceptions httpx.HTTPError
http.HTTPStatus sqlite3.Row sqlite3.version sqlite3.sqlite_version sqlite3.Error asyncio.run asyncio.sleep
asyncio.gather asyncio.wait asyncio.wait_for asyncio.Queue asyncio.Event asyncio.Lock asyncio.TaskGroup
asyncio.create_task asyncio.get_event_loop asyncio.new_event_loop logging.getLogger logging.StreamHandler
logging.Formatter logging.debug logging.info logging.warning logging.error logging.critical logging.DEBUG
logging.INFO logging.WARNING logging.ERROR inspect.getsource inspect.getdoc inspect.getfile
inspect.getsourcefile inspect.cleandoc site.getsitepackages site.getusersitepackages importlib.util.find_spec
ssl.create_default_context types.SimpleNamespace types.MappingProxyType types.ModuleType""".split()

# Modules with functions of every kind: what the tables do not list is not understood.
MIXED = """os sys subprocess shutil pathlib socket urllib urllib.request requests httpx http.server smtplib ftplib
telnetlib imaplib poplib xmlrpc xmlrpc.client socketserver webbrowser pickle marshal shelve dbm ctypes ctypes.util
importlib runpy pty signal multiprocessing concurrent xml xml.dom xml.etree xml.sax ssl py_compile compileall spwd
curses readline rlcompleter code codeop pdb atexit mmap fcntl termios tty syslog commands importlib.util
http http.client sqlite3 asyncio logging inspect site types glob""".split()

# What a module that only computes may still hand out: the functions of another one that it imports.
HARMFUL = frozenset(
    """eval exec system popen open breakpoint fork Popen check_output check_call getoutput rmtree import_module
    kill unlink remove bltns builtins bltn_open main get_type_hints ForwardRef
    singledispatch singledispatchmethod""".split()
)
# These are no part of the standard library, so that their own code runs when they are imported.
FOREIGN = frozenset(("requests", "httpx"))
NAMES = frozenset((*COMPUTING, *MIXED)) - FOREIGN
HARMLESS = frozenset((*OF_BUILTINS, *SINGLE, *(module for module in COMPUTING if module != "builtins")))
MODULES: dict[str, list[str]] = defaultdict(list)
for _module in COMPUTING:
    MODULES[_module.partition(".")[0]].append(_module)
for _name in SINGLE:
    MODULES[_name.partition(".")[0]].append(_name)
SAFE_DUNDERS = frozenset(
    """__name__ __version__ __doc__ __file__ __len__ __str__ __repr__ __all__ __annotations__ __qualname__ __class__
    __enter__ __exit__ __contains__ __iter__ __next__ __eq__ __path__ __module__ __version_info__""".split()
)
