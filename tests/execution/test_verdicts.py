"""What is shown of a judged command, byte for byte, and never a secret or a character that acts on a terminal.

After a wanted change: CLI_GUARD_UPDATE_GOLDEN=1 pytest tests/review/render, then read the difference.
"""

import json
import os
from pathlib import Path

from examples import table

from cli_guard.commands import Effect, EffectKind, Span, Verdict
from cli_guard.execution.verdicts import as_dict, as_json, failure_data, render, sentence
from cli_guard.model import Decision

GOLDEN = Path(__file__).parent / "commands"
UPDATE = os.environ.get("CLI_GUARD_UPDATE_GOLDEN") == "1"
KEY = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
REVIEW = Decision.REVIEW
DENY = Decision.DENY
ALLOW = Decision.ALLOW


def judged(
    command: str,
    decision: Decision,
    *marked: str,
    kind: EffectKind = EffectKind.WRITE,
    **more: str,
) -> Verdict:
    spans = [Span(command.index(each), command.index(each) + len(each)) for each in marked]
    effects = tuple(
        Effect(kind, command[s.start : s.end], decision, "does it", s) for s in spans
    )
    return Verdict(command, decision, more.pop("reason", "does it"), effects, **more)


SAMPLES = {
    "allow": Verdict(
        "cat a",
        ALLOW,
        "reads only",
        (Effect(EffectKind.READ, "/w/a", ALLOW, "reads /w/a", Span(4, 5)),),
    ),
    "review": judged(
        "git add src && terraform apply -auto-approve",
        REVIEW,
        "src",
        "terraform apply -auto-approve",
        kind=EffectKind.GIT_WRITE,
        reason="git add changes the repository (and 1 more)",
        savable="terraform apply *",
    ),
    "deny": Verdict(
        "echo gone\nrm -rf ~/ \x1b[2J",
        DENY,
        "deletes a whole home folder",
        (
            Effect(
                EffectKind.DELETE,
                "~",
                DENY,
                "deletes a whole home folder",
                Span(17, 19),
                "command-wipe",
            ),
            Effect(EffectKind.UNKNOWN, None, REVIEW, "not understood", Span(20, 21)),
        ),
        "partial",
        "name the folder that is meant, and delete that alone",
    ),
    "secret": judged(
        f"curl -H 'X-Token: {KEY}' https://example.org/" + "a" * 60,
        REVIEW,
        "https://example.org/",
    ),
    "wide": judged("mv 日本語 e\u0301 \u202egpj.exe", REVIEW, "\u202egpj.exe"),
}


@table("name", SAMPLES)
@table("suffix", ["txt", "json"])
def test_golden(name: str, suffix: str) -> None:
    verdict = SAMPLES[name]
    shown = render(verdict) if suffix == "txt" else as_json(as_dict(verdict), indent=2)
    file = GOLDEN / f"{name}.{suffix}"
    if UPDATE:
        file.write_text(shown + "\n", "utf-8")
    assert shown + "\n" == file.read_text("utf-8")


def test_every_golden_file_is_a_sample() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == set(SAMPLES)


@table("verdict", SAMPLES.values(), ids=SAMPLES)
def test_the_json_has_these_keys_in_this_order(verdict: Verdict) -> None:
    data = json.loads(as_json(as_dict(verdict)))
    keys = "command verdict reason effects evidence coverage alternative rule rules"
    assert list(data) == keys.split()
    assert all(
        list(effect) == ["kind", "target", "decision", "reason"]
        for effect in data["effects"]
    )
    assert all(list(place) == ["start", "end", "text"] for place in data["evidence"])
    assert list(failure_data("broken")) == ["error", *keys.split()]


def test_evidence_is_the_text_at_its_place() -> None:
    for verdict in SAMPLES.values():
        for place in json.loads(as_json(as_dict(verdict)))["evidence"]:
            assert verdict.command[place["start"] : place["end"]] == place["text"]


@table(
    "verdict",
    [
        SAMPLES["secret"],
        judged(
            f"send {KEY}",
            REVIEW,
            KEY,
            reason=f"sends {KEY}",
            savable=f"send {KEY}",
            alternative=f"keep {KEY}",
        ),
        judged(f"send {KEY[:9]}''{KEY[9:]}", DENY, "send", reason=f"sends {KEY}"),
        judged("x" * 99_990 + KEY + "y" * 99_990, REVIEW, "xx"),
    ],
    ids=["argument", "everywhere", "another spelling", "at the cut"],
)
def test_no_secret_is_shown(verdict: Verdict) -> None:
    for shown in (render(verdict), as_json(as_dict(verdict)), sentence(verdict)):
        assert KEY not in shown
        assert KEY[4:30] not in shown


@table("character", ["\x1b", "\x07", "\r", "\u202e", "\u200b", "\x9b", "\x00", "\udcff"])
def test_nothing_acts_on_the_terminal(character: str) -> None:
    verdict = judged(
        f"rm {character}a\nls {character}b",
        DENY,
        f"{character}b",
        reason=f"is {character}",
        alternative=character,
    )
    for shown in (render(verdict), as_json(as_dict(verdict), indent=2), sentence(verdict)):
        assert character not in shown


def test_colour_is_the_word_alone() -> None:
    plain = render(SAMPLES["deny"])
    painted = render(SAMPLES["deny"], color=True)
    assert painted == plain.replace("deny", "\x1b[31mdeny\x1b[0m", 1)


def test_a_long_line_is_cut_around_the_place() -> None:
    verdict = judged("echo " + "a" * 300 + " && rm -rf / && " + "b" * 300, DENY, "rm -rf /")
    line, marks = render(verdict).splitlines()[1:3]
    assert len(line) < 90
    assert line.startswith("  | ...") and line.endswith("...")
    assert line[marks.index("^") :].startswith("rm -rf /")
