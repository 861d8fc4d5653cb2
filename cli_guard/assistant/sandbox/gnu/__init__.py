"""Commands of coreutils and diffutils that the interpreter has not, or has otherwise than GNU: written again here.

Each is a function from a call to an answer, and as exact as GNU in standard output and exit code; nothing of them
is ours to design.
"""

from cli_guard.assistant.sandbox.commands.model import Run
from cli_guard.assistant.sandbox.gnu.comparing import cmp
from cli_guard.assistant.sandbox.gnu.computing import bc
from cli_guard.assistant.sandbox.gnu.listing import ls
from cli_guard.assistant.sandbox.gnu.unpacking import zcat

MENDED: dict[str, Run] = {"bc": bc, "cmp": cmp, "ls": ls, "zcat": zcat}
# Those that read standard input whatever their words are.
READERS = frozenset(("bc", "zcat"))
