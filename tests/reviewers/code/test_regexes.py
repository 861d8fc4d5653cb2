"""Slow patterns are reported where a change writes them, and stop it where input reaches them."""

from examples import table
from reviewers.docs.before_after import subject_of

from cli_guard.model import Finding, Severity
from cli_guard.reviewers.code import review

SLOW = r"(\w+\s?)*$"
HEAD = "import re\nfrom flask import request\n\n"
HANDLER = f"{HEAD}def show():\n    return re.match(r'^{SLOW}', request.args['name'])\n"
NAMED = f"{HEAD}NAME = re.compile(r'\\s+$')\n\ndef show():\n    return NAME.sub('', request.args['name'])\n"
EXPRESS = "app.get('/', (req, res) => res.send(req.query.name.replace(/\\/+$/, '')));\n"
SPRING = """\
@RestController
class Names {
    @GetMapping("/n")
    String show(@RequestParam String name) {
        return Pattern.compile("^(\\\\w+\\\\s?)*$").matcher(name).matches() ? "y" : "n";
    }
}
"""
RAILS = (
    "class NamesController < ApplicationController\n  def show\n"
    '    render plain: params[:name].gsub(/\\s+$/, "")\n  end\nend\n'
)
ASP = """\
public class NamesController : ControllerBase {
    [HttpGet]
    public bool Show(string name) { return Regex.IsMatch(name, @"^(\\w+\\s?)*$"); }
}
"""
MEDIUM, LOW, HIGH = Severity.MEDIUM, Severity.LOW, Severity.HIGH


def found(before: str | None, after: str, path: str) -> list[Finding]:
    subject = subject_of({} if before is None else {path: before}, {path: after})
    return [each for each in review(subject).findings if each.rule.startswith("code-regex")]


@table(
    ("path", "before", "after", "severities"),
    [
        ("app/views.py", None, HANDLER, [HIGH]),
        ("app/views.py", None, NAMED, [HIGH]),
        ("src/app.js", None, EXPRESS, [HIGH]),
        ("src/Names.java", None, SPRING, [HIGH]),
        ("app/controllers/names_controller.rb", None, RAILS, [HIGH]),
        ("src/Names.cs", None, ASP, [HIGH]),
        # Limited in length, or no input at all.
        ("app/views.py", None, HANDLER.replace("['name']", "['name'][:40]"), []),
        ("app/views.py", None, HANDLER.replace("request.args['name']", "NAME"), [MEDIUM]),
        ("app/views.py", None, NAMED.replace("request.args['name']", "OTHER"), [LOW]),
        # The change did not write it.
        ("app/views.py", HANDLER, HANDLER + "\nX = 1\n", []),
        ("app/views.py", HANDLER, HANDLER.replace("show", "see"), []),
        ("app/views.py", HANDLER, "#\n" + HANDLER.replace("re.match", "re.search"), []),
        ("app/views.py", HANDLER.replace("?)*", ")*"), HANDLER, [HIGH]),
        # Of many that nothing is known to reach, one is shown.
        ("src/names.js", None, "a.replace(/a+$/, b);\nb.replace(/b+$/, c);\n", [LOW]),
        # As slow before, in another spelling; and with one that was not.
        ("src/names.js", "a.replace(/a+$/, b);\n", "a.replace(/a+(?:$|b)/, b);\n", []),
        ("src/names.js", "a.replace(/^a+$/, b);\n", "a.replace(/a+$/, b);\n", [LOW]),
        # Tests and examples; patterns that are put together, or read by an engine of linear time.
        ("tests/test_views.py", None, HANDLER, []),
        ("lib/names.rb", None, "X = /(#{word}+)+$/\n", []),
        ("main.go", None, 'package a\nvar x = regexp.MustCompile("(a+)+$")\n', []),
        ("app/x.py", None, "import re\nX = re.compile('(a+)' + more + '+$')\n", []),
        ("app/x.py", None, "import re\nX = re.compile('(a+)'\n    '+$')\n", [MEDIUM]),
    ],
)
def test_a_slow_pattern_is_reported(
    path: str, before: str | None, after: str, severities: list[Severity]
) -> None:
    assert [each.severity for each in found(before, after, path)] == severities


def test_a_finding_shows_a_text_and_no_control_character() -> None:
    (finding,) = found(None, 'import re\nX = re.compile("^(\\\\x1b+)+$")\n', "app/x.py")
    assert "'\\x1b' many times" in finding.message
    assert finding.message.isprintable()


def test_patterns_beyond_the_bound_are_said() -> None:
    text = "".join(f"let a{n} = /x{n}+$/;\n" for n in range(60))
    report = review(subject_of({}, {"src/a.js": text}))
    assert any("regular expressions not judged" in each.reason for each in report.skipped)
