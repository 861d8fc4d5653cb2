"""Where a file shows a value rather than uses it, and lines that only moved."""

from dataclasses import dataclass

import pytest
from examples import table
from watching import cpu_seconds

from cli_guard.model import ChangeSet, FileChange, Hunk, Status
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.reviewers.secrets import review
from cli_guard.rules.examples import expand
from cli_guard.secrets.added import AddedText
from cli_guard.secrets.examples import MOST_READ, find_shown

SECRET = expand("Zx4!<<alnum:9>>")
TOKEN = expand("ghp_<<crc62:30>>")
LINE = f'password = "{SECRET}"'


@dataclass(frozen=True)
class Whole:
    text: str

    def new(self, _change: FileChange) -> str:
        return self.text

    def old(self, _change: FileChange) -> None:
        return None


def severities(
    path: str, text: str, removed: tuple[str, ...] = (), first: int = 1, added: int = 0
) -> list[str]:
    lines = tuple(text.split("\n"))[first - 1 :][: added or None]
    change = FileChange(path, Status.MODIFIED, hunks=(Hunk(1, first, removed, lines),))
    return [
        f.severity
        for f in review(
            ReviewInput("test", ChangeSet((change,)), contents=Whole(text))
        ).findings
    ]


QUOTES = '"""'
SHOWN = [
    ("a.py", f"def f():\n    {QUOTES}Log in.\n\n    {LINE}\n    {QUOTES}\n    return 1"),
    ("a.py", f"EXAMPLES = r{QUOTES}\n- login:\n    {LINE}\n{QUOTES}"),
    ("a.py", f'parser.add_argument("-p", help=\'such as {LINE}\')'),
    ("a.py", f"def test_login():\n    x = 1\n\n    {LINE}\n"),
    ("a.py", f"# For example:\n#   {LINE}\nx = 1"),
    ("src/lib.rs", f"/// Logs in.\n/// let {LINE};\nfn login() {{}}"),
    ("src/lib.rs", f"#[cfg(test)]\nmod tests {{\n    fn t() {{ let x = '}}'; }}\n    let {LINE};\n}}"),
    ("src/lib.rs", f'#[cfg(test)]\nconst PASSWORD: &str = "{SECRET}";'),
    ("a.zig", f'test "login" {{\n    const {LINE};\n}}'),
    ("a.d", f"unittest\n{{\n    auto {LINE};\n}}"),
    ("a.java", f"/**\n * {LINE}\n */\nclass A {{}}"),
    ("a.go", f"var c = &cobra.Command{{\n  Example: `\n  {LINE}\n`,\n}}"),
    ("a.cpp", f'TEST_CASE("login") {{\n    auto {LINE};\n}}'),
    ("a.pl", f"=head1 SYNOPSIS\n\n  {LINE}\n\n=cut\n"),
    ("a.ex", f'@doc {QUOTES}\n{LINE}\n{QUOTES}\ndef login, do: 1'),
    ("a.hs", f"-- | Log in.\n-- {LINE}\nlogin = 1"),
    ("spec/cassettes/login.yml", f"http_interactions:\n- request:\n    {LINE}"),
    ("data/login.yml", f"---\nhttp_interactions:\n- request:\n    {LINE}"),
    ("issues-export.json", f'{{"password": "{SECRET}"}}'),
    ("data/all.json", f'{{"html_url": "https://git.example.com/a/b/issues/7", "password": "{SECRET}"}}'),
    ("api.yaml", f"schema:\n  example:\n    name: a\n    password: {SECRET}"),
    ("api.json", f'{{\n  "examples": {{\n    "a": {{\n      "password": "{SECRET}"\n    }}\n  }}\n}}'),
]  # fmt: skip
USED = [
    ("a.go", f"// Login uses the\n// {LINE}\nfunc Login() {{}}"),
    ("a.py", f"# {LINE}\ndef login(): ..."),
    ("api.yaml", f"schema:\n  example:\n    name: a\n  password: {SECRET}"),
    ("a.py", f"X = {QUOTES}\n{QUOTES}\n{LINE}\nY = {QUOTES}\n{QUOTES}"),
    ("a.py", f"run(\n    {QUOTES}\n    {LINE}\n    {QUOTES})"),
    ("a.py", f"# the server: {LINE}\nx = 1"),
    ("a.py", f'{QUOTES}Doc.{QUOTES}\n{LINE}'),
    ("a.py", f"def testing():\n    {LINE}\n"),
    ("a.py", f"def test_login():\n    x = 1\n{LINE}\n"),
    ("src/lib.rs", f"// Logs in.\n// let {LINE};\nfn login() {{}}"),
    ("src/lib.rs", f"#[cfg(test)]\nmod tests;\nlet {LINE};"),
    ("src/lib.rs", f"#[cfg(test)]\nmod tests {{ let x = \"{{\"; }}\nlet {LINE};"),
    ("a.java", f"/* {LINE} */\nclass A {{}}"),
    ("a.js", f"const files = ['src/**'];\nconst {LINE};"),
    ("a.go", f"// {LINE}\nvar host = 1"),
    ("issues.py", LINE),
    ("app/recordings/views.py", LINE),
    ("a.py", f'# "_recordingName": "a"\n{LINE}'),
    ("login.sh", f"# recorded_with: VCR\n{LINE}"),
    ("data/all.json", f'{{"html_url": "https://git.example.com/a/b", "password": "{SECRET}"}}'),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text"), SHOWN)
def test_a_value_that_is_shown_is_advice(path: str, text: str) -> None:
    assert severities(path, text) == ["medium"]


@pytest.mark.parametrize(("path", "text"), SHOWN)
def test_a_key_with_a_checksum_that_holds_is_found_there_all_the_same(
    path: str, text: str
) -> None:
    assert severities(path, text.replace(SECRET, TOKEN)) == ["critical"]


@pytest.mark.parametrize(("path", "text"), USED)
def test_a_value_beside_what_is_shown_is_found(path: str, text: str) -> None:
    assert severities(path, text) == ["critical"]


def test_the_whole_file_says_what_an_added_line_is_in() -> None:
    text = f"{QUOTES}Doc.\n\n{LINE}\n{QUOTES}\nx = 1"
    assert severities("a.py", text, first=3, added=1) == ["medium"]
    assert severities("a.py", text.replace("Doc.", f"Doc.{QUOTES}"), first=3, added=1) == [
        "critical"
    ]


@table(
    ("removed", "found"),
    [
        ((f"    {LINE},",), []),
        ((LINE, "x = 1"), []),
        ((LINE.replace("password", "old_password"),), ["critical"]),
        (("x = 1",), ["critical"]),
    ],
)
def test_a_line_that_only_moved_within_the_file_is_not_new(
    removed: tuple[str, ...], found: list[str]
) -> None:
    assert severities("a.py", f"x = 2\n{LINE}", removed) == found


def test_a_key_of_several_lines_that_only_moved_is_not_new() -> None:
    key = expand("<<pem:RSA PRIVATE KEY>>")
    lines = tuple(key.split("\n"))
    assert severities("key.txt", f"a\n{key}\nb", lines) == []
    assert severities("key.txt", f"a\n{key}\nb", lines[1:]) == ["critical"]


def test_a_line_that_the_file_lacks_is_nowhere_in_it() -> None:
    added = AddedText("a\nb", [1, 9])
    assert added.offset_in(AddedText.of_file("x\ny"), 2) == -1


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 400_000,
        '"""' * 300_000,
        '"' * 800_000,
        "#\n" * 400_000,
        "\n" * 900_000,
        "test {" * 150_000,
        "`" * 900_000,
    ],
    ids=["comment", "block", "quotes", "comments", "lines", "tests", "backticks"],
)
@pytest.mark.parametrize("path", ["a.py", "a.zig", "a.js", "a.sql"])
def test_hostile_text_takes_no_long_time(path: str, text: str) -> None:

    with cpu_seconds(5):
        find_shown(text, path, range(0, len(text), 999))
    assert len(text) <= MOST_READ


@table("event, severity", (("staged", "high"), ("push", "high"), ("scan", "medium")))
def test_a_new_private_key_needs_a_look_though_it_is_shown(
    event: str, severity: str
) -> None:
    block = expand("<<pem:RSA PRIVATE KEY>>").replace("\n", "\n    ")
    text = f"def f():\n    {QUOTES}Load a key.\n\n    {block}\n    {QUOTES}\n"
    lines = tuple(text.split("\n"))
    change = FileChange("a.py", Status.ADDED, hunks=(Hunk(0, 1, (), lines),))
    subject = ReviewInput(event, ChangeSet((change,)), contents=Whole(text))
    assert [found.severity for found in review(subject).findings] == [severity]
