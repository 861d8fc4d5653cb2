"""Data is followed through every language: a line with BAD is reached, and no other."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.code.syntax import Trees
from cli_guard.code.taint import flows, tree_reader
from cli_guard.code.taint.flows import Flow, TooBigError, find_flows
from cli_guard.code.taint.needs import NeededWords, has_needed, needs_of
from cli_guard.code.taint.tables import NAMES, Tables, compile_entry, tables_of
from cli_guard.words import words_in

SOURCE = r"(.*\.)?input(\..*)?|_GET"
ENTRIES: Sequence[tuple[str, dict[str, object]]] = (
    ("source", {"reads": SOURCE, "what": "input"}),
    ("source", {"call": r"(.*\.)?fill", "into": 0, "what": "input"}),
    ("source", {"handlers": r"@Route|on_message\(", "unless": "int", "what": "input"}),
    ("sink", {"kind": "command", "call": r"(.*\.)?(?:shell|subshell)|eval"}),
    ("sink", {"kind": "sql", "call": r"(.*\.)?query", "arguments": [0, "text"]}),
    ("sink", {"kind": "path", "call": r"(.*\.)?openFile"}),
    ("sink", {"kind": "redirect", "call": r"(.*\.)?redirect"}),
    ("sink", {"kind": "html", "assign": r"(.*\.)?innerHTML"}),
    ("sink", {"kind": "log-secret", "call": r"(.*\.)?log"}),
    ("source", {"reads": r"(.*\.)?password", "what": "a secret", "secret": True}),
    ("sanitizer", {"call": r"(.*\.)?quote", "kinds": ["command"]}),
    ("sanitizer", {"call": r"(.*\.)?realpath", "kinds": ["resolved"]}),
    ("guard", {"condition": r"is_mine\({x}\)", "kinds": ["all"]}),
    ("step", {"call": "copy_text", "into": 0}),
)


def tables() -> Tables:
    return Tables(tuple(compile_entry(section, data) for section, data in ENTRIES))


def flows_in(language: str, text: str) -> list[Flow]:
    return find_flows(Trees().root(language, text), language, text, tables())


PROGRAMS = {
    "python": """
import lib as l
from lib import shell as sh
ALLOWED = {"a", "b"}

class Report:
    start = "select "

    def __init__(self, name):
        self.name = name
        self.other = "x"

    def run(self):
        query(f"{self.start} {self.name}")  # BAD
        query(self.start + self.other)

def a(conn):
    x = input["a"]
    sh("ls " + x)  # BAD
    sh("ls {}".format(x))  # BAD
    sh("ls %s" % x)  # BAD
    sh(quote(x))
    sh(str(int(x)))
    query(quote(x))  # BAD
    conn.query("select ?", [x])
    conn.query(text=x)  # BAD
    y, (z, *rest) = x.split(",")
    sh(z)  # BAD
    if x not in ALLOWED:
        return None
    sh(x)
    Report(input["b"]).run()

def b():
    x = input["c"]
    if x in ALLOWED and len(x) > 2:
        sh(x)
    else:
        sh(x)  # BAD
    parts = [item.strip() for item in x if item]
    sh(" ".join(parts))  # BAD
    with openFile("x") as file:
        file.write(x)
    try:
        n = int(x)
    except ValueError:
        n = x
    sh(n)  # BAD
    while x:
        x = step(x)
    helper("fixed")
    helper(input["d"])
    sh(choose(x))
    if not is_mine(x):
        raise SystemExit
    sh(x)

def helper(value):
    sh(value)  # BAD

def choose(value):
    return {"a": "b"}.get(value, "c")

def check(value):
    if value != "a":
        raise ValueError(value)

def c(flag):
    x = input["e"]
    check(x)
    sh(x)
    p = openFile(realpath(input["f"]))  # BAD
    q = realpath(input["g"])
    if not q.startswith("/srv/"):
        return
    openFile(q)
    t = input["h"]
    redirect("/users/" + t)
    redirect(t)  # BAD
    if t.startswith("/") and not t.startswith("//"):
        redirect(t)
    v = "a" if flag else input["i"]
    sh(v)  # BAD
    match input["j"]:
        case "one" | "two":
            sh(input["j"])
        case other:
            sh(other)  # BAD
    def inner():
        sh(t)  # BAD
    u = input["k"]
    if re.fullmatch("a.*", u):
        sh(u)  # BAD
    if re.fullmatch("[a-z]+", u):
        sh(u)
    log(password)  # BAD
    log(t)
    sh(password)

@Route("/x")
def handler(name, number: int):
    sh(name)  # BAD
    sh(number)

sh(input["z"])  # BAD
""",
    "typescript": """
import { shell as sh } from 'lib';
const ALLOWED = new Set(['a']);
class Repo {
  constructor(private readonly db: Db) {}
  private sort = 'id';
  list(id: string) { return this.db.query(`select ${id}`); }  // BAD
  setSort(s: string) { this.sort = s; }
  sorted() { return this.db.query('x ' + this.sort); }  // BAD
}
async function go(flag: boolean) {
  const { name, id: key = 'x', ...rest } = input.body;
  sh(`ls ${name}`);  // BAD
  sh('ls ' + key);  // BAD
  sh(rest.more);  // BAD
  const r = new Repo(db);
  await r.list(name);
  r.setSort(input.sort);
  if (!ALLOWED.has(name)) { throw new Error('x'); }
  sh(name);
  sh([key, 'b'].map((v) => v.trim()).join(' '));  // BAD
  sh(Number(key));
  const q = flag ? key : 'fixed';
  sh(q!);  // BAD
  el.innerHTML = '<b>' + key;  // BAD
  const ok = ALLOWED.has(key);
  if (ok) { sh(key); }
  switch (input.k) { case 'a': sh(input.k); break; default: sh(input.k);  // BAD
  }
  redirect(`https://example.org/${key}`);
  redirect(`https://${key}/x`);  // BAD
  on_message((message) => {
    sh(message);  // BAD
  });
  const run = (v: string) => sh(v);  // BAD
  run(input.v);
  if (/^[a-z]+$/.test(input.w)) { sh(input.w); }
  if (/[a-z]+/.test(input.y)) { sh(input.y); }  // BAD
  const o: Record<string, string> = {};
  o.a = input.a; o.b = 'fixed';
  sh(o.a);  // BAD
  sh(o.b);
  query({ text: input.t, values: [1] });  // BAD
  query({ text: 'x', values: [input.t] });
}
""",
    "go": """
package a

import run "lib/shell"

type Store struct{ name string }

func (s *Store) Find(id string) { s.db.query("select " + id) } // BAD

func (s *Store) Own() { shell(s.name) } // BAD

func (s *Store) quoted(x string) string { return quote(x) }

func (s *Store) Other() { shell(s.quoted(input.Get("c"))) }

func a(r *Request) (string, error) {
	x := input.Get("a")
	shell(fmt.Sprintf("ls %s", x)) // BAD
	s := &Store{}
	s.Find(x)
	s.name = x
	n, err := strconv.Atoi(x)
	if err != nil {
		return "", err
	}
	shell(fmt.Sprint(n))
	if _, ok := allowed[x]; !ok {
		return "", nil
	}
	shell(x)
	y := input.Get("b")
	for _, part := range strings.Split(y, ",") {
		shell(part) // BAD
	}
	switch y {
	case "a", "b":
		shell(y)
	default:
		shell(y) // BAD
	}
	go func(z string) { shell(z) }(y) // BAD
	var b Body
	fill(&b)
	shell(b.Name) // BAD
	if !slices.Contains(names, y) {
		log("x")
	}
	shell(y) // BAD
	if !strings.HasPrefix(realpath(y), root) {
		return "", nil
	}
	return y, nil
}
""",
    "java": """
class A {
  private String name;
  private static final Set<String> ALLOWED = Set.of("a");
  void a(Request req) throws Exception {
    String x = input.get("a");
    shell("ls " + x); // BAD
    this.name = x;
    StringBuilder sb = new StringBuilder("ls ");
    sb.append(x).append(" -l");
    shell(sb.toString()); // BAD
    if (!ALLOWED.contains(x)) { return; }
    shell(x);
    String y = input.get("b");
    int n = Integer.parseInt(y);
    shell(n);
    for (String part : y.split(",")) { shell(part); } // BAD
    List.of(y).stream().map(v -> v.trim()).forEach(v -> shell(v)); // BAD
    switch (y) { case "a" -> shell(y); default -> shell(y); } // BAD
    helper(y);
  }
  private void helper(String v) { shell(String.format("x %s", v)); } // BAD
  void b() { shell(name); } // BAD
  @Route("/x")
  void c(String v, int n) { shell(v); } // BAD
  void d() {
    String v = input.get("c");
    if ("a".equals(v)) { shell(v); }
    try { check(v); } catch (Exception e) { shell(v); } // BAD
  }
}
""",
    "kotlin": """
class A(private val db: Db) {
  private var name = ""
  fun a(flag: Boolean): String? {
    val x = input["a"] ?: return null
    shell("ls $x and ${x.y}") // BAD
    name = x
    if (x !in ALLOWED) return null
    shell(x)
    val y = input["b"].trim()
    shell(y.toInt())
    val z = if (flag) y else "fixed"
    shell(z) // BAD
    when (y) {
      "a", "b" -> shell(y)
      else -> shell(y) // BAD
    }
    y.split(",").forEach { shell(it) } // BAD
    helper(v = y)
    val w = input["c"]
    shell(w) // BAD
    require(w in ALLOWED)
    shell(w)
    return y
  }
  fun helper(v: String) = shell("x " + v) // BAD
  fun b() { shell(name) } // BAD
}
""",
    "csharp": """
class A {
  private string name;
  public async Task<string> Go(Request r) {
    var x = input["a"];
    shell($"ls {x}"); // BAD
    this.name = x;
    if (!Allowed.Contains(x)) return null;
    shell(x);
    var y = await input.Read();
    shell(int.Parse(y));
    foreach (var part in y.Split(',')) { shell(part); } // BAD
    var z = y ?? "fixed";
    shell(z); // BAD
    switch (y) { case "a": shell(y); break; default: shell(y); break; } // BAD
    Helper(y);
    return y;
  }
  private void Helper(string v) => shell("x " + v); // BAD
  void B() { shell(name); } // BAD
}
""",
    "php": """<?php
class A {
  private $name;
  public function a($flag) {
    $x = $_GET['a'];
    shell("ls $x {$x}"); // BAD
    $this->name = $x;
    $q = 'select ';
    $q .= $x;
    $this->db->query($q); // BAD
    if (!in_array($x, ['a', 'b'], true)) { return; }
    shell($x);
    $y = $_GET['b'];
    shell((int) $y);
    foreach ($y as $k => $v) { shell($v); } // BAD
    [$m, $n] = explode(',', $y);
    shell($n); // BAD
    self::helper($y);
    $fn = function ($p) use ($y) { return shell($y); }; // BAD
    $z = $flag ? $y : 'fixed';
    `ls $z`; // BAD
    shell(quote($z));
  }
  private static function helper(string $v) { shell($v); } // BAD
  function b() { shell($this->name); } // BAD
}
$z = $_GET['c'];
shell($z); // BAD
""",
    "ruby": """
class A
  def a
    x = input[:a]
    shell("ls #{x}") # BAD
    @name = x
    return nil unless ALLOWED.include?(x)
    shell(x)
    y = input[:b]
    shell(y.to_i)
    y.split(",").each do |part|
      shell(part) # BAD
    end
    `ls #{y}` # BAD
    z = y || "fixed"
    shell z # BAD
    case y
    when "a", "b" then shell(y)
    else shell(y) # BAD
    end
    helper(y)
    raise "x" if y !~ /\\A[a-z]+\\z/
    shell(y)
  end

  def helper(value)
    shell("x " + value) # BAD
  end

  def b
    shell(@name) # BAD
  end
end
""",
    "rust": """
use lib::shell as sh;
struct A { name: String }
impl A {
    fn find(&self, id: &str) { query(&format!("select {}", id)); } // BAD
}
fn a() -> Option<()> {
    let x = input.get("a")?;
    sh(&format!("ls {x}")); // BAD
    let A { name, .. } = input.read();
    sh(&name); // BAD
    if !ALLOWED.contains(&x.as_str()) { return None; }
    sh(&x);
    let y: String = input.get("b").unwrap();
    let n: i32 = y.parse().unwrap();
    match y.as_str() {
        "a" | "b" => sh(&y),
        other => sh(other), // BAD
    }
    for part in y.split(',') { sh(part); } // BAD
    let z = if true { y.clone() } else { "fixed".into() };
    sh(&z); // BAD
    let repo = A { name: z };
    repo.find(&y);
    Some(())
}
""",
    "c": """
int a(int argc, char **argv) {
  char buf[100];
  char *x = input("a");
  shell(x); // BAD
  copy_text(buf, x);
  shell(buf); // BAD
  int n = atoi(x);
  run(n);
  if (strcmp(x, "a") == 0) { shell(x); }
  shell(x); // BAD
  char line[10];
  fill(line, 10);
  shell(line); // BAD
  helper(x);
  return 0;
}
""",
    "cpp": """
static void helper(const std::string &v) { shell("x " + v); } // BAD
int a() {
  std::string x = input.get("a");
  shell(x.c_str()); // BAD
  auto y = "ls " + x;
  shell(y); // BAD
  helper(x);
  if (allowed.count(x) == 0) return 1;
  for (const auto &part : split(y)) { shell(part); }
  auto f = [&](int z) { shell(y); };
  return 0;
}
""",
    "swift": """
class A {
  func a() throws {
    let x = input["a"]!
    shell("ls \\(x)") // BAD
    guard allowed.contains(x) else { return }
    shell(x)
    let y = input["b"] ?? "fixed"
    shell(y) // BAD
    for part in y.split(",") { shell(part) } // BAD
    helper(y)
    if let n = Int(y) { shell(n) }
    if let m = input["c"], m != "x" { shell(m) } // BAD
  }
  func helper(_ value: String) { shell("x " + value) } // BAD
}
""",
    "bash": """
name="$input"
eval "$name" # BAD
if [[ "$name" == a ]]; then eval "$name"; fi
[[ $name =~ ^[a-z]+$ ]] || exit 1
eval "$name"
""",
}


@pytest.mark.parametrize("language", PROGRAMS)
def test_each_language_is_followed(language: str) -> None:
    text = PROGRAMS[language]
    expected = {number for number, line in enumerate(text.split("\n"), 1) if "BAD" in line}
    found = {flow.line for flow in flows_in(language, text)}
    lines = text.split("\n")
    assert not [lines[n - 1] for n in sorted(expected - found)], "missed"
    assert not [lines[n - 1] for n in sorted(found - expected)], "false"


def test_a_path_has_five_lines_from_the_source_to_the_sink() -> None:
    lines = (
        "x0 = input['a']\n"
        + "".join(f"x{n + 1} = 'a' + x{n}\n" for n in range(9))
        + "shell(x9)\n"
    )
    (flow,) = flows_in("python", lines)
    assert len(flow.steps) == 5
    assert flow.steps[0] == (1, "x0 = input['a']") and flow.steps[-1] == (11, "shell(x9)")


def test_confidence_falls_with_each_call_that_nobody_knows() -> None:
    known = flows_in("python", "shell(input['a'].strip())\n")[0].guesses
    once = flows_in("python", "shell(blend(input['a']))\n")[0].guesses
    twice = flows_in("python", "shell(blend(stir(input['a'])))\n")[0].guesses
    assert (known, once, twice) == (0, 1, 2)
    assert flows_in("python", "shell(blend(stir(shake(input['a']))))\n") == []


def test_a_program_that_is_too_big_is_said() -> None:
    with pytest.raises(TooBigError):
        flows_in("python", "shell(" + "(" * 150 + "input" + ")" * 150 + ")\n")
    with pytest.raises(TooBigError):
        flows_in("python", "x = input['a']\n" * 25_000)


def test_places_in_a_long_line_count_by_their_column() -> None:
    """The library counts all characters before a node in its line, each time it is asked for its place."""
    long = f"text = '{'x' * 600_000}'"
    assert len(flows_in("python", f"{long}\n{'a = 1; ' * 1_000}shell(input['a'])\n")) == 1
    with pytest.raises(TooBigError):
        flows_in("python", f"{long}; {'a = 1; ' * 1_000}shell(input['a'])\n")


def test_a_line_that_is_far_too_long_is_not_begun() -> None:
    words = "a=1;" * 60_000
    with pytest.raises(TooBigError):
        flows_in("javascript", words)
    assert tree_reader.has_hopeless_line(words)
    assert not tree_reader.has_hopeless_line(words[:80_000])
    assert not tree_reader.has_hopeless_line(words.replace(";", ";\n"))


def test_time_grows_with_the_length() -> None:
    """Counted in steps, which do not depend on the machine."""
    from cli_guard.code.taint.flows import FlowFile

    def steps(count: int) -> int:
        text = "".join(
            f"def f{n}(a, b):\n    x = input['a']\n    if x in b:\n        f{n + 1}(x, a)\n    shell(b)\n"
            for n in range(count)
        )
        file = FlowFile(Trees().root("python", text), "python", text, tables())
        file.flows()
        return file._steps

    assert steps(200) < 2.5 * steps(100)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        (r"(.*\.)?(execute|executemany)", "cursor.executemany(q)", True),
        (r"(.*\.)?(execute|executemany)", "executed, re_execute", False),
        (
            r"flask\.request\.(args|form)(\..*)?",
            "from flask import request\nrequest.form.x",
            True,
        ),
        (
            r"flask\.request\.(args|form)(\..*)?",
            "from flask import request\nrequest.forms",
            False,
        ),
        (r"os\.exec[lv]p?e?", "os.execvpe", True),
        (r"os\.exec[lv]p?e?", "os.run", False),
        (r"(sock|conn)\.recv|(msg|record)\.value", "from s import conn\nconn.recv()", True),
        (r"(sock|conn)\.recv|(msg|record)\.value", "conn.value", False),
        (r"evals?|(run_)?code", "eval(x)", True),
        (r"evals?|(run_)?code", "encoder(x)", False),
        (r"\w*[dD]b\.find", "mydb.find(x)", True),
        (r"(\w*_)?upload(er)?s?\.save", "my_uploaders.save()", True),
        (r"(\w*_)?upload(er)?s?\.save", "upload.store()", False),
        (r"(\.?ab)+c", "ababc", True),
        (r"x|code", "anything", True),
        (r"jsx\.dangerouslySetInnerHTML", "<a dangerouslySetInnerHTML={x}>", True),
        (r"subshell|(.*\.)?system", "anything", True),
        (r"(?i:password)", "anything", True),
    ],
)
def test_a_pattern_needs_words(pattern: str, text: str, fits: bool) -> None:
    needs = needs_of(pattern, is_whole=True)
    assert has_needed(needs, words_in(text)) is fits
    others = needs_of("other_sink", is_whole=True)
    assert NeededWords([others, needs]).fit(words_in(text)) is fits


LANGUAGES = "bash c csharp go java javascript kotlin php python ruby rust swift".split()
PATTERNS = sorted(
    {
        entry.patterns[by].pattern
        for known in map(tables_of, LANGUAGES)
        for entry in (known.entries if known else ())
        for by in NAMES
        if by in entry.patterns
    }
)


@given(st.data())
def test_a_name_that_matches_has_what_its_pattern_needs(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(PATTERNS))
    names = st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True)
    assert has_needed(needs_of(pattern, is_whole=True), words_in(data.draw(names)))


def test_many_branches_among_many_variables_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each branch copies what is known, so the work would grow with the square."""
    monkeypatch.setattr(flows, "MOST_SPENT", 40_000)
    text = "".join(f"v{n} = input['a']\nif c{n}:\n    v{n} = 1\n" for n in range(2_000))
    with pytest.raises(TooBigError):
        flows_in("python", text)
