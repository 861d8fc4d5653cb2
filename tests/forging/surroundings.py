"""Forged surroundings: variables, configuration, the index, and what a push is compared with."""

import json

from forging.table import assert_plain, forgery
from forging.world import (
    ADA,
    KEY,
    MALLORY,
    MALLORY_MAIL,
    SIGNERS,
    World,
    changed,
    envelope,
    signed,
    signer,
)
from repositories import Repo, key

HARMLESS = "A docstring has no full stop"


@forgery("code-python-shell", at_hook=True, codes=(3,))
def variables_that_switch_something_off(world: World) -> None:
    """None of these may let an unapproved change pass, at the hook or in `verify`."""
    world.change()
    clean = Repo.create(world.folder / "clean", world.repo.env)
    clean.commit("Clean", {"app.py": "x = 1\n"})
    config = world.folder / "config"
    config.write_text(
        "[core]\n\tnotesRef = refs/notes/x\n\thooksPath = /dev/null\n\tbigFileThreshold = 1\n"
        f"\tworktree = {clean.path}\n"
    )
    user = world.folder / "user" / "cli-guard" / "config.toml"
    user.parent.mkdir(parents=True)
    user.write_text(
        '[approvals]\nhigh = "tty"\ncritical = "tty"\n[rules]\n"code-*" = "off"\n'
        '[[ignore]]\nrule = "code-*"\nreason = "all of them are fine"\n'
    )
    for variables in (
        {"SKIP": "cli-guard"},
        {"SKIP": "cli-guard,pre-commit", "PRE_COMMIT_ALLOW_NO_CONFIG": "1"},
        {"CLI_GUARD": "0"},
        {"CLI_GUARD_SKIP": "1", "CLI_GUARD_OFF": "1", "CLI_GUARD_APPROVE": "1", "CLI_GUARD_TRUST": "1"},
        {"CLI_GUARD_SIGNERS": str(world.folder), "CLI_GUARD_POLICY": str(user), "CLI_GUARD_CONFIG": str(user)},
        {"CLI_GUARD_RANGE": "HEAD..HEAD", "CLI_GUARD_BASE": "HEAD"},
        {"GIT_NOTES_REF": "refs/notes/x", "GIT_NOTES_DISPLAY_REF": "refs/notes/x"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.notesRef", "GIT_CONFIG_VALUE_0": "refs/notes/x"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bigFileThreshold", "GIT_CONFIG_VALUE_0": "1"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.worktree", "GIT_CONFIG_VALUE_0": str(clean.path)},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "gpg.ssh.program", "GIT_CONFIG_VALUE_0": "/bin/true"},
        {"GIT_CONFIG_PARAMETERS": "'diff.external=/bin/true'"},
        {"GIT_CONFIG_GLOBAL": str(config)},
        {"GIT_CONFIG_SYSTEM": str(config), "GIT_CONFIG_NOSYSTEM": "0"},
        {"GIT_EXTERNAL_DIFF": "/bin/true", "GIT_DIFF_OPTS": "--unified=0"},
        {"GIT_REPLACE_REF_BASE": "refs/heads/"},
        {"GIT_LITERAL_PATHSPECS": "1", "GIT_ICASE_PATHSPECS": "1"},
        {"GIT_ATTR_SOURCE": "HEAD", "GIT_ATTR_NOSYSTEM": "1"},
        {"XDG_CONFIG_HOME": str(user.parent.parent)},
        {"TZ": "Pacific/Kiritimati", "SOURCE_DATE_EPOCH": "0", "LC_ALL": "tr_TR.UTF-8", "LANG": "C"},
        {"CI": "true", "GITHUB_ACTIONS": "true", "GITLAB_CI": "true"},
        {"TERM": "dumb", "COLUMNS": "1"},
    ):  # fmt: skip
        answers = [world.verify(env=variables)]
        if not {"SKIP", "CLI_GUARD"} & set(
            variables
        ):  # documented: the hook says so and passes
            answers.append(world.hook(env=variables))
        for done in answers:
            assert_plain(done)
            assert done.code in (1, 2, 3), (variables, done.all)


@forgery("code-python-shell", codes=(3,))
def variables_that_name_another_repository(world: World) -> None:
    """A harmless repository in place of this one: `verify` finds no such range there."""
    world.change()
    clean = Repo.create(world.folder / "clean", world.repo.env)
    clean.commit("Clean", {"app.py": "x = 1\n"})
    git = str(clean.path / ".git")
    for variables in (
        {"GIT_DIR": git},
        {"GIT_DIR": git, "GIT_WORK_TREE": str(clean.path)},
        {"GIT_WORK_TREE": str(clean.path)},
        {"GIT_OBJECT_DIRECTORY": f"{git}/objects"},
        {"GIT_COMMON_DIR": git},
        {"GIT_NAMESPACE": "x"},
        {"GIT_CEILING_DIRECTORIES": str(world.repo.path)},
        {"GIT_INDEX_FILE": f"{git}/index"},
        {"GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{git}/objects"},
        {"GIT_SHALLOW_FILE": f"{git}/x"},
    ):
        done = world.verify(env=variables)
        assert_plain(done)
        assert done.code in (1, 2, 3), (variables, done.all)


@forgery("code-python-shell", codes=(3,))
def a_graft_file_named_by_a_variable(world: World) -> None:
    world.change()
    head = world.repo.git("rev-parse", "HEAD")
    grafts = world.folder / "grafts"
    grafts.write_text(f"{world.base} {head}\n{head}\n")
    done = world.verify(env={"GIT_GRAFT_FILE": str(grafts)})
    assert_plain(done)
    assert done.code in (1, 2, 3), done.all


@forgery("code-python-shell", at_hook=True, codes=(3,))
def configuration_of_the_repository_that_switches_something_off(world: World) -> None:
    world.change()
    harmless = world.folder / "harmless"
    harmless.mkdir()
    config = world.repo.path / ".git" / "config"
    before = config.read_text()
    extra = world.folder / "extra"
    extra.write_text("[core]\n\tbigFileThreshold = 1\n")
    for lines in (
        "[core]\n\tnotesRef = refs/notes/x\n[notes]\n\tdisplayRef = refs/notes/x\n\trewriteRef = refs/notes/*\n",
        "[core]\n\thooksPath = /dev/null\n",
        "[gpg]\n\tformat = ssh\n\tprogram = /bin/true\n"
        '[gpg "ssh"]\n\tprogram = /bin/true\n\tallowedSignersFile = /dev/null\n',
        f"[include]\n\tpath = {extra}\n",
        f'[includeIf "gitdir:/"]\n\tpath = {extra}\n',
        "[core]\n\tbigFileThreshold = 1\n",
        f"[core]\n\tworktree = {harmless}\n",
        "[core]\n\tbare = true\n",
        "[core]\n\tuseReplaceRefs = true\n\tcommitGraph = true\n",
        "[core]\n\tignoreCase = true\n\tprecomposeUnicode = true\n\tquotePath = false\n\tfileMode = false\n",
        '[diff]\n\texternal = /bin/true\n\tnoprefix = true\n\trenames = copies\n\tcontext = 0\n'
        '\tignoreSubmodules = all\n\torderFile = /dev/null\n',
        '[diff "x"]\n\ttextconv = /bin/true\n\tbinary = true\n[core]\n\tattributesFile = /dev/null\n',
        "[log]\n\tshowSignature = true\n\tmailmap = true\n\tdate = relative\n[i18n]\n\tlogOutputEncoding = UTF-16\n",
        "[alias]\n\tnotes = !true\n\tcat-file = !true\n\tverify = !true\n",
        "[core]\n\tfsmonitor = /bin/true\n\tpager = /bin/true\n\tsshCommand = /bin/true\n[pager]\n\tdiff = true\n",
        "[cli-guard]\n\tenabled = false\n\thigh = tty\n\tskip = true\n[guard]\n\tskip = true\n",
        "[extensions]\n\tworktreeConfig = true\n",
    ):  # fmt: skip
        config.write_text(f"{before}{lines}")
        for done in (world.verify(), world.hook()):
            assert_plain(done)
            assert done.code in (1, 2, 3), (lines, done.all)
    config.write_text(before)


@forgery("code-python-shell", at_hook=True, codes=(3,))
def attributes_of_the_clone_that_hide_the_file(world: World) -> None:
    world.change()
    path = world.repo.path / ".git" / "info" / "attributes"
    path.parent.mkdir(exist_ok=True)
    path.write_text("* binary\n*.py -diff filter=x diff=x working-tree-encoding=UTF-16\n")


@forgery("code-python-shell", at_hook=True, codes=(3,))
def index_flags_that_hide_the_file(world: World) -> None:
    """What is staged counts, whatever the index says of the work tree."""
    world.change()
    for flag in ("--assume-unchanged", "--skip-worktree"):
        world.repo.git("update-index", flag, "report.py")


@forgery("code-python-shell", at_hook=True, codes=(3,))
def a_signers_file_and_a_policy_in_the_work_tree_alone(world: World) -> None:
    """Not recorded: what is judged by is what the base records."""
    statement = world.change()
    world.note(signed(changed(statement, principal=MALLORY_MAIL), MALLORY))
    world.repo.write(
        SIGNERS, f"{world.repository_line()}\n{signer(MALLORY_MAIL, MALLORY)}\n"
    )
    world.repo.write(
        "cli-guard.toml", '[approvals]\nhigh = "tty"\n[rules]\n"code-*" = "off"\n'
    )


@forgery("code-python-shell", at_hook=True, codes=(3,))
def a_signers_file_and_a_policy_in_the_index_alone(world: World) -> None:
    statement = world.change()
    world.note(signed(changed(statement, principal=MALLORY_MAIL), MALLORY))
    world.repo.write(
        SIGNERS, f"{world.repository_line()}\n{signer(MALLORY_MAIL, MALLORY)}\n"
    )
    world.repo.git("add", "-A")


def with_origin(world: World) -> Repo:
    """A remote without a hook, which has the base; our pre-push hook is here."""
    remote = Repo.create(world.folder / "origin.git", world.repo.env, "--bare")
    world.repo.git("remote", "add", "origin", str(remote.path))
    world.repo.git("push", "-q", "origin", "main")
    done = world.guard("install", "--hook-type", "pre-push")
    assert done.code == 0, done.all
    return remote


def assert_not_pushed(world: World, remote: Repo) -> None:
    done = world.repo.try_git("push", "origin", "main")
    assert done.code != 0, done.all
    assert "Traceback" not in done.all
    assert remote.git("rev-parse", "main") == world.base


@forgery("code-python-shell", at_hook=True, codes=(3,))
def a_tracking_ref_that_says_the_remote_has_it(world: World) -> None:
    remote = with_origin(world)
    world.change()
    world.repo.git("update-ref", "refs/remotes/origin/zzz", "HEAD")
    assert_not_pushed(world, remote)


@forgery("code-python-shell", at_hook=True, codes=(3,))
def a_branch_that_is_approved_at_a_pretended_terminal_and_pushed(world: World) -> None:
    remote = with_origin(world)
    world.change()
    assert_not_pushed(world, remote)
    for name in world.pending():
        world.by("mallory").approve(name)
    assert_not_pushed(world, remote)


@forgery("secret-", codes=(1,))
def a_policy_without_a_review_hides_a_key_at_the_push(world: World) -> None:
    remote = with_origin(world)
    policy = f'{KEY}[rules]\n"secret-*" = "off"\n"policy-*" = "off"\n'
    world.record(
        "Add it",
        {"cli-guard.toml": policy, "settings.py": f'aws_access_key_id = "{key()}"\n'},
    )
    assert_not_pushed(world, remote)


@forgery("secret-", at_hook=True, codes=(1,))
def an_approval_of_what_is_denied(world: World) -> None:
    """Signed by hand, with the fingerprint that the report names."""
    world.record("Add it", {"settings.py": f'aws_access_key_id = "{key()}"\n'})
    world.hook()
    report = json.loads((world.state / "last-report.json").read_text())
    found = [(each["fingerprint"], each["rule"]) for each in report["findings"]]
    world.repo.git("reset", "-q", "--hard", world.base)
    statement = world.change()
    world.repo.git("reset", "-q", "--hard", world.base)
    world.record("Add it", {"settings.py": f'aws_access_key_id = "{key()}"\n'})
    tree = world.repo.git("rev-parse", "HEAD^{tree}")
    blob = world.repo.git("rev-parse", "HEAD:settings.py")
    statement = changed(
        statement,
        findings=[{"fingerprint": one, "rule": rule} for one, rule in sorted(found)],
    )
    statement["subject"] = [
        *(each for each in statement["subject"] if each["name"] == "base"),
        {"name": "tree", "digest": {"gitTree": tree}},
        {"name": "file:settings.py", "digest": {"gitBlob": blob}},
    ]
    world.note(signed(statement, ADA))
    assert envelope("", "") != world.lines()[0]
