"""Forged policy: a range that loosens the guard for what it brings, or excuses itself."""

from forging.table import forgery
from forging.world import KEY, World
from in_process import RISKY

LOOSE = '[approvals]\ncritical = "tty"\nhigh = "tty"\n'
MARK = "cli-guard: ignore"
WHY = "names are checked before"
SHELL = 'subprocess.run("render-report " + name, shell=True)'


@forgery("policy-weakened", at_hook=True, codes=(3,))
def approvals_are_loosened_in_the_change(world: World) -> None:
    world.stage({"cli-guard.toml": LOOSE, "report.py": RISKY})
    world.by("mallory").approve()
    world.record("Add the report")


@forgery(at_hook=True, codes=(3,))
def the_rule_is_switched_off_in_the_change(world: World) -> None:
    world.record(
        "Add it",
        {
            "cli-guard.toml": f'{KEY}[rules]\n"code-python-shell" = "off"\n',
            "report.py": RISKY,
        },
    )


@forgery("code-python-shell", codes=(3,))
def the_rule_is_switched_off_in_a_commit_before(world: World) -> None:
    """With `--no-verify`: the second commit is judged by the first in its own clone, the range is not."""
    world.record(
        "Tidy up", {"cli-guard.toml": f'{KEY}[rules]\n"code-python-shell" = "off"\n'}
    )
    world.record("Add it", {"report.py": RISKY})


@forgery("secret-", codes=(1,))
def a_policy_hides_the_key_that_comes_with_it(world: World) -> None:
    from repositories import key

    policy = f'{KEY}[rules]\n"secret-*" = "off"\n'
    world.record(
        "Add it",
        {"cli-guard.toml": policy, "settings.py": f'aws_access_key_id = "{key()}"\n'},
    )


@forgery("policy-weakened", at_hook=True, codes=(3,))
def the_policy_moves_to_another_file(world: World) -> None:
    """`cli-guard.toml` goes, `pyproject.toml` comes, with a looser one."""
    world.repo.git("rm", "-q", "cli-guard.toml")
    world.record(
        "Move it",
        {
            "pyproject.toml": LOOSE.replace("[approvals]", "[tool.cli-guard.approvals]"),
            "report.py": RISKY,
        },
    )


@forgery("keep one", codes=(2,))
def a_second_policy_comes_in_a_file_that_is_read_first(world: World) -> None:
    world.repo.git("rm", "-q", "cli-guard.toml")
    strict = KEY.replace("[approvals]", "[tool.cli-guard.approvals]")
    world.set_base({"pyproject.toml": strict})
    off = '[rules]\n"code-*" = "off"\n'
    names = (
        ".cli-guard.toml",
        "cli-guard.toml",
        ".cli-guard/config.toml",
        ".config/cli-guard.toml",
        "cli_guard.toml",
    )
    world.record("Add it", {**dict.fromkeys(names, f"{LOOSE}{off}"), "report.py": RISKY})


@forgery("policy-weakened", at_hook=True, codes=(3,))
def the_policy_is_deleted(world: World) -> None:
    world.repo.git("rm", "-q", "cli-guard.toml")
    world.record("Add it", {"report.py": RISKY})


@forgery("policy-weakened", at_hook=True, codes=(3,))
def only_the_policy_is_deleted(world: World) -> None:
    """What comes after it needs a terminal alone."""
    world.repo.git("rm", "-q", "cli-guard.toml")
    world.record("Tidy up")


@forgery("policy-weakened", at_hook=True, codes=(3,))
def only_the_level_is_lowered(world: World) -> None:
    world.record("Tidy up", {"cli-guard.toml": KEY.replace('high = "key"', 'high = "tty"')})


@forgery("policy-weakened", codes=(3,))
def only_the_threshold_is_lowered(world: World) -> None:
    world.set_policy(f'{KEY}threshold = {{"infra/**" = 2, "**" = 1}}\n')
    world.record("Tidy up", {"cli-guard.toml": f'{KEY}threshold = {{"infra/x/**" = 2}}\n'})


@forgery("policy-weakened", codes=(3,))
def only_the_second_person_is_dropped(world: World) -> None:
    world.set_policy(f"{KEY}author_may_approve = false\n")
    world.record("Tidy up", {"cli-guard.toml": KEY})


@forgery("policy-weakened", codes=(3,))
def only_the_level_of_trust_is_lowered(world: World) -> None:
    world.set_policy(f'{KEY}trust = "touch"\n')
    world.record("Tidy up", {"cli-guard.toml": f'{KEY}trust = "tty"\n'})


@forgery(at_hook=True, codes=(3,))
def an_ignore_on_the_line(world: World) -> None:
    world.record(
        "Add it",
        {"report.py": RISKY.replace(SHELL, f"{SHELL}  # {MARK}[code-python-shell] {WHY}")},
    )


@forgery(at_hook=True, codes=(3,))
def an_ignore_of_everything_on_the_line(world: World) -> None:
    world.record("Add it", {"report.py": RISKY.replace(SHELL, f"{SHELL}  # {MARK}[*] abc")})


@forgery("secret-", at_hook=True, codes=(1,))
def an_ignore_of_a_key(world: World) -> None:
    from repositories import key

    world.record(
        "Add it", {"settings.py": f'aws_access_key_id = "{key()}"  # {MARK}[*] abc\n'}
    )


@forgery(codes=(3,))
def an_ignore_that_is_older_than_what_it_answers(world: World) -> None:
    """The comment answers nothing when it is recorded, so nobody looks; then the line below it changes."""
    harmless = RISKY.replace(
        SHELL,
        f'# {MARK}[code-python-shell] {WHY}\n    subprocess.run(["render-report", name])',
    )
    world.record("Add it", {"report.py": harmless})
    assert world.verify().code == 0, world.verify().all
    world.start_here()
    world.record(
        "Change it",
        {
            "report.py": RISKY.replace(
                SHELL, f"# {MARK}[code-python-shell] {WHY}\n    {SHELL}"
            )
        },
    )


@forgery(codes=(3,))
def an_ignore_above_a_call_of_which_another_line_changes(world: World) -> None:
    """The line of the finding stays as it was, and the comment above it; the argument below becomes a text."""
    lines = f"# {MARK}[code-python-shell] {WHY}\n    subprocess.run(\n        ARGUMENT,\n        shell=True,\n    )"
    text = RISKY.replace(SHELL, lines)
    world.record("Add it", {"report.py": text.replace("ARGUMENT", '"render-report"')})
    assert world.verify().code == 0, world.verify().all
    world.start_here()
    world.record(
        "Change it", {"report.py": text.replace("ARGUMENT", '"render-report " + name')}
    )


@forgery("code-python-shell", codes=(3,))
def a_call_of_which_only_another_line_changes(world: World) -> None:
    text = RISKY.replace(
        SHELL, "subprocess.run(\n        ARGUMENT,\n        shell=True,\n    )"
    )
    world.record("Add it", {"report.py": text.replace("ARGUMENT", '"render-report"')})
    assert world.verify().code == 0, world.verify().all
    world.start_here()
    world.record(
        "Change it", {"report.py": text.replace("ARGUMENT", '"render-report " + name')}
    )


@forgery(at_hook=True, codes=(3,))
def an_ignore_entry_in_the_change(world: World) -> None:
    entry = (
        f'[[ignore]]\nrule = "code-python-shell"\npath = "report.py"\nreason = "{WHY}"\n'
    )
    world.record("Add it", {"cli-guard.toml": f"{KEY}{entry}", "report.py": RISKY})


@forgery(at_hook=True, codes=(3,))
def a_baseline_in_the_change(world: World) -> None:
    world.stage()
    done = world.guard("review", "--staged", "--write-baseline")
    if done.code == 2:
        done = world.guard("review", "--write-baseline")
    assert (world.repo.path / "cli-guard-baseline.json").exists(), done.all
    world.record("Add it")


@forgery(at_hook=True, codes=(3,))
def limits_that_leave_the_file_unread(world: World) -> None:
    world.record(
        "Add it",
        {
            "cli-guard.toml": f"{KEY}[limits]\nfile_chars = 1000\n",
            "report.py": RISKY + "# x\n" * 300,
        },
    )


@forgery(at_hook=True, codes=(3,))
def attributes_that_hide_the_file(world: World) -> None:
    attributes = "*.py -diff -text binary linguist-generated linguist-vendored export-ignore merge=ours\n"
    world.record("Add it", {".gitattributes": attributes, "report.py": RISKY})


@forgery(codes=(3,))
def attributes_before_the_change_that_hide_the_file(world: World) -> None:
    world.set_base({".gitattributes": "* binary\n*.py -diff\n"})
    world.record("Add it", {"report.py": RISKY})
