"""A headless Chromium that tests drive: the DevTools protocol over two pipes, with nothing but the standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
NPM = shutil.which("npm")
# Of whoever runs the tests: npm has its registry and its cache there.
OWN = dict(os.environ)
SECONDS = 60
OPTIONS = (
    *(
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--remote-debugging-pipe",
    ),
    *(
        "--disable-background-networking",
        "--no-first-run",
        "--disable-dev-shm-usage",
        "--disable-extensions",
    ),
)

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on PATH: apt-get install chromium"
)


class Page:
    """One tab."""

    def __init__(self, receive: int, send: int) -> None:
        self._receive = receive
        self._send = send
        self._buffer = b""
        self._number = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for each in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{each}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Calls the browser and gives its answer."""
        self._number += 1
        wanted = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            wanted["sessionId"] = self._session
        os.write(self._send, json.dumps(wanted).encode() + b"\0")
        while True:
            said = self._read()
            if said.get("id") == self._number:
                assert "error" not in said, said
                return said["result"]
            self.events.append(said)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self._receive], [], [], SECONDS)[0], (
                "the browser is silent"
            )
            self._buffer += os.read(self._receive, 1_000_000)
        line, _, self._buffer = self._buffer.partition(b"\0")
        said: dict[str, Any] = json.loads(line)
        return said

    def open(
        self, path: Path, fragment: str = "", *, script: bool = True, scheme: str = "light"
    ) -> None:
        """Loads a file anew and waits for it."""
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media="", features=features)
        for url in ("about:blank", path.as_uri() + fragment):
            self.events.clear()
            self.call("Page.navigate", url=url)
            while not any(
                each.get("method") == "Page.loadEventFired" for each in self.events
            ):
                self.events.append(self._read())

    def js(self, code: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        done = self.call(
            "Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def requests(self) -> list[str]:
        """What the page has asked for since it was opened."""
        sent = (
            each
            for each in self.events
            if each.get("method") == "Network.requestWillBeSent"
        )
        return [each["params"]["request"]["url"] for each in sent]

    def shoot(self, path: Path, width: int, *, paper: bool = False) -> None:
        """Draws the whole page, or what a printer would."""
        if paper:
            data = self.call("Page.printToPDF", printBackground=False)["data"]
        else:
            size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            self.call("Emulation.setDeviceMetricsOverride", **size)
            data = self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))


@contextmanager
def browsing() -> Iterator[Page]:
    """A browser of its own, with a new profile; it is killed at the end."""
    commands, answers = os.pipe(), os.pipe()

    def place() -> None:
        # The ends that the browser uses are its descriptors 3 and 4.
        read = os.dup(commands[0])
        write = os.dup(answers[1])
        os.dup2(read, 3)
        os.dup2(write, 4)

    with tempfile.TemporaryDirectory(
        prefix="cg-browser-", ignore_cleanup_errors=True
    ) as profile:
        started = subprocess.Popen(
            (CHROMIUM or "chromium", *OPTIONS, f"--user-data-dir={profile}", "about:blank"),
            env={**os.environ, "HOME": profile},
            preexec_fn=place,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(commands[0])
        os.close(answers[1])
        try:
            yield Page(answers[0], commands[1])
        finally:
            os.close(commands[1])
            os.close(answers[0])
            started.kill()
            started.wait()


def find_axe(folder: Path) -> str:
    """The text of axe-core, installed by npm; the test is skipped where it cannot be had."""
    if NPM is None:
        pytest.skip("no npm: axe-core cannot be installed")
    known = OWN.get("CLI_GUARD_AXE")
    if not known:
        command = (
            NPM,
            "install",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "axe-core@4",
        )
        done = subprocess.run(
            command, cwd=folder, env=OWN, capture_output=True, timeout=120, check=False
        )
        if done.returncode:
            pytest.skip("axe-core cannot be installed: npm has no registry")
        known = str(folder / "node_modules/axe-core/axe.min.js")
    return Path(known).read_text("utf-8")
