"""The build of a wheel: rules are compiled, because parsing their sources would take every run time."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledRules(BuildHookInterface):  # type: ignore[type-arg]
    """Put the compiled rules into the wheel; pyproject.toml leaves their sources out."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from cli_guard.rules.data import compile_all

        self.folder = tempfile.TemporaryDirectory()
        compile_all(Path(self.folder.name))
        build_data["force_include"][self.folder.name] = "cli_guard/rules/compiled"
