"""Whether data from outside reaches a dangerous call in the function that lost a protection."""

from cli_guard.code.changes.facts import Unit
from cli_guard.code.languages import FAMILY, language_for
from cli_guard.model import FileChange
from cli_guard.reviewers.review_input import ReviewInput


def is_reached(subject: ReviewInput, change: FileChange, unit: Unit | None) -> bool:
    """Return whether a flow of the file after the change ends, or passes, in a unit.

    Only asked for a loss, so no other change pays for following data a second time.
    """
    language = language_for(change.path)
    text = subject.contents.new(change)
    if unit is None or language is None or text is None:
        return False
    from cli_guard.code.taint.flows import TooBigError, find_flows
    from cli_guard.code.taint.tables import tables_of

    tables = tables_of(FAMILY.get(language, language))
    if tables is None or not tables.may_hold_flow(text):
        return False
    try:
        flows = find_flows(subject.trees.root(language, text), language, text, tables)
    except TooBigError:
        return False
    lines = (line for flow in flows for line in (flow.line, *(at for at, _ in flow.steps)))
    return any(unit.line <= line <= unit.end_line for line in lines)
