"""What a request names: known paths in every way people write them, missing ones, those outside, names of code."""

from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.assistant.request_names import Names, find_names
from cli_guard.graph.state import normalise

KNOWN = (
    "Makefile",
    "README.md",
    "a/util.py",
    "b/util.py",
    "deploy.py",
    "docs/with space.md",
    "package/module.py",
    "pkg/sub/__init__.py",
    "src/auth/login.py",
    "src/auth/token.py",
    "src/com/acme/Foo.java",
    "src/config.py",
    "src/naïve/日本.py",
    "tests/test_config.py",
)


@table(
    ("request_", "paths"),
    [
        ("What does src/config.py do?", ("src/config.py",)),
        ("(src/config.py), `src/config.py` and src/config.py.", ("src/config.py",)),
        ("see ./src/config.py", ("src/config.py",)),
        ("see /src/config.py", ("src/config.py",)),
        ("see @src/config.py", ("src/config.py",)),
        (r"see src\config.py", ("src/config.py",)),
        ("src/auth/../config.py", ("src/config.py",)),
        ("config.py's loader", ("src/config.py",)),
        ("auth/login.py", ("src/auth/login.py",)),
        ("token.py, then login.py", ("src/auth/token.py", "src/auth/login.py")),
        ("explain src/auth", ("src/auth/login.py", "src/auth/token.py")),
        ("explain src/auth/", ("src/auth/login.py", "src/auth/token.py")),
        ("everything in pkg", ("pkg/sub/__init__.py",)),
        ("the package folder", ("package/module.py",)),
        ("package.module", ("package/module.py",)),
        ("package.module.run()", ("package/module.py",)),
        ("explain pkg.sub", ("pkg/sub/__init__.py",)),
        ("com.acme.Foo", ("src/com/acme/Foo.java",)),
        ("the Makefile", ("Makefile",)),
        ("a README section", ("README.md",)),
        ('"docs/with space.md"', ("docs/with space.md",)),
        ("src/naïve/日本.py", ("src/naïve/日本.py",)),
        ("add a config option to the package", ()),
        ("the source of the token", ()),
        ("https://example.com/src/config.py", ()),
    ],
)
def test_known_paths(request_: str, paths: tuple[str, ...]) -> None:
    assert find_names(request_, KNOWN).paths == paths


@table(
    ("request_", "missing"),
    [
        ("What does src/missing.py do?", ("src/missing.py",)),
        ("What does nope.py do?", ("nope.py",)),
        ("`lib/a.ts` and lib/b.ts", ("lib/a.ts", "lib/b.ts")),
        ("read/write, and/or, CI/CD, I/O", ()),
        ("Node.js, socket.io, e.g. this, v1.2.3", ()),
        ("the route /api/users", ()),
        ("self.go and os.path", ()),
        ("Move src/config.py to src/settings.py", ()),
    ],
)
def test_missing_paths(request_: str, missing: tuple[str, ...]) -> None:
    assert find_names(request_, KNOWN).missing == missing


def test_where_a_file_shall_be_is_not_missing() -> None:
    named = find_names("Move src/config.py to src/settings.py", KNOWN)
    assert (named.paths, named.missing, named.created) == (
        ("src/config.py",),
        (),
        ("src/settings.py",),
    )
    assert find_names("Create src/new.py with a class", KNOWN).created == ("src/new.py",)


@table(
    "path",
    [
        "/etc/passwd",
        "../x",
        "../../other/secret.txt",
        "src/../../x.py",
        "~/x",
        "~/.ssh/id_rsa",
        "~root/x",
        r"C:\x",
        "C:/Users/x",
        r"\\server\share",
        "$HOME/.aws/credentials",
        "file:///etc/passwd",
        "/opt/other/app.py",
    ],
)
def test_paths_that_leave(path: str) -> None:
    named = find_names(f"What does {path} say?", KNOWN)
    assert named.outside == (path,)
    assert named.paths == named.missing == ()


@table("path", ["src/config.py", "./a.py", "a/../b.py", "...", "~5", "a~/b", "c:"])
def test_paths_that_stay(path: str) -> None:
    assert find_names(f"What does {path} say?", KNOWN).outside == ()


@table(
    ("request_", "symbols"),
    [
        ("Who calls parse_args?", ("parse_args",)),
        ("rename FooBar to `baz`", ("FooBar", "baz")),
        ("what does load() return", ("load",)),
        ("Cart.total and getUser", ("Cart.total", "getUser")),
        ("std::vector and $x", ("std::vector",)),
        ("MAX_DEPTH", ("MAX_DEPTH",)),
        ("the GitHub API in JavaScript", ()),
        ("Rename the class", ()),
        ("'hello world' is a text", ()),
    ],
)
def test_symbols(request_: str, symbols: tuple[str, ...]) -> None:
    assert find_names(request_, KNOWN).symbols == symbols


@table(
    "request_",
    [
        "src/config.py:12",
        "src/config.py:12:5",
        "src/config.py:12-20",
        "src/config.py#L12",
        "config.py line 12",
        "config.py, at line 12.",
    ],
)
def test_a_line_number_is_no_part_of_the_path(request_: str) -> None:
    assert find_names(request_, KNOWN) == Names(paths=("src/config.py",))


def test_a_name_of_two_files_is_ambiguous() -> None:
    named = find_names("util.py?", KNOWN)
    assert named.ambiguous == (("util.py", ("a/util.py", "b/util.py")),)
    assert named.paths == named.missing == ()


@given(st.text(max_size=300), st.lists(st.text(min_size=1, max_size=20), max_size=5))
@settings(max_examples=200, deadline=None)
def test_any_text_and_any_paths(text: str, known: list[str]) -> None:
    named = find_names(text, known)
    assert set(named.paths) <= set(known)
    assert not set(named.missing) & set(known)
    for each in (named.paths, named.missing, named.outside, named.symbols):
        assert len(set(each)) == len(each)


@given(
    st.sampled_from(KNOWN),
    st.sampled_from(["Explain {}", "`{}`?", "({})", "what is in {}, please", '"{}"']),
)
@settings(max_examples=60, deadline=None)
def test_a_known_path_is_always_found(path: str, form: str) -> None:
    if " " not in path or "`" in form or '"' in form:
        assert path in find_names(form.format(path), KNOWN).paths


@table(
    "text",
    [
        "/" * 10**6,
        "../" * 333_333,
        "a." * 500_000,
        "`" * 10**6,
        "\"'" * 500_000,
        "a" * 10**6,
        "f(" * 500_000,
    ],
)
def test_a_megabyte_takes_no_time(text: str) -> None:
    assert find_names(text, KNOWN).paths == ()


def test_a_deep_path_costs_no_more() -> None:
    deep = "/".join(["d"] * 50_000) + "/a.py"
    assert find_names(f"see {deep}", [deep]).paths == (deep,)


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_normalise_is_settled_after_once(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert once == once.strip()
    assert not any(
        (ord(char) < 32 and char != "\n") or char in "\x7f\u200b\u202e\ufeff"
        for char in once
    )


def test_normalise_is_bounded() -> None:
    assert normalise("  a\x00b\t\n c ") == "ab c"
    pasted = "Error: no\x07 room\r\n\n  at  f\nwhere is this raised"
    assert normalise(pasted) == "Error: no room\nat f\nwhere is this raised"
    assert len(normalise("word " * 100_000)) <= 20_000
