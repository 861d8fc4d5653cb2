"""Templates and values of the same file are made readable, line by line, whatever the text."""

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st
from reviewers.code.code_changes import edited, new_file, reviewed, rules
from watching import cpu_seconds

from cli_guard.code.templates import readable, without_actions, without_pages
from cli_guard.reviewers.code.remarks import line_topics, topic_of

CHART = """\
{{- if .Values.enabled }}
{{- /* runs on
   every {node} */}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ include "agent.name" . }}
  labels: {{- include "agent.labels" . | nindent 4 }}
spec:
  template:
    spec:
      containers:
        - image: "{{ .Values.repository }}:{{ .Values.tag | default "1" }}"
          args:
            - --{{ .Values.level }}
            {{- range .Values.arguments }}
            - {{ . | quote }}
            {{- end }}
          securityContext:
            {{- toYaml .Values.securityContext | nindent 12 }}
      hostPID: true
{{- end }}
"""
PORT = """\
variable "allowed" {
  default = ["0.0.0.0/0"]
}

resource "aws_security_group" "db" {
  ingress {
    from_port   = 5432
    to_port     = 5432
    cidr_blocks = var.allowed
  }
}
"""


@table(
    ("text", "expected"),
    [
        ("a: {{ .b }}", "a: xxxxxxxx"),
        ("  {{- end }}", ""),
        ("  {{ .b }} {{ .c }}", ""),
        ("a: {{- toYaml .b | nindent 4 }}", "a: " + 28 * " "),
        ("- {{ if .b }}c{{ end }}", "-            c         "),
        ("a: {{ .b |\n  quote }}", "a: xxxxxxx\n"),
        ("a: {b: {c: d}}", "a: {b: {c: d}}"),
        ("{% if b %}\na: {{ b }}\n{% endif %}", "\na: xxxxxxx\n"),
        ("{{/* {b} }} */}}\na: 1", "\na: 1"),
        ("a: {{ b", "a: {{ b"),
    ],
)
def test_an_action_becomes_a_word_or_blanks(text: str, expected: str) -> None:
    assert without_actions(text) == expected


@given(
    st.text(alphabet='{}%/*-" \na:\0', max_size=200),
    st.sampled_from(["kubernetes", "hcl", "workflow"]),
)
def test_every_line_keeps_its_number(text: str, topic: str) -> None:
    assert readable(topic, text)[0].count("\n") == text.count("\n")


def test_a_chart_is_read_around_its_actions() -> None:
    (finding,) = reviewed(new_file("chart/templates/agent.yaml", CHART)).findings
    assert (finding.rule, finding.line) == ("code-kubernetes-privileged", 21)
    assert finding.evidence == "hostPID: true"


@table(
    ("added", "found"),
    [
        ((9,), [9]),  # the use of the variable
        ((2,), [2]),  # its default
        ((7,), [7]),  # the port
        (range(1, 12), [9]),
        ((5,), []),
    ],
)
def test_a_port_is_reported_where_the_change_opens_it(
    added: tuple[int, ...], found: list[int]
) -> None:
    report = reviewed(edited("infra/main.tf", PORT, *added), texts={"infra/main.tf": PORT})
    assert [(f.rule, f.line) for f in report.findings] == [
        ("code-hcl-open-port", line) for line in found
    ]


@table(
    ("text", "expected"),
    [
        ('locals {\n  a = "b"\n}\nx = local.a\n', 'x = "b"'),
        ('locals {\n  a = "b"\n}\nx = "${local.a}"\n', 'x = "b"'),
        ('locals {\n  a = "b"\n}\nx = local.a.c\n', "x = local.a.c"),
        ('locals {\n  a = "b${var.c}"\n}\nx = local.a\n', "x = local.a"),
        ('variable "a" {\n  type    = string\n}\nx = var.a\n', "x = var.a"),
        ('variable "a" {\n  default = 22 # SSH\n}\nx = var.a\n', "x = 22"),
        ('r {\n for_each = toset(["b"])\n x = each.value\n', ' x = ["b"]'),
        ('r {\n for_each = ["b"]\n}\nq {\n x = each.value\n', " x = each.value"),
        ('x = <<EOF\n{"a": 1}\nEOF\n', 'x = jsonencode(\n{"a": 1}\n)'),
        ("x = <<EOF\necho\nEOF\n", "x = <<EOF\necho\nEOF"),
        ('x = <<EOF\n{"a": 1}\n', 'x = <<EOF\n{"a": 1}'),
    ],
)
def test_terraform_shows_what_the_file_says(text: str, expected: str) -> None:
    assert readable("hcl", text)[0].rstrip("\n").endswith(expected)


@table(
    ("path", "text", "topic"),
    [
        (".github/workflows/ci.yml", "", "workflow"),
        (".forgejo/workflows/ci.yaml", "", "workflow"),
        ("tools/action.yml", "", "workflow"),
        ("my-action.yml", "", "yaml"),
        (".gitlab-ci.yml", "", "gitlab"),
        ("ci/build.gitlab-ci.yml", "", "gitlab"),
        (".gitlab/ci/build.yml", "", "gitlab"),
        ("docker-compose.prod.yml", "", "compose"),
        ("compose.yaml", "", "compose"),
        ("decompose.yaml", "", "yaml"),
        ("stack.yml", "services:\n  db:\n    image: postgres\n", "compose"),
        ("config.yml", "services:\n  db: postgres\n", "yaml"),
        ("deploy.yaml", "# app\napiVersion: v1\nkind: Pod\n", "kubernetes"),
        ("deploy.yaml", "spec:\n  apiVersion: v1\n", "yaml"),
    ],
)
def test_a_kind_of_yaml_is_known_by_path_or_content(
    path: str, text: str, topic: str
) -> None:
    assert topic_of(path, "yaml", text) == topic


@table(
    ("path", "is_migration"),
    [
        ("db/migrations/0007_change.sql", True),
        ("sql/V17__change.sql", True),
        ("db/000001_users.up.sql", True),
        ("migrations/20260101_add/up.sql", True),
        ("db/migrations/0007_change.down.sql", False),
        ("migrations/20260101_add/down.sql", False),
        ("sql/U17__change.sql", False),
        ("db/schema.sql", False),
    ],
)
def test_a_migration_is_known_by_its_path(path: str, is_migration: bool) -> None:
    assert ("migration" in line_topics(path)) is is_migration


def test_tables_of_the_migration_itself_are_not_in_use() -> None:
    text = 'CREATE TABLE "shop"."orders" (id int);\nCREATE INDEX a ON orders (id);\nCREATE INDEX b ON users (id);\n'
    report = reviewed(new_file("db/migrations/1.sql", text))
    assert [(f.rule, f.line) for f in report.findings] == [("code-sql-index-lock", 3)]
    assert rules(reviewed(new_file("db/schema.sql", text))) == []


@pytest.mark.parametrize(
    ("topic", "text"),
    [
        ("kubernetes", "{{/*" * 100_000),
        ("kubernetes", "{{ a " * 100_000),
        ("kubernetes", "{% " * 100_000),
        ("kubernetes", "\0\1" * 200_000),
        ("hcl", " x = <<EOF\n{\n" * 40_000),
        ("hcl", "x = <<E\n" + "\n" * 400_000),
        ("hcl", "locals {\n" + (' a = ["a"' + " " * 9000 + "\n") * 50),
        (
            "hcl",
            'locals {\n a = "'
            + "x" * 90
            + '"\n'
            + (" x = " + "local.a," * 1200 + "\n") * 30,
        ),
        ("workflow", "env.\n" + " a: ${{ b }}\n" * 40_000),
    ],
)
def test_hostile_text_takes_no_longer(topic: str, text: str) -> None:
    with cpu_seconds(2):
        read, _ = readable(topic, text)
    assert len(read) < 40 * len(text)


PAGES = """\
<h1>it's</h1><?php function f($a) {
  ?><b title='{"a": "<?php echo $a; ?>"}'>don't</b>
  <script>x = {a: '<?= $a ?>', b() { <?php if ($a) { ?> y(`"); <?php } ?> }}</script><?php
  // a page ends here ?> it's <?php
  HERE
}
"""


@table(
    "code",
    [
        "eval($_GET['x']);",
        "$a = '?>'; eval($_GET['x']); $b = '<?php';",
        "$a = \"?>\"; eval($_GET['x']); $b = `<?php`;",
        "/* ?> */ eval($_GET['x']); # <?php",
        "$a = <<<'A'\n?>\nA; eval($_GET['x']); $b = <<<B\n<?php\nB;",
        '$a = "{$b["?>"]}"; eval($_GET[\'x\']); $c = "<?php";',
        '$a = "{$b[\'}\' . "?>"]}"; eval($_GET[\'x\']); $c = "<?php";',
        "?> <? eval($_GET['x']); ?> <?php",
        "// ?> <?php eval($_GET['x']);",
        "?><?=eval($_GET['x'])?><?php",
        "?> <?=eval($_GET['x'])?><?php",
    ],
)
def test_code_between_the_pages_of_php_is_read(code: str) -> None:
    text = PAGES.replace("HERE", code)
    plain = without_pages(text)
    assert "eval($_GET['x'])" in plain
    assert [len(each) for each in plain.split("\n")] == [
        len(each) for each in text.split("\n")
    ]
    report = reviewed(new_file("a.php", text))
    assert "code-flow-code" in rules(report) or report.skipped[0].asks


def test_what_only_stands_in_a_page_is_no_code() -> None:
    text = PAGES.replace("HERE", "?> eval($_GET['x']); <?php")
    assert rules(reviewed(new_file("a.php", text))) == []


@pytest.mark.parametrize("part", ["?>", "'", '"{$', "<<<A\n", "/*", "<%", "`", "<?="])
def test_pages_cost_no_more_than_their_length(part: str) -> None:
    with cpu_seconds(2):
        without_pages("<?php ?>" + part * 100_000 + " ")
