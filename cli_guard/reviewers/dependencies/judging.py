"""Judge what came and what moved in one file: its source, its hashes, its settings."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from posixpath import basename

from cli_guard.lazy import dataclass
from cli_guard.model import Finding, Severity, Skipped
from cli_guard.reviewers.dependencies.changes import DependencyChange
from cli_guard.reviewers.dependencies.hashes import has_old_hash, has_other_hash, strength
from cli_guard.reviewers.dependencies.reading import LOCAL_KEY, Dependency, Listing
from cli_guard.reviewers.dependencies.scripts import runs_same_files
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import one, read_table
from cli_guard.secrets.printable import clip

SCHEME = re.compile(r"^[a-z+]+://")
GIT = re.compile(
    r"(?i)git\+|git@|git://|ssh://|git = |(?:github|gitlab|bitbucket|gist):|[^#?]*\.git(?:[#?@]|$)"
    r"|(?![.~])[\w.-]+/[\w.-]+(?:#|$)"
)
ARCHIVE = r"\.(?:whl|tgz|tar\.gz|jar|zip)$"
LOCAL = re.compile(
    rf"(?i)(?:file|path|link):|{LOCAL_KEY}|\.{{0,2}}/|~|[a-z]:\\|(?!.*://)(?:[\w.-]+/)*[\w.-]+{ARCHIVE}"
)
OUTSIDE = re.compile(
    rf"(?i)(?:(?:file|link|path):|{LOCAL_KEY})?(?:/|~|[a-z]:\\)|.*{ARCHIVE}"
)
PLAIN = re.compile(
    r"(?i)(?:git\+|registry\+|sparse\+)?(?:http|git|ftp)://(?!localhost\b|127\.|\[::1\])"
)
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# The release that a comment behind a commit names.
RELEASE = re.compile(r"#.*?\bv?(\d+\.\d+\.\d[\w.+-]*)")
OWNED = ("actions", "pre-commit", "docker")
MOST_SHOWN = 3
# https://HOST/OWNER/NAME, as `/` divides it.
ADDRESS_PARTS = 5
# What a test, an example or a vendored copy is still told, as advice.
ASIDE = frozenset(("deps-known-bad",))
# An entry without a source is a package of the repository itself in these.
NEED_SOURCE = (
    "uv.lock",
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
)
# The rule, the message and, where it is not the rule's, the severity of a finding.
Remark = tuple[str, str] | tuple[str, str, Severity]


# What is said of one entry in its file, with the one that it replaces.
Judge = Callable[
    ["DependencyWorld", DependencyChange, Dependency | None, Dependency], Iterator[Remark]
]


@dataclass
class DependencyWorld:
    """The change as a whole, and what has been reported of it; what is left out is added to `skipped`."""

    subject: ReviewInput
    differences: list[DependencyChange]
    skipped: list[Skipped]
    reported: set[tuple[str, ...]] = field(default_factory=set)
    majors: list[tuple[DependencyChange, Dependency, Dependency]] = field(
        default_factory=list
    )
    listings: dict[str, Listing] = field(default_factory=dict)

    def was_known(self, ecosystem: str, name: str) -> bool:
        """Return whether a changed file had an entry of a name before."""
        return any(
            e.ecosystem == ecosystem
            for each in self.differences
            for e in each.old.entries_named(name)
        )

    def is_first(self, *what: str) -> bool:
        """Return whether this has not been reported yet, and note that it is."""
        is_new = what not in self.reported
        self.reported.add(what)
        return is_new


def findings_of(
    each: DependencyChange,
    rule: str,
    entry: Dependency | None,
    message: str,
    severity: Severity | None = None,
) -> Iterator[Finding]:
    """Yield a finding, or nothing for one on a file that only tests or shows."""
    if each.is_aside and rule not in ASIDE:
        return
    content = f"{entry.name} {entry.spec} {entry.source}" if entry else message
    yield one("dependencies", rule).finding(
        path=each.path,
        line=entry.line if entry else None,
        end_line=entry.last if entry and entry.last > entry.line else None,
        message=message,
        severity=Severity.LOW if each.is_aside else severity,
        remedy=remedy_for(rule, each, entry),
        content=content,
    )


def remedy_for(rule: str, each: DependencyChange, entry: Dependency | None) -> str | None:
    """Return what a rule advises for the state, kind or ecosystem of an entry; None if it is the same for all."""
    remedies: Mapping[str, str] = one("dependencies", rule).extra.get("remedies", {})
    kinds = [each.ecosystem, "lock" if each.is_lock else "manifest"]
    if entry:
        is_fixed = COMMIT.fullmatch(entry.ref) or entry.integrity
        kinds = ["fixed" if is_fixed else "", entry.kind, *kinds]
    return next((remedies[kind] for kind in kinds if kind in remedies), None)


def judge(
    world: DependencyWorld, each: DependencyChange, judges: Iterable[Judge]
) -> Iterator[Finding]:
    """Yield the findings on one file, by judges of one entry each."""
    for was, entry in each.pairs:
        if entry.source == "workspace:":
            continue
        for remarks in (judge_setting,) if entry.is_setting else judges:
            for rule, message, *severity in remarks(world, each, was, entry):
                # A lock file of npm may have each entry in two halves.
                if not each.is_lock or world.is_first(each.path, rule, message):
                    yield from findings_of(each, rule, entry, message, *severity)
    removed = read_table("dependencies/settings.toml")["removed"]
    for entry in each.removals if not each.new.is_empty or not each.is_lock else ():
        if entry.kind in removed:
            rule, message = removed[entry.kind]
            yield from findings_of(
                each, rule, None, message.format(name=entry.name, spec=entry.spec)
            )


def place(source: str) -> str:
    """Return an address to show: without the user, the query and what the source is fixed to."""
    bare = re.sub(r"://[^/@\s]*@", "://", source).split("?")[0].split("#")[0]
    return clip(bare, 100)


def origin(source: str) -> str:
    """Return an address without what changes with a version: of a file below more folders, the first two."""
    parts = place(source).partition("@")[0].split("/")
    is_file = "://" in source and len(parts) > ADDRESS_PARTS
    return "/".join(parts[:ADDRESS_PARTS] if is_file else parts)


def is_direct(each: DependencyChange, entry: Dependency) -> bool:
    """Return whether an entry comes past its registry: by address, from Git or from a path."""
    source = entry.source
    if not each.is_lock:
        return bool(source) and not source.startswith("npm:")
    short = not re.search("[:=]", source)
    return (
        each.ecosystem != "composer"
        and not short
        and bool(GIT.match(source) or LOCAL.match(source))
    )


def is_inside(each: DependencyChange, source: str) -> bool:
    """Return whether a path leads to a folder of the repository, as between the packages of one."""
    depth = each.path.count("/")
    least = 0
    for step in re.sub(rf"^(?:\w+:|{LOCAL_KEY})", "", source).split("/"):
        depth += -1 if step == ".." else step not in (".", "")
        least = min(least, depth)
    return least >= 0 and not OUTSIDE.match(source)


def judge_source(
    world: DependencyWorld,
    each: DependencyChange,
    was: Dependency | None,
    entry: Dependency,
) -> Iterator[Remark]:
    source = entry.source
    name = entry.name
    where = place(entry.source)
    host = entry.host
    is_local = LOCAL.match(source) is not None
    is_plain = PLAIN.match(source)
    if is_direct(each, entry):
        same = was and origin(was.source) == origin(source)
        if (
            same
            or (is_local and is_inside(each, source))
            or not world.is_first("source", name)
        ):
            return
        world.reported.add(("host", host))
        if is_plain:
            yield "deps-plain-http", f"{name} comes over an unprotected connection: {where}"
        elif entry.kind == "replace":
            yield "deps-fork", f"{name} is replaced by {where}"
        else:
            how = "an address"
            if is_local:
                how = "a path"
            elif GIT.match(source):
                how = "Git"
                if not COMMIT.fullmatch(entry.ref):
                    how = "Git, at no fixed commit"
            yield "deps-source", f"{name} comes from {how}, not from a registry: {where}"
        return
    is_alias = source.startswith("npm:") and source[4:] != name and not each.is_lock
    is_known = was is not None and was.source == source
    if is_alias and not is_known and (was or entry.kind == "replace"):
        yield "deps-fork", f"{name} is replaced by another package: {source[4:]}"
    if is_plain and not (was and PLAIN.match(was.source)) and world.is_first("http", host):
        yield "deps-plain-http", f"{name} comes over an unprotected connection: {where}"
    elif host and not each.is_new and not each.old.has_host(host):
        # Files with images, and lock files, use a default host without naming it.
        has_default = not each.old.is_empty and (entry.kind == "image" or each.is_lock)
        names_hosts = any(e.host for e in each.old.entries)
        if (names_hosts or has_default) and world.is_first("host", host):
            yield "deps-new-host", message_of_host(each, was, entry, host)
    if was is None and each.ecosystem in OWNED:
        last = basename(name.rstrip("/"))
        others = (
            e
            for e in each.removals
            if basename(e.name.rstrip("/")) == last
            and e.host == host
            # The same over another protocol.
            and SCHEME.sub("", e.name) != SCHEME.sub("", name)
        )
        if other := next(others, None):
            yield "deps-fork", f"{other.name} is replaced by that of another owner: {name}"


def message_of_host(
    each: DependencyChange, was: Dependency | None, entry: Dependency, host: str
) -> str:
    """Say that a host is new, of several packages by their number and a few examples."""
    others = {new.name for _, new in each.pairs if host in new.hosts} - {entry.name}
    names = [entry.name, *sorted(others)]
    instead = ", ".join(sorted(was.hosts - entry.hosts)) if was else ""
    instead = f", not from {instead}," if instead else ""
    if not others:
        return (
            f"{entry.name} comes from {host}{instead} which {each.path} did not use before"
        )
    more = "" if len(names) <= MOST_SHOWN else ", ..."
    return (
        f"{len(names):,} packages come from {host}{instead} which {each.path} did not use before: "
        f"{', '.join(names[:MOST_SHOWN])}{more}"
    )


def judge_integrity(
    world: DependencyWorld,
    each: DependencyChange,
    was: Dependency | None,
    entry: Dependency,
) -> Iterator[Remark]:
    name = entry.name
    spec = entry.spec
    now = entry.integrity
    rule = "deps-integrity-lost"
    if is_direct(each, entry):
        return
    if was and has_other_hash(was, entry):
        # Both together are what an attack needs.
        is_moved = was.source != entry.source or was.addresses != entry.addresses
        address = "another address and " if is_moved else ""
        # What is named by its address has no version.
        shown = f"{name} {spec}".rstrip()
        message = f"{shown} has {address}another hash, but the same version"
        severity = Severity.CRITICAL if is_moved else Severity.HIGH
        yield "deps-integrity-changed", message, severity
    elif was and has_old_hash(was, entry) and entry not in each.beside:
        message = f"{name} {spec} has the hash of {was.spec}: one of them is wrong"
        yield "deps-integrity-changed", message, Severity.HIGH
    elif was and has_other_commit(was, entry) and (label := kept_label(each, was, entry)):
        yield (
            "deps-integrity-changed",
            f"{name} moves to another commit, but its comment still says {label}",
            # No tool reads the comment, and dependabot leaves one of another form as it is.
            Severity.MEDIUM,
        )
    elif was is None or entry in each.beside:
        # Yarn 2 and later leave out the hash of what is for other machines.
        has_source = entry.source and not entry.source.startswith("npm:")
        needed = each.ecosystem not in OWNED and (
            has_source or not each.path.endswith(NEED_SOURCE)
        )
        if not now and needed and "integrity" in each.usual:
            yield rule, f"{name} has no hash, unlike the rest of {each.path}"
    elif was.integrity and not now:
        yield rule, f"{name} no longer has the hash that it had", severity_of_loss(entry)
    elif was.integrity and strength(now) < strength(was.integrity):
        yield rule, f"{name} has a weaker hash than before"
    elif (
        each.ecosystem in OWNED
        and COMMIT.fullmatch(was.spec)
        and not COMMIT.fullmatch(spec)
    ):
        to = spec or "nothing"
        message = f"{name} is no longer fixed to a commit, but to {to}"
        yield rule, message, severity_of_loss(entry)


def severity_of_loss(entry: Dependency) -> Severity:
    """Return how much a lost digest weighs: what the platform itself publishes by tag is advice.

    That are the actions of GitHub, and the images of Docker Hub that have no owner.
    """
    is_platforms = (
        entry.name.startswith(("actions/", "github/"))
        if entry.ecosystem == "actions"
        else entry.kind == "image" and "/" not in entry.name.removeprefix("library/")
    )
    return Severity.MEDIUM if is_platforms else Severity.HIGH


def has_other_commit(was: Dependency, entry: Dependency) -> bool:
    """Return whether an action, or a repository of hooks, moves from one full commit to another."""
    commits = (was.spec, entry.spec)
    return was.spec != entry.spec and all(map(COMMIT.fullmatch, commits))


def kept_label(each: DependencyChange, was: Dependency, entry: Dependency) -> str:
    """Return the release that the comments beside both commits name, empty if it is another one or none.

    A tag such as v4 moves with each release; one with three numbers stays where it is.
    """
    labels = [
        RELEASE.search(lines.get(line, "").partition(commit)[2])
        for lines, line, commit in (
            (each.change.removed, was.line, was.spec),
            (each.change.added, entry.line, entry.spec),
        )
    ]
    found = {label[1] for label in labels if label}
    return found.pop() if all(labels) and len(found) == 1 else ""


def judge_setting(
    world: DependencyWorld,
    each: DependencyChange,
    was: Dependency | None,
    entry: Dependency,
) -> Iterator[Remark]:
    kind = entry.kind
    name = entry.name
    source = entry.source
    host = entry.host
    added = read_table("dependencies/settings.toml")["added"]
    if kind == "script" and was and runs_same_files(world.subject, each.path, was, entry):
        return
    if kind in added and (kind, entry.spec) != ("trusted", "false"):
        rule, message = added[kind]
        yield rule, message.format(name=name, spec=entry.spec)
    elif kind == "checksum" and was:
        urls = {
            e.source
            for side in (each.old, each.new)
            for e in side.entries
            if e.kind == "download"
        }
        if len(urls) == 1:
            yield "deps-integrity-changed", f"{name} changes, but the address does not"
    elif kind == "cooldown" and was and age(entry.spec) < age(was.spec):
        yield "deps-cooldown", f"{name}: {was.spec} becomes {entry.spec}"
    elif PLAIN.match(source):
        yield (
            "deps-plain-http",
            f"packages come over an unprotected connection: {place(source)}",
        )
    elif kind == "download" and not each.old.has_host(host) and not each.is_new:
        yield "deps-new-host", f"{name} is on {host}, which {each.path} did not use before"
    elif kind == "index":
        # The first source of a new file is the one that its package manager makes it name.
        first = next(e for e in each.new.entries if e.kind == "index")
        is_needed = (
            each.is_new
            and first is entry
            and each.path.endswith(("Pipfile", "file", ".lock", ".config", "ml"))
        )
        if not is_needed and world.is_first("host", host or source):
            yield (
                "deps-index",
                f"packages may come from {'an' if was is None else 'another'} index: {place(source)}",
            )


def age(text: str) -> float:
    """Return the days that a setting asks for; a date, which moves on as time passes, counts as long."""
    found = re.match(r"P?T?(\d+(?:\.\d+)?)\s*([a-zA-Z]*)", text)
    in_a_day = read_table("dependencies/settings.toml")["in_a_day"]
    return float(found[1]) / in_a_day.get(found[2].lower().rstrip("s"), 1) if found else 0
