"""JavaScript, TypeScript, Go and Java: the comment that their own tools read."""

import pytest
from documenting.checks import whole

from cli_guard.assistant.documenting import document

TYPESCRIPT = """export async function loadUser(id: string, signal?: AbortSignal, deep = false): Promise<User | null> {
  if (!id) {
    throw new TypeError("id");
  }
  const res = await fetch(id, { signal });
  if (deep) {
    follow(id);
  }
  if (id === "none") return null;
  return res.json();
}
"""
GO = """package server

import "os"

type Server struct {
\tAddr string
\tlog  *Logger
}

func Load(path string, strict bool) (*Config, error) {
\tif path == "" {
\t\treturn nil, errNoPath
\t}
\tdata, err := os.ReadFile(path)
\tif err != nil {
\t\treturn nil, err
\t}
\treturn parse(data)
}
"""
JAVA = """public class UserService {
    public User find(String name, int limit) {
        if (name == null) {
            throw new IllegalArgumentException("name");
        }
        if (limit <= 0) return null;
        return db.find(name, limit);
    }
    public boolean isEmpty() { return db.count() == 0; }
}
"""


def test_jsdoc(tmp_path):
    answer = whole("JSDoc for a.ts", {"a.ts": TYPESCRIPT}, tmp_path)
    assert (
        answer.proposals[0].text
        == """/**
 * Load the user.
 *
 * Sends an HTTP request to `id`.
 *
 * @param id - Address of the request.
 * @param signal - Used in `fetch(id, { signal })`.
 * @param deep - If true, `follow` is called. Defaults to `false`.
 * @returns `null` if `id` is `"none"`.
 * @throws {TypeError} If `id` is falsy.
 */"""
    )


def test_go_comments_begin_with_the_name_and_tell_when_an_error_comes(tmp_path):
    answer = whole("godoc for pkg/a.go", {"pkg/a.go": GO}, tmp_path)
    said = {p.symbol: " ".join(p.text.replace("//", "").split()) for p in answer.proposals}
    assert said[""].startswith("Package server ")
    assert said["Server"].startswith("Server holds Addr.")
    assert said["Load"] == (
        "Load loads the file path. It returns an error if path is empty, if os.ReadFile fails, or if parse fails."
    )


def test_javadoc(tmp_path):
    answer = whole("Javadoc for UserService", {"UserService.java": JAVA}, tmp_path)
    find = next(p for p in answer.proposals if p.symbol.endswith("find"))
    assert (
        find.text
        == """    /**
     * Finds {@code name}.
     *
     * @param name passed to {@code db.find}.
     * @param limit passed to {@code db.find}.
     * @return {@code null} if {@code limit} is at most {@code 0}, otherwise
     *     the result of {@code db.find(name, limit)}.
     * @throws IllegalArgumentException if {@code name} is null.
     */"""
    )
    empty = next(p for p in answer.proposals if p.symbol.endswith("isEmpty"))
    assert "@return whether {@code db.count()} is {@code 0}." in empty.text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", "/** Done. */\nexport function f(a) {\n  return g(a);\n}\n"),
        ("a.js", "function inner(a) {\n  return g(a);\n}\n"),
        ("a.go", "package main\n\nfunc Run(a int) {\n\tg(a)\n}\n"),
        ("a.go", "// Package a is.\npackage a\n\nfunc run(a int) {\n\tg(a)\n}\n"),
        ("A.java", "class A {\n    int f(int a) { return g(a); }\n}\n"),
        (
            "A.java",
            "/** Done. */\npublic class A {\n    @Override\n    public int f(int a) { return g(a); }\n}\n",
        ),
    ],
)
def test_what_is_private_or_documented_is_left(path, text, tmp_path):
    answer = whole(f"document {path}", {path: text}, tmp_path)
    assert answer.proposals == ()
    assert answer.skipped


@pytest.mark.parametrize(
    ("path", "text"),
    [("a.ts", TYPESCRIPT), ("a.go", GO), ("UserService.java", JAVA)],
)
def test_nothing_but_comments_is_added_and_a_second_run_is_silent(path, text, tmp_path):
    answer = whole(f"document {path}", {path: text}, tmp_path)
    added = [
        line[1:].strip() for line in answer.patch.split("\n") if line.startswith("+") and line[:3] != "+++"
    ]
    removed = [line for line in answer.patch.split("\n") if line.startswith("-") and line[:3] != "---"]
    assert added
    assert all(not line or line.startswith(("/**", "*", "//")) for line in added)
    assert removed == []
    assert whole(f"document {path}", dict(answer.changes), tmp_path).proposals == ()


def test_comments_in_the_file_may_not_be_closed_by_what_it_says(tmp_path):
    text = 'export function f(a) {\n  if (a === "*/") {\n    throw new Error("*/ x");\n  }\n  return g(a, "*/");\n}\n'
    answer = whole("document a.js", {"a.js": text}, tmp_path)
    assert answer.proposals[0].text.count("*/") == 1


RUST = """#[derive(Debug)]
pub struct Store { items: Vec<u8> }

pub fn load_config(path: &Path, n: usize) -> Result<Vec<u8>, Error> {
    if n == 0 {
        return Err(Error::Empty);
    }
    let data = fs::read(path)?;
    Ok(parse(data))
}

impl Store {
    #[inline]
    pub fn get(&self, key: u8) -> u8 {
        if key > 9 { panic!("big"); }
        self.items[key]
    }
    fn hidden(&self) {}
}

impl Drop for Store {
    fn drop(&mut self) {}
}
"""


def test_rust_comments_have_their_errors_and_panics(tmp_path):
    answer = whole("document src/lib.rs", {"src/lib.rs": RUST}, tmp_path)
    said = {p.symbol: " ".join(p.text.replace("///", "").split()) for p in answer.proposals}
    assert list(said) == ["Store", "load_config", "Store.get"]
    assert said["load_config"] == (
        "Loads the config from the file `path`. Returns the result of `parse`."
        " # Errors If `n` is `0` (`Error::Empty`), or if `fs::read` fails."
    )
    assert "Panics if `key` is greater than `9`." in said["Store.get"]
    assert answer.changes["src/lib.rs"].index("/// Store") < answer.changes["src/lib.rs"].index("#[derive")
    assert document("document src/lib.rs", answer.changes).proposals == ()
