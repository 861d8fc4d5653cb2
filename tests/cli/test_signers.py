"""`cli-guard signers`: from nothing to a key that counts, the words of each line, and input that is refused."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from authenticators import PlainKey, SecurityKey, running_agent
from forging.honest import (
    NOTES,
    POLICY,
    Person,
    approve_staged,
    assert_verified,
    commit_approved,
    make_key,
    needs_ssh_keygen,
    pending,
    refused_today,
    risky,
    stage,
    verify,
)
from in_process import Terminal, approve, call, guard
from repositories import Done, Repo

pytestmark = needs_ssh_keygen

FILE = ".cli-guard/signers"
REVOKED = ".cli-guard/revoked"
NAMESPACES = 'namespaces="cli-guard-approval@v1"'
COMMIT_IT = f"commit {FILE}: from the next commit on, approvals of this key count"


@pytest.fixture
def repo(ada: Person, tmp_path: Path) -> Repo:
    """Ada's repository with one commit, and no signers."""
    return Repo(tmp_path / "plain", ada.env)


@pytest.fixture
def signed(ada: Person, tmp_path: Path) -> Repo:
    """Ada's repository, where she and Bob may approve since `base`."""
    return Repo(tmp_path / "signed", ada.env)


def signers(repo: Repo, *argv: str) -> Done:
    return guard(repo, "signers", *argv)


def assert_refused(done: Done, code: int, *words: str) -> None:
    """Nothing but one line on standard error, with these words."""
    assert (done.code, done.out) == (code, ""), done.all
    assert done.err.startswith("cli-guard: ")
    assert done.err.count("\n") == 1
    assert "internal error" not in done.err
    for each in words:
        assert each in done.err


def key_line(person: Person, principal: str = "", options: str = NAMESPACES) -> str:
    """The line that enrols the key of a person."""
    return f"{principal or person.mail} {options} {person.public_key.read_text().strip()}"


# From nothing to a key that counts.


def test_the_path_of_a_new_user(repo: Repo, ada: Person) -> None:
    done = signers(repo, "list")
    assert (done.code, done.err) == (0, "")
    assert (
        done.out == "cli-guard: no signers; enrol your key with `cli-guard signers init`\n"
    )

    done = signers(repo, "init")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "cli-guard: ada@example.org is enrolled with a key of type ssh-ed25519;"
        " it proves the key, not that a person was there",
        COMMIT_IT,
        "to require it, add to cli-guard.toml:",
        *POLICY.splitlines(),
    ]
    root = repo.git("rev-list", "--max-parents=0", "HEAD")
    assert (repo.path / FILE).read_text().splitlines() == [
        "# Who may approve: one line a key. `cli-guard signers` writes it; it counts once it is committed.",
        f"# repository {root}",
        key_line(ada),
    ]
    assert (
        signers(repo, "list").out
        == "ada@example.org  ssh-ed25519  Ada at work  not committed yet\n"
    )

    stage(repo, {"cli-guard.toml": POLICY})
    stopped = guard(repo, "hook", "pre-commit")
    assert stopped.code == 3
    assert "changes who may approve: adds ada@example.org" in stopped.out
    assert "(tty)" in approve(repo, pending(repo)).out, "nobody is enrolled who could sign"
    assert guard(repo, "hook", "pre-commit").code == 0
    repo.git("commit", "-q", "--no-verify", "-m", "Enrol Ada")
    repo.git("branch", "base")
    assert signers(repo, "list").out == "ada@example.org  ssh-ed25519  Ada at work\n"

    commit_approved(repo, "Render reports", {"reports.py": risky()})
    assert_verified(repo, "base")


def test_a_key_that_is_not_committed_yet(repo: Repo) -> None:
    repo.commit("Ask for a key", {"cli-guard.toml": POLICY})
    assert signers(repo, "init").code == 0
    stage(repo, {"reports.py": risky()})
    done = guard(repo, "approve", stdin=Terminal("yes\n"))
    assert_refused(
        done,
        2,
        "policy wants key",
        f"your key is in {FILE}, but not committed yet: commit {FILE} first",
    )


def test_the_key_that_git_signs_with_comes_first(repo: Repo, ada: Person) -> None:
    make_key(ada.ssh / "signing", "the one that signs")
    repo.git("config", "user.signingKey", str(ada.ssh / "signing.pub"))
    assert signers(repo, "init").code == 0
    assert "the one that signs" in signers(repo, "list").out


def test_a_security_key_comes_before_a_file(repo: Repo, ada: Person) -> None:
    (ada.ssh / "id_ed25519_sk.pub").write_text(SecurityKey(b"s" * 32).public_line() + "\n")
    done = signers(repo, "init")
    assert done.code == 0
    assert (
        "with a key of type sk-ssh-ed25519@openssh.com; it proves a touch, and with a PIN or a finger more\n"
        in done.out
    )


def test_a_key_of_an_agent(repo: Repo, ada: Person) -> None:
    shutil.rmtree(ada.ssh)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_agent([PlainKey(b"k" * 32)], folder) as socket,
    ):
        done = guard(repo, "signers", "init", env={"SSH_AUTH_SOCK": socket})
    assert done.code == 0
    assert (
        signers(repo, "list").out
        == "ada@example.org  ssh-ed25519  plain key  not committed yet\n"
    )


# add.


def test_the_key_of_somebody_else(repo: Repo, bob: Person) -> None:
    done = signers(
        repo,
        "add",
        str(bob.public_key),
        "--principal",
        "Bob@Example.org",
        "--until",
        "2999-01-01",
    )
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "cli-guard: bob@example.org is enrolled with a key of type ssh-ed25519;"
        " it proves the key, not that a person was there",
        COMMIT_IT,
    ]
    wanted = key_line(bob, options=f'{NAMESPACES},valid-before="29990101"')
    assert (repo.path / FILE).read_text().splitlines()[-1] == wanted
    assert signers(repo, "list").out == (
        "bob@example.org  ssh-ed25519  Bob at work  valid-before 29990101  not committed yet\n"
    )


def test_the_file_beside_a_private_key_is_meant(repo: Repo, ada: Person) -> None:
    assert signers(repo, "add", str(ada.ssh / "id_ed25519")).code == 0
    written = (repo.path / FILE).read_text()
    assert written.splitlines()[-1] == key_line(ada)
    assert "PRIVATE" not in written


def test_in_a_folder_below(repo: Repo, ada: Person) -> None:
    shutil.copy(ada.public_key, repo.write("docs/mine.pub", ""))
    assert signers(Repo(repo.path / "docs", repo.env), "add", "mine.pub").code == 0
    assert (repo.path / FILE).is_file()
    assert [each.name for each in (repo.path / "docs").iterdir()] == ["mine.pub"]


def test_two_keys_of_one_person(repo: Repo, ada: Person) -> None:
    make_key(ada.ssh / "home", "Ada at home")
    assert signers(repo, "init").code == 0
    assert signers(repo, "add", str(ada.ssh / "home.pub")).code == 0
    assert signers(repo, "list").out.splitlines() == [
        "ada@example.org  ssh-ed25519  Ada at work  not committed yet",
        "ada@example.org  ssh-ed25519  Ada at home  not committed yet",
    ]


def test_what_somebody_wrote_by_hand_is_kept(repo: Repo, ada: Person, bob: Person) -> None:
    before = f"# Ada leads this.\n\n{key_line(ada)}\n\n\n"
    repo.write(FILE, before)
    assert signers(repo, "add", str(bob.public_key), "--principal", bob.mail).code == 0
    assert (repo.path / FILE).read_text() == f"{before.rstrip()}\n{key_line(bob)}\n"


# Input that is refused.


def test_no_key_at_all(repo: Repo, ada: Person) -> None:
    shutil.rmtree(ada.ssh)
    with repo.unchanged():
        done = signers(repo, "init")
    assert_refused(
        done,
        2,
        "no SSH key was found in ~/.ssh or in your agent: make one with `ssh-keygen -t ed25519`",
    )


@pytest.mark.parametrize("name", ["missing.pub", "missing", "folder"])
def test_a_file_that_is_missing(repo: Repo, name: str) -> None:
    (repo.path / "folder").mkdir()
    with repo.unchanged():
        done = signers(repo, "add", name)
    assert_refused(done, 2, "cannot be read: ", "name a public key, made by ssh-keygen")


def test_a_private_key_without_its_public_one(repo: Repo, ada: Person) -> None:
    ada.public_key.unlink()
    with repo.unchanged():
        done = signers(repo, "add", str(ada.ssh / "id_ed25519"))
    assert_refused(done, 2, "id_ed25519.pub is missing: `ssh-keygen -y -f ")


NO_KEYS: dict[str, Callable[[Person], str]] = {
    "text": lambda _: "hello world\n",
    "empty": lambda _: "",
    "binary": lambda _: "\x00\x01\x02",
    "a private key": lambda who: (who.ssh / "id_ed25519").read_text(),
    "a line of authorized_keys": lambda who: f"no-pty {who.public_key.read_text()}",
    "base64": lambda _: "hello d29ybGQ=\n",
    "another type": lambda who: who.public_key.read_text().replace(
        "ssh-ed25519", "ssh-rsa", 1
    ),
    "cut off": lambda _: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5\n",
    "two keys": lambda who: who.public_key.read_text() * 2,
}


@pytest.mark.parametrize("text", NO_KEYS.values(), ids=NO_KEYS)
def test_a_file_that_is_no_key(
    repo: Repo, ada: Person, text: Callable[[Person], str]
) -> None:
    repo.write("given.pub", text(ada))
    with repo.unchanged():
        done = signers(repo, "add", "given.pub")
    assert_refused(done, 2)
    assert (
        "is not a public key of OpenSSH" in done.err
        or "ssh-keygen does not take it" in done.err
    )
    assert "b3BlbnNzaC1rZXk" not in done.all, "nothing of a private key is shown"


@pytest.mark.parametrize(
    "comment", ["Zoë's laptop", "\x1b[31mred\x07"], ids=["not ASCII", "for the terminal"]
)
def test_a_comment_may_be_anything(repo: Repo, ada: Person, comment: str) -> None:
    ada.public_key.write_text(ada.public_key.read_text().replace("Ada at work", comment))
    assert signers(repo, "init").code == 0
    assert "\x1b" not in (repo.path / FILE).read_text() + signers(repo, "list").out


@pytest.mark.parametrize("text", ["", "ssh-dss AAAA Zoë\n"], ids=["empty", "not ASCII"])
def test_another_key_that_is_broken_does_not_hinder(
    signed: Repo, ada: Person, text: str
) -> None:
    (ada.ssh / "id_ecdsa.pub").write_text(text)
    stage(signed, {"reports.py": risky()})
    approve_staged(signed)


def test_a_key_twice(signed: Repo, ada: Person) -> None:
    with signed.unchanged():
        for argv in (
            ("init",),
            ("add", str(ada.public_key), "--principal", "other@example.org"),
        ):
            assert_refused(
                signers(signed, *argv), 2, f"this key is already enrolled in {FILE}"
            )


@pytest.mark.parametrize(
    "who",
    [
        "ada",
        "*@example.org",
        "!a@example.org",
        "a@b.org,c@d.org",
        "a b@c.org",
        "Ada <a@b.org>",
        "a@b.org\nc@d.org",
    ],
)
def test_a_principal_that_is_no_mail_address(repo: Repo, ada: Person, who: str) -> None:
    with repo.unchanged():
        done = signers(repo, "add", str(ada.public_key), "--principal", who)
    assert_refused(
        done,
        2,
        f"{who!r} is not a mail address: name the person with --principal you@example.org",
    )


def test_git_knows_no_mail_address(repo: Repo, ada: Person) -> None:
    Path(ada.env["HOME"], ".gitconfig").unlink()
    with repo.unchanged():
        done = signers(repo, "init")
    assert_refused(done, 2, "user.email", "--principal you@example.org")
    assert signers(repo, "init", "--principal", ada.mail).code == 0


@pytest.mark.parametrize("text", ["tomorrow", "2027-13-01", "30d"])
def test_a_day_that_is_none(repo: Repo, ada: Person, text: str) -> None:
    with repo.unchanged():
        done = signers(repo, "add", str(ada.public_key), "--until", text)
    assert_refused(done, 2, "--until", text, "see `cli-guard signers add --help`")


def test_a_day_that_is_over(repo: Repo, ada: Person) -> None:
    with repo.unchanged():
        done = signers(repo, "add", str(ada.public_key), "--until", "2001-01-01")
    assert_refused(done, 2, "--until 2001-01-01 is not after today")


BROKEN = {
    "text": (b"ada\n", f"{FILE}, line 1: not a signer; write: you@example.org namespaces="),
    "not UTF-8": (b"\xff\xfe\n", f"{FILE}: not UTF-8: save it as UTF-8"),
    "no namespace": (
        b'# x\n\na@b.org valid-after="20260101" ssh-ed25519 AAAA\n',
        f"{FILE}, line 3: the key needs",
    ),
    "a pattern": (
        f"*@b.org {NAMESPACES} ssh-ed25519 AAAA\n".encode(),
        "'*@b.org' is not a mail address",
    ),
    "an authority": (
        f"a@b.org cert-authority,{NAMESPACES} ssh-ed25519 AAAA\n".encode(),
        "cert-authority",
    ),
}


@pytest.mark.parametrize(
    "argv", [("list",), ("init",), ("revoke", "ada@example.org")], ids=lambda each: each[0]
)
@pytest.mark.parametrize(("raw", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file(repo: Repo, argv: tuple[str, ...], raw: bytes, words: str) -> None:
    repo.write(FILE, raw)
    with repo.unchanged():
        done = signers(repo, *argv)
    assert_refused(done, 2, words)


@refused_today(
    "a broken file is recorded with an approval, and then nobody can approve its repair"
)
def test_a_broken_file_is_not_recorded(signed: Repo) -> None:
    """As a broken cli-guard.toml is not: it would stop every later commit."""
    stage(signed, {FILE: "ada has a key\n"})
    done = guard(signed, "hook", "pre-commit")
    assert (done.code, done.out) == (2, "")
    assert f"{FILE} in the index, line 1: " in done.err


def put_a_link(to: str) -> Callable[[Path], object]:
    def put(root: Path) -> None:
        (root / FILE).parent.mkdir()
        (root / FILE).symlink_to(to)

    return put


A_LINK = f"{FILE} should be a file, but it is a link: remove it"
OBSTACLES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link": (put_a_link("../../empty"), A_LINK),
    "a dangling link": (put_a_link("../../missing"), A_LINK),
    "a linked folder": (lambda root: (root / ".cli-guard").symlink_to("../folder"), A_LINK),
    "a folder": (
        lambda root: (root / FILE).mkdir(parents=True),
        f"{FILE} cannot be read: Is a directory",
    ),
    "a file for the folder": (
        lambda root: (root / ".cli-guard").touch(),
        f"{FILE} cannot be written",
    ),
}


@pytest.mark.parametrize(("put", "words"), OBSTACLES.values(), ids=OBSTACLES)
def test_something_in_place_of_the_file(
    repo: Repo, tmp_path: Path, put: Callable[[Path], object], words: str
) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    put(repo.path)
    with repo.unchanged():
        assert_refused(signers(repo, "init"), 2, words)
    assert (tmp_path / "empty").read_text() == ""
    assert list((tmp_path / "folder").iterdir()) == []
    assert not (tmp_path / "missing").exists()


@pytest.mark.parametrize("shallow", [False, True], ids=["no commit", "a shallow clone"])
def test_the_first_commit_is_not_known(
    repo: Repo, ada: Person, tmp_path: Path, shallow: bool
) -> None:
    repo.commit("Go on", {"app.py": "x = 2\n"})
    to = tmp_path / "other"
    other = (
        ada.clone(repo.path, to, "--depth", "1") if shallow else Repo.create(to, ada.env)
    )
    with other.unchanged():
        said = "the first commit of this repository is not known here: commit, or fetch it, first"
        assert_refused(signers(other, "init"), 2, said)
        assert signers(other, "list").code == 0


ALL = [("list",), ("init",), ("add", "KEY"), ("revoke", "ada@example.org")]


@pytest.mark.parametrize("bare", [False, True], ids=["outside", "bare"])
@pytest.mark.parametrize("argv", ALL, ids=lambda each: each[0])
def test_no_work_tree(
    tmp_path: Path, ada: Person, argv: tuple[str, ...], bare: bool
) -> None:
    folder = tmp_path / "outside"
    Repo.create(folder, ada.env, "--bare") if bare else folder.mkdir()
    before = sorted(folder.iterdir())
    words = (str(ada.public_key) if each == "KEY" else each for each in argv)
    done = call(folder, ada.env, "signers", *words)
    assert_refused(
        done,
        2,
        "work tree" if bare else "there is no Git repository here: run this inside one",
    )
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("add",), "Missing argument 'KEY'"),
        (("revoke",), "Missing argument 'WHO'"),
        (("enrol",), "No such command 'enrol'"),
        (("init", "me.pub"), "unexpected extra argument"),
    ],
    ids=["add", "revoke", "enrol", "init"],
)
def test_a_wrong_command_line(repo: Repo, argv: tuple[str, ...], words: str) -> None:
    with repo.unchanged():
        assert_refused(signers(repo, *argv), 2, words, "--help`")


# revoke.


def test_revoke_a_person(signed: Repo, bob: Person) -> None:
    """What Ada approved before no longer counts; what Bob approved does."""
    commit = commit_approved(signed, "Render reports", {"reports.py": risky()})
    signed.git("checkout", "-q", "-b", "later", "base")
    done = signers(signed, "revoke", "Ada@Example.org")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "cli-guard: 1 key of ada@example.org revoked",
        f"commit {REVOKED}: from then on no approval of it counts, not even an older one",
    ]
    first, second = signers(signed, "list").out.splitlines()
    assert first.endswith("  revoked")
    assert "revoked" not in second
    signed.commit("Revoke Ada's key")
    signed.git("branch", "-f", "base")
    signed.git("cherry-pick", commit)
    refused = verify(signed, "base")
    assert refused.code == 3
    assert "the approval by ada@example.org does not count: " in refused.out
    assert "revoked" in refused.out
    reviewer = bob.at(signed)
    assert guard(reviewer, "review", "--range", "base..HEAD").code == 3
    assert approve(reviewer, pending(reviewer)).code == 0
    assert_verified(signed, "base")


def test_to_approve_with_a_revoked_key(signed: Repo) -> None:
    assert signers(signed, "revoke", "ada@example.org").code == 0
    signed.commit("Revoke Ada's key")
    stage(signed, {"reports.py": risky()})
    done = guard(signed, "approve", stdin=Terminal("yes\n"))
    assert_refused(done, 2, "policy wants key", f"your key is revoked in {REVOKED}")


def test_revoke_one_of_two_keys(signed: Repo, ada: Person) -> None:
    make_key(ada.ssh / "home", "Ada at home")
    assert signers(signed, "add", str(ada.ssh / "home")).code == 0
    done = signers(signed, "revoke", str(ada.public_key))
    assert done.out.startswith("cli-guard: 1 key of ada@example.org revoked\n")
    signed.commit("Change Ada's key")
    signed.git("branch", "-f", "base")
    commit_approved(
        signed, "Render reports", {"reports.py": risky()}, "--key", str(ada.ssh / "home")
    )
    assert_verified(signed, "base")
    assert signers(signed, "revoke", "ada@example.org").out.startswith(
        "cli-guard: 2 keys of ada@example.org"
    )


def test_revoke_two_people_one_after_the_other(
    signed: Repo, ada: Person, bob: Person
) -> None:
    """The second call keeps what the first has revoked."""
    commit = commit_approved(signed, "Render reports", {"reports.py": risky()})
    signed.git("checkout", "-q", "-b", "later", "base")
    for each in (ada, bob):
        assert signers(signed, "revoke", each.mail).code == 0
    base = signed.commit("Revoke both keys")
    signed.git("cherry-pick", commit)
    assert verify(signed, base).code == 3
    assert signed.git("notes", f"--ref={NOTES}", "list")


@pytest.mark.parametrize(
    "who", ["carol@example.org", "Ada", "example.org", "other.pub", "app.py", ".", "", "/"]
)
def test_revoke_somebody_unknown(signed: Repo, who: str) -> None:
    make_key(signed.path / "other")
    with signed.unchanged():
        done = signers(signed, "revoke", who)
    assert_refused(
        done, 2, f"{who!r} is not listed in {FILE}: see `cli-guard signers list`"
    )


def test_revoke_a_file_that_is_missing(signed: Repo) -> None:
    assert_refused(
        signers(signed, "revoke", "missing.pub"), 2, "missing.pub cannot be read"
    )


def test_a_broken_list_of_revoked_keys(signed: Repo) -> None:
    signed.write(REVOKED, b"no list of keys")
    with signed.unchanged():
        done = signers(signed, "revoke", "ada@example.org")
    assert_refused(done, 2, f"{REVOKED} cannot be written")


def test_a_link_in_place_of_the_list_of_revoked_keys(signed: Repo, tmp_path: Path) -> None:
    (signed.path / REVOKED).symlink_to(tmp_path / "elsewhere")
    with signed.unchanged():
        done = signers(signed, "revoke", "ada@example.org")
    assert_refused(done, 2, f"{REVOKED} should be a file, but it is a link: remove it")
    assert not (tmp_path / "elsewhere").exists()


# A day after which a key no longer counts.


@refused_today(
    "it shows the words of ssh-keygen, with the path of a temporary file and a time of day"
)
def test_after_the_last_day_of_a_key(signed: Repo, ada: Person) -> None:
    """A commit approved with a key while it counted is verified when it no longer does."""
    make_key(ada.ssh / "guest", "a guest")
    assert signers(signed, "add", str(ada.ssh / "guest"), "--until", "2999-01-01").code == 0
    base = signed.commit("Enrol a guest")
    key = ("--key", str(ada.ssh / "guest"))
    commit = commit_approved(signed, "Render reports", {"reports.py": risky()}, *key)
    signed.git("checkout", "-q", "-b", "later", base)
    text = (signed.path / FILE).read_text()
    ended = signed.commit(
        "Let the guest go", {FILE: text.replace('"29990101"', '"20260101"')}
    )
    signed.git("cherry-pick", commit)
    done = verify(signed, ended)
    said = " ".join(done.out.split())
    if done.code != 3 or "does not count: " not in said or "expired" not in said:
        pytest.fail("an approval by a key that has ended counts")
    assert "verify time" not in said
