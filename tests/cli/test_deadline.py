"""The emergency stop of a run: nobody who is interrupted may turn its end into something else."""

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from cli_guard.runtime import TooLate, emergency_stop


def waits() -> None:
    time.sleep(60)


def loses_it() -> None:
    with suppress(BaseException):
        time.sleep(60)


def makes_another_error_of_it() -> None:
    try:
        time.sleep(60)
    except BaseException:
        raise TypeError("not serializable") from None


@pytest.mark.parametrize("work", [waits, loses_it, makes_another_error_of_it])
def test_out_of_time_is_always_said(work: Callable[[], None]) -> None:
    with pytest.raises(TooLate), emergency_stop(0.05):
        work()


def test_a_stop_within_another_leaves_it_in_force() -> None:
    with pytest.raises(TooLate, match=r"0\.05 s"), emergency_stop(0.05), emergency_stop(60):
        waits()


def test_in_time_an_error_is_itself() -> None:
    with pytest.raises(TypeError), emergency_stop(60):
        raise TypeError
    with emergency_stop(60):
        pass
