"""Which policy judges: that of HEAD, never the one that a change brings along. Real repositories."""

import pytest
from in_process import RISKY, guard, stage
from repositories import Repo, key

from cli_guard.review.render import markdown, text
from cli_guard.review.render.review import Review
from cli_guard.review.request import Commit, Range, parse_range

LEAK = f'aws_access_key_id = "{key()}"\n'
OFF = '[rules]\n"code-*" = "advise"\n'
DENY = '[rules]\n"code-*" = "deny"\n'


def rules(review: Review, disposition: str = "review") -> list[str]:
    return [
        judged.finding.rule
        for judged in review.sort_findings()
        if judged.disposition == disposition
    ]


def test_a_staged_policy_counts_from_the_next_commit(committed: Repo) -> None:
    stage(committed, {"cli-guard.toml": OFF, "reports.py": RISKY})
    first = committed.look()
    assert (first.status, len(rules(first))) == ("needs_review", 2)
    assert "policy-weakened" in rules(first)
    assert any(rule.startswith("code-") for rule in rules(first))
    committed.commit("Advise only")
    stage(committed, {"again.py": RISKY})
    assert committed.look().status == "ok"


def test_a_policy_in_the_work_tree_alone_counts_for_nothing(committed: Repo) -> None:
    stage(committed, {"reports.py": RISKY})
    committed.write("cli-guard.toml", OFF)
    assert committed.look().status == "needs_review"


def test_a_stricter_policy_at_head_denies(committed: Repo) -> None:
    committed.commit(
        "Deny", {"pyproject.toml": '[tool.cli-guard.rules]\n"code-*" = "deny"\n'}
    )
    stage(committed, {"reports.py": RISKY})
    assert committed.look().status == "failed"


def test_taking_the_policy_out_is_a_finding(committed: Repo) -> None:
    committed.commit("Deny", {"cli-guard.toml": DENY})
    committed.git("rm", "-q", "cli-guard.toml")
    assert rules(committed.look()) == ["policy-weakened"]


def test_moving_the_policy_away_is_a_finding(committed: Repo) -> None:
    committed.commit("Deny", {"cli-guard.toml": DENY})
    committed.git("mv", "cli-guard.toml", "notes.toml")
    assert rules(committed.look()) == ["policy-weakened"]


def test_a_commit_is_judged_by_the_policy_before_it(committed: Repo) -> None:
    committed.commit("Weaken", {"cli-guard.toml": OFF, "reports.py": RISKY})
    assert committed.look(Commit("HEAD")).status == "needs_review"


def test_a_limit_is_no_way_past_the_review(committed: Repo) -> None:
    committed.commit("Limit", {"cli-guard.toml": "[limits]\nfiles = 1\n"})
    stage(committed, {"a.py": "x = 1\n", "settings.py": LEAK})
    review = committed.look()
    assert review.status == "needs_review"
    assert rules(review) == ["policy-not-reviewed"]
    assert "limits.files" in review.sort_findings()[0].finding.message


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ("[limits]\nfile = 1\n", "did you mean 'files'?"),
        ("[", "not valid TOML"),
        (b"x = '\xff'", "not UTF-8"),
    ],
    ids=["unknown key", "not TOML", "not UTF-8"],
)
def test_a_broken_policy_is_one_line_wherever_it_is(
    committed: Repo, config: str | bytes, says: str
) -> None:
    stage(committed, {"cli-guard.toml": config, "settings.py": LEAK})
    with committed.unchanged():
        in_change = guard(committed, "hook", "pre-commit")
    committed.commit("Break it")
    stage(committed, {"b.py": "y = 2\n"})
    at_head = guard(committed, "hook", "pre-commit")
    for done in (in_change, at_head):
        assert (done.code, done.out) == (2, "")
        assert len(done.err.splitlines()) == 1
        assert "cli-guard.toml" in done.err
        assert says in done.err
    assert "stage the correction" in at_head.err
    stage(committed, {"cli-guard.toml": "[limits]\nfiles = 20000\n", "b.py": LEAK})
    repaired = guard(committed, "hook", "pre-commit")
    assert repaired.code == 1
    assert "secret-" in repaired.out
    assert "repairs it" in repaired.all


def test_a_range_with_a_broken_policy_at_its_tip(committed: Repo) -> None:
    base = committed.git("rev-parse", "HEAD")
    committed.commit("Break it", {"cli-guard.toml": "["})
    done = guard(committed, "review", "--range", f"{base}..HEAD")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert isinstance(parse_range("a..b"), Range)


def test_a_user_file_tightens_and_never_loosens(
    committed: Repo, isolated: dict[str, str]
) -> None:
    folder = committed.path.parent / "config" / "cli-guard"
    folder.mkdir(parents=True)
    env = {"XDG_CONFIG_HOME": str(folder.parent)}
    stage(committed, {"reports.py": RISKY})
    (folder / "config.toml").write_text(DENY)
    assert committed.look(env=env).status == "failed"
    (folder / "config.toml").write_text(OFF)
    assert committed.look(env=env).status == "needs_review"
    (folder / "config.toml").write_text("[[ignore]]\nrule = 'code-*'\nreason = 'because'\n")
    done = guard(committed, "review", env=env)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "tighten" in done.err


def test_an_ignore_answers_until_it_expires(committed: Repo) -> None:
    ignore = "[[ignore]]\nrule = 'code-*'\npath = 'tools/**'\nreason = 'run by hand'\nexpires = {}\n"
    committed.commit("Ignore", {"cli-guard.toml": ignore.format("2026-05-04")})
    stage(committed, {"tools/reports.py": RISKY})
    review = committed.look()  # on 2026-05-04, the last day
    assert review.status == "ok"
    assert [(each.by, each.reason) for each in review.suppressed] == [
        ("config", "run by hand")
    ]
    committed.git("rm", "-qf", "tools/reports.py")
    committed.commit("Expire", {"cli-guard.toml": ignore.format("2026-05-03")})
    stage(committed, {"tools/reports.py": RISKY})
    review = committed.look()
    assert review.status == "needs_review"
    assert any("expired on 2026-05-03" in note for note in review.notes)


CALL = '    subprocess.run("render-report " + name, shell=True)'
WHY = "# cli-guard: ignore[code-python-shell] the name is checked"


@pytest.mark.parametrize("answered", [f"{CALL}  {WHY}", f"    {WHY}\n{CALL}"])
def test_a_new_suppression_is_one_block(committed: Repo, answered: str) -> None:
    stage(committed, {"reports.py": RISKY.replace(CALL, answered)})
    review = committed.look()
    assert rules(review) == ["policy-suppression-new"]
    assert [(each.by, each.new) for each in review.suppressed] == [("inline", True)]
    assert "policy-suppression-added" not in rules(review, "advise")
    for shown in (text.render(review), markdown.render(review)):
        assert " ".join(shown.split()).count("the name is checked") == 1, shown
        assert "by this change itself" not in shown


def test_each_other_new_suppression_keeps_its_own_block(committed: Repo) -> None:
    """One that answers advice, and one of the same rule whose line is another."""
    advice = "# cli-guard: ignore[code-todo] written down in the tracker"
    lines = f"{CALL}  {WHY}\n    # TODO: remove  {advice}\n"
    stage(committed, {"reports.py": RISKY.replace(CALL, lines)})
    review = committed.look()
    assert rules(review) == ["policy-suppression-new"]
    assert rules(review, "advise").count("policy-suppression-added") == 1
    assert text.render(review).count("written down in the tracker") == 1


def test_no_suppression_hides_that_it_was_added(committed: Repo) -> None:
    committed.commit(
        "Ignore", {"cli-guard.toml": "[[ignore]]\nrule = '*'\nreason = 'because'\n"}
    )
    stage(committed, {"a.py": "x = 1  # cli-guard: ignore[*] for no good reason\n"})
    assert rules(committed.look(), "advise") == ["policy-suppression-added"]


def test_an_ignore_that_a_range_brings_along_asks(committed: Repo) -> None:
    base = committed.git("rev-parse", "HEAD")
    ignore = "[[ignore]]\nrule = 'code-*'\nreason = 'because'\n"
    committed.commit("Ignore", {"cli-guard.toml": ignore, "reports.py": RISKY})
    review = committed.look(parse_range(f"{base}..HEAD"))
    assert review.status == "needs_review"
    assert rules(review) == ["policy-weakened", "code-python-shell"], (
        "it does not judge the range itself"
    )


def test_a_review_of_one_round_is_not_done(committed: Repo) -> None:
    committed.commit("Limit", {"cli-guard.toml": "[limits]\nrounds = 1\n"})
    stage(committed, {"b.py": "x = 2\n"})
    done = guard(committed, "review")
    assert done.code != 0
    assert "the plan was not done within limits.rounds = 1" in done.all


def test_a_suppression_without_a_reason_answers_nothing(committed: Repo) -> None:
    stage(
        committed,
        {
            "reports.py": RISKY.replace(
                "shell=True)", "shell=True)  # cli-guard: ignore[code-*]"
            )
        },
    )
    review = committed.look()
    assert review.status == "needs_review"
    assert "policy-suppression-without-reason" in rules(review, "advise")


def test_a_baseline_answers_what_was_there_and_nothing_new(committed: Repo) -> None:
    stage(committed, {"reports.py": RISKY})
    written = guard(committed, "review", "--write-baseline")
    assert (written.code, written.err) == (0, "")
    assert committed.look().status == "needs_review", "it counts once it is committed"
    committed.git("rm", "-q", "--cached", "reports.py")
    committed.git("add", "cli-guard-baseline.json")
    committed.git("commit", "-q", "--no-verify", "-m", "Write a baseline")
    stage(
        committed,
        {
            "reports.py": RISKY.replace(
                "import subprocess", "import subprocess\n\n# moved down"
            )
        },
    )
    review = committed.look()
    assert review.status == "ok"
    assert [each.by for each in review.suppressed] == ["baseline"]
    stage(
        committed,
        {"reports.py": RISKY + '    subprocess.run("other " + name, shell=True)\n'},
    )
    assert committed.look().status == "needs_review"


@pytest.mark.parametrize(
    "content", ["[]", "{", '{"findings": 3}', '{"findings": [{"rule": []}]}', "[" * 100_000]
)
def test_a_broken_baseline_is_one_line(committed: Repo, content: str) -> None:
    committed.commit("Break it", {"cli-guard-baseline.json": content})
    stage(committed, {"a.py": "x = 2\n"})
    done = guard(committed, "review")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "--write-baseline" in done.err


def test_a_range_is_judged_by_the_policy_at_the_top_from_any_folder(
    committed: Repo,
) -> None:
    base = committed.commit("Deny", {"cli-guard.toml": DENY})
    committed.commit("Report", {"deep/reports.py": RISKY, "deep/cli-guard.toml": OFF})
    for at in (".", "deep"):
        assert committed.look(Range(base, "HEAD"), at=at).status == "failed", at
