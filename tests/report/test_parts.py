"""The parts of a review make the whole review; what is missing, double or foreign is an error."""

import json
from dataclasses import replace
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest
import review_samples as samples
from in_process import guard
from repositories import Done, Repo, key

from cli_guard.model import Disposition, JudgedFinding
from cli_guard.report import parts as joining

SHARDS = 3
EDITS: tuple[tuple[tuple[str | int, ...], object], ...] = (
    (("part",), 1),
    (("event",), None),
    (("notes",), 5),
    (("timings_ms", "load"), "x"),
    (("findings", 0, "line"), "\x1b[31m"),
    (("findings", 0, "path"), ["a"]),
    (("coverage", "files"), "x"),
)


def make_parts(repo: Repo, folder: Path, form: str, *where: str) -> list[str]:
    folder.mkdir()
    names = [str(folder / f"{number}.{form}") for number in range(1, SHARDS + 1)]
    for number, name in enumerate(names, 1):
        guard(
            repo,
            "review",
            *where,
            "--shard",
            f"{number}/{SHARDS}",
            "--format",
            form,
            "--output",
            name,
        )
    return names


def merge(repo: Repo, *parts: str) -> Done:
    return guard(repo, "review", "--join", "--format", "json", *parts)


def test_parts_make_the_whole(committed: Repo, tmp_path: Path) -> None:
    repo = committed
    base = repo.git("rev-parse", "HEAD")
    files = {
        f"src/{name}.py": f"import os\nos.system(input() + '{name}')\n" for name in "abcdef"
    }
    repo.commit(
        "Add",
        {
            **files,
            "gone.py": f"aws = '{key()}'\n",
            "also/gone.py": f"x = 1\naws = '{key()}'\n",
        },
    )
    repo.commit("x" * 90, {"gone.py": "", "also/gone.py": "x = 1\n"})
    where = ("--range", f"{base}..HEAD")
    whole = guard(repo, "review", *where, "--format", "json")
    wanted = json.loads(whole.out)
    sarif, plain = (
        make_parts(repo, tmp_path / form, form, *where) for form in ("sarif", "json")
    )
    for parts in (sarif, plain, [*sarif[1:], plain[0]]):
        done = merge(repo, *parts)
        merged = json.loads(done.out)
        assert done.code == whole.code == 1
        assert merged["decision"] == wanted["decision"] and "binding" not in merged
        rows = [
            {(each["rule"], each["path"], each["line"]) for each in data["findings"]}
            for data in (merged, wanted)
        ]
        # The removed secret was in two files, perhaps of two shards: it is reported once.
        secrets = [
            {each for each in found if each[0].startswith("secret-")} for found in rows
        ]
        assert [len(each) for each in secrets] == [1, 1]
        assert rows[0] - secrets[0] == rows[1] - secrets[1] != set()
    joined = tmp_path / "joined.sarif"
    joined.write_text(
        json.dumps(
            {
                "runs": [
                    run
                    for name in sarif
                    for run in json.loads(Path(name).read_text())["runs"]
                ]
            }
        )
    )
    assert merge(repo, str(joined)).code == 1
    assert guard(repo, "review", "--join", *sarif).out.count("secret-aws-access-key") >= 1

    repo.commit("Later", {"late.py": "x = 2\n"})
    other = make_parts(repo, tmp_path / "other", "sarif", "--range", f"{base}..HEAD")
    complete = tmp_path / "whole.json"
    complete.write_text(whole.out)
    (tmp_path / "cut").write_bytes(Path(plain[0]).read_bytes()[:500])
    # What was edited by hand is no crash, and cannot say less than its own findings do.
    whole_part = next(
        data for name in plain if (data := json.loads(Path(name).read_text()))["findings"]
    )
    edits: list[tuple[list[str], str]] = []
    for key_path, value in EDITS:
        data = json.loads(json.dumps(whole_part))
        *before, last = key_path
        reduce(getitem, before, data)[last] = value
        edits.append(([str(tmp_path / f"edit{len(edits)}")], "not the report of a part"))
        Path(edits[-1][0][0]).write_text(json.dumps(data))
    milder = tmp_path / "milder"
    milder.write_text(json.dumps(whole_part | {"decision": "allow", "status": "ok"}))
    for parts, words in (
        *edits,
        ([str(milder)], "was edited"),
        (["/dev/zero"], "not the report of a part"),
        (sarif[:2], "3/3"),
        ([*sarif, sarif[0]], "same part"),
        ([*sarif, plain[0]], "same part"),
        ([*sarif[:2], other[2]], "different reviews"),
        ([str(complete)], "not the report of a part"),
        ([str(tmp_path / "cut")], "not the report of a part"),
        ([str(tmp_path / "nowhere")], "cannot be read"),
        ([], "--join needs the reports"),
    ):
        done = merge(repo, *parts)
        assert (done.code, done.out) == (2, "") and words in done.err, (words, done)


def test_no_number_of_findings_hides_what_is_denied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joining, "MOST_FINDINGS", 2)
    kinds = [Disposition.ADVISE] * 3 + [Disposition.DENY]
    found = (
        JudgedFinding(replace(samples.KEY, fingerprint=str(n)), kind)
        for n, kind in enumerate(kinds)
    )
    collector = joining.Collector(history=True)
    collector.add(replace(samples.CLEAN, findings=tuple(found)), 1)
    judgement, skipped = collector.join()
    assert (
        Disposition.DENY in [each.disposition for each in judgement.standing]
        and len(skipped) == 1
    )
