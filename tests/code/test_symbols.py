"""The functions and classes of each language: names, lines, parameters, results, what is public and documented."""

from examples import table

from cli_guard.code.symbols import LANGUAGES, Symbol, symbols_of
from cli_guard.code.syntax import Trees

PYTHON = '''\
import os
@app.route("/a")
async def view(request, /, size: int = 3, *rest, flag, **more) -> str:
    """Show it."""
    return ""

class Store(Base):
    """Keeps."""
    def __init__(self, path): ...
    @property
    def size(self) -> int:
        def inner(a): return a
        return 1
    @staticmethod
    def make(a, b=1): ...
    def _hidden(self): ...
    def __eq__(self, other): ...
'''
JAVASCRIPT = """\
/** Adds. */
export function add(a, b = 1, ...rest) { return a }
function local({x}, [y]) {}
export const twice = async (n) => n * 2;
export default class Shop extends Base {
  #secret() {}
  constructor(a) { super() }
  sell(item) { return item }
  static open() {}
  get size() { return 1 }
}
"""
TYPESCRIPT = """\
export interface Shape { area(): number }
export type Id = string | number;
export function f(a: string, b?: number): Promise<void> { return g() }
abstract class A { private x(): void {} public y(z: T): T { return z } }
"""
GO = """\
package a
// Add adds.
func Add(a, b int, rest ...string) (int, error) { return 0, nil }
func (s *Store) Save(name string) error { return nil }
func hidden() {}
// Store keeps.
type Store struct { Name string }
type Reader interface { Read() }
"""
JAVA = """\
/** A shop. */
public class Shop {
  /** Sells. */
  public int sell(String name, int... more) { return 1; }
  private void hide() {}
  @Override public String toString() { return ""; }
  Shop(int a) {}
  public interface Door { void open(); }
}
"""
RUST = """\
/// Adds.
pub fn add(a: i32, b: &str) -> i32 { 0 }
fn hidden() {}
pub struct Store { name: String }
impl Store {
    /// Saves.
    pub fn save(&mut self, name: &str) -> Result<(), E> { Ok(()) }
}
pub trait Door { fn open(&self); }
pub enum Kind { A }
"""
# Each symbol with its lines, and what a caller writes: `?` may be left out, `!` is given by its name.
OUTLINES = {
    "python": (
        PYTHON,
        """
        function view 3-5 (request size:int? *rest? flag! **more?!) str
        class Store 7-17 ()
        method Store.__init__ 9-9 (path)
        method Store.size 11-13 () int
        function Store.size.inner 12-12 (a)
        method Store.make 15-15 (a b?)
        method Store._hidden 16-16 ()
        method Store.__eq__ 17-17 (other)
        """,
    ),
    "javascript": (
        JAVASCRIPT,
        """
        function add 2-2 (a b? *rest?)
        function local 3-3 ( )
        function twice 4-4 (n)
        class Shop 5-11 ()
        method Shop.#secret 6-6 ()
        method Shop.constructor 7-7 (a)
        method Shop.sell 8-8 (item)
        method Shop.open 9-9 ()
        method Shop.size 10-10 ()
        """,
    ),
    "typescript": (
        TYPESCRIPT,
        """
        function f 3-3 (a:string b:number?) Promise<void>
        class A 4-4 ()
        method A.x 4-4 () void
        method A.y 4-4 (z:T) T
        """,
    ),
    "go": (
        GO,
        """
        function Add 3-3 (a:int b:int *rest:string?) (int, error)
        method Store.Save 4-4 (name:string) error
        function hidden 5-5 ()
        class Store 7-7 ()
        class Reader 8-8 ()
        """,
    ),
    "java": (
        JAVA,
        """
        class Shop 2-9 ()
        method Shop.sell 4-4 (name:String *more:int?) int
        method Shop.hide 5-5 () void
        method Shop.toString 6-6 () String
        method Shop.Shop 7-7 (a:int)
        class Shop.Door 8-8 ()
        method Shop.Door.open 8-8 () void
        """,
    ),
    "rust": (
        RUST,
        """
        function add 2-2 (a:i32 b:&str) i32
        function hidden 3-3 ()
        class Store 4-4 ()
        method Store.save 7-7 (name:&str) Result<(), E>
        class Door 9-9 ()
        method Door.open 9-9 ()
        class Kind 10-10 ()
        """,
    ),
}
PUBLIC = {
    "python": "view Store Store.size Store.size.inner Store.make",
    "javascript": "add twice Shop Shop.constructor Shop.sell Shop.open Shop.size",
    "typescript": "f",
    "go": "Add Store.Save Store Reader",
    "java": "Shop Shop.sell Shop.toString Shop.Door Shop.Door.open",
    "rust": "add Store Store.save Door Door.open Kind",
}
DOCUMENTED = {
    "python": {"view": '"""Show it."""', "Store": '"""Keeps."""'},
    "javascript": {"add": "/** Adds. */"},
    "typescript": {},
    "go": {"Add": "// Add adds.", "Store": "// Store keeps."},
    "java": {"Shop": "/** A shop. */", "Shop.sell": "/** Sells. */"},
    "rust": {"add": "/// Adds.", "Store.save": "/// Saves."},
}


def outline(symbol: Symbol) -> str:
    parameters = (
        each.star
        + each.name
        + (f":{each.annotation}" if each.annotation else "")
        + "?" * each.optional
        + "!" * each.keyword_only
        for each in symbol.parameters
    )
    head = f"{symbol.kind} {symbol.qualname} {symbol.line}-{symbol.end_line}"
    return f"{head} ({' '.join(parameters)}) {symbol.returns}".rstrip()


def read(language: str) -> tuple[Symbol, ...]:
    return symbols_of(Trees(), language, OUTLINES[language][0])


@table("language", OUTLINES)
def test_every_symbol_has_its_lines_parameters_and_result(language: str) -> None:
    expected = [line.strip() for line in OUTLINES[language][1].strip().splitlines()]
    assert [outline(symbol) for symbol in read(language)] == expected


@table("language", OUTLINES)
def test_what_is_public(language: str) -> None:
    assert [each.qualname for each in read(language) if each.public] == PUBLIC[
        language
    ].split()


@table("language", OUTLINES)
def test_documentation_is_that_of_its_symbol(language: str) -> None:
    found = {each.qualname: each.doc.text for each in read(language) if each.doc}
    assert found == DOCUMENTED[language]


@table(
    ("language", "name", "reason"),
    [
        ("python", "Store.__init__", "known by its name"),
        ("python", "Store.size", "may override"),
        ("python", "Store.size.inner", "nested"),
        ("python", "Store.make", "trivial"),
        ("python", "view", ""),
        ("javascript", "Shop.constructor", "known by its name"),
        ("javascript", "Shop.sell", "may override"),
        ("java", "Shop.toString", "override"),
        ("java", "Shop.Door.open", ""),
        ("rust", "add", ""),
    ],
)
def test_why_no_documentation_is_expected(language: str, name: str, reason: str) -> None:
    assert {each.qualname: each.quiet for each in read(language)}[name] == reason


@table(
    ("language", "text", "reason"),
    [
        (
            "python",
            "class A(a.Base[T]):\n    def f(self):\n        x()\n        y()\n",
            "may override",
        ),
        (
            "python",
            "class A(make()):\n    def f(self):\n        x()\n        y()\n",
            "may override",
        ),
        (
            "python",
            "class A(Exception, metaclass=M):\n    def f(self):\n        x()\n        y()\n",
            "",
        ),
        ("python", "def f():\n    # later\n    x()\n", "trivial"),
        ("python", "def f():\n    x(\n    )\n", ""),
        ("python", "def f():\n    x()\n    y()\n", ""),
        ("javascript", "function f() { g() }\n", "trivial"),
        ("javascript", "function f() { g(); h() }\n", ""),
        ("javascript", "// Says it.\nfunction f() { g(); h() }\n", "commented"),
        ("javascript", "// eslint-disable-next-line\nfunction f() { g(); h() }\n", ""),
        ("javascript", "const f = () => g()\n", "trivial"),
        ("javascript", "const f = () =>\n  g(\n  )\n", ""),
        ("javascript", "class A { f() { g(); h() } }\n", ""),
        ("javascript", "class A { get f() { g(); h() } }\n", "known by its name"),
        (
            "typescript",
            "export function f(a: string): void\nexport function f(a: any) { g(); h() }\n",
            "overload",
        ),
        ("java", "class A { void f() { g(); h(); } }\n", ""),
        ("java", "class A {\n  // Says it.\n  void f() { g(); h(); }\n}\n", "commented"),
        ("java", "class A { @Test void f() { g(); h(); } }\n", "called by a framework"),
        ("java", "class A { int f() { return 1; } }\n", "trivial"),
        ("rust", "fn g() { fn f() {} }\n", "nested"),
        ("rust", "impl A for B { fn f() {} }\n", "override"),
        ("rust", "impl B<T> { fn f() {} }\n", ""),
        ("rust", "#[test]\nfn f() {}\n", "called by a framework"),
    ],
)
def test_what_the_body_and_its_surroundings_say_of_documentation(
    language: str, text: str, reason: str
) -> None:
    found = {each.name: each.quiet for each in symbols_of(Trees(), language, text)}
    assert found["f"] == reason


@table(
    ("language", "text", "lines"),
    [
        ("javascript", "/** A. */\nfunction f() {}\n", (1, 1)),
        ("javascript", "/** A. */\n\nfunction f() {}\n", None),
        ("javascript", "x(); /** A. */\nfunction f() {}\n", None),
        ("javascript", "/* A. */\nfunction f() {}\n", None),
        ("go", "package a\n// A.\n// B.\nfunc f() {}\n", (2, 3)),
        ("go", "package a\n// A.\n\n// B.\nfunc f() {}\n", (4, 4)),
        ("go", "package a\nvar x = 1 // A.\n// B.\nfunc f() {}\n", (3, 3)),
        ("rust", "/// A.\n#[inline]\n/// B.\nfn f() {}\n", (1, 3)),
        ("rust", "/// A.\n\nfn f() {}\n", None),
        ("rust", "// A.\nfn f() {}\n", None),
        ("java", "class A {\n  /** A. */\n  @Deprecated\n  void f() {}\n}\n", (2, 2)),
        ("python", 'def f():\n    # A.\n    """B."""\n', (3, 3)),
        ("python", 'def f():\n    x = "A."\n', None),
    ],
)
def test_which_comment_is_the_documentation(
    language: str, text: str, lines: tuple[int, int] | None
) -> None:
    [symbol] = [each for each in symbols_of(Trees(), language, text) if each.name == "f"]
    assert (symbol.doc and (symbol.doc.line, symbol.doc.end_line)) == lines


def test_decorators_belong_to_the_symbol_and_are_named_without_arguments() -> None:
    found = {
        each.qualname: (each.decorators, each.top, each.line) for each in read("python")
    }
    assert found["view"] == (("app.route",), 2, 3)
    assert found["Store.size"] == (("property",), 10, 11)
    assert found["Store.make"] == (("staticmethod",), 14, 15)
    assert {each.name: each.decorators for each in read("java")}["toString"] == (
        "Override",
    )


def test_every_language_is_in_these_tables_or_shares_an_extractor() -> None:
    assert {*OUTLINES, "tsx"} == LANGUAGES


@table(
    ("language", "text"),
    [
        ("python", ""),
        ("python", "def f(:\n"),
        ("python", "class"),
        ("javascript", "function ("),
        ("typescript", "export {"),
        ("go", "func"),
        ("java", "class {"),
        ("rust", "fn ("),
    ],
)
def test_a_broken_text_ends_in_symbols_and_in_no_error(language: str, text: str) -> None:
    assert all(each.line <= each.end_line for each in symbols_of(Trees(), language, text))
