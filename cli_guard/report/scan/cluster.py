"""Have slices scanned by the workers of a Dask scheduler: one task a slice, its result a part as SARIF.

The workers read the repository under the same path, with the same cli-guard. Dask runs what it is sent, so whoever
reaches a scheduler can run code on its workers: see docs/scanning.md. This process connects to that scheduler alone.
"""

import datetime
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.policy.decisions import Policy
from cli_guard.report.scan.plan import ScanPlan, Slice, open_place
from cli_guard.reviewers.clean_files import identity
from cli_guard.runtime import Invocation, missing_extra

ADDRESS = re.compile(r"(?:tcp|tls)://[^\s/@]+:\d{1,5}")
AT_ONCE = 64
CONNECT_SECONDS = 10
WAIT_SECONDS = 5
PATIENCE = 12
Scan = Callable[[ScanPlan, Sequence[Slice]], Iterator[bytes]]


def scan_on_cluster(
    plan: ScanPlan, missing: Mapping[str, Slice], address: str, scan: Scan
) -> Iterator[bytes]:
    """Yield a part for each slice; none for one that has ended several workers. Raises CliGuardError."""
    if not ADDRESS.fullmatch(address):
        raise UsageError(
            f"--scheduler {address!r} is no address: write tls://HOST:PORT or tcp://HOST:PORT"
        )
    try:
        import distributed
    except ImportError as error:
        raise UsageError(missing_extra("--engine dask", "dask")) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    left = [*missing.values()][::-1]
    idle = 0
    try:
        with distributed.Client(address, timeout=CONNECT_SECONDS) as client:
            running: set[Any] = set()
            while left or running:
                while left and len(running) < AT_ONCE:
                    task = (
                        str(plan.repository.common_dir),
                        plan.policy,
                        plan.today,
                        left.pop(),
                        identity(),
                    )
                    running.add(client.submit(scan_remotely, scan, *task, pure=False))
                try:
                    done, running = distributed.wait(
                        running, WAIT_SECONDS, "FIRST_COMPLETED"
                    )
                except TimeoutError:
                    done = ()
                    idle = 0 if client.scheduler_info()["workers"] else idle + 1
                    if idle >= PATIENCE:
                        raise CliGuardError(
                            "there is no worker: start some, then scan again"
                        ) from None
                for future in done:
                    if not isinstance(future.exception(), distributed.KilledWorker):
                        yield future.result()
    except Exception as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise CliGuardError(f"Dask at {address}: {words}") from error


def scan_remotely(
    scan: Scan,
    place: str,
    policy: Policy,
    today: datetime.date,
    piece: Slice,
    program: bytes,
) -> bytes:
    """Scan a slice on a worker. Raises UsageError if the worker has another cli-guard."""
    if program != identity():
        raise UsageError(
            "a worker has another cli-guard or Python: install the same everywhere"
        )
    invocation = Invocation(Path(place), os.environ, datetime.datetime.now(datetime.UTC))
    return next(
        scan(ScanPlan(open_place(place, invocation), None, policy, today, ()), [piece])
    )
