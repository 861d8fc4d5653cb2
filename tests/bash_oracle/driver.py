"""Run scripts by the real bash where they can do no harm. Started by `runner.py` inside new namespaces; not imported.

It is process 1 of its process namespace and has no network. It mounts a small file system in memory, copies bash and
its libraries to it, and makes it the root. A line of JSON on standard input is the setup, each further line a batch of
runs; each batch is answered by one line, with the processor time in seconds that all runs so far took.
"""

import ctypes
import json
import os
import resource
import signal
import struct
import sys
from contextlib import suppress
from typing import Any

CLOSED_AFTER_WRITE = 0x8
CREATED = 0x100
MODIFIED = 0x2
EVENT = struct.Struct("iIII")
BIND = 4096
# Where the shell itself and the records are; no script names it.
HIDDEN = "/oracle.hidden"
SECONDS = 0.4
LIBC = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> bool:
    given = (each.encode() for each in (source, target, kind))
    failed: int = LIBC.mount(*given, ctypes.c_ulong(flags), options.encode())
    return failed == 0


def write_file(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)


def limit_processes(path: str) -> None:
    """Limit their number in this namespace, where the kernel can: RLIMIT_NPROC does not bind root."""
    with suppress(OSError), open(path, "w", encoding="ascii") as file:
        file.write("400")


def build_root(root: str, setup: dict[str, Any]) -> None:
    """Build the root and enter it."""
    if not mount("none", root, "tmpfs", 0, "size=64m"):
        raise OSError(ctypes.get_errno(), "no file system in memory can be mounted")
    for source, target in setup["programs"].items():
        os.makedirs(os.path.dirname(root + target), exist_ok=True)
        with open(source, "rb") as whole, open(root + target, "wb") as copy:
            copy.write(whole.read())
        os.chmod(root + target, 0o755)
    for folder in ("/dev", "/proc", "/tmp", "/home/ada", HIDDEN + "/ran"):
        os.makedirs(root + folder, exist_ok=True)
    if mount("proc", root + "/proc", "proc"):
        limit_processes(root + "/proc/sys/kernel/pid_max")
    write_file(root + "/dev/null", "")
    mount("/dev/null", root + "/dev/null", "", BIND)
    os.symlink("/proc/self/fd", root + "/dev/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"{root}/dev/{name}")
    os.chroot(root)
    os.chdir("/")
    for path, text in setup["files"].items():
        write_file(path, text)
    # What is named by its path runs this: `command_not_found_handle` is for names without a slash.
    for name in setup["stubs"]:
        write_file(f"/usr/bin/{name}", f"#!{HIDDEN}/bash -p\n{setup['record_path']}")
        os.chmod(f"/usr/bin/{name}", 0o755)
    os.symlink("usr/bin", "/bin")


class Watch:
    """The files that were opened for writing, reported by the kernel (inotify)."""

    def __init__(self, folders: list[str]) -> None:
        self.descriptor = LIBC.inotify_init1(os.O_NONBLOCK)
        mask = CLOSED_AFTER_WRITE | CREATED | MODIFIED
        self.folders = {
            LIBC.inotify_add_watch(self.descriptor, folder.encode(), mask): folder
            for folder in folders
        }

    def read(self) -> list[str]:
        found: dict[str, None] = {}
        while True:
            try:
                data = os.read(self.descriptor, 65536)
            except BlockingIOError:
                return list(found)
            at = 0
            while at < len(data):
                watch, _, _, length = EVENT.unpack_from(data, at)
                name = os.fsdecode(
                    data[at + EVENT.size : at + EVENT.size + length].rstrip(b"\0")
                )
                at += EVENT.size + length
                # Bash keeps a long here-document in a file of its own.
                if not name.startswith("sh-thd"):
                    found[os.path.join(self.folders.get(watch, "?"), name)] = None


def wait_for_all() -> bool:
    """Wait until every process of the script has ended; return whether they were killed when time was up."""
    killed = False

    def kill(*_: object) -> None:
        nonlocal killed
        killed = True
        try:
            os.kill(-1, signal.SIGKILL)
        except ProcessLookupError:
            return

    signal.signal(signal.SIGALRM, kill)
    signal.setitimer(signal.ITIMER_REAL, SECONDS, 0.05)
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        return killed
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def read_records() -> list[list[str]]:
    """Return the words of each command that ran, once: a record is their number, then the words, all ended by NUL."""
    ran: dict[tuple[str, ...], None] = {}
    for name in sorted(os.listdir(HIDDEN + "/ran"), key=lambda each: (len(each), each)):
        path = f"{HIDDEN}/ran/{name}"
        with open(path, "rb") as file:
            pieces = file.read().split(b"\0")[:-1]
        os.unlink(path)
        while pieces:
            count = int(pieces[0]) if pieces[0].isdigit() else len(pieces)
            ran[tuple(os.fsdecode(each) for each in pieces[1 : count + 1])] = None
            pieces = pieces[count + 1 :]
    return [list(words) for words in ran]


def run(job: dict[str, Any], watch: Watch, files: dict[str, str]) -> dict[str, Any]:
    write_file(HIDDEN + "/rc", job["rc"])
    write_file(HIDDEN + "/stdin", job["stdin"])
    os.chdir(job["folder"])
    environment = {
        "BASH_ENV": HIDDEN + "/rc",
        "PATH": "/nowhere",
        "HOME": "/home/ada",
        **job["env"],
    }
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, HIDDEN + "/stdin", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
    ]
    script = os.fsencode(job["script"])
    words: list[bytes] = [b"bash", b"-c", script]
    os.posix_spawn(HIDDEN + "/bash", words, environment, file_actions=actions, setsid=True)
    killed = wait_for_all()
    wrote = watch.read()
    for path in wrote:
        if path in files:
            write_file(path, files[path])
        elif not os.path.isdir(path) and path != "/dev/null" and os.path.lexists(path):
            os.unlink(path)
    watch.read()
    return {"ran": read_records(), "wrote": wrote, "killed": killed}


def main() -> None:
    setup = json.loads(sys.stdin.readline())
    build_root(sys.argv[1], setup)
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 1 << 20),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_NPROC, 100),
        (resource.RLIMIT_AS, 1 << 30),
    ):
        resource.setrlimit(limit, (value, value))
    folders = sorted(
        {os.path.dirname(path) for path in setup["files"]}
        | {"/", "/tmp", "/home/ada", "/dev"}
    )
    watch = Watch(folders)
    print(json.dumps({"proc": os.path.exists("/proc/self/fd")}), flush=True)
    for line in sys.stdin:
        ran = [run(job, watch, setup["files"]) for job in json.loads(line)]
        print(json.dumps({"ran": ran, "cpu": sum(os.times()[:4])}), flush=True)


main()
