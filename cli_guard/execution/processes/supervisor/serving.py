"""The supervisor: keeps one monitor waiting, reaps all monitors, and ends the process tree of a killed one."""

import gc
import os
import select
import signal
import socket
import struct
from contextlib import suppress

from cli_guard.execution.processes.supervisor import process_tree
from cli_guard.execution.processes.supervisor.launching import PR_SET_CHILD_SUBREAPER, prctl
from cli_guard.execution.processes.supervisor.monitor import BOUND, IDLE, run_monitor

# What a monitor reports: BOUND, FREE or IDLE, and its process id.
REPORT = struct.Struct(">cI")


class Supervisor:
    """Serves one owner; `folder` is removed with it, unless it is ""."""

    def __init__(self, requests: socket.socket, lifeline: int, folder: str) -> None:
        self._requests = requests
        self._lifeline = lifeline
        self._folder = folder
        self._monitors: dict[int, bytes] = {}
        self._reports, self._reporting = os.pipe()
        os.set_blocking(self._reports, False)

    def serve(self) -> None:
        """Keep a monitor waiting until the owner is gone, then wait for those that still end their process trees."""
        woken, _ = process_tree.open_wakeup(signal.SIGCHLD)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        # Its pages stay shared with the monitors (gc.freeze, "to maximize page sharing").
        gc.collect()
        gc.freeze()
        owned = True
        # A command that outlives its owner is not waited for.
        while owned or BOUND in self._monitors.values():
            if owned and IDLE not in self._monitors.values():
                self._fork_monitor()
            ready, _, _ = select.select(
                [self._reports, woken, *([self._lifeline] if owned else [])], [], []
            )
            if woken in ready:
                os.read(woken, 512)
            self._reap()
            owned = owned and self._lifeline not in ready
        if self._folder:
            import shutil

            shutil.rmtree(self._folder, ignore_errors=True)

    def _fork_monitor(self) -> None:
        """Fork a monitor before a command needs it."""
        monitor = os.fork()
        if monitor == 0:
            code = 1
            try:
                signal.set_wakeup_fd(-1)
                prctl(PR_SET_CHILD_SUBREAPER, 1)
                run_monitor(
                    self._requests,
                    self._lifeline,
                    lambda bound: os.write(
                        self._reporting, REPORT.pack(bound, os.getpid())
                    ),
                )
                code = 0
            finally:
                os._exit(code)
        self._monitors[monitor] = IDLE

    def _reap(self) -> None:
        """Reap the monitors that have ended, after reading their last reports."""
        ended: list[tuple[int, int]] = []
        with suppress(ChildProcessError):
            while (one := os.waitpid(-1, os.WNOHANG))[0]:
                ended.append(one)
        with suppress(BlockingIOError):
            while data := os.read(self._reports, REPORT.size * 64):
                for bound, monitor in REPORT.iter_unpack(data):
                    self._monitors[monitor] = bound
        for pid, status in ended:
            if self._monitors.pop(pid, None) and os.WIFSIGNALED(status):
                self._end_orphans()

    def _end_orphans(self) -> None:
        """Kill the process tree of a killed monitor, which has become ours."""
        for pid in process_tree.children(os.getpid()):
            if pid not in self._monitors:
                process_tree.send_signal(
                    [pid, *process_tree.descendants(pid)], signal.SIGKILL
                )


def main(requests_fd: int, lifeline: int, folder: str) -> None:
    """Run a supervisor on the two sockets that its owner passed on."""
    # Away from the owner's terminal and folder: Ctrl-C there is for the owner.
    os.setsid()
    os.chdir("/")
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    # What the owner's thread had blocked would be blocked for every command.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for fd in (requests_fd, lifeline):
        os.set_inheritable(fd, False)
    requests = socket.socket(fileno=requests_fd)
    requests.setblocking(False)
    Supervisor(requests, lifeline, folder).serve()
