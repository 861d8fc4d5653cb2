"""How long Chromium takes to load a page of findings, and how long the page is.

    python -m benchmarks.page [NUMBER]...

Needs chromium on PATH. Each figure is the time from the start of the navigation to the load event, and to the second
frame after it, as the browser measures them: median of five.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "tests"))

from browser import Page, browsing
from review_samples import many_findings

from cli_guard.review.render import html

FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
FILTER = (
    "(() => { const start = performance.now(); const box = document.querySelector('[name=path]');"
    "box.value = 'part_7'; box.dispatchEvent(new Event('input', {bubbles: true})); document.body.offsetHeight;"
    "return performance.now() - start })()"
)


def measure(number: int, folder: str, tab: Page) -> tuple[float, ...]:
    """Return of a page with so many findings: its KB, the ms of CPU to render it, and the ms in the browser."""
    review = many_findings(number)
    file = Path(folder, f"{number}.html")
    start = time.process_time()
    file.write_text(html.render(review), "utf-8")
    spent = 1000 * (time.process_time() - start)
    runs = []
    for _ in range(5):
        tab.open(file)
        runs.append((tab.js(LOADED), tab.js(FRAME), tab.js(FILTER)))
    figures = (statistics.median(each) for each in zip(*runs, strict=True))
    return file.stat().st_size / 1000, spent, *figures


def main() -> None:
    """Print a line for each number of findings."""
    print("findings        KB   render ms     load ms    frame ms   filter ms")
    with tempfile.TemporaryDirectory() as folder, browsing() as tab:
        for number in map(int, sys.argv[1:] or ("100", "1000", "10000")):
            size, *figures = measure(number, folder, tab)
            print(f"{number:>8}{size:>10.0f}", *(f"{each:>11.0f}" for each in figures))


if __name__ == "__main__":
    main()
