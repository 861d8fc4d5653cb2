"""What the tests of processes share: a manager, and a mark by which the processes of a test are known."""

import secrets
from collections.abc import Iterator

import psutil
import pytest
from watching import marked

from cli_guard.execution.processes.manager import ProcessManager


@pytest.fixture
def manager() -> Iterator[ProcessManager]:
    with ProcessManager() as made:
        yield made


@pytest.fixture
def mark() -> Iterator[str]:
    """A word that no other process has; whatever bears it is ended with the test."""
    word = f"9{secrets.randbelow(10**9):09d}"
    yield word
    for pid in marked(word):
        psutil.Process(pid).kill()
