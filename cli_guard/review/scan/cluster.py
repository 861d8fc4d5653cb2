"""Have slices scanned by the workers of a Dask scheduler: one task a slice, its result a part as SARIF.

The workers read the same repository under the same path, with the same cli-guard. Dask runs what it is sent, so
everybody who reaches a scheduler can run code on its workers: see docs/scanning.md. This process connects to the
scheduler that the user named, and listens nowhere.
"""

import datetime
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.policy.decisions import Policy
from cli_guard.review.scan.local import part_of
from cli_guard.review.scan.plan import Plan, Slice, open_place
from cli_guard.review.scan.slices import open_scanner
from cli_guard.reviewers.clean_files import identity
from cli_guard.runtime import Invocation

ADDRESS = re.compile(r"(?:tcp|tls)://[^\s/@]+:\d{1,5}")
AT_ONCE = 64
CONNECT_SECONDS, WAIT_SECONDS, PATIENCE = 10, 5, 12


def scan_on_cluster(plan: Plan, pending: Sequence[Slice], address: str) -> Iterator[tuple[str, str]]:
    """Yield key and part of each slice, as they are done. Raises UsageError, CliGuardError without a worker."""
    if not ADDRESS.fullmatch(address):
        raise UsageError(f"--scheduler {address!r} is no address: write tcp://HOST:PORT or tls://HOST:PORT")
    try:
        import distributed
    except ImportError as error:
        raise UsageError("--engine dask needs Dask: install cli-guard[dask]") from error
    import logging

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    left = list(reversed(pending))
    place = plan.repository.common_dir
    try:
        with distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False) as client:
            running: dict[object, Slice] = {}
            quiet = 0
            while left or running:
                while left and len(running) < AT_ONCE:
                    piece = left.pop()
                    task = (str(place), plan.policy, plan.today, piece, identity())
                    running[client.submit(scan_remotely, *task, pure=False)] = piece
                try:
                    done = distributed.wait(list(running), WAIT_SECONDS, "FIRST_COMPLETED").done
                except TimeoutError:
                    quiet = 0 if client.scheduler_info()["workers"] else quiet + 1
                    if quiet >= PATIENCE:
                        raise CliGuardError(
                            f"the scheduler {address} has no worker: start some, then scan again"
                        ) from None
                    continue
                for future in done:
                    piece = running.pop(future)
                    if isinstance(future.exception(), distributed.KilledWorker):
                        continue  # several workers died of it: the report says that it was not scanned
                    yield piece.key, future.result()
    except CliGuardError:
        raise
    except Exception as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise CliGuardError(f"Dask at {address}: {words}") from error


def scan_remotely(place: str, policy: Policy, today: datetime.date, piece: Slice, program: bytes) -> str:
    """Scan a slice on a worker. Raises UsageError if the worker has another cli-guard."""
    if program != identity():
        raise UsageError(
            "a worker has another version of cli-guard, or of Python: install the same everywhere"
        )
    invocation = Invocation(Path(place), os.environ, datetime.datetime.now(datetime.UTC))
    with open_scanner(open_place(place, invocation), policy, today) as scanner:
        return part_of(scanner.scan(piece))
