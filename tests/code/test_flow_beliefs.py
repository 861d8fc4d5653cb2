"""A helper is believed for what its body does, not for its name: a line with BAD is reached, and no other."""

import pytest
from marked_lines import assert_marked, flows_in_program

PROGRAMS = {
    "python": r"""
import os, re, subprocess
from flask import request, redirect
from urllib.parse import urlparse
def is_safe_name(name):
    if not name:
        return False
    return re.fullmatch(r"[a-z]+", name) is not None
def is_valid_name(name):
    return len(name) < 40
def is_allowed(name):
    return True
def is_known(name):
    found = [each for each in NAMES if each == name]
    return bool(found)
def is_trusted(name):
    return is_trusted(name)
def is_permitted(name):
    return library.is_permitted(name)
def validate_url(url):
    return url.startswith("http")
def is_allowed_url(url):
    host = urlparse(url).hostname
    if host in HOSTS:
        return True
    return False
def is_within(base, path):
    full = os.path.realpath(path)
    return full.startswith(base)
def checks():
    name = request.args["n"]
    if is_safe_name(name):
        os.system("ls " + name)
    if is_valid_name(name):
        os.system("ls " + name)  # BAD
    if is_allowed(name):
        os.system("ls " + name)  # BAD
    if is_known(name):
        os.system("ls " + name)
    if is_trusted(name):
        os.system("ls " + name)  # BAD
    if is_permitted(name):
        os.system("ls " + name)
    if other.is_safe_name_of_library(name):
        os.system("ls " + name)
def urls():
    url = request.args["u"]
    if validate_url(url):
        return redirect(url)  # BAD
    if is_allowed_url(url):
        return redirect(url)
    return None
def files():
    path = request.args["p"]
    if not is_within("/srv/", path):
        return None
    return open(path)
def escape_sql(text):
    if not text:
        return text
    return text.replace("'", "''")
def escape_text(text):
    return text
def escape_upper(text):
    return text.upper()
def escape_some(text):
    if DEBUG:
        return text
    return text.replace("'", "''")
def escape_some_more(text):
    if DEBUG:
        text = text.replace("'", "''")
    return text
def escape_long(text):
    if len(text) < 100:
        return text
    return text.replace("'", "''")
def escape_lines(text):
    return text.replace("\n", " ")
def escape_quick(text):
    if not isinstance(text, str):
        return text
    if "'" in text:
        text = text.replace("'", "''")
    return text
def sanitize(text):
    return "".join(c for c in text if c not in "';")
def quote_again(text):
    return quote_again(text)
def queries(cursor):
    name = request.args["n"]
    cursor.execute("SELECT * FROM t WHERE a = '" + escape_sql(name) + "'")
    cursor.execute("SELECT * FROM t WHERE a = '" + escape_text(name) + "'")  # BAD
    cursor.execute("SELECT * FROM t WHERE a = '" + escape_upper(name) + "'")  # BAD
    cursor.execute("SELECT * FROM t WHERE a = '" + escape_some(name) + "'")  # BAD
    cursor.execute("SELECT * FROM t WHERE a = '" + escape_some_more(name) + "'")  # BAD
    cursor.execute("SELECT * FROM t WHERE a = '" + escape_long(name) + "'")  # BAD
    cursor.execute("SELECT * FROM t WHERE a = '" + escape_lines(name) + "'")  # BAD
    cursor.execute("SELECT * FROM t WHERE a = '" + escape_quick(name) + "'")
    cursor.execute("SELECT * FROM t WHERE a = '" + sanitize(name) + "'")
    cursor.execute("SELECT * FROM t WHERE a = '" + quote_again(name) + "'")
""",
    "javascript": r"""
const ENTITIES = { '<': '&lt;', '&': '&amp;' };
function escapeHtml(s) { return s.replace(/[&<>"']/g, c => ENTITIES[c]); }
function escapeHTML(s) { if (!/[&<>]/.test(s)) { return s; } return s.replace(/</g, '&lt;'); }
function escapeNothing(s) { return s; }
const sanitize = (s) => s.trim();
const escapeXml = (s) => typeof s !== 'string' ? s : s.replaceAll('<', '&lt;');
function isValid(s) { return typeof s === 'string'; }
function isSafe(s) { return /^[a-z]+$/.test(s); }
app.get('/', (req, res) => {
  res.send('<p>' + escapeHtml(req.query.n));
  res.send('<p>' + escapeHTML(req.query.n));
  res.send('<p>' + escapeNothing(req.query.n)); // BAD
  res.send('<p>' + sanitize(req.query.n)); // BAD
  res.send('<p>' + escapeXml(req.query.n));
  if (isValid(req.query.m)) { res.send('<p>' + req.query.m); } // BAD
  if (isSafe(req.query.o)) { res.send('<p>' + req.query.o); }
  const types = ['pdf', 'doc'];
  if (types.indexOf(req.query.t) === -1) { return; }
  res.send('<p>' + req.query.t);
  const page = path.join(base, req.query.p);
  if (!page.startsWith(base)) { throw new Error('outside'); }
  require(page);
});
""",
    "php": r"""<?php
function escape_sql($s) { return str_replace("'", "''", $s); }
function escape_all($s) { return $s; }
function sanitize_html($s) { return htmlspecialchars($s); }
function is_valid_name($s) { return strlen($s) < 10; }
function is_safe($s) { return in_array($s, ['a', 'b'], true); }
mysqli_query($db, "SELECT '" . escape_sql($_GET['n']) . "'");
mysqli_query($db, "SELECT '" . escape_all($_GET['n']) . "'"); // BAD
echo sanitize_html($_GET['n']);
if (is_valid_name($_GET['m'])) { system('ls ' . $_GET['m']); } // BAD
if (is_safe($_GET['o'])) { system('ls ' . $_GET['o']); }
""",
    "java": r"""
class Page extends HttpServlet {
  static String escapeHtml(String s) {
    if (s == null) { return s; }
    StringBuilder out = new StringBuilder();
    for (char c : s.toCharArray()) {
      switch (c) { case '<': out.append("&lt;"); break; case '&': out.append("&amp;"); break; default: out.append(c); }
    }
    return out.toString();
  }
  static String escapeSql(String s) { return s; }
  static boolean isSafe(String s) { return s.matches("[a-z]+"); }
  static boolean isValid(String s) { return s.length() > 3; }
  protected void doGet(HttpServletRequest request, HttpServletResponse response) throws Exception {
    String n = request.getParameter("n");
    response.getWriter().println("<p>" + escapeHtml(n));
    statement.executeQuery("SELECT '" + escapeSql(n) + "'"); // BAD
    if (isSafe(n)) { Runtime.getRuntime().exec("ls " + n); }
    if (isValid(n)) { Runtime.getRuntime().exec("ls " + n); } // BAD
  }
}
""",
}


def test_a_variable_may_be_in_the_condition_that_it_is_told_by() -> None:
    text = "let row = (row && row[key])[name]; if (row) { eval(req.query.x); }"
    assert [flow.kind for flow in flows_in_program("javascript", text)] == ["code"]


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_name_is_believed_for_what_the_body_does(language: str) -> None:
    text = PROGRAMS[language]
    assert_marked(text, flows_in_program(language, text))
