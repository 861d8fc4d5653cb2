"""Reviews to render: clean, one that needs a person, and one that holds everything a report can."""

from cli_guard.model import (
    Category,
    Confidence,
    Decision,
    Disposition,
    Finding,
    JudgedFinding,
    Severity,
    Skipped,
    Suppressed,
    fingerprint,
)
from cli_guard.review.render.review import Review
from cli_guard.rules.catalog import Rule


def finding(
    rule: str, path: str, line: int | None, message: str, remedy: str, **more: object
) -> Finding:
    """A finding of high confidence; `more` overrides any field."""
    fields: dict[str, object] = {
        "category": Category.RISK,
        "severity": Severity.MEDIUM,
        "confidence": Confidence.HIGH,
        "fingerprint": fingerprint(rule, path, message),
        **more,
    }
    return Finding(
        rule=rule, path=path, line=line, message=message, remedy=remedy, **fields
    )  # type: ignore[arg-type]


KEY = finding(
    "secret-aws-access-key",
    "src/payments/settings.py",
    12,
    "An AWS access key id stands in the code.",
    "Revoke the key at AWS, whoever reads the history has it, and read the next one from the environment.",
    severity=Severity.CRITICAL,
    evidence='AWS_ACCESS_KEY_ID = "AKIA************"',
)
KEY_IN_COMMIT = finding(
    "secret-generic-password",
    "deploy/caf\udce9 prod.env",
    3,
    "A password stands in the code. A later commit of this push takes it away; the history keeps it.",
    "Change the password, and rewrite the commit before you push.",
    severity=Severity.CRITICAL,
    evidence="DB_PASSWORD=hun*****",
    commit="9fceb02d0ae598e95dc970b74767f19372d61af8",
)
PIPE_TO_SHELL = finding(
    "command-pipe-to-shell",
    "scripts/setup.sh",
    40,
    "The script runs what https://get.example.test/install.sh serves at that moment, unseen.",
    "Download it, compare its checksum, then run it.",
    severity=Severity.HIGH,
    end_line=42,
    evidence="curl -fsSL https://get.example.test/install.sh | sh",
    suggestion="curl -fsSLo install.sh https://get.example.test/install.sh\n"
    'echo "$INSTALL_SHA256  install.sh" | sha256sum --check\nsh install.sh\n',
)
POLICY = finding(
    "policy-weakened",
    "cli-guard.toml",
    5,
    'The change turns "secret-*" off. The policy in force is still the one at HEAD.',
    "Have a person say yes to it.",
    category=Category.POLICY,
    severity=Severity.HIGH,
)
DOCS = finding(
    "docs-missing",
    "src/payments/charge.py",
    88,
    "`charge_card` is public and says nothing of what it raises.",
    "Add a docstring.",
    category=Category.DOCS,
    severity=Severity.LOW,
    suggestion="def charge_card(card: Card, cents: int) -> Receipt:\n"
    '    """Charge `cents` to `card`.\n\n    Raises CardDeclined.\n'
    "    ```python\n    charge_card(card, 500)\n"
    '    ```\n    """\n' + "".join(f"    # step {n}\n" for n in range(1, 15)),
)
HOSTILE = finding(
    "code-hidden-text",
    "web/\u202egnp.exe/<b>@octocat</b>|`x`.js",
    7,
    "The line holds \u202e, which reverses what a person reads: `a` <img src=x> @octocat #12 [x](http://e.test)",
    "Remove U+202E.",
    severity=Severity.MEDIUM,
    confidence=Confidence.MEDIUM,
    evidence='if (role !== "user\u202e \u2066// admin\u2069 \u2066") { \x1b[31m return `1|2`; }',
)
MESSAGE = finding(
    "message-subject-long",
    "",
    None,
    "The subject has 81 characters; git log and most hosts cut it at 72.",
    "Say it shorter, and put the rest in the body.",
    category=Category.MESSAGE,
    severity=Severity.LOW,
)
COMPLEX = [
    finding(
        "refactor-complex",
        f"src/payments/report_{number}.py",
        10 * number,
        f"`render` has {10 + number} branches.",
        "Split it where the comments already do.",
        category=Category.REFACTOR,
        severity=Severity.INFO,
    )
    for number in range(1, 5)
]
FIXTURE_KEY = finding(
    "secret-aws-access-key",
    "tests/test_settings.py",
    4,
    "An AWS access key id stands in the code.",
    "Revoke the key.",
    severity=Severity.CRITICAL,
    evidence='KEY = "AKIA************"',
)

RULES = {
    KEY.rule: Rule(
        id=KEY.rule,
        title="AWS access key id",
        category=Category.RISK,
        severity=Severity.CRITICAL,
        confidence=Confidence.HIGH,
        why="Who reads the repository can use the account.",
        remedy="Revoke the key, then read the next one from the environment.",
    )
}

CLEAN = Review(
    event="pre-commit",
    status="ok",
    decision=Decision.ALLOW,
    findings=(),
    files=3,
    reviewed=3,
)

CLEAN_BUT_SKIPPED = Review(
    event="pre-commit",
    status="ok",
    decision=Decision.ALLOW,
    findings=(),
    suppressed=(Suppressed(FIXTURE_KEY, "config", "fake keys of the tests"),),
    files=12,
    reviewed=3,
    skipped=(
        Skipped("assets/logo.png", "binary"),
        Skipped("data/big.bin", "over 5 MB"),
        *(Skipped(f"assets/icon-{number}.png", "binary") for number in range(1, 8)),
    ),
)

NEEDS_REVIEW = Review(
    event="pre-push",
    status="needs_review",
    decision=Decision.REVIEW,
    findings=(
        JudgedFinding(MESSAGE, Disposition.ADVISE),
        JudgedFinding(PIPE_TO_SHELL, Disposition.REVIEW),
    ),
    review_id="7f3a9c21",
    review_reason="1 finding to approve",
    files=1,
    reviewed=1,
)

RICH = Review(
    event="pre-commit",
    status="failed",
    decision=Decision.DENY,
    findings=(
        *(
            JudgedFinding(each, Disposition.ADVISE)
            for each in (DOCS, MESSAGE, HOSTILE, *COMPLEX)
        ),
        *(JudgedFinding(each, Disposition.REVIEW) for each in (POLICY, PIPE_TO_SHELL)),
        *(JudgedFinding(each, Disposition.DENY) for each in (KEY_IN_COMMIT, KEY)),
    ),
    suppressed=(
        Suppressed(
            FIXTURE_KEY, "inline", "the example key of the AWS documentation", new=True
        ),
        Suppressed(COMPLEX[0], "config", "generated code"),
        Suppressed(DOCS, "baseline", ""),
    ),
    blocked_actions=(
        {"tool": "git_commit", "reason": "2 findings are denied", "rule": "floor-secret"},
    ),
    plan=(
        {
            "tool": "review_secrets",
            "arguments": {},
            "risk": "read_only",
            "purpose": "look for secrets",
        },
    ),
    tool_results=({"tool": "review_secrets", "status": "ok", "findings": 2},),
    action_log=({"node": "policy_gate", "action": "git_commit", "decision": "deny"},),
    files=9,
    reviewed=7,
    skipped=(Skipped("assets/logo.png", "binary"), Skipped("caf\udce9.bin", "over 5 MB")),
    timings_ms={"git": 12.0, "reviewers": 41.5},
    notes=("only one of the pushed refs was visible under the framework",),
)


def many_findings(number: int) -> Review:
    """A review of a long range: findings of twelve rules in files of a usual depth, some answered."""
    found = [
        finding(
            f"code-python-rule-{index % 12}",
            f"services/accounts/part_{index % 97}/handlers_{index % 7}.py",
            index + 1,
            f"The value of `request.args['name_{index}']` reaches a shell command that is put together here",
            f"Pass a list of arguments, and leave shell=True out (rule {index % 12}).",
            severity=list(Severity)[index % 5],
            evidence=f'subprocess.run("render-report --name " + names[{index}], shell=True)  # as it always was',
            suggestion=f'subprocess.run(["render-report", "--name", names[{index}]])'
            if index % 3 == 0
            else None,
            commit=f"{index % 200:040x}",
        )
        for index in range(number)
    ]
    kinds = (Disposition.DENY, Disposition.REVIEW, Disposition.ADVISE)
    return Review(
        event="range",
        status="failed",
        decision=Decision.DENY,
        findings=tuple(
            JudgedFinding(each, kinds[at % 3]) for at, each in enumerate(found) if at % 4
        ),
        suppressed=tuple(
            Suppressed(each, "inline", "the names come from a table of ours")
            for at, each in enumerate(found)
            if not at % 4
        ),
        files=number,
        reviewed=number,
    )
