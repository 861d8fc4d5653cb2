"""`cli-guard report`, and a review as a page: who let a finding in, on what proof, in a real browser."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser import Page, browsing, find_axe, needs_chromium
from examples import table
from forging.honest import Person, commit_approved, needs_ssh_keygen, risky, stage
from in_process import call, guard
from repositories import Repo

from cli_guard.state.audit import AuditLog

OWNED = "document.title='owned'"
IMAGE = "<img src=http://127.0.0.1:9/seen onerror=document.title=1>"
AXE = "axe.run().then(r => r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html).join(' ')))"
# Two commands, and two changes of the policy.
ALL = 4
SHOWN = (
    "[...document.querySelectorAll('tr[id^=f]')].filter(e => e.checkVisibility()).length"
)


def fill_filter(page: Page, **values: str) -> None:
    """Types into the filter as a person would."""
    for name, value in values.items():
        page.js(
            f"(() => {{ const e = document.querySelector('[name={name}]'); e.value = {json.dumps(value)};"
            "e.dispatchEvent(new Event('input', {bubbles: true})) })()"
        )


def click(page: Page, selector: str) -> None:
    page.js(f"document.querySelector({json.dumps(selector)}).click()")


def seen(page: Page, selector: str) -> Any:
    """The text of an element that can be seen, None for no such."""
    return page.js(
        f"(e => e && e.checkVisibility() ? e.innerText : null)(document.querySelector({json.dumps(selector)}))"
    )


@pytest.fixture
def history(ada: Person, tmp_path: Path) -> Repo:
    """Approved with a key, looked over by nobody, answered in the code, a weaker policy; names that are markup."""
    repo = Repo(tmp_path / "signed", ada.env)
    commit_approved(
        repo,
        f"Add reports {IMAGE}",
        {"report.py": risky()},
        "--reason",
        f"<script>{OWNED}</script>",
    )
    commit_approved(repo, "Weaken", {"cli-guard.toml": '[approvals]\nhigh = "tty"\n'})
    stage(repo, {f"<svg onload={OWNED}>\u202e.py": risky("other") + f"\n# {IMAGE}\n"})
    assert guard(repo, "hook", "pre-commit").code == 3
    repo.git("commit", "-qnm", f"</title>\u2028\x85\x0c<script>{OWNED}</script>")
    stage(repo, {"plain.py": "y = 2\n"})
    assert guard(repo, "hook", "pre-commit", env={"SKIP": "cli-guard"}).code == 0
    repo.git("commit", "-qnm", "Skip")
    stage(repo, {"cli-guard.toml": '[approvals]\nhigh = "key"\n'})
    repo.git("commit", "-qnm", "Strengthen")
    return repo


@needs_ssh_keygen
def test_the_page_of_a_range_has_the_approvals_of_the_range(history: Repo) -> None:
    def approvals(command: tuple[str, ...], within: str) -> int:
        page = guard(history, *command, "--range", within).out
        return page.count("<article class=card")

    for command in (("review", "--format", "html"), ("report",)):
        assert approvals(command, "base..HEAD") == 2
        assert approvals(command, "HEAD~1..HEAD") == 0
        assert approvals(command, "HEAD~4..HEAD~3") == 1


@needs_chromium
@needs_ssh_keygen
def test_the_page_in_a_browser(history: Repo, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    review = tmp_path / "review.html"
    done = guard(history, "report", "--range", "base..HEAD", "--output", str(report))
    assert (done.code, done.all) == (0, "")
    assert (
        guard(
            history,
            "review",
            "--range",
            "base..HEAD",
            "--format",
            "html",
            "-o",
            str(review),
        ).code
        == 3
    )
    control = tmp_path / "control.html"
    control.write_text(f"<title>t</title>{IMAGE}<script>{OWNED}</script>")
    axe = find_axe(tmp_path)
    with browsing() as page:
        page.open(control)
        assert page.js("document.title") in ("owned", "1") and len(page.requests()) > 1, (
            "the test would see an attack"
        )
        for file, title in (
            (report, "cli-guard: report"),
            (review, "cli-guard: needs approval"),
        ):
            for scheme in ("light", "dark"):
                page.open(file, scheme=scheme)
                page.js("document.querySelectorAll('details').forEach(e => e.open = true)")
                page.js(f"{axe};0")
                assert page.js(AXE) == []
                assert (page.js("document.title"), page.requests()) == (
                    title,
                    [file.as_uri()],
                )
                assert not [
                    e
                    for e in page.events
                    if e["method"] in ("Log.entryAdded", "Runtime.exceptionThrown")
                ]
        assert "onload=" in page.js("document.body.innerText") and "\u202e" not in page.js(
            "document.body.innerText"
        )
        follow_answers(page, report)
        filter_findings(page, report)
        page.open(report, script=False)
        assert seen(page, "#filter") is None and page.js(SHOWN) == ALL
        page.shoot(tmp_path / "paper.pdf", 0, paper=True)


def follow_answers(page: Page, report: Path) -> None:
    """Who let this in, on what evidence? In two clicks, from a finding that was approved, and from one that was not."""
    page.open(report)
    approved = "[data-state=answered][data-rule=code-python-shell] tr[id^=f]"
    click(page, f"{approved} a[href^='#s']")
    card = seen(page, ":target")
    assert (
        "ada@example.org" in card
        and "signature good" in card
        and f"<script>{OWNED}" in card
    )
    click(page, ":target summary")
    assert "Statement" in seen(page, ":target")
    click(page, ":target a[href^='#c']")
    assert "Add reports" in seen(page, ":target") and "allowed by an approval" in seen(
        page, ":target"
    )
    page.open(report)
    click(page, f"{approved} a[href^='#c']")
    assert "allowed by an approval" in seen(page, ":target")
    page.open(report)
    click(page, "[data-state=review][data-rule=code-python-shell] tr[id^=f] a[href^='#c']")
    assert "Ada" in seen(page, ":target") and "recorded although not allowed" in seen(
        page, ":target"
    )
    text = page.js("document.querySelector('main').innerText")
    for said in (
        "without this commit: ",
        "weaker policy: ",
        "review skipped",
        "hash chain OK",
    ):
        assert said in text
    picture = page.js("document.querySelector('svg desc').textContent")
    assert (
        "2 allowed by an approval" in picture
        and "1 recorded although not allowed" in picture
    )


def filter_findings(page: Page, report: Path) -> None:
    """The filter hides rows and their groups, and is kept in the address."""
    page.open(report)
    assert page.js(SHOWN) == ALL
    fill_filter(page, path="REPORT.py")
    assert (page.js(SHOWN), seen(page, "output")) == (1, f"1 of {ALL} shown")
    kept = page.js("location.hash")
    assert kept == "#?path=report.py"
    fill_filter(page, rule="nothing-of-the-kind")
    assert (
        page.js(SHOWN) == 0
        and page.js("document.querySelectorAll('section.state:not([hidden])').length") == 0
    )
    page.open(report, kept)
    assert page.js(SHOWN) == 1
    click(page, "#filter button")
    page.js("new Promise(done => setTimeout(done, 50))")
    assert (page.js(SHOWN), page.js("location.hash")) == (ALL, "")
    page.open(report, "#?state=review&severity=high&commit=zzz")
    assert page.js(SHOWN) == 0
    page.js("location.hash = '#f1'; new Promise(done => setTimeout(done, 50))")
    assert seen(page, "#f1") is not None, "a place that the filter hides is shown"


@table(
    ("argv", "code", "said"),
    [
        (("--since", "nowhere"), 2, "nowhere"),
        (("--range", "HEAD"), 2, "is not a range"),
        (("--range", "HEAD..nowhere"), 2, "nowhere"),
        (("--since", "HEAD", "--range", "HEAD~1.."), 2, "exclude each other"),
        (
            ("--output", "/dev/full"),
            2,
            "the report cannot be written to /dev/full: No space left on device",
        ),
        (
            ("--output", "missing/report.html"),
            2,
            "missing/report.html: No such file or directory",
        ),
        (("--output", "."), 2, "Is a directory"),
    ],
)
def test_bad_input_is_one_line(
    argv: tuple[str, ...], code: int, said: str, committed: Repo
) -> None:
    done = guard(committed, "report", *argv)
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert said in done.err
    assert {each.name for each in committed.path.iterdir()} == {".git", "app.py"}, (
        "nothing half-written is left"
    )


@table(
    ("shows", "argv", "printed", "written"),
    [
        (True, (), "cli-guard: the page is ", ".git/cli-guard/report.html"),
        (True, ("-o", "page.html"), "", "page.html"),
        (False, (), "<!doctype html>", ""),
        (False, ("-o", "page.html"), "", "page.html"),
    ],
)
def test_a_terminal_shows_no_markup(
    committed: Repo, shows: bool, argv: tuple[str, ...], printed: str, written: str
) -> None:
    done = call(committed.path, committed.env, "report", *argv, shows=shows)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(printed) and bool(done.out) is bool(printed)
    if printed and written:
        assert f"{committed.path / written}: open it" in done.out
    if written:
        assert (committed.path / written).read_text().startswith("<!doctype html>")
    assert not committed.git("status", "--porcelain", "--", "report.html")


def test_no_history_and_no_repository(repo: Repo, tmp_path: Path) -> None:
    done = guard(repo, "report")
    assert done.code == 0 and "There are none in this span" in done.out
    assert done.err == "cli-guard: there are no commits in this span\n"
    (tmp_path / "outside").mkdir()
    done = guard(Repo(tmp_path / "outside", repo.env), "report")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_a_changed_log_is_said_on_the_page_and_by_the_exit_code(committed: Repo) -> None:
    for _ in range(3):
        guard(committed, "hook", "pre-commit", env={"SKIP": "cli-guard"})
    log = committed.path / ".git/cli-guard/audit.jsonl"
    whole = log.read_text()
    for changed, said in (
        (whole.replace("SKIP=cli-guard", "SKIP=me", 1), "line 2 does not follow line 1"),
        ("<script>\n" + whole, "line 1 is not an entry of the log"),
        (
            whole + '{"event": [], "at": 5, "decision": {}, "found": 3}\n',
            "line 4 is not an entry of the log",
        ),
    ):
        log.write_text(changed)
        done = guard(committed, "report", "-o", str(committed.path / "page.html"))
        assert (done.code, done.err) == (
            1,
            f"cli-guard: the audit log was changed: {said}\n",
        )
        assert said in (committed.path / "page.html").read_text()
    log.unlink()
    log.mkdir()
    done = guard(committed, "report")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_an_entry_without_a_signature_is_shown_as_a_claim(committed: Repo) -> None:
    forged = {
        "event": "approve",
        "at": "2026-01-01T00:00:00+00:00",
        "user": "The Boss",
        "fingerprints": ["ab"],
    }
    AuditLog(committed.path / ".git/cli-guard").append(forged)
    AuditLog(committed.path / ".git/cli-guard").append(
        forged | {"level": "verified", "statement": "f" * 64}
    )
    page = guard(committed, "report").out
    assert (
        page.count("<span class=warn>unsigned</span>") == 2
        and "signature good</span>" not in page
    )
    assert "neither here nor in the notes" in page
    assert (
        "verified, as the log says" in page
        and ">verified<" not in page.partition("id=proof")[0]
    )


def decisions(repo: Repo, *options: str) -> dict[str, str]:
    """How each commit of the report was reviewed, by its subject."""
    page = guard(repo, "report", *options).out
    rows = re.findall(r"<time>[^<]*</time><td>[^<]*<td>([^<]*)<td>([^<\n]*)", page)
    assert len(rows) == page.count("<tr id=c")
    return dict(reversed(rows))


def test_how_each_commit_was_reviewed(committed: Repo) -> None:
    start = committed.git("rev-parse", "HEAD")
    committed.commit("One", {"one.py": "x = 1\n"})
    committed.git("switch", "-qc", "side", start)
    committed.commit("Unseen", {"unseen.py": "x = 1\n"})
    committed.git("switch", "-q", "main")
    committed.commit("Two", {"two.py": "x = 1\n"})
    assert guard(committed, "review", "--range", f"{start}..HEAD").code == 0
    committed.commit("Half", {"half.py": "x = 1\n"})
    assert guard(committed, "review", "--commit", "HEAD", "--shard", "1/2").code == 0
    committed.git("merge", "-q", "--no-verify", "--no-edit", "side")
    stage(committed, {"risky.py": risky()})
    assert guard(committed, "hook", "pre-commit").code == 3
    stage(committed, {"risky.py": "x = 3\n"})
    assert guard(committed, "hook", "pre-commit").code == 0
    committed.git("commit", "-qnm", "Mended")
    unknown = "no review known here"
    allowed = "reviewed and allowed"
    known = decisions(committed)
    assert known == {
        "One": allowed,
        "Two": allowed,
        "Unseen": unknown,
        "Half": unknown,
        "Merge branch &#x27;side&#x27;": unknown,
        "Mended": f"{allowed}; 1 x needed approval before the commit",
    }
    assert "Start" not in known, "nobody had installed it before the first review"
    assert decisions(committed, "--since", start).keys() == known.keys()
    assert "Start" in decisions(committed, "--since", "2000-01-01")
    assert decisions(committed, "--since", "2099-01-01") == {}
    # Nothing that a line of the log says is an option for Git, or an error.
    head = committed.git("rev-parse", "HEAD")
    for bases in (["--output=owned"], ["f" * 40], [5], {"a": 1}, None):
        told = {"event": "range", "decision": "allow", "bases": bases, "head": head}
        AuditLog(committed.path / ".git/cli-guard").append(told)
    assert decisions(committed) == known and not (committed.path / "owned").exists()


def test_the_page_says_what_the_log_does_not_list(committed: Repo) -> None:
    """The audit log lists 1,000 findings of a review."""
    calls = "".join(f"os.system(c + '{number}')\n" for number in range(50))
    head = "import os\n\nc = input()\n"
    for files, more in ((2, False), (21, True)):
        names = [f"m{files}_{each}.py" for each in range(files)]
        stage(committed, dict.fromkeys(names, head + calls))
        assert guard(committed, "hook", "pre-commit").code in (1, 3)
        committed.git("commit", "-qnm", f"Call {files}")
        tip = committed.git("rev-parse", "--short=10", "HEAD")
        page = guard(committed, "report", "--since", "HEAD~1").out
        assert ("findings of commit" in page) == more
        assert (f"cli-guard review --commit {tip} -v shows all" in page) == more
        again = guard(committed, "report", "--range", "HEAD~1..HEAD").out
        assert "findings of commit" not in again
