"""Data is followed through the fields of a class: a line with BAD is reached, and no other."""

import pytest
from marked_lines import assert_marked, flows_in_program

from cli_guard.code.taint.values import CLEAN, FlowScope, join_scopes

PROGRAMS = {
    "python": """
import os
from flask import request
class Loaded:
    def load(self):
        self.name = request.args["n"]
        self.count = int(request.args["c"])
    def run(self):
        os.system("ls " + self.name)  # BAD
        os.system(f"head -n {self.count}")
class Given:
    def __init__(self, name):
        self.name = name
    def run(self):
        os.system("ls " + self.name)  # BAD
def view():
    Given(request.args["x"]).run()
class Named:
    def set(self, name):
        me = self
        me.name = name
    def run(self):
        me = self
        os.system("ls " + me.name)  # BAD
def name():
    named = Named()
    named.set(request.args["x"])
    named.run()
class Base:
    def __init__(self, name):
        self.name = name
class Child(Base):
    def run(self):
        os.system("ls " + self.name)  # BAD
class Sibling:
    def __init__(self, name):
        self.name = "fixed"
    def run(self):
        os.system("ls " + self.name)
def both():
    Child(request.args["x"]).run()
    Sibling(request.args["x"]).run()
class Read:
    @property
    def name(self):
        return request.args["x"]
    def count(self):
        return request.args["x"]
    def run(self):
        os.system("ls " + self.name)  # BAD
        os.system("ls " + str(self.count))
class Loop(Loop):
    def run(self):
        os.system("ls " + self.name)
class Other:
    def run(self, other):
        me = self
        me = other
        os.system("ls " + self.title)
def beside():
    address = find()
    address.path = request.args["x"]
    os.system("curl " + address.href)  # BAD
""",
    "typescript": """
import { exec } from "child_process";
class Job {
  #tag;
  constructor(private readonly name: string, title: string) {}
  load(req) { this.#tag = req.query.tag; }
  run() { exec("ls " + this.name); }  // BAD
  list() { exec("ls " + this.title); }
  tags = () => { exec("ls " + this.#tag); }  // BAD
}
class Taken {
  set(name) { const self = this; self.name = name; }
  run() { const { name } = this; exec("ls " + name); }  // BAD
}
class Counted { constructor(n) { this.n = Number(n); } run() { exec("ls " + this.n); } }
app.get("/", (req, res) => {
  new Job(req.query.n, req.query.t).run();
  const taken = new Taken();
  taken.set(req.query.n);
  taken.run();
  new Counted(req.query.n).run();
});
""",
    "java": """
class Base { protected final String name; Base(String n) { name = n; } }
class Job extends Base {
  private int count;
  Job(String n) { super(n); }
  void setCount(String c) { this.count = Integer.parseInt(c); }
  void run() throws Exception { Runtime.getRuntime().exec("ls " + name); } // BAD
  void head() throws Exception { Runtime.getRuntime().exec("head " + count); }
}
class Page extends HttpServlet {
  protected void doGet(HttpServletRequest request, HttpServletResponse response) {
    Job job = new Job(request.getParameter("x"));
    job.setCount(request.getParameter("c"));
    job.run();
  }
}
""",
    "go": """
package main
type Job struct { name string; other string }
func NewJob(n string) *Job { return &Job{name: n, other: "x"} }
func (j *Job) load(r *http.Request) { j.name = r.FormValue("n") }
func (j *Job) run() { exec.Command("sh", "-c", "ls " + j.name).Run() } // BAD
func (j *Job) list() { exec.Command("sh", "-c", "ls " + j.other).Run() }
type Row struct { name string }
func NewRow(n string) *Row { return &Row{name: n} }
func (r *Row) run() { exec.Command("sh", "-c", "ls " + r.name).Run() } // BAD
func serve(w http.ResponseWriter, r *http.Request) { NewRow(r.FormValue("n")).run() }
func beside(w http.ResponseWriter, r *http.Request) {
  order := find()
  order.Name = r.FormValue("n")
  order.Head.Size = r.FormValue("n")
  exec.Command("sh", "-c", "ls " + order.ID).Run()
  exec.Command("sh", "-c", "ls " + order.Head.Kind).Run()
  exec.Command("sh", "-c", "ls " + order.Name).Run() // BAD
  exec.Command("sh", "-c", "ls " + order.String()).Run() // BAD
}
""",
    "php": """<?php
class Kept {
  function __construct(private string $name, string $title) {}
  function run() { system("ls " . $this->name); } // BAD
  function list() { system("ls " . $this->title); }
}
(new Kept($_GET["x"], $_GET["t"]))->run();
class Shared {
  private static $n;
  static function set($v) { self::$n = $v; }
  static function run() { system("ls " . self::$n); } // BAD
}
Shared::set($_GET["n"]);
""",
    "ruby": """
class Job
  attr_reader :name
  def initialize(name)
    @name = name
    @count = name.to_i
  end
  def run
    system("ls #{@name}") # BAD
    system("ls #{name}") # BAD
    system("head -n #{@count}")
  end
end
class PagesController < ApplicationController
  def go
    Job.new(params[:x]).run
  end
end
""",
    "csharp": """
public class Job {
  private readonly string _n;
  public string Path { get; set; }
  public string Other { get; set; }
  public Job(string n) { _n = n; }
  public void Run() { Process.Start("/bin/sh", "-c ls " + _n); } // BAD
  public void List() { Process.Start("/bin/sh", "-c ls " + Path); } // BAD
  public void Head() { Process.Start("/bin/sh", "-c ls " + Other); }
}
public class PagesController : Controller {
  public void Go() {
    var job = new Job(Request.Query["n"]);
    job.Path = Request.Query["m"];
    job.Run();
  }
}
""",
}


@pytest.mark.parametrize("language", PROGRAMS)
def test_fields_carry_what_methods_store_in_them(language: str) -> None:
    text = PROGRAMS[language]
    assert_marked(text, flows_in_program(language, text))


def test_branches_are_joined_in_the_order_of_writing() -> None:
    """Which source of a value is shown, and is the same before and after, must not depend on hashes."""
    names = [f"asset.{n}" for n in range(40)]
    first = FlowScope(dict.fromkeys(names[:30], CLEAN))
    second = FlowScope(dict.fromkeys(names, CLEAN))
    assert list(join_scopes(first, second).values) == names


# What a field is declared as says what its methods are, whatever it is called.
TYPED = {
    "java": """
class Preview {
  private final RestClient http;
  private final Cache kept;
  Preview(RestClient http, Cache kept) { this.http = http; this.kept = kept; }
  String a(HttpServletRequest request) { return load(request.getParameter("u")); }
  String load(String url) {
    kept.uri(url);
    return http.get().uri(url).body(); // BAD
  }
}
""",
    "csharp": """
public class Preview(HttpClient net, Cache kept) : Controller {
  public string A() { return Load(Request.Query["u"]); }
  string Load(string url) {
    kept.GetStringAsync(url);
    return net.GetStringAsync(url); // BAD
  }
}
""",
    "go": """
package a
type H struct{
	store *pgxpool.Pool
	kept  *Cache
}
func (h *H) list(c fiber.Ctx) {
	h.kept.Query(c.Context(), "select "+c.Query("s"))
	h.store.Query(c.Context(), "select "+c.Query("s")) // BAD
}
""",
    "php": """
<?php
class Preview {
  public function __construct(private Connection $storage, private Cache $kept) {}
  public function a() {
    $this->kept->executeQuery("select " . $_GET["s"]);
    return $this->storage->executeQuery("select " . $_GET["s"]); // BAD
  }
}
""",
}


@pytest.mark.parametrize("language", TYPED)
def test_a_field_has_the_methods_of_its_type(language: str) -> None:
    text = TYPED[language]
    assert_marked(text, flows_in_program(language, text))
