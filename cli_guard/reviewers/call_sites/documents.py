"""The calls of the guard in workflows, pipelines and the files of hook frameworks: what decides how each of them runs.

A call is its job, or its hook, with all that holds for it: the whole document but the other jobs. Of the steps of a job
those up to the call count, as one before it may change the programs or the commits that it finds.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from cli_guard.reviewers.call_sites.values import (
    COSMETIC,
    MENTION,
    Sites,
    Surroundings,
    Value,
    Values,
)
from cli_guard.reviewers.commands.extract.nodes import (
    Document,
    Items,
    Node,
    Scalar,
    Table,
    at,
    every,
)

Reader = Callable[[Values, Table], Sites]
# Keys of a job that name other jobs, on which depends whether it runs, or of which it takes its parts.
NEEDS = ("needs", "extends", "requires", "dependencies")
# A job is known to the server by its name, which a required check gives: so another name is another job.
COSMETIC_IN_JOB = COSMETIC - {"name"}
# The keys of a pipeline of GitLab that are no jobs; the order of the stages alone lets no job succeed.
NO_JOBS = frozenset(
    "default include variables workflow image services cache before_script after_script spec".split()
)
STAGES = ("stages",)
MEMBERS = ("commands", "scripts", "jobs")
# What a package is called and depends on calls nothing.
DEEPEST_SCRIPT = 4
NO_SCRIPTS = frozenset(
    "name bin files dependencies devDependencies peerDependencies optionalDependencies keywords repository".split()
)


def workflow(values: Values, root: Table) -> Sites:
    """Read a workflow of GitHub, Gitea or Forgejo, or a composite action."""
    jobs = entries(root.get("jobs"))
    # A variable for all jobs may hold the call.
    in_all = values.is_calling(root.get("env"))
    called = {
        name
        for name, job in jobs.items()
        if in_all or MENTION.search(name) or values.is_calling(job)
    }
    runs = root.get("runs")
    sites: Sites = {}
    if values.is_calling(runs):
        sites["the action"] = values.table(runs, without=("steps",)) | steps(
            values, runs, "steps"
        )
    for name in with_needed(called, jobs):
        job = values.table(jobs[name], without=("steps",), cosmetic=COSMETIC_IN_JOB)
        sites[f"job {name}"] = job | steps(
            values, jobs[name], "steps", whole=name not in called
        )
    sites |= waiting_jobs(values, called, jobs)
    return with_root(values.table(root, without=("jobs", "runs")), sites)


def gitlab(values: Values, root: Table) -> Sites:
    """Read a pipeline of GitLab. A job changes the one of its name in an included file."""
    jobs = {
        name: node
        for name, node in root.items()
        if isinstance(node, Table) and name not in NO_JOBS and name not in STAGES
    }
    called = {
        name for name, job in jobs.items() if MENTION.search(name) or values.is_calling(job)
    }
    rest = values.table(root, without=(*jobs, *STAGES), cosmetic=())
    if values.is_calling(root.get("include")):
        for name in [name for name in called if MENTION.search(name)]:
            rest[f"job {name}"] = values.of(jobs[name])
            called.discard(name)
        return {"the pipeline": rest} | {
            f"job {name}": values.table(jobs[name]) for name in called
        }
    sites = {f"job {name}": values.table(jobs[name]) for name in with_needed(called, jobs)}
    return with_root(rest, sites | waiting_jobs(values, called, jobs))


def circleci(values: Values, root: Table) -> Sites:
    """Read a configuration of CircleCI: jobs, the commands that they use, and the workflows that run them."""
    commands = entries(root.get("commands"))
    jobs = entries(root.get("jobs"))
    called = {name for name, node in (commands | jobs).items() if values.is_calling(node)}
    called |= {name for name, job in jobs.items() if called & names_in(job)}
    sites = {
        f"job {name}": values.table(node)
        for name, node in (commands | jobs).items()
        if name in called
    }
    for name, node in entries(root.get("workflows")).items():
        runs = {
            entry: each
            for each in at([node], "jobs", "[]")
            for entry in names_of_entry(each)
        }
        kept = with_needed(
            {entry for entry in runs if entry in called},
            {key: table_in(runs[key]) for key in runs},
        )
        if kept:
            used = {f"job {entry}": values.of(runs[entry]) for entry in kept}
            sites[f"workflow {name}"] = values.table(node, without=("jobs",)) | used
    return with_root(values.table(root, without=("jobs", "workflows", "commands")), sites)


def hooks(values: Values, root: Table) -> Sites:
    """Read the configuration of pre-commit or prek."""
    sites: Sites = {}
    for repo in at([root], "repos", "[]"):
        if not isinstance(repo, Table) or not values.is_calling(repo):
            continue
        every_hook = list(at([repo], "hooks", "[]"))
        where = values.table(repo, without=("hooks",))
        for hook in [each for each in every_hook if values.is_calling(each)] or every_hook:
            own = values.table(hook)
            name = hook.text("id") if isinstance(hook, Table) else ""
            add_site(
                sites,
                f"hook {name}",
                own | {f"{key} of its repository": where[key] for key in where},
            )
    for hook in at([root], "hooks", "[]"):
        if values.is_calling(hook):
            add_site(
                sites,
                f"hook {hook.text('id') if isinstance(hook, Table) else ''}",
                values.table(hook),
            )
    return with_root(values.table(root, without=("repos", "hooks")), sites)


def lefthook(values: Values, root: Table) -> Sites:
    """Read the configuration of lefthook: the commands of a hook are independent of each other."""
    sites: Sites = {}
    others = [
        name
        for name, node in root.items()
        if isinstance(node, Table) and any(map(node.get, MEMBERS))
    ]
    for name in others:
        hook = root.get(name)
        if not values.is_calling(hook):
            continue
        shared = values.table(hook, without=MEMBERS)
        for part in at([hook], "*") if isinstance(hook, Table) else ():
            named = part.nodes if isinstance(part, Items) else entries(part).values()
            for member in named:
                if values.is_calling(member):
                    add_site(sites, f"hook {name}", values.table(member) | shared)
    return with_root(values.table(root, without=others), sites)


def package(values: Values, root: Table) -> Sites:
    """Read the scripts of a package.json, also those of the hook frameworks that are set up in it."""
    sites: Sites = {}
    waiting: list[tuple[tuple[str, ...], Node]] = [
        ((key,), node) for key, node in root.items() if key not in NO_SCRIPTS
    ]
    for keys, node in waiting:
        name = ".".join(keys)
        if isinstance(node, Table) and len(keys) < DEEPEST_SCRIPT:
            waiting += [((*keys, key), value) for key, value in node.pairs]
        elif values.is_calling(node):
            sites[f"script {name}"] = {"": values.of(node)}
    return sites


def whole(values: Values, root: Table) -> Sites:
    """Read a document of which it is not known what does not matter to a call."""
    return {"the pipeline": values.table(root)} if values.is_calling(root) else {}


def with_root(rest: Surroundings, sites: Sites) -> Sites:
    """Add what holds for all calls of a file, if there are any."""
    return {"the file": rest} | sites if sites else {}


def entries(node: Node | None) -> dict[str, Node]:
    """Return the entries of a table by their keys, its own before merged ones; of a repeated key all in a list."""
    found: dict[str, Node] = {}
    if isinstance(node, Table):
        counts = Counter(key for key, _ in node.pairs)
        for key, value in node.items():
            found.setdefault(key, value if counts[key] < 2 else Items([]))
            if counts[key] > 1 and isinstance(several := found[key], Items):
                several.nodes.append(value)
    return found


def names_in(node: Node) -> set[str]:
    """Return the texts and keys below a node."""
    found = {each.text for each in every((node,)) if isinstance(each, Scalar)}
    return found | {
        key for each in every((node,)) if isinstance(each, Table) for key, _ in each.pairs
    }


def names_of_entry(node: Node) -> Iterator[str]:
    """Return the name of the job that an entry of a workflow of CircleCI runs."""
    if isinstance(node, Scalar):
        yield node.text
    elif isinstance(node, Table):
        yield from (key for key, _ in node.pairs)


def table_in(node: Node) -> Node:
    """Return the settings of such an entry."""
    return node.pairs[0][1] if isinstance(node, Table) and node.pairs else node


def needed_by(node: Node) -> set[str]:
    """Return the names that a job gives of others, also in `!reference [.job, script]`."""
    if not isinstance(node, Table):
        return set()
    found = {name for key in NEEDS for each in at([node], key) for name in names_in(each)}
    references = (
        each
        for each in every((node,))
        if each.tag == "!reference" and isinstance(each, Items)
    )
    return found.union(*(names_in(each) for each in references))


def with_needed(called: Iterable[str], jobs: Mapping[str, Node]) -> list[str]:
    """Return these jobs and those that they need, as a job that is skipped skips all that need it."""
    found = [name for name in jobs if name in called]
    for name in found:
        found += [
            other for other in needed_by(jobs[name]) if other in jobs and other not in found
        ]
    return found


def waiting_jobs(values: Values, called: set[str], jobs: Mapping[str, Node]) -> Sites:
    """Return the jobs that wait for a call: without that, they would succeed although it fails."""
    return {
        f"job {name}, which needs {other}": {
            key: value
            for key, value in values.table(job).items()
            if key in ("if", "when", "rules")
        }
        for name, job in jobs.items()
        if name not in called
        for other in sorted(called & needed_by(job))
    }


def steps(
    values: Values, job: Node | None, key: str, *, whole: bool = False
) -> dict[str, Value]:
    """Return the values of the steps of a job up to its last call, or of all of them."""
    found = list(at([job], key, "[]")) if job else []
    runs = [number for number, step in enumerate(found, 1) if is_review(values, step)]
    last = max(runs) if runs and not whole else len(found)
    return {
        f"step {number}: {name}" if name else f"step {number}": value
        for number, step in enumerate(found[:last], 1)
        for name, value in values.table(step).items()
    }


def is_review(values: Values, step: Node) -> bool:
    """Return whether a step reviews: by an action, or by its text."""
    if isinstance(step, Table) and values.is_calling(step.get("uses")):
        return True
    return any(
        isinstance(each, Scalar) and values.is_running(each.text) for each in every((step,))
    )


def add_site(sites: Sites, name: str, own: Surroundings) -> None:
    """Add a call; the second of the same name has a number."""
    number = 1
    while (label := name if number == 1 else f"{name} ({number})") in sites:
        number += 1
    sites[label] = own


def read_document(values: Values, document: Document, reader: Reader) -> Sites:
    """Return the calls in all documents of a file."""
    found: Sites = {}
    for number, root in enumerate(document.roots):
        for root_table in tables_of(root):
            for name, own in reader(values, root_table).items():
                add_site(
                    found, name if number == 0 else f"document {number + 1}, {name}", own
                )
    # A server that expects one document runs none of several.
    return (
        found | {"the documents": {"number": values.text(str(len(document.roots)))}}
        if found
        else {}
    )


def tables_of(root: Node) -> list[Table]:
    """Return a document as a table: the hooks that a repository offers are a list."""
    if isinstance(root, Items):
        return [Table([("hooks", root)])]
    return [root] if isinstance(root, Table) else []
