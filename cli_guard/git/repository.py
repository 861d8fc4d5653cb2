"""A repository as Git sees it from here: its folders, its object format, and what its refs point at."""

import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.errors import GitError, UsageError
from cli_guard.git.prefetch import (
    AT_HEAD,
    IN_WORK_TREE,
    SETTINGS,
    STAGED,
    WHERE,
    any_staged,
)
from cli_guard.git.process import Git, find_starter, missing, refusal
from cli_guard.lazy import dataclass, regex
from cli_guard.repository.entries import decode_path
from cli_guard.repository.protocol import OID, Blobs, Bounds, LoggedCommit, as_lines
from cli_guard.runtime import Env, NotAPlainFileError, read_plain

if TYPE_CHECKING:
    from cli_guard.git.changes import ChangeReader
    from cli_guard.git.contents import BlobReader
    from cli_guard.repository.pushes import Graph
    from cli_guard.repository.snapshot import Snapshot

COMPARED_BASES = 8
FILE_MODES = ("100644", "100755", "120000")
NO_SUCH_FILE = (b"does not exist", b"exists on disk, but not in")
# The path exists but is not a file; or it is one whose content Git does not have.
NO_BLOB = b"bad file"
ANSWER = regex(r"([0-9a-f]{40,64}) (commit|tag|tree|blob) \d+")
Question = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True)
class GitRepository:
    """One work tree (or bare repository) and the Git that reads it.

    `git_dir` is this work tree's own; `common_dir` is shared by all linked work trees (gitrepository-layout(5)).
    `commit_at_head` and `tree_at_head` are "" if what HEAD names was not found.
    """

    git: Git
    git_dir: Path
    common_dir: Path
    object_format: str
    bare: bool
    commit_at_head: str = ""
    tree_at_head: str = ""
    work_tree: Path | None = None
    # What `read_roots` has read, by revision and name: None where there is no such file.
    roots: dict[tuple[str, str], bytes | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def discover(
        cls,
        cwd: Path,
        env: Env,
        *ahead: tuple[str, ...],
        through_gitpython: bool = False,
    ) -> "GitRepository":
        """Return the repository that Git finds from `cwd`. Raises NotARepository, or GitError with Git's refusal.

        `ahead` are calls to prefetch: Git runs them at the same time.
        """
        git = Git(cwd, env, find_starter(through_gitpython=through_gitpython))
        for question in (IN_WORK_TREE, *ahead):
            git.begin(*question)
        try:
            lines, at_head = split_ids(git.optional(*IN_WORK_TREE) or "")
            root = Path(lines.pop(0)) if len(lines) == len(WHERE) else None
            if root is None:
                # The object that HEAD names may be missing: retry without asking for it.
                words = git.optional(*WHERE, *AT_HEAD) or git.text(*WHERE)
                # Only the last lines have a known form: a folder's name may hold a newline.
                lines, at_head = split_ids(words)
        except GitError:
            git.forget()
            raise
        *folders, object_format, bare = lines
        git_dir, _, common = "\n".join(folders).rpartition("\n")
        return cls(
            git,
            Path(git_dir),
            (cwd / common).resolve(),
            object_format,
            bare == "true",
            *at_head,
            work_tree=root,
        )

    def through_gitpython(self) -> "GitRepository":
        """Return the same repository, whose Git is started by GitPython."""
        start = find_starter(through_gitpython=True)
        return replace(self, git=Git(self.git.cwd, self.git.env, start))

    @cached_property
    def root(self) -> Path:
        """Return the top folder of the work tree. Raises GitError in a bare repository."""
        return self.work_tree or Path(self.git.text("rev-parse", "--show-toplevel"))

    @cached_property
    def at_top(self) -> Git:
        """Return a Git in the top folder of the work tree, if there is one, with the environment's folders resolved."""
        if self.bare:
            return self.git
        folders = {
            "GIT_DIR": self.git_dir,
            "GIT_COMMON_DIR": self.common_dir,
            "GIT_WORK_TREE": self.root,
        }
        given = {name: str(path) for name, path in folders.items() if name in self.git.env}
        if "GIT_WORK_TREE" in given:
            # Git takes a work tree without a repository to be the folder it runs in.
            given["GIT_DIR"] = str(self.git_dir)
        return self.git.at(self.root, {**self.git.env, **given})

    @property
    def root_name(self) -> str:
        """Return the name of the work tree's top folder, "" in a bare repository."""
        return "" if self.bare else str(self.root)

    @cached_property
    def state_folder(self) -> Path:
        """Return the only folder that cli-guard ever writes."""
        return self.common_dir / "cli-guard"

    @cached_property
    def empty_tree(self) -> str:
        """Return the id of the empty tree in this repository's object format."""
        import hashlib  # slow to load

        return hashlib.new(self.object_format, b"tree 0\0").hexdigest()

    @cached_property
    def head(self) -> str | None:
        """Return the commit that HEAD names, None before the first one. Raises MissingObject if it is missing."""
        if self.commit_at_head:
            return self.commit_at_head
        found = self.git.optional("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
        if found is None and (
            named := self.git.optional("rev-parse", "--quiet", "--verify", "HEAD")
        ):
            raise missing(named)
        return found

    def has_staged(self) -> bool:
        """Return whether anything is staged; before the first commit, whether the index has any file."""
        known = self.git.anything(*STAGED)
        if known is not None:
            return known
        code, _, _ = self.git.attempt(*any_staged("HEAD"))
        if code not in (0, 1):
            code, _, _ = self.git.attempt(*any_staged(self.tree_of(self.head)))
        return code != 0

    @cached_property
    def merge_heads(self) -> tuple[str, ...]:
        """Return the other parents of a merge that stopped at a conflict (git-merge(1)), about to be committed."""
        return read_ids(self.git_dir / "MERGE_HEAD")

    @cached_property
    def heads_being_merged(self) -> tuple[str, ...]:
        """Return the same while `git merge` runs its hook, from the environment (GITHEAD_*)."""
        named = (
            name.removeprefix("GITHEAD_")
            for name in self.git.env
            if name.startswith("GITHEAD_")
        )
        return self.merge_heads or tuple(name for name in named if OID.fullmatch(name))

    def resolve(self, revision: str, kind: str = "commit") -> str:
        """Return the id of a revision. Raises UsageError if it does not exist."""
        if (revision, kind) == ("HEAD", "commit") and self.commit_at_head:
            return self.commit_at_head
        peeled = revision + "^{" + kind + "}"
        if OID.fullmatch(revision):
            found: str | None = self.identify([peeled]).get(peeled, ("", ""))[0]
        else:
            found = self.git.optional(
                "rev-parse", "--quiet", "--verify", "--end-of-options", peeled
            )
        if not found:
            if self.head is None:
                raise UsageError(f"there is no {kind} {revision!r}: HEAD has no commit yet")
            raise UsageError(
                f"there is no {kind} {revision!r} in this repository: see `git log --oneline --all`"
            )
        return found

    def tree_of(self, revision: str | None) -> str:
        """Return the tree of a commit or tree id; the empty one for None. Raises MissingObject."""
        if revision is None:
            return self.empty_tree
        if revision in (self.commit_at_head, self.tree_at_head):
            return self.tree_at_head
        return self.trees([revision])[revision]

    def prefer_prefetched(self, question: Question, revision: str) -> tuple[str, ...]:
        """Return a call about a commit or tree; the prefetched one about HEAD if it is the same."""
        ahead = question("HEAD")
        at_head = revision in (self.commit_at_head, self.tree_at_head)
        return ahead if at_head and self.git.began(*ahead) else question(revision)

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """Return Git's whole configuration, read once; of several values the last counts (git-config(1), `-z`)."""
        entries = (self.git.optional(*SETTINGS) or "").split("\0")
        return {
            key: value for key, _, value in (entry.partition("\n") for entry in entries)
        }

    def config(self, key: str) -> str | None:
        """Return one value of Git's configuration, None if it is not set."""
        section, _, rest = key.partition(".")
        middle, between, name = rest.rpartition(".")
        # Git prints a key in lower case except for its middle, a branch for example.
        return self.settings.get(f"{section.lower()}.{middle}{between}{name.lower()}")

    def show(self, revision: str, path: str) -> bytes | None:
        """Return the content of a path in a commit or tree ("" is the index), None if it holds no such file.

        Raises GitError, or MissingObject, if Git cannot tell: a missing file and a missing answer differ.
        """
        if (revision, path) in self.roots:
            return self.roots[revision, path]
        named = f"{revision}:{path}"
        # The index may have changed since another call of Git has read it.
        oid, kind = self.identify([named] if revision else []).get(named, ("", ""))
        if kind == "blob":
            with self.blobs(sys.maxsize) as reader:
                return reader.read(oid)
        code, out, err = self.git.attempt("cat-file", "blob", named)
        if code == 0:
            return out
        if any(words in err for words in NO_SUCH_FILE):
            return None
        if NO_BLOB in err and self.git.attempt("cat-file", "-e", named)[0] == 0:
            # A folder, for one.
            return None
        raise refusal(err, code)

    def is_ancestor(self, older: str, newer: str) -> bool:
        """Return whether `newer` descends from `older`; False as well if this clone does not know `older`."""
        code, _, _ = self.git.attempt("merge-base", "--is-ancestor", older, newer)
        return code == 0

    def merge_bases(self, one: str, other: str) -> tuple[str | None, ...]:
        """Return the best common ancestors of two commits, (None,) if they have none."""
        return tuple((self.git.optional("merge-base", "--all", one, other) or "").split())[
            :COMPARED_BASES
        ] or (None,)

    def is_cut(self, base: str, head: str) -> bool:
        """Return whether a shallow clone lacks the parents of commits that `head` has and `base` has not."""
        return bool(self.cut_off) and not self.cut_off.isdisjoint(
            self.commits(head, exclude=[base])
        )

    @cached_property
    def cut_off(self) -> frozenset[str]:
        """Return the commits whose parents a shallow clone lacks. Raises GitError."""
        return frozenset(read_ids(self.common_dir / "shallow"))

    def exact(self, revision: str) -> str:
        """Return the id of a commit whose name can mean nothing else. Raises UsageError."""
        if OID.fullmatch(revision):  # Git takes it for an id first, whatever tags there are
            return self.resolve(revision)
        code, out, err = self.git.attempt(
            "-c",
            "core.warnAmbiguousRefs=true",
            "rev-parse",
            "--verify",
            "--end-of-options",
            f"{revision}^{{commit}}",
        )
        oid = out.decode("ascii").strip() if code == 0 else self.resolve(revision)
        hexadecimal = re.fullmatch(r"[0-9a-f]{4,64}", revision) is not None
        if b"ambiguous" in err or (hexadecimal and not oid.startswith(revision)):
            raise UsageError(
                f"{revision!r} names several things here (a tag and a branch?): give the commit's id"
            )
        return oid

    def parents(self, commits: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the parents of commits, without those that a shallow clone cut off."""
        out = self.git.run(
            "rev-list",
            "--no-walk=unsorted",
            "--parents",
            "--stdin",
            stdin=as_lines(commits),
        ).decode("ascii")
        return {oid: tuple(parents) for oid, *parents in map(str.split, out.splitlines())}

    def trees(self, commits: Iterable[str]) -> dict[str, str]:
        """Return the trees of commits. Raises MissingObject."""
        wanted = {oid: f"{oid}^{{tree}}" for oid in commits}
        found = self.identify(wanted.values())
        for named in wanted.values() - found.keys():
            raise missing(named)
        return {oid: found[named][0] for oid, named in wanted.items()}

    def links(
        self, commits: Sequence[str], raws: Iterable[bytes | None]
    ) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
        """Return the parents of commits, given with their contents, and the trees of all. Raises MissingObject."""
        from cli_guard.git.objects import read_links

        trees: dict[str, str] = {}
        parents: dict[str, tuple[str, ...]] = {}
        for commit, raw in zip(commits, raws, strict=True):
            if found := read_links(raw or b""):
                trees[commit], others = found
                parents[commit] = () if commit in self.cut_off else others
        # Too big to be read, for one.
        if left := [each for each in commits if each not in trees]:
            parents |= self.parents(left)
        needed = {*commits, *chain.from_iterable(parents.values())}
        return parents, trees | self.trees(needed - trees.keys())

    def identify(self, revisions: Iterable[str]) -> dict[str, tuple[str, str]]:
        """Return the id and the type of what each revision names, without those that name no object here.

        One call of Git for all of them (git-cat-file(1), `--batch-check`). Raises GitError.
        """
        wanted = [each for each in dict.fromkeys(revisions) if "\n" not in each]
        lines = self.git.ask("cat-file", "--batch-check", questions=wanted)
        # Of what names nothing, it prints the name and a word.
        answers = (ANSWER.fullmatch(line.decode("ascii", "replace")) for line in lines)
        found = zip(wanted, answers, strict=True)
        return {each: (answer[1], answer[2]) for each, answer in found if answer}

    def graph(self, tips: Iterable[str], known: Iterable[str] = ()) -> "Graph":
        """Return the commits that some tips reach and the known ones do not. Raises GitError."""
        from cli_guard.repository.pushes import Graph

        asked = as_lines((*tips, *(f"^{oid}" for oid in known)))
        options = ("--topo-order", "--reverse", "--boundary", "--parents", "--timestamp")
        listed = self.git.run("rev-list", *options, "--stdin", stdin=asked)
        return Graph.parse(listed.decode("ascii"))

    def root_commits(self, tip: str = "HEAD") -> list[str]:
        """Return the root commits of a tip, sorted: they name a history wherever it lies. Raises GitError."""
        return sorted(self.git.text("rev-list", "--max-parents=0", tip).split())

    def has_roots(self, roots: Collection[str]) -> bool:
        """Return whether it has these root commits, as no other one has at the same path. Raises GitError."""
        return bool(roots) and set(roots) <= set(self.find_commits(roots))

    def find_commits(self, oids: Iterable[str]) -> list[str]:
        """Return the ids that are commits here. Raises GitError."""
        named = (f"{oid}^{{commit}}" for oid in oids)
        return [oid for oid, _ in self.identify(named).values()]

    @property
    def is_shallow(self) -> bool:
        """Return whether older commits are missing from this clone."""
        return (self.common_dir / "shallow").exists()

    def log(
        self,
        *options: str,
        tips: Sequence[str],
        count: int,
        paths: Iterable[str] = (),
        files: bool = True,
    ) -> list[LoggedCommit]:
        """Return commits, see `cli_guard.git.log`."""
        from cli_guard.git.log import read_log

        return read_log(
            self.at_top, *options, tips=tips, count=count, paths=paths, files=files
        )

    def blame(self, commit: str, path: str, start: int, end: int) -> list[str]:
        """Return the id of the commit that last changed each line from `start` to `end`. Raises GitError."""
        from cli_guard.git.log import blame_lines

        return blame_lines(self.at_top, commit, path, start, end)

    def reflog_of_head(self) -> "Iterator[tuple[str, str, str]]":
        """Yield the old id, the new id and the words of each entry of HEAD's reflog, oldest first."""
        from cli_guard.git.tracking import entries_of

        return entries_of(self.git_dir / "logs" / "HEAD")

    def without_filters(self) -> list[str]:
        """Return options that keep Git from running the clean filters of its configuration."""
        from cli_guard.git.worktree import without_filters

        return without_filters(self.git)

    def read_roots(self, revisions: Iterable[str], names: tuple[str, ...]) -> None:
        """Read files at the root of commits or trees at once, for `show`. Raises GitError."""
        wanted = {
            each
            for each in revisions
            if any((each, name) not in self.roots for name in names)
        }
        at_head = wanted & {self.commit_at_head, self.tree_at_head}
        trees = dict.fromkeys(at_head, self.tree_at_head) | self.trees(wanted - at_head)
        with self.blobs(sys.maxsize) as reader:
            read = cache(reader.read)

            @cache
            def root_of(tree: str) -> dict[str, bytes | None]:
                entries = read_tree(reader.read(tree) or b"", self.object_format)
                found = {name: entries.get(name, ("", "")) for name in names}
                # A folder or a submodule is left to Git.
                return {
                    name: read(oid) if oid else None
                    for name, (mode, oid) in found.items()
                    if not oid or mode in FILE_MODES
                }

            self.roots.update(
                ((revision, name), raw)
                for revision, tree in trees.items()
                for name, raw in root_of(tree).items()
            )

    def blobs(self, limit: int) -> "BlobReader":
        """Return a reader of objects, to be opened with `with`."""
        from cli_guard.git.contents import BlobReader

        return BlobReader(self.git, blob_limit=limit)

    def changes(self, blobs: Blobs, bounds: Bounds) -> "ChangeReader":
        """Return a reader of change sets."""
        from cli_guard.git.changes import ChangeReader

        return ChangeReader(self, blobs, bounds)

    def snapshot(
        self, revision: str | None = None, *, worktree: bool = False
    ) -> "Snapshot":
        """Return the files of the index, of a revision, or of the work tree."""
        from cli_guard.git.snapshot import read_state

        return read_state(self, revision, worktree=worktree)

    def commits(self, *include: str, exclude: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the ids of the commits reached by `include` and not by `exclude`, oldest first."""
        lines = [*include, *(f"^{oid}" for oid in exclude)]
        if any(line.startswith("-") for line in lines):
            raise GitError("a revision may not begin with a dash")
        out = self.git.run(
            "rev-list", "--topo-order", "--reverse", "--stdin", stdin=as_lines(lines)
        )
        return tuple(out.decode("ascii").split())


def read_tree(raw: bytes, object_format: str) -> dict[str, tuple[str, str]]:
    """Parse a tree object (gitformat-pack(5)): name -> mode, id. Raises GitError."""
    length = 32 if object_format == "sha256" else 20
    entries: dict[str, tuple[str, str]] = {}
    at = 0
    while at < len(raw):
        end = raw.find(b"\0", at)
        if end < 0:
            raise GitError("a tree is broken: run `git fsck`")
        mode, _, name = raw[at:end].partition(b" ")
        at = end + 1 + length
        entries[decode_path(name)] = (mode.decode("ascii"), raw[end + 1 : at].hex())
    return entries


def split_ids(words: str) -> tuple[list[str], tuple[str, str]]:
    """Return lines, and the two ids at their end, each "" if there are not two."""
    lines = words.split("\n")
    ids: list[str] = []
    while lines and OID.fullmatch(lines[-1]):
        ids.insert(0, lines.pop())
    return lines, (ids[0], ids[1]) if len(ids) == 2 else ("", "")


def read_ids(path: Path) -> tuple[str, ...]:
    """Return the words of a file of Git's own, none if there is no such file. Raises GitError for a device or FIFO."""
    try:
        return tuple(read_plain(path, follow=True).decode("ascii", "replace").split())
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except NotAPlainFileError as error:
        raise GitError(f"{path} cannot be read: {error.strerror}") from error
