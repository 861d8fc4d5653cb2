"""JavaScript, TypeScript, Go and Java: the comment that their own tools read."""

from assistant.documenting.checks import fill_nothing, whole
from examples import table

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
 * TODO: describe.
 *
 * @param id - TODO: describe.
 * @param signal - TODO: describe.
 * @param deep - TODO: describe.
 * @returns TODO: describe.
 * @throws {TypeError} TODO: describe.
 */"""
    )


@table(
    ("text", "tags"),
    [
        ("export const f = (a) => g(a);\n", ["@param a - ", "@returns "]),
        ("export const f = (a) => {\n  g(a);\n};\n", ["@param a - "]),
        ("export function f({ a }, ...rest) {\n  g(a);\n}\n", ["@param rest - "]),
        ("export function* f(a) {\n  yield a;\n}\n", ["@param a - ", "@yields "]),
        ("export function f() {\n  g(() => { throw new A(); });\n}\n", []),
        ("export function f() {\n  try { throw new A(); } catch { g(); }\n}\n", []),
        ("export function f() {\n  throw new errors.A();\n}\n", ["@throws {errors.A} "]),
    ],
)
def test_the_tags_are_those_of_the_signature_and_the_code(text, tags, tmp_path):
    answer = whole("document a.js", {"a.js": text}, tmp_path)
    said = [
        line.lstrip("/* ") for line in answer.proposals[0].text.split("\n") if "@" in line
    ]
    assert said == [f"{tag}TODO: describe." for tag in tags]


def test_go_comments_begin_with_the_name(tmp_path):
    answer = whole("godoc for pkg/a.go", {"pkg/a.go": GO}, tmp_path)
    assert {p.symbol: p.text for p in answer.proposals} == {
        "Server": "// Server TODO: describe.",
        "Load": "// Load TODO: describe.",
    }


def test_javadoc(tmp_path):
    answer = whole("Javadoc for UserService", {"UserService.java": JAVA}, tmp_path)
    find = next(p for p in answer.proposals if p.symbol.endswith("find"))
    assert (
        find.text
        == """    /**
     * TODO: describe.
     *
     * @param name TODO: describe.
     * @param limit TODO: describe.
     * @return TODO: describe.
     * @throws IllegalArgumentException TODO: describe.
     */"""
    )


@table(
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


@table(
    ("path", "text"),
    [("a.ts", TYPESCRIPT), ("a.go", GO), ("UserService.java", JAVA)],
)
def test_nothing_but_comments_is_added_and_a_second_run_is_silent(path, text, tmp_path):
    answer = whole(f"document {path}", {path: text}, tmp_path)
    added = [
        line[1:].strip()
        for line in answer.patch.split("\n")
        if line.startswith("+") and line[:3] != "+++"
    ]
    removed = [
        line
        for line in answer.patch.split("\n")
        if line.startswith("-") and line[:3] != "---"
    ]
    assert added
    assert all(not line or line.startswith(("/**", "*", "//")) for line in added)
    assert removed == []
    assert whole(f"document {path}", dict(answer.changes), tmp_path).proposals == ()


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


def test_rust_comments_have_a_section_for_errors_where_the_signature_has_them(tmp_path):
    answer = whole("document src/lib.rs", {"src/lib.rs": RUST}, tmp_path)
    assert {p.symbol: p.text for p in answer.proposals} == {
        "Store": "/// TODO: describe.",
        "load_config": "/// TODO: describe.\n///\n/// # Errors\n///\n/// TODO: describe.",
        "Store.get": "    /// TODO: describe.",
    }
    assert answer.changes["src/lib.rs"].index("/// TODO") < answer.changes[
        "src/lib.rs"
    ].index("#[derive")
    assert fill_nothing("document src/lib.rs", answer.changes).proposals == ()
