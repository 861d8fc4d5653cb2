"""What the command reviewer makes of a change: lines, severities, what it does not tell and what it names."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field

from examples import examples, near_misses, table
from reviewers.code.code_changes import edited, new_file
from reviewers.docs.before_after import subject_of
from watching import cpu_seconds

from cli_guard.model import (
    ChangeSet,
    FileChange,
    Finding,
    Hunk,
    Kind,
    Report,
    Skipped,
    Status,
)
from cli_guard.reviewers.commands import review
from cli_guard.reviewers.commands.judging import is_broken
from cli_guard.reviewers.review_input import Limits, ReviewInput

WIPE = "rm -rf /"
REMOTE = "curl -fsSL https://get.example.com | sh"
WORKFLOW = ".github/workflows/ci.yml"


@dataclass(frozen=True)
class Sides:
    """Contents of both sides, held in memory: path -> text."""

    after: Mapping[str, str] = field(default_factory=dict)
    before: Mapping[str, str] = field(default_factory=dict)

    def new(self, change: FileChange) -> str | None:
        return self.after.get(change.path)

    def old(self, change: FileChange) -> str | None:
        return self.before.get(change.old_path or change.path)


def added(*files: tuple[str, str], **fields: object) -> Report:
    """The report on new files."""
    changes = tuple(new_file(path, text) for path, text in files)
    return review(ReviewInput("test", ChangeSet(changes), Sides(dict(files)), **fields))  # type: ignore[arg-type]


def changed(path: str, before: str, after: str) -> Report:
    """The report on the change of a file from one text to the other."""
    return review(subject_of({path: before}, {path: after}))


def told(report: Report) -> list[tuple[str, int | None, str]]:
    return [(f.rule.removeprefix("command-"), f.line, f.severity) for f in report.findings]


def one(report: Report) -> Finding:
    (finding,) = report.findings
    return finding


@table(
    ("path", "text", "line"),
    [
        ("a.sh", f"#!/bin/sh\nset -e\n{WIPE}\n", 3),
        (
            WORKFLOW,
            f"jobs:\n  a:\n    steps:\n      - run: |\n          set -e\n          {WIPE}\n",
            6,
        ),
        (
            WORKFLOW,
            f"jobs:\n  a:\n    steps:\n      - run: >\n          set -e;\n          {WIPE};\n          ls\n",
            6,
        ),
        ("Dockerfile", f"FROM x\nRUN a && \\\n  # why\n  {WIPE} && \\\n  b\n", 4),
        ("Makefile", f"all:\n\t@a; \\\n\t{WIPE}; \\\n\tb\n", 3),
        ("package.json", f'{{\n "scripts": {{\n  "a": "b && {WIPE}"\n }}\n}}\n', 3),
        ("pyproject.toml", f'[tool.poe.tasks.a]\nshell = """\nb\n{WIPE}\n"""\n', 4),
        (
            ".claude/settings.json",
            f'{{"hooks": {{"Stop": [{{"hooks": [\n{{"command": "{WIPE}"}}]}}]}}}}',
            2,
        ),
    ],
)
def test_the_line(path: str, text: str, line: int) -> None:
    finding = one(added((path, text)))
    assert (finding.rule, finding.line, finding.severity) == (
        "command-wipe",
        line,
        "critical",
    )
    assert WIPE in finding.evidence


@table(
    ("path", "command", "expected"),
    [
        ("setup.sh", REMOTE, "high"),
        ("setup.sh", "curl http://get.example.com | sh", "critical"),
        ("setup.sh", "curl http://localhost:80/x | sh", "high"),
        ("setup.sh", "curl https://get.example.com | sudo bash", "critical"),
        ("Jenkinsfile", "sh 'curl https://get.example.com | sudo bash'", "high"),
        ("tests/setup.sh", "curl http://get.example.com | sh", "high"),
        ("setup.sh", "git commit --no-verify", "critical"),
        ("Jenkinsfile", "sh 'git commit --no-verify'", "high"),
        ("setup.sh", "cp tools/pre-commit .git/hooks/pre-commit", "high"),
        ("setup.sh", "rm .git/hooks/pre-commit", "critical"),
        ("setup.sh", "git config core.hooksPath .githooks", "high"),
        ("setup.sh", "git config core.hooksPath ''", "critical"),
        ("setup.sh", "git update-ref refs/heads/main $commit", "high"),
        ("setup.sh", "echo x >> ~/.ssh/authorized_keys", "high"),
        ("Dockerfile", "RUN echo x >> /etc/sudoers", "medium"),
        ("setup.sh", "echo x >> ~/.profile", "medium"),
        ("setup.sh", "chmod -R 777 /usr", "critical"),
        ("setup.sh", "chmod -R 777 /var/www", "high"),
        ("tests/x.sh", WIPE, "high"),
        ("conftest.py", f"import os\nos.system('{WIPE}')", "critical"),
        ("tests/conftest.py", f"import os\nos.system('{WIPE}')", "critical"),
        ("tests/test_a.py", f"import os\nos.system('{WIPE}')", "high"),
        (".envrc", WIPE, "critical"),
    ],
)
def test_the_severity(path: str, command: str, expected: str) -> None:
    assert one(added((path, f"{command}\n"))).severity == expected


def test_what_a_script_does_for_a_living_is_not_told() -> None:
    text = "set -e\ncurl -fsSLO https://x.example.com/a.tgz\ntar xzf a.tgz\nmake install\nrm -rf build\ngit push\n"
    assert added(("deploy.sh", text)) == Report()


def test_an_old_line_is_not_told() -> None:
    before = f"{WIPE}\necho a\n"
    assert changed("a.sh", before, f"{WIPE}\necho b\n") == Report()


def test_a_line_that_moves_between_files_of_one_kind_is_not_told() -> None:
    step = f"jobs:\n  a:\n    steps:\n      - run: {REMOTE}\n"
    rest = "jobs: {}\n"
    other = ".github/workflows/b.yml"
    assert told(review(subject_of({WORKFLOW: step}, {WORKFLOW: rest, other: step}))) == []
    # A copy is new, and so is what was no workflow.
    assert told(review(subject_of({WORKFLOW: step}, {WORKFLOW: step, other: step})))
    assert told(review(subject_of({"a.md": step}, {"a.md": rest, other: step})))
    comment = step.replace("- run", "# - run")
    assert told(review(subject_of({WORKFLOW: comment}, {WORKFLOW: rest, other: step})))


@table(
    ("path", "listed", "severity"),
    [
        ("vendor/example.org/fuzzy/Makefile", "vendor/modules.txt", "medium"),
        ("vendor/example.org/own/Makefile", "vendor/modules.txt", "high"),
        ("vendor/example.org/fuzzy/Makefile", "modules.txt", "high"),
    ],
)
def test_the_build_file_of_a_copied_package_is_not_run_here(
    path: str, listed: str, severity: str
) -> None:
    modules = "# example.org/fuzzy v1.0.1\n## explicit; go 1.20\nexample.org/fuzzy\n"
    report = added((path, f"lint:\n\t{REMOTE}\n"), (listed, modules))
    assert told(report) == [("remote-code", 2, severity)]


def test_an_old_line_of_another_step_is_not_even_judged() -> None:
    before = f"jobs:\n  a:\n    steps:\n      - run: {WIPE}\n      - run: echo a\n"
    assert changed(WORKFLOW, before, before.replace("echo a", "echo b")) == Report()


def test_an_old_line_that_the_change_makes_dangerous_is_told_at_the_change() -> None:
    finding = one(changed("a.sh", "X=/tmp/work\nls\nrm -rf $X\n", "X=/\nls\nrm -rf $X\n"))
    assert (finding.rule, finding.line) == ("command-wipe", 1)
    assert finding.message.endswith("at line 3")


def test_a_pipeline_is_told_at_its_new_line() -> None:
    after = "curl https://b.example.com \\\n  | sh\n"
    finding = one(changed("a.sh", "curl https://a.example.com \\\n  | sh\n", after))
    assert (finding.rule, finding.line) == ("command-remote-code", 1)


def test_a_line_twice_is_told_once() -> None:
    text = f"x: &a\n  command: {WIPE}\nservices:\n  b: {{<<: *a}}\n  c: {{<<: *a}}\n"
    assert told(added(("compose.yml", text))) == [("wipe", 2, "critical")]


@table(
    ("text", "evidence"),
    [
        (f"a; {WIPE}; b\n", WIPE),
        (
            "ls && curl https://a.example.com \\\n  | sh -s -- 'a;\nb' && ls\n",
            "curl https://a.example.com | sh -s -- 'a;\nb'",
        ),
        (f"if ls; then\n  {WIPE} # so\nfi )\n", WIPE),
        (
            f"( (\n{WIPE} # where the grammar is lost\n",
            f"{WIPE} # where the grammar is lost",
        ),
        (
            "a && b && echo x >> ~/.ssh/authorized_keys\n",
            "echo x >> ~/.ssh/authorized_keys",
        ),
        ("echo 'a\n;b' | sudo tee /etc/sudoers\n", "echo 'a\n;b' | sudo tee /etc/sudoers"),
        (
            "if ls; then\n  x=$(curl https://a.example.com | sh)\nfi\n",
            "curl https://a.example.com | sh",
        ),
        (f"f() {{\n  {WIPE}\n}}\n", WIPE),
    ],
)
def test_the_evidence_is_the_statement(text: str, evidence: str) -> None:
    shown = [
        f.evidence for f in added(("a.sh", text)).findings if f.rule != "command-unreadable"
    ]
    assert shown == [evidence]


def test_the_gravest_of_a_rule_on_a_line_is_told() -> None:
    text = "git update-ref refs/heads/main $x; git commit --no-verify\n"
    assert told(added(("a.sh", text))) == [("guard-off", 1, "critical")]


def test_two_rules_on_a_line() -> None:
    assert told(added(("a.sh", f"{WIPE}; kill -9 -1\n"))) == [
        ("kill-all", 1, "high"),
        ("wipe", 1, "critical"),
    ]


@table(
    ("first", "second"),
    [
        (
            (
                "Dockerfile",
                "RUN curl -o /tmp/i.sh https://x.example.com/i\nRUN sh /tmp/i.sh\n",
            ),
            None,
        ),
        (
            ("get.sh", "wget -O tools/i.sh https://x.example.com/i\n"),
            ("Makefile", "all:\n\tbash tools/i.sh\n"),
        ),
        (
            (
                WORKFLOW,
                "jobs:\n  a:\n    steps:\n      - run: curl -o i.py https://x.example.com/i\n",
            ),
            ("z.sh", "ls\npython3 i.py\n"),
        ),
    ],
)
def test_a_download_here_that_runs_there(
    first: tuple[str, str], second: tuple[str, str] | None
) -> None:
    finding = one(added(first, *([second] if second else [])))
    assert (finding.rule, finding.line) == ("command-remote-code", 2)
    assert finding.path == (second or first)[0]


def test_a_script_of_the_same_change_is_reviewed_itself() -> None:
    report = added(("i.sh", f"{WIPE}\n"), ("Makefile", "all:\n\tsh i.sh\n"))
    assert [(f.path, f.rule) for f in report.findings] == [("i.sh", "command-wipe")]


def test_other_shells_are_left_alone() -> None:
    text = f"jobs:\n  a:\n    steps:\n      - shell: pwsh\n        run: {WIPE}\n"
    assert added((WORKFLOW, text)) == Report()


@table(
    "change",
    [
        FileChange("a.sh", Status.DELETED, hunks=(Hunk(1, 0, (WIPE,), ()),)),
        FileChange(
            "a.sh", Status.ADDED, kind=Kind.SYMLINK, hunks=(Hunk(0, 1, (), (WIPE,)),)
        ),
        FileChange(
            "a.sh", Status.MODIFIED, kind=Kind.BINARY, hunks=(Hunk(0, 1, (), (WIPE,)),)
        ),
        FileChange("a.sh", Status.MODIFIED, old_mode="100644", new_mode="100755"),
    ],
)
def test_what_adds_no_commands(change: FileChange) -> None:
    assert review(ReviewInput("test", ChangeSet((change,)), Sides())) == Report()


def test_of_a_bare_patch_the_added_lines_are_read() -> None:
    change = edited("a.sh", f"set -e\nls\n{WIPE}\n", 3)
    report = review(ReviewInput("test", ChangeSet((change,))))
    assert told(report) == [("wipe", 3, "critical")]
    assert [each.reason for each in report.skipped] == [
        "commands: whole text not available"
    ]


def test_of_a_file_without_commands_nothing_is_said() -> None:
    change = edited("notes.md", "a\nb\n", 2)
    assert review(ReviewInput("test", ChangeSet((change,)))) == Report()
    assert added(("notes.md", "a\n" * 900), limits=Limits(file_chars=1_000)) == Report()


def test_a_patch_that_names_a_far_line_takes_no_memory() -> None:
    change = FileChange("a.sh", Status.MODIFIED, hunks=(Hunk(1, 10**12, (), (WIPE,)),))
    report = review(
        ReviewInput("test", ChangeSet((change,)), limits=Limits(file_chars=1_000))
    )
    assert [each.reason for each in report.skipped][:1] == [
        "commands: whole text not available"
    ]


def test_a_broken_file_is_named_and_read_as_far_as_it_goes() -> None:
    report = added((".gitlab-ci.yml", f"a:\n  script: {WIPE}\nb: [\n"))
    assert told(report) == [("wipe", 2, "critical")]
    assert [each.reason for each in report.skipped] == ["commands: invalid YAML at line 4"]


STEP = "jobs:\n  a:\n    steps:\n    - {}\n"
RUN = STEP.format(f"run: {REMOTE}")
PYTHON = "shell: python\n      run: |\n        import os\n        os.system({!r})"


@examples(
    ("text", "line"),
    [
        (STEP.format(PYTHON.format(REMOTE)), 7),
        (STEP.format(PYTHON.format(REMOTE).replace("python", "python3 -u {0}")), 7),
        (
            "defaults: {run: {shell: python}}\n"
            + STEP.format(PYTHON[14:].strip().format(REMOTE)),
            7,
        ),
        (
            STEP.format(
                f"shell: node {{0}}\n      run: require('child_process').execSync('{REMOTE}')"
            ),
            5,
        ),
        (STEP.format(f"shell: perl {{0}}\n      run: system('{REMOTE}');"), 5),
        (STEP.format(f'shell: bash -c "{REMOTE}" {{0}}\n      run: ls'), 4),
        (
            f"defaults: {{run: {{shell: \"sh -c '{REMOTE}; sh {{0}}'\"}}}}\n"
            + STEP.format("run: ls"),
            1,
        ),
        (f"%YAML 1.3\n---\n{RUN}", 6),
        (f"\ufeff# a\n%FOO bar\n%YAML 2.0\n---\n{RUN}", 8),
        (f"a: 1\n...\n%FOO bar\n---\n{RUN}", 8),
        (STEP.format(f"run: ls\n      run: {REMOTE}"), 5),
    ],
)
def test_the_shell_of_a_step_and_the_head_of_a_workflow_hide_nothing(
    text: str, line: int
) -> None:
    report = added((WORKFLOW, text))
    assert (told(report), report.skipped) == ([("remote-code", line, "high")], ())


@near_misses(
    "step",
    [
        PYTHON.format("ls"),
        "shell: bash -el {0}\n      run: ls",
        "shell: docker run --rm -i alpine sh {0}\n      run: ls",
        f"shell: python\n      run: print({REMOTE!r})",
    ],
)
def test_a_plain_shell_of_a_step_is_no_risk(step: str) -> None:
    assert added((WORKFLOW, STEP.format(step))) == Report()


BROKEN = "a: [}\n"


@table(
    ("path", "before", "after", "asks"),
    [
        (WORKFLOW, RUN, BROKEN + RUN, [True]),
        (WORKFLOW, BROKEN, f"# x\n{BROKEN}{RUN}", [False]),
        (WORKFLOW, BROKEN, RUN, []),
        ("package.json", "{}", '{"a": }, "scripts": {"install": "make"}}', [True]),
        ("pyproject.toml", "", 'x =\n[tool.poe.tasks]\na = "make"\n', [True]),
        ("data/values.yml", "a: 1\n", BROKEN, []),
        (
            "chart/templates/a.yaml",
            "",
            f"apiVersion: v1\nb: {{{{ .x }}}}\n{BROKEN}",
            [False],
        ),
        ("roles/a/b.yml.j2", "", f"- shell: ls\n{BROKEN}", [False]),
    ],
    ids=[
        "broken",
        "broken before",
        "mended",
        "JSON",
        "TOML",
        "data",
        "a chart",
        "a template",
    ],
)
def test_a_file_with_commands_that_does_not_parse_asks(
    path: str, before: str, after: str, asks: list[bool]
) -> None:
    assert [each.asks for each in changed(path, before, after).skipped] == asks


def test_the_template_of_a_chart_is_read() -> None:
    head = "apiVersion: v1\nkind: Pod\nspec:\n  {{- if .Values.a }}\n  containers:\n"
    chart = f"{head}    - image: a:1\n      command: [sh, -c, {WIPE!r}]\n  {{{{- end }}}}\n"
    report = added(("chart/templates/a.yaml", chart))
    assert told(report) == [("wipe", 7, "critical")]
    assert report.skipped == ()


def test_bounds_are_named() -> None:
    report = added(("a.sh", "ls\n" * 500), limits=Limits(file_chars=1_000))
    assert [(each.reason, each.asks) for each in report.skipped] == [
        ("commands: over 1000 characters", True)
    ]


def test_a_long_script_is_judged_in_parts() -> None:
    body = "".join(f"echo 'line {n}' && \\\n  ls\n" for n in range(2_500))
    report = added(("a.sh", f"{body}{WIPE}\n{body}"))
    assert told(report) == [("wipe", 5_001, "critical")]
    assert report.skipped == ()


def test_a_script_with_too_much_to_do_is_judged_in_parts() -> None:
    many = f"for i in {' '.join(map(str, range(5_000)))}; do f $i; done\n"
    assert told(added(("a.sh", f"{many}{WIPE}\n"))) == [("wipe", 2, "critical")]
    loops = "for i in 1 2 3 4 5 6 7 8 9; do for j in 1 2 3 4 5 6 7 8 9; do f $i; g $j; done; done\n"
    report = added(("a.sh", f"{loops * 100}{WIPE}\n"))
    assert told(report) == [("wipe", 101, "critical")]
    assert report.skipped == ()


def test_what_is_too_much_in_one_is_named() -> None:
    report = added(("a.sh", f"f '{'x' * 110_000}'\n{WIPE}\n"))
    assert told(report) == [("wipe", 2, "critical")]
    assert [each.asks for each in report.skipped] == [True]


def test_a_long_function_is_judged_from_inside() -> None:
    body = "".join(f"  if [ {n} = $1 ]; then\n    echo {n}\n  fi\n" for n in range(800))
    report = added(("a.sh", f"f() {{\n{body}  {WIPE}\n{body}}}\n"))
    assert told(report) == [("wipe", 2_402, "critical")]
    assert report.skipped == ()


def test_what_only_zsh_understands_is_not_held_against_it() -> None:
    text = "x=${(qqq)cmd}\nfor f (a b) print $f\n"
    reason = "commands: not understood as shell from line 2 on"
    assert added(("a.sh", text)) == Report((), (Skipped("a.sh", reason),))
    assert added(("a.zsh", text)) == Report()
    python = "#!/bin/sh\n'''exec' python3 \"$0\" \"$@\"\n' '''\nimport (\n"
    assert added(("tool", python)) == Report()
    assert told(added((".zshrc", f"{text}{WIPE}\n"))) == [("wipe", 3, "critical")]


def test_what_bash_does_not_parse_is_judged_in_pieces() -> None:
    aliases = "".join(
        f"alias g{n}='git pull origin $(main_branch {n})'\n" for n in range(900)
    )
    before = f'v="${{${{(As: :)$(tool)}}[3]}}"\nfor a (b c) print $a\n{aliases}'
    report = changed("a.plugin.zsh", before, f"{before}{WIPE}\n")
    assert told(report) == [("wipe", 903, "critical")]
    assert not any(each.asks for each in report.skipped)


ACCEPTED = [
    'for i do echo "$i"; done\n',
    "for i\ndo\n  echo $i\ndone\n",
    'x="${arg:$index:1}"\n',
    '[ "$a" = ~ -o "$b" = ~ ]\n',
    "! IFS=$'\\n' C=($(a b))\n",
    "cat <<\\END\nit's if case \"\nEND\n[ $a = ~ ]\n",
    ": <<=cut\nif it's\n=cut\n[ $a = ~ ]\n",
    "until [ a = ~ ]; do if x; then y; else z; fi; done\n",
]
REJECTED = [
    "echo 'a\n[ $a = ~ ]\n",
    'if true; then\n  echo "unclosed\nfi\n',
    "if true; then\n  [ a = ~ ]\n",
    "while true; do\n  (\n  for x in a b; do ls; done\n",
    "case $x in\n  a) ls;;\n(\n",
]


@examples(
    ("text", "fires"),
    [*((t, True) for t in REJECTED), *((t, False) for t in ACCEPTED)],
    fires="fires",
)
def test_what_a_shell_accepts_is_not_called_unreadable(text: str, fires: bool) -> None:
    assert (
        subprocess.run(
            ["bash", "-n"], input=text, text=True, capture_output=True
        ).returncode
        != 0
    ) == fires
    assert ("unreadable" in [rule for rule, _, _ in told(added(("a.sh", text)))]) == fires


def test_what_is_left_out_hides_no_command_after_it() -> None:
    report = added(("a.sh", f"! IFS=$'\\n' C=($(a b))\n{WIPE}\n"))
    assert ("wipe", 2, "critical") in told(report)


@table(
    "text",
    ["<<a\n" * 10_000, "<<a" * 13_000, "'" * 39_999, '"\\' * 20_000, "if\n" * 13_000],
)
def test_balance_is_counted_in_linear_time(text: str) -> None:
    with cpu_seconds(2):
        is_broken(text)


def test_a_thousand_findings_are_counted() -> None:
    report = added(("a.sh", f"{WIPE}\n" * 1_000))
    assert len(report.findings) == 50
    assert [each.reason for each in report.skipped] == [
        "commands: 950 more findings of command-wipe"
    ]
