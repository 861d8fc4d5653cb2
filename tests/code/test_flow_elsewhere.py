"""Data is followed one call deep into other files: a line with BAD is reached in the first file, and no other."""

from collections.abc import Mapping

import pytest
from marked_lines import assert_marked

from cli_guard.code.languages import language_for
from cli_guard.code.syntax import Trees
from cli_guard.code.taint.elsewhere import MOST_FILES, Elsewhere
from cli_guard.code.taint.flows import Flow, find_flows
from cli_guard.code.taint.tables import tables_of

REPOSITORIES: Mapping[str, Mapping[str, str]] = {
    "python": {
        "src/app/views.py": """
from flask import request
from app.shell import list_files, count_files, both as twice
from app import shell, store
from .names import name_of, plain
from . import cycle
import app.shell as sh
from lib import list_files as foreign
def view():
    name = request.args["n"]
    list_files(name)  # BAD
    count_files(name)
    twice("x", name)  # BAD
    twice(name, "x")
    shell.list_files(name)  # BAD
    sh.list_files(dir=name)  # BAD
    store.Store().keep(name)  # BAD
    store.keep(name)
    shell.list_files("fixed")
    shell.safe_list(name)
    cycle.start(name)  # BAD
    foreign(name)
def shadowed(list_files):
    list_files(request.args["n"])
def other():
    os.system("ls " + name_of(request))  # BAD
    os.system("ls " + plain(request))
""",
        "src/app/shell.py": """
import os
from app.views import view
def list_files(dir):
    run("ls " + dir)
def run(command):
    os.system(command)
def count_files(dir):
    return len(dir)
def both(first, second):
    os.system("ls " + second)
def safe_list(dir):
    os.system("ls " + shlex.quote(dir))
""",
        "src/app/store.py": """
import os
class Store:
    def keep(self, name):
        os.system("touch " + name)
""",
        "src/app/names.py": """
def name_of(request):
    return request.args["name"]
def plain(request):
    return "plain"
""",
        "src/app/cycle.py": """
import os
from app.views import view
def start(n):
    again(n)
    os.system("ls " + n)
def again(n):
    start(n)
""",
    },
    "typescript": {
        "src/pages.ts": """
import run, { list, count as counted } from './shell';
import * as shell from "./shell.js";
const { list: listed } = require('../lib/old');
import { list as packaged } from 'shell';
app.get('/', (req, res) => {
  run(req.query.n);  // BAD
  list(req.query.n);  // BAD
  counted(req.query.n);
  shell.list(req.query.n);  // BAD
  listed(req.query.n);  // BAD
  packaged(req.query.n);
  list('fixed');
});
""",
        "src/shell.ts": """
import { exec } from 'child_process';
export default function start(name: string) { exec('ls ' + name); }
export const list = (name: string) => { exec('ls ' + name); };
export function count(name: string) { exec('ls ' + Number(name)); }
""",
        "lib/old.js": """
const { exec } = require('child_process');
function list(name) { exec('ls ' + name); }
module.exports = { list };
""",
    },
    "java": {
        "src/main/java/com/shop/web/Page.java": """
package com.shop.web;
import com.shop.db.Shell;
import static com.shop.db.Shell.list;
class Page extends HttpServlet {
  protected void doGet(HttpServletRequest request, HttpServletResponse response) {
    Shell.run(request.getParameter("n")); // BAD
    list(request.getParameter("n")); // BAD
    Helper.run(request.getParameter("n")); // BAD
    Shell.count(request.getParameter("n"));
  }
}
""",
        "src/main/java/com/shop/db/Shell.java": """
package com.shop.db;
public class Shell {
  public static void run(String n) throws Exception { Runtime.getRuntime().exec("ls " + n); }
  public static void list(String n) throws Exception { run(n); }
  public static void count(String n) throws Exception { run("x" + Integer.parseInt(n)); }
}
""",
        "src/main/java/com/shop/web/Helper.java": """
package com.shop.web;
class Helper { static void run(String n) throws Exception { Runtime.getRuntime().exec(n); } }
""",
    },
    "go": {
        "web/page.go": """
package web
import (
	"net/http"
	"example.com/shop/internal/shell"
	other "example.com/other/shell"
)
func page(w http.ResponseWriter, r *http.Request) {
	shell.Run(r.FormValue("n")) // BAD
	list(r.FormValue("n")) // BAD
	other.Run(r.FormValue("n"))
	shell.Count(r.FormValue("n"))
}
""",
        "web/list.go": """
package web
func list(n string) { exec.Command("sh", "-c", "ls " + n).Run() }
""",
        "internal/shell/shell.go": """
package shell
func Run(n string) { exec.Command("sh", "-c", "ls " + n).Run() }
func Count(n string) int { return len(n) }
""",
    },
    "php": {
        "src/Http/Page.php": """<?php
namespace App\\Http;
use App\\Shell\\Runner;
use App\\Shell\\Runner as Other;
use Vendor\\Shell\\Runner as Foreign;
require_once __DIR__ . '/../functions.php';
Runner::run($_GET['n']); // BAD
Other::run($_GET['n']); // BAD
Foreign::run($_GET['n']);
list_files($_GET['n']); // BAD
count_files($_GET['n']);
""",
        "src/Shell/Runner.php": """<?php
namespace App\\Shell;
class Runner { public static function run($n) { system("ls " . $n); } }
""",
        "src/functions.php": """<?php
function list_files($n) { system("ls " . $n); }
function count_files($n) { system("head -n " . (int) $n); }
""",
    },
    "ruby": {
        "app/controllers/pages_controller.rb": """
require_relative "../../lib/shell"
class PagesController < ApplicationController
  def show
    FileLister.run(params[:n]) # BAD
    list_files(params[:n]) # BAD
    FileLister.count(params[:n])
  end
end
""",
        "app/services/file_lister.rb": """
class FileLister
  def self.run(name)
    system("ls #{name}")
  end
  def self.count(name)
    system("head -n #{name.to_i}")
  end
end
""",
        "lib/shell.rb": """
def list_files(name)
  system("ls #{name}")
end
""",
    },
}


def flows_of(
    files: Mapping[str, str], *, listed: bool, unbounded: frozenset[str] = frozenset()
) -> tuple[Elsewhere, list[Flow]]:
    path, text = next(iter(files.items()))
    language = language_for(path) or ""
    tables = tables_of(language)
    assert tables is not None
    changed = frozenset(files if listed else [path])
    elsewhere = Elsewhere(path, language, text, changed, files.get, unbounded=unbounded)
    root = Trees().root(language, text)
    return elsewhere, find_flows(root, language, text, tables, elsewhere)


def test_few_files_are_read() -> None:
    names = [f"part{number}" for number in range(3 * MOST_FILES)]
    imports = "".join(f"from app.{name} import run as {name}\n" for name in names)
    calls = "".join(f"{name}(request.args['n'])\n" for name in names)
    helper = "import os\ndef run(n):\n    os.system(n)\n"
    files = {"app/views.py": f"from flask import request\n{imports}{calls}"}
    files |= {f"app/{name}.py": helper for name in names}
    elsewhere, found = flows_of(files, listed=True)
    assert len(found) == MOST_FILES
    assert elsewhere.was_asked
    # What is read for one state of a file is read for the other, too.
    more = frozenset(f"app/{name}.py" for name in names[-2:])
    assert len(flows_of(files, listed=True, unbounded=more)[1]) == MOST_FILES + 2


@pytest.mark.parametrize(
    "statement",
    [
        "from .........etc import passwd as run",
        "import run from '../../../../etc/passwd'",
        "const run = require('./..//../x')",
        "from os import system as run",
        "import run from 'run'",
    ],
)
def test_nothing_outside_the_repository_is_asked_for(statement: str) -> None:
    asked: list[str] = []
    path = "app/views.py" if statement.startswith("from") else "app/views.ts"
    language = language_for(path) or ""
    elsewhere = Elsewhere(path, language, statement, frozenset(), asked.append)
    for place, _ in elsewhere.places_of("run"):
        elsewhere.read(place, anywhere=True)
    assert not [each for each in asked if each.startswith(("/", ".")) or "/../" in each]


@pytest.mark.parametrize("language", REPOSITORIES)
def test_a_call_leads_into_other_files_of_the_change(language: str) -> None:
    files = REPOSITORIES[language]
    _, found = flows_of(files, listed=True)
    text = next(iter(files.values()))
    assert_marked(text, found)
    lines = text.split("\n")
    assert all(" in " in flow.name for flow in found if "list" in lines[flow.line - 1])
