"""What is scanned, how a finding reads, and what is told once."""

from dataclasses import dataclass, field
from functools import partial

import pytest
from examples import table

from cli_guard.model import (
    ChangeSet,
    CommitMessage,
    Confidence,
    FileChange,
    Finding,
    Hunk,
    Kind,
    Report,
    Severity,
    Status,
)
from cli_guard.reviewers import secrets
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.reviewers.secrets import FILE_FINDINGS, review
from cli_guard.rules.examples import expand
from cli_guard.secrets import scan, scan_keys
from cli_guard.secrets.redact import redact

TOKEN = expand("ghp_<<crc62:30>>")
OTHER = expand("ghp_<<crc62:30>>", 7)
PASSWORD = expand("Zx4!<<alnum:9>>")
KEY = expand("<<pem:RSA PRIVATE KEY>>")


def change(path: str, *lines: str, start: int = 1, **more: object) -> FileChange:
    more.setdefault("status", Status.MODIFIED)
    return FileChange(path, hunks=(Hunk(0, start, (), lines),) if lines else (), **more)  # type: ignore[arg-type]


def look(*changes: FileChange, **more: object) -> Report:
    return review(ReviewInput("test", ChangeSet(changes), **more))  # type: ignore[arg-type]


def only(report: Report) -> Finding:
    assert len(report.findings) == 1, report.findings
    return report.findings[0]


@dataclass(frozen=True)
class Files:
    texts: dict[str, str] = field(default_factory=dict)

    def new(self, change: FileChange) -> str | None:
        return self.texts.get(change.path)

    def old(self, change: FileChange) -> str | None:
        return None


def test_finding_says_what_and_where_without_the_value() -> None:
    finding = only(
        look(change("src/app.py", "import os", f'db_password = "{PASSWORD}"', start=40))
    )
    assert (finding.rule, finding.path, finding.line) == (
        "secret-password",
        "src/app.py",
        41,
    )
    assert (finding.severity, finding.confidence) == (Severity.CRITICAL, Confidence.HIGH)
    assert finding.message == "Password in clear text (db_password)."
    assert finding.evidence == 'db_password = "****"'
    assert PASSWORD not in str(finding)


@table(
    ("path", "line", "doubt"),
    [
        ("src/app.py", f'key = "{TOKEN}"', ""),
        ("src/app.py", 'key = "ghp_<<seq:36>>"', "its letters or digits count or repeat"),
        (
            "src/app.py",
            'key = "ghp_<<alnum:30>>"',
            "its length or alphabet is not the provider's",
        ),
        ("tests/test_app.py", f'password = "{PASSWORD}"', "it is in a test or a document"),
        (
            "src/app.py",
            f'"""Connect.\n\npassword = "{PASSWORD}"\n"""',
            "the file shows it as an example",
        ),
    ],
)
def test_a_finding_says_why_it_is_rated_lower(path: str, line: str, doubt: str) -> None:
    lines = expand(line).split("\n")
    text = Files({path: expand(line)})
    finding = only(look(change(path, *lines), contents=text))
    said = f"(rated lower: {doubt})" if doubt else ""
    assert said in finding.message and ("rated" in finding.message) is bool(doubt)


def test_every_secret_on_the_line_is_masked_in_the_evidence() -> None:
    line = f"curl -u ci:{PASSWORD} -H 'X: {TOKEN}' # {PASSWORD}"
    report = look(change("a.sh", line))
    assert {finding.rule for finding in report.findings} == {
        "secret-command-password",
        "secret-github-token",
    }
    for finding in report.findings:
        assert PASSWORD not in finding.evidence and TOKEN not in finding.evidence
        assert "ghp_****" in finding.evidence


def test_evidence_of_a_long_line_is_short() -> None:
    finding = only(look(change("a.js", "x" * 5000 + f' k = "{TOKEN}"; ' + "y" * 5000)))
    assert len(finding.evidence) <= 120 and "ghp_****" in finding.evidence


def test_lines_of_two_hunks_are_not_read_as_neighbours() -> None:
    hunks = (
        Hunk(0, 3, (), ("  - name: DB_PASSWORD",)),
        Hunk(0, 90, (), (f"    value: {PASSWORD}",)),
    )
    assert look(FileChange("a.yaml", Status.MODIFIED, hunks=hunks)).findings == ()
    together = (Hunk(0, 3, (), ("  - name: DB_PASSWORD", f"    value: {PASSWORD}")),)
    assert only(look(FileChange("a.yaml", Status.MODIFIED, hunks=together))).line == 4


def test_same_value_on_many_lines_is_one_finding() -> None:
    finding = only(look(change("a.py", *[f'TOKEN = "{TOKEN}"'] * 4)))
    assert finding.line == 1 and "3 more lines" in finding.message


def test_same_value_in_two_files_is_two_findings() -> None:
    report = look(change("a.py", TOKEN), change("b.py", TOKEN))
    assert [finding.path for finding in report.findings] == ["a.py", "b.py"]
    assert len({finding.fingerprint for finding in report.findings}) == 2


def test_provider_rule_wins_over_a_generic_one() -> None:
    assert only(look(change("a.py", f'password = "{TOKEN}"'))).rule == "secret-github-token"


def test_failing_checksum_lowers_confidence_only() -> None:
    wrong = TOKEN[:-1] + ("a" if TOKEN[-1] != "a" else "b")
    right = only(look(change("a.py", TOKEN)))
    failing = only(look(change("a.py", wrong)))
    assert (right.severity, right.confidence) == (Severity.CRITICAL, Confidence.HIGH)
    assert (failing.severity, failing.confidence) == (Severity.CRITICAL, Confidence.MEDIUM)


@table(
    "path",
    ["tests/test_a.py", "src/__tests__/a.test.ts", "docs/a.md", "pkg/fixtures/a.yml"],
)
def test_in_tests_and_documents_a_generic_credential_is_advice_and_a_provider_key_is_not(
    path: str,
) -> None:
    generic = only(look(change(path, f'password = "{PASSWORD}"')))
    assert (generic.severity, generic.confidence) == (Severity.MEDIUM, Confidence.LOW)
    assert only(look(change(path, TOKEN))).severity is Severity.CRITICAL


def test_encoded_key_is_found_and_not_shown() -> None:
    encoded = expand(f"<<b64:export GITHUB_TOKEN={TOKEN}>>")
    finding = only(look(change("a.yml", f"data: {encoded}")))
    assert finding.rule == "secret-github-token" and "base64" in finding.message
    assert finding.evidence == "data: ****"


@table("kind", [Kind.SYMLINK, Kind.LFS])
def test_link_targets_and_pointers_are_scanned(kind: Kind) -> None:
    assert (
        only(look(change("link", f"/srv/{TOKEN}", kind=kind))).rule == "secret-github-token"
    )


class TestBinary:
    def test_provider_key_is_reported_without_a_line(self) -> None:
        finding = only(look(change("a.bin", "GCC: (GNU)", f"\0 {TOKEN}", kind=Kind.BINARY)))
        assert (finding.rule, finding.line, finding.severity) == (
            "secret-github-token",
            None,
            Severity.CRITICAL,
        )
        assert finding.message == "GitHub token in a binary file."
        assert TOKEN not in str(finding)

    def test_private_key_in_one_run_is_reported(self) -> None:
        finding = only(
            look(change("a.bin", "\0GCC: (GNU)", *KEY.split("\n"), kind=Kind.BINARY))
        )
        assert (finding.rule, finding.line) == ("secret-private-key", None)

    def test_key_put_together_over_gaps_is_none(self) -> None:
        lines = [f"\0{line}" for line in KEY.split("\n")]
        assert look(change("a.bin", *lines, kind=Kind.BINARY)) == Report()

    @pytest.mark.parametrize(
        "line",
        [
            f'password = "{PASSWORD}"',
            expand('api_key = "<<alnum:40>>"'),
            expand("<<b64:export GITHUB_TOKEN=ghp_<<crc62:30>>>>"),
            TOKEN[:-3],
        ],
        ids=["password", "generic", "encoded", "near"],
    )
    def test_what_is_not_surely_a_key_is_none(self, line: str) -> None:
        assert look(change("a.bin", line, kind=Kind.BINARY)) == Report()

    def test_key_that_the_file_held_before_is_not_reported(self) -> None:
        hunk = Hunk(1, 1, (f"old {TOKEN} x",), (f"new {TOKEN} y", f"z {OTHER}"))
        report = look(FileChange("a.bin", Status.MODIFIED, Kind.BINARY, hunks=(hunk,)))
        assert OTHER[-4:] not in str(only(report))

    def test_what_is_too_much_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(secrets, "scan_keys", partial(scan_keys, steps=0))
        report = look(change("a.bin", TOKEN, kind=Kind.BINARY))
        assert [skip.asks for skip in report.skipped] == [True]


@table(
    ("line", "hidden"),
    [
        (f'b = "{TOKEN[:34]}" + "{TOKEN[34:]}"', TOKEN[34:]),
        (f'b = "{TOKEN[:34]}" "{TOKEN[34:]}"', TOKEN[34:]),
        (f'b = "{TOKEN}" + "zq81kdue72" + f"mm20x"', "mm20x"),
        (f'password = "{PASSWORD}" + "tail of it"', "tail of it"),
        (f'password = "{PASSWORD}" "9xTail77"', "9xTail77"),
        (f'password = "{PASSWORD}" \\\n  "9xTail77"', "9xTail77"),
        (f'b = "Head88x" "y" + "{TOKEN}"', "Head88x"),
    ],
)
def test_literals_joined_to_a_masked_one_are_masked(line: str, hidden: str) -> None:
    finding = look(change("a.py", *line.split("\n"))).findings[0]
    assert hidden not in finding.evidence and "****" in finding.evidence
    assert hidden not in redact(line, "a.py")
    assert redact(redact(line, "a.py"), "a.py") == redact(line, "a.py")


@table(
    ("line", "shown"),
    [
        (
            f'h = "Authorization: Bearer " + "{TOKEN}"',
            '"Authorization: Bearer " + "ghp_****"',
        ),
        (f'curl -u "ci:{PASSWORD}" "https://acme.io/a"', '"https://acme.io/a"'),
        (f'f(password="{PASSWORD}", name="jane doe")', 'name="jane doe"'),
    ],
)
def test_literals_beside_a_masked_one_are_shown(line: str, shown: str) -> None:
    assert shown in redact(line, "a.sh" if "curl" in line else "a.py")


@table(
    "code",
    [
        '"ghp_" + "{}"',
        '"ghp_" "{}"',
        "'ghp_' + f'{}'",
        "'gh' . 'p_{}'",
        "x('', 'g' + 'h' + 'p_' + '{}')",
    ],
)
def test_token_in_joined_literals_is_found_and_hidden(code: str) -> None:
    line = "b = " + code.replace("{}", TOKEN[4:])
    finding = only(look(change("a.py", 'a = "x" + "y"', "", line, "c = 1", 'd = "x" "y"')))
    assert (finding.rule, finding.line, finding.end_line) == (
        "secret-github-token",
        3,
        None,
    )
    assert TOKEN[4:] not in finding.evidence


def test_literals_of_a_list_are_not_joined_but_those_of_two_lines_are() -> None:
    assert (
        look(
            change("a.py", f'a = ["ghp_", "{TOKEN[4:]}"]', f'b = "ghp_",\n"{TOKEN[4:]}"')
        ).findings
        == ()
    )
    (found,) = look(change("a.py", "a = (", '"ghp_"', f'"{TOKEN[4:]}")')).findings
    assert (found.rule, found.line) == ("secret-github-token", 2)


def test_deleted_and_submodule_changes_are_left_alone() -> None:
    changes = (
        change(".env", status=Status.DELETED),
        change("sub", kind=Kind.SUBMODULE, status=Status.ADDED),
    )
    assert look(*changes) == Report()


class TestPrivateKey:
    def test_block_is_one_finding_over_its_lines(self) -> None:
        finding = only(look(change("a.pem", *KEY.split("\n"), start=5)))
        assert (finding.rule, finding.line, finding.end_line) == (
            "secret-private-key",
            5,
            10,
        )
        assert finding.evidence == "-----BEGIN RSA PRIVATE KEY-----****"

    def test_key_of_which_only_the_body_is_added_is_read_in_the_file(self) -> None:
        lines = KEY.split("\n")
        text = "\n".join(("# ours", *lines, ""))
        part = change("deploy.txt", *lines[2:4], start=4)
        finding = only(look(part, contents=Files({"deploy.txt": text})))
        assert (finding.rule, finding.line, finding.end_line) == (
            "secret-private-key",
            2,
            7,
        )

    def test_old_key_next_to_added_lines_is_not_reported(self) -> None:
        text = f"{KEY}\n# PRIVATE KEY above\n"
        below = change("deploy.txt", "# PRIVATE KEY above", start=8)
        assert look(below, contents=Files({"deploy.txt": text})).findings == ()

    def test_key_completed_in_an_earlier_commit_is_read_in_the_file_of_that_commit(
        self,
    ) -> None:
        lines = KEY.split("\n")
        step = change("deploy.txt", *lines[2:4], start=3, new_blob="b" * 40)
        history = (ChangeSet((step,), commit="a" * 40),)
        finding = only(look(history=history, contents=Files({"deploy.txt": KEY})))
        assert (finding.rule, finding.commit, finding.line) == (
            "secret-private-key",
            "a" * 40,
            1,
        )

    def test_commit_without_blobs_is_read_as_far_as_it_is_known(self) -> None:
        lines = KEY.split("\n")
        history = (
            ChangeSet((change("deploy.txt", *lines[2:4], start=3),), commit="a" * 40),
        )
        assert look(history=history, contents=Files({"deploy.txt": KEY})).findings == ()

    def test_file_is_not_asked_for_without_a_line_of_a_key(self) -> None:
        @dataclass(frozen=True)
        class Closed:
            def new(self, change: FileChange) -> str | None:
                raise AssertionError("read for nothing")

            old = new

        step = change("a.py", "x = 1", "# a private matter", new_blob="b" * 40)
        assert (
            look(history=(ChangeSet((step,), commit="a" * 40),), contents=Closed())
            == Report()
        )

    def test_encrypted_key_is_less_severe(self) -> None:
        finding = only(
            look(change("a", *expand("<<pem:ENCRYPTED PRIVATE KEY>>").split("\n")))
        )
        assert finding.severity is Severity.HIGH


class TestFileName:
    @pytest.mark.parametrize("status", [Status.ADDED, Status.RENAMED, Status.COPIED])
    def test_new_name_is_reported_without_a_line(self, status: Status) -> None:
        finding = only(look(change("deploy/.env", "PORT=80", status=status)))
        assert (finding.rule, finding.line, finding.severity) == (
            "secret-file-name",
            None,
            Severity.HIGH,
        )

    def test_file_that_was_there_before_is_not_reported_again(self) -> None:
        assert look(change(".env", "PORT=80")).findings == ()

    def test_binary_keystore_is_reported(self) -> None:
        assert (
            only(look(change("app.jks", status=Status.ADDED, kind=Kind.BINARY))).rule
            == "secret-file-name"
        )

    def test_fixture_is_advice(self) -> None:
        finding = only(
            look(change("tests/fixtures/a.p12", status=Status.ADDED, kind=Kind.BINARY))
        )
        assert (finding.severity, finding.confidence) == (Severity.MEDIUM, Confidence.LOW)

    @pytest.mark.parametrize(
        "line", ["DB_PASSWORD=op://prod/db/password", "export TOKEN=${TOKEN}", "# none"]
    )
    def test_file_of_references_is_not_reported(self, line: str) -> None:
        assert look(change("deploy/.env", line, status=Status.ADDED)).findings == ()

    def test_token_in_a_name_is_reported_and_hidden(self) -> None:
        path = f"dumps/{TOKEN}.json"
        finding = only(look(change(path, "{}", status=Status.ADDED)))
        assert (finding.rule, finding.line) == ("secret-github-token", None)
        assert finding.message == "GitHub token in the name of the file."
        assert finding.evidence == "dumps/ghp_****.json"

    def test_token_in_a_name_that_was_there_before_is_not_reported(self) -> None:
        assert look(change(f"dumps/{TOKEN}.json", "{}")).findings == ()

    def test_secret_in_it_is_told_as_well(self) -> None:
        report = look(change(".env", f"TOKEN={TOKEN}", status=Status.ADDED))
        assert {finding.rule for finding in report.findings} == {
            "secret-file-name",
            "secret-github-token",
        }


class TestMessage:
    def test_secret_in_the_commit_message(self) -> None:
        finding = only(
            look(message=CommitMessage("Fix login", ("", f"use {TOKEN} for now")))
        )
        assert (finding.path, finding.line) == ("", 3)
        assert finding.message == "GitHub token in the commit message."
        assert TOKEN not in str(finding)

    def test_message_of_a_recorded_commit(self) -> None:
        changes = ChangeSet((), commit="c" * 40, message=f"use {TOKEN}")
        assert only(review(ReviewInput("test", changes))).commit == "c" * 40


class TestHistory:
    def steps(
        self, *steps: tuple[str, tuple[FileChange, ...]], message: str = "m"
    ) -> tuple[ChangeSet, ...]:
        return tuple(
            ChangeSet(files, commit=oid * 40, message=message) for oid, files in steps
        )

    def test_secret_added_and_removed_again_names_the_commit_and_the_way_out(self) -> None:
        history = self.steps(
            ("a", (change("a.py", f'K = "{TOKEN}"', start=9),)),
            ("b", (change("a.py", "K = 1"),)),
        )
        finding = only(look(change("a.py", "K = 1"), history=history))
        assert (finding.commit, finding.line) == ("a" * 40, 9)
        assert "history" in finding.remedy and "rotate" in finding.remedy

    def test_secret_that_is_still_there_is_told_once_without_a_commit(self) -> None:
        added = change("a.py", f'K = "{TOKEN}"')
        finding = only(look(added, history=self.steps(("a", (added,)), ("b", (added,)))))
        assert finding.commit is None

    def test_secret_that_moved_to_another_file_is_told_once(self) -> None:
        history = self.steps(
            ("a", (change("old.py", TOKEN),)), ("b", (change("new.py", TOKEN),))
        )
        assert only(look(change("new.py", TOKEN), history=history)).path == "new.py"

    def test_another_secret_of_the_same_rule_is_another_finding(self) -> None:
        history = self.steps(("a", (change("a.py", OTHER),)))
        report = look(change("a.py", TOKEN), history=history)
        assert [finding.commit for finding in report.findings] == [None, "a" * 40]

    def test_message_of_an_earlier_commit(self) -> None:
        finding = only(look(history=self.steps(("a", ()), message=f"try {TOKEN}")))
        assert (finding.commit, finding.path) == ("a" * 40, "")

    def test_history_may_be_read_once_only(self) -> None:
        history = iter(self.steps(("a", (change("a.py", TOKEN),))))
        assert only(look(history=history)).commit == "a" * 40


class TestLimits:
    def test_what_is_too_much_is_told_with_the_line(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(secrets, "scan", partial(scan, steps=4_000))
        lines = [f'"token": "words number {number}",' for number in range(9_000)]
        report = look(change("a.py", *lines, f'password = "{PASSWORD}"'))
        assert report.findings == ()
        (skipped,) = report.skipped
        assert (skipped.path, skipped.asks) == ("a.py", True)
        line = int(
            skipped.reason.removeprefix("too much to search it all for secrets, from line ")
        )
        assert 1 <= line < len(lines)

    @pytest.mark.parametrize(
        "line",
        [
            'password = "x"',
            "<<b64:words that are not a secret at all>>",
            '"the" + "key_in_a_line"',
        ],
    )
    def test_every_part_of_the_search_counts(
        self, line: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(secrets, "scan", partial(scan, steps=0))
        report = look(change("a.txt", expand(line)))
        assert [skip.asks for skip in report.skipped] == [True]

    def test_flood_of_secrets_is_cut_and_told(self) -> None:
        lines = [
            expand('token = "ghp_<<crc62:30>>"', seed) for seed in range(FILE_FINDINGS + 5)
        ]
        report = look(change("a.py", *lines))
        assert len(report.findings) == FILE_FINDINGS
        assert f"{FILE_FINDINGS + 5} secrets found" in report.skipped[0].reason
        assert report.skipped[0].asks


class TestFingerprint:
    def test_it_stays_when_code_above_moves(self) -> None:
        line = f'password = "{PASSWORD}"'
        low = only(look(change("a.py", line)))
        high = only(look(change("a.py", "a = 1", "b = 2", line, start=70)))
        assert low.line != high.line and low.fingerprint == high.fingerprint

    def test_it_depends_on_the_value(self) -> None:
        first, second = (
            only(look(change("a.py", f'password = "{PASSWORD}{n}"'))) for n in "12"
        )
        assert first.fingerprint != second.fingerprint
