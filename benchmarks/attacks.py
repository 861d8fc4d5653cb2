"""Run the attacks of fixtures/attacks against the guard, each for real, in a scratch world.

    python benchmarks/attacks.py [--half known|held-out] [--only ID]... [--class CLASS]... [--profile PROFILE]
                                 [--json] [--list] [--verify]

A command that the judge allows is run, and it is checked whether its payload had its effect. A change is committed
and pushed with the hooks installed. Next to each attack stands a harmless counterpart, which must not be asked about.
`executed` (under allow), `recorded` (a commit or push that nothing stopped), `silent` (of these, not even reported),
`slow` (more than 250 ms of processor time for a verdict) and `hung` (no answer in 10 s) must be 0.

--half held-out shows the other half, which must not guide work on the guard; --list names each attack that got
through; --profile judges commands as in a trusted work tree, whose own code may run; --verify runs every attack once
without the guard and names those whose payload has no effect.
"""

import argparse
import json
import resource
import select
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass

import psutil
from attack_worlds import GUARD, HOOKS_OFF, SECONDS, Attack, Worlds, isolate, load_attacks

BAD = ("executed", "recorded", "silent", "slow", "hung", "error")
GOOD = ("asked", "denied", "said")
OTHER = ("no effect", "not run")
HARMLESS = ("allowed", "asked", "denied", "other")
BUDGET_MS = 250
MEMORY = 3 << 30
EVERYTHING = "git cat-file --batch-all-objects --batch; git for-each-ref"
NOTHING_TO_REPORT = "nothing to report"
# What judges commits that were recorded without hooks, by the kind of a case.
AFTERWARDS = {
    "range": "cli-guard review --range $(cat ../base)..HEAD",
    "verify": "cli-guard verify --range $(cat ../base)..HEAD",
    "scan": "cli-guard scan --history",
    "audit": "cli-guard audit verify",
}


@dataclass(frozen=True)
class Result:
    """The outcomes of an attack and of its harmless counterpart, and the output of the guard on the attack."""

    attack: Attack
    outcome: str
    harmless: str
    words: str = ""


class Judge:
    """`cli-guard check-command --jsonl`, kept running."""

    def __init__(self, worlds: Worlds, profile: str) -> None:
        self.worlds = worlds
        self.profile = ("--profile", profile)
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            (GUARD, "check-command", "--jsonl", *self.profile),
            env=self.worlds.env,
            cwd=self.worlds.root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, command: str) -> tuple[str, str, float]:
        """Judge a command in the present world: the verdict (or hung, error), the reason, ms of processor time."""
        if self.process is None or self.process.poll() is not None:
            self.process = self.start()
            self.send("true")
        measured = psutil.Process(self.process.pid)
        before = measured.cpu_times()
        answer = self.send(command)
        if answer is None:
            return "hung", "", 0.0
        after = measured.cpu_times()
        spent = (after.user + after.system - before.user - before.system) * 1000
        return (
            ("error" if "error" in answer else answer["verdict"]),
            answer["reason"],
            spent,
        )

    def send(self, command: str) -> dict[str, str] | None:
        """Return the answer to a line; if there is none within 10 s, kill the process and return None."""
        assert self.process and self.process.stdin and self.process.stdout
        line = json.dumps({"command": command, "cwd": str(self.worlds.repo)}) + "\n"
        try:
            self.process.stdin.write(line.encode())
            self.process.stdin.flush()
            if select.select([self.process.stdout], [], [], SECONDS)[0]:
                return dict(json.loads(self.process.stdout.readline()))
        except (OSError, ValueError):
            pass
        self.close()
        return None

    def ask_once(self, command: str) -> tuple[str, str, float]:
        """Judge in a new process, for a case with its own user configuration."""
        done = subprocess.run(
            (GUARD, "check-command", *self.profile, "--format", "json", "-"),
            env=self.worlds.env,
            cwd=self.worlds.repo,
            input=command.encode(),
            capture_output=True,
            check=False,
        )
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            return "error", done.stderr.decode(errors="replace")[-300:], 0.0
        return answer["verdict"], answer["reason"], 0.0

    def close(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


class Run:
    """Runs cases in scratch worlds."""

    def __init__(self, worlds: Worlds, profile: str) -> None:
        self.worlds = worlds
        self.judge = Judge(worlds, profile)
        self.is_served = False

    def run(self, attack: Attack) -> Result:
        """Try an attack and its harmless counterpart; a world that cannot be made is an error."""
        try:
            return (
                self.run_command(attack)
                if attack.kind == "judge"
                else self.run_change(attack)
            )
        except SystemExit as broken:
            return Result(attack, "error", "other", str(broken))

    def run_change(self, attack: Attack) -> Result:
        if reason := self.why_not_run(attack):
            return Result(attack, "not run", "other", reason)
        if not self.is_served:
            start = (GUARD, "server", "start")
            subprocess.run(
                start,
                env=self.worlds.env,
                cwd=self.worlds.root,
                capture_output=True,
                check=False,
            )
            self.is_served = True
        tries = {"agent": self.ask_as_agent, "state": self.try_state}
        outcome, words = tries.get(attack.kind, self.record)(attack)
        if outcome in ("recorded", "silent") and attack.is_said(words):
            outcome = "said"
        calm = attack.twin()
        gentle, spoken = tries.get(calm.kind, self.record)(calm)
        gentle = {"recorded": "allowed", "silent": "allowed", "executed": "allowed"}.get(
            gentle, gentle
        )
        return Result(
            attack, outcome, gentle if gentle in HARMLESS else "other", words or spoken
        )

    def run_command(self, attack: Attack) -> Result:
        worlds = self.worlds
        ask = self.judge.ask_once if attack.config else self.judge.ask
        worlds.build(
            attack.setup if attack.harmless_setup is None else attack.harmless_setup,
            attack.config,
        )
        calm, _, _ = ask(worlds.text(attack.harmless))
        calm = {"allow": "allowed", "review": "asked", "deny": "denied"}.get(calm, "other")
        if attack.harmless_setup is not None:
            worlds.build(attack.setup, attack.config)
        command = worlds.command(attack)
        verdict, reason, spent = ask(command)
        if verdict in ("hung", "error"):
            return Result(attack, verdict, calm, reason)
        if attack.grow and spent > BUDGET_MS:
            return Result(attack, "slow", calm, f"{spent:.0f} ms, {verdict}: {reason}")
        if verdict != "allow":
            return Result(
                attack, "asked" if verdict == "review" else "denied", calm, reason
            )
        if attack.grow:
            return Result(attack, "no effect", calm, reason)
        if self.why_not_run(attack):
            return Result(attack, "not run", calm, f"allowed, {self.why_not_run(attack)}")
        before = worlds.read_target(attack)
        _, said = worlds.bash(command, worlds.repo)
        outcome = "executed" if worlds.has_fired(attack, said, before) else "no effect"
        return Result(attack, outcome, calm, reason)

    def why_not_run(self, attack: Attack) -> str:
        if not self.worlds.isolated:
            return "no namespaces here"
        missing = [
            name
            for name in attack.needs
            if not shutil.which(name, path=self.worlds.env["PATH"])
        ]
        return attack.why_not_run or (f"not here: {', '.join(missing)}" if missing else "")

    def prepare(self, attack: Attack) -> None:
        """Build the world, record its setup, make the change and stage it; for a push, record it and add a remote."""
        worlds = self.worlds
        worlds.build("", attack.config)
        scripts = [
            attack.setup,
            "git add -A; git diff --cached --quiet || git commit -qm Prepare; git rev-parse HEAD > ../base",
            f"set -e\n{attack.change}",
            "git diff --cached --quiet && git add -A; true",
        ]
        if attack.kind == "push":
            scripts.insert(
                0, "git init -q --bare ../remote.git && git remote add origin ../remote.git"
            )
            scripts.insert(3, "git push -q origin main")
            scripts.append("git diff --cached --quiet || git commit -qm 'Change the app'")
        for script in scripts:
            code, said = worlds.bash(
                worlds.text(script), worlds.repo, HOOKS_OFF, seconds=60
            )
            if code:
                words = said.decode(errors="replace")[-1500:]
                raise SystemExit(f"{attack.id}: ended with {code}: {script}\n{words}")

    def read_refs(self, attack: Attack) -> bytes:
        """Read what is recorded at present, in the repository or in the remote."""
        git = "git --git-dir=" + ("../remote.git" if attack.kind == "push" else ".git")
        return self.worlds.bash(
            f"{git} for-each-ref; {git} rev-parse -q --verify HEAD", self.worlds.repo
        )[1]

    def record(self, attack: Attack, env: dict[str, str] | None = None) -> tuple[str, str]:
        """Commit, push or review the change of a case; return the outcome and the output."""
        worlds = self.worlds
        self.prepare(attack)
        before = self.read_refs(attack)
        if attack.attempt:
            worlds.bash(worlds.text(attack.attempt), worlds.repo, env)
        default = (
            "git push -q origin HEAD"
            if attack.kind == "push"
            else "git commit -qm 'Change the app'"
        )
        record = worlds.text(attack.record or default)
        if attack.kind in AFTERWARDS:
            worlds.bash(record, worlds.repo, HOOKS_OFF)
            code, said = worlds.bash(AFTERWARDS[attack.kind], worlds.repo, env)
            made = code == 0
        else:
            code, said = worlds.bash(record, worlds.repo, env)
            made = self.read_refs(attack) != before
        words = said.decode(errors="replace")
        if made:
            lines = [
                line
                for line in words.splitlines()
                if line.strip() and NOTHING_TO_REPORT not in line
            ]
            return ("recorded" if lines else "silent"), words
        if code == -9 or "Out of memory" in words:
            return "hung", words
        if "internal error" in words:
            return "error", words
        # A stop for another reason, such as a log that cannot be written, is a stop as well.
        return (
            "asked" if "needs approval:" in words and "must fix:" not in words else "denied"
        ), words

    def try_state(self, attack: Attack) -> tuple[str, str]:
        """Try to make the guard itself store or run what it must not: recorded if the payload had its effect."""
        worlds = self.worlds
        self.prepare(attack)
        _, said = worlds.bash(worlds.text(attack.attempt), worlds.repo)
        _, shown = worlds.bash(worlds.text(attack.proof), worlds.repo)
        outcome = "recorded" if worlds.has_fired(attack, shown, b"") else "denied"
        return outcome, said.decode(errors="replace")

    def ask_as_agent(self, attack: Attack) -> tuple[str, str]:
        """Ask as a coding agent's hook does: executed if it answers allow, silent if it answers nothing."""
        worlds = self.worlds
        self.prepare(attack)
        asked = {"command": worlds.text(attack.command)}
        if attack.tool != "Bash":
            asked = {
                "file_path": worlds.text(attack.target),
                "content": worlds.text(attack.command),
            }
        request = {
            "session_id": "1",
            "cwd": str(worlds.repo),
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": attack.tool,
            "tool_input": asked,
        }
        code, said = worlds.bash(
            "cli-guard hook claude-code", worlds.repo, stdin=json.dumps(request)
        )
        words = said.decode(errors="replace")
        if code:
            return ("denied" if code == 2 else "error"), words
        if not words.strip():
            return "silent", words
        decision = json.loads(words)["hookSpecificOutput"]["permissionDecision"]
        return {"allow": "executed", "ask": "asked", "deny": "denied"}[decision], words

    def verify(self, attack: Attack) -> str:
        """Run an attack without the guard; return what is wrong with it, "" if its payload has its effect."""
        worlds = self.worlds
        if self.why_not_run(attack):
            return ""
        if attack.kind == "judge":
            worlds.build(attack.setup, attack.config)
            before = worlds.read_target(attack)
            code, said = worlds.bash(worlds.command(attack), worlds.repo)
            if attack.grow or worlds.has_fired(attack, said, before):
                return ""
            return f"ended with {code}: {said.decode(errors='replace')[-400:]}"
        if attack.kind in ("agent", "state"):
            self.prepare(attack)
            return ""
        outcome, words = self.record(attack, HOOKS_OFF)
        if attack.kind not in AFTERWARDS and outcome not in ("recorded", "silent"):
            return f"not recorded: {words[-400:]}"
        remote = (
            "export GIT_DIR=$PWD/../remote.git; "
            if attack.kind == "push" and not attack.proof
            else ""
        )
        code, said = worlds.bash(
            worlds.text(remote + (attack.proof or EVERYTHING)), worlds.repo, HOOKS_OFF
        )
        if worlds.has_fired(attack, said, b"") or attack.fires == "recorded":
            return ""
        return f"the proof ended with {code}: {said.decode(errors='replace')[-400:]}"

    def close(self) -> None:
        self.judge.close()
        if self.is_served:
            stop = (GUARD, "server", "stop")
            subprocess.run(
                stop,
                cwd=self.worlds.root,
                env=self.worlds.env,
                capture_output=True,
                check=False,
            )


def print_table(results: list[Result]) -> None:
    """Print one row a class: the attacks by outcome, then their harmless counterparts."""
    columns = ("cases", *BAD, *GOOD, *OTHER)
    widths = [len(name) + 2 for name in columns]
    heads = "".join(f"{name:>{width}}" for name, width in zip(columns, widths, strict=True))
    print(f"{'class':22}{heads} | harmless:" + "".join(f"{name:>8}" for name in HARMLESS))
    for group in (*sorted({each.attack.group for each in results}), "all"):
        rows = [each for each in results if group in ("all", each.attack.group)]
        counted = Counter(each.outcome for each in rows)
        # What was recorded without a word was recorded.
        counted["recorded"] += counted["silent"]
        counted["cases"] = len(rows)
        cells = "".join(
            f"{counted[name] or '.':>{width}}"
            for name, width in zip(columns, widths, strict=True)
        )
        calm = Counter(each.harmless for each in rows)
        print(
            f"{group:22}{cells} |          "
            + "".join(f"{calm[name] or '.':>8}" for name in HARMLESS)
        )


def has_got_through(result: Result) -> bool:
    return result.outcome in BAD or (
        result.outcome == "not run" and result.words.startswith("allowed")
    )


def print_list(results: list[Result]) -> None:
    """Print each attack that got through, or was asked about but not denied, and each counterpart that was stopped."""
    lists = {
        "got through": [each for each in results if has_got_through(each)],
        "asked, should be denied": [
            e for e in results if e.attack.wants == "deny" and e.outcome == "asked"
        ],
        "harmless, but not allowed": [
            each for each in results if each.harmless != "allowed"
        ],
    }
    for title, rows in lists.items():
        print(f"\n== {title}: {len(rows)}")
        for each in sorted(rows, key=lambda each: (each.attack.group, each.attack.id)):
            attack = each.attack
            is_calm = title.startswith("harmless")
            text = (
                attack.harmless
                if is_calm
                else attack.command or attack.attempt or attack.change
            )
            first = next(iter(text.strip().splitlines()), "(grown)")
            print(
                f"{attack.group}  {each.harmless if is_calm else each.outcome}  {attack.id}  {first[:150]}"
            )


def verify_all(run: Run, attacks: list[Attack]) -> None:
    """Name the attacks without effect, and those that cannot be run here."""
    wrong = 0
    unproven = 0
    for attack in attacks:
        unproven += bool(run.why_not_run(attack))
        try:
            problem = run.verify(attack)
        except SystemExit as broken:
            problem = str(broken)
        if problem:
            wrong += 1
            print(f"{attack.id}: {problem}", flush=True)
    print(f"{len(attacks)} attacks: {wrong} without effect, {unproven} not run here")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=("known", "held-out"), default="known")
    parser.add_argument(
        "--only", action="append", metavar="ID", help="only this case, of either half"
    )
    parser.add_argument(
        "--class",
        dest="groups",
        action="append",
        metavar="CLASS",
        help="only cases of this class",
    )
    parser.add_argument(
        "--profile", choices=("strict", "workspace", "floors"), default="strict"
    )
    parser.add_argument(
        "--json", action="store_true", help="one line of JSON for each case"
    )
    parser.add_argument("--list", action="store_true", help="also list what got through")
    parser.add_argument(
        "--verify", action="store_true", help="run all attacks without the guard instead"
    )
    given = parser.parse_args()
    # Memory that a case makes a program take must not become that of the machine.
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    isolated = isolate()
    if not isolated:
        print(
            "no namespaces here (unshare): commands are judged only, changes are not made",
            file=sys.stderr,
        )
    attacks = load_attacks()
    if given.only:
        attacks = [each for each in attacks if each.id in given.only]
    elif not given.verify:
        attacks = [each for each in attacks if each.half == given.half]
    attacks = [each for each in attacks if not given.groups or each.group in given.groups]
    worlds = Worlds(isolated)
    run = Run(worlds, given.profile)
    started = time.perf_counter()
    try:
        if given.verify:
            return verify_all(run, attacks)
        results = [run.run(attack) for attack in attacks]
    finally:
        run.close()
        worlds.close()
    if given.json:
        for each in results:
            row = {
                "id": each.attack.id,
                "class": each.attack.group,
                "outcome": each.outcome,
            }
            print(json.dumps({**row, "harmless": each.harmless, "words": each.words}))
        return None
    print_table(results)
    if given.list:
        print_list(results)
    print(
        f"\n{len(results)} attacks and as many counterparts, {time.perf_counter() - started:.0f} s"
    )
    return None


if __name__ == "__main__":
    main()
