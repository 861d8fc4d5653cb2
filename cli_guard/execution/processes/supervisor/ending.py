"""Ends a family step by step: a request, a demand, and then nobody is asked any more."""

import signal
import time
from collections.abc import Callable

from cli_guard.execution.processes.supervisor import family

Steps = list[tuple[int, float]]
# After SIGKILL a process is gone at once, unless it waits in the kernel (signal(7), "uninterruptible").
GIVE_UP_SECONDS = 5.0


class Ending:
    """Steps of a signal and its time, in seconds from the beginning, the first at 0."""

    def __init__(self, steps: Steps) -> None:
        self._steps = list(steps)
        self._begun = time.monotonic()
        self._killed: float | None = None
        self.pause = 0.002

    def step(self, living: Callable[[], list[int]]) -> bool:
        """Does what is due; True where nothing more can be done."""
        passed = time.monotonic() - self._begun
        while self._steps and passed >= self._steps[0][1]:
            number, _ = self._steps.pop(0)
            members = living()
            if number == signal.SIGINT:
                # Who ignores it would only let the others wait.
                deaf = [pid for pid in members if family.ignores_interrupts(pid)]
                family.tell(deaf, signal.SIGTERM)
                members = [pid for pid in members if pid not in deaf]
            family.tell(members, number)
            if number == signal.SIGKILL:
                self._killed = time.monotonic()
        if self._killed is None:
            self.pause = min(0.05, self.pause * 1.5)
            return False
        # Whoever was born meanwhile.
        family.tell(living(), signal.SIGKILL)
        return time.monotonic() - self._killed > GIVE_UP_SECONDS
