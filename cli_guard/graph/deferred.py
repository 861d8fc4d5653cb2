"""Defer the libraries that tracing and remote graphs need: a review uses neither, and they are most of what loads.

langgraph imports langsmith, langgraph_sdk, the tracers of langchain_core and requests, together 500 modules. In our own
processes each of their modules is a proxy, and each name that is imported from it too, until anything of them is used:
called, read, subclassed, or compared with. Then all are imported as they are.
"""

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, Union

DEFERRED = ("langsmith.", "langgraph_sdk.", "langchain_core.tracers.", "requests.")
# A class of langgraph inherits from the one class that this defines; the package itself loads nothing.
LOADED = ("langchain_core.tracers.", "langchain_core.tracers._streaming.")


class DeferredModule(ModuleType):
    """A module that is imported at its first use."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name != "__version__":
            raise AttributeError(name)
        return DeferredName(self.__name__, name)


class DeferredName:
    """A name of such a module."""

    def __init__(self, module: str, name: str) -> None:
        self.__dict__["@"] = module, name

    def __getattr__(self, name: str) -> Any:
        return getattr(load(self), name)

    def __call__(self, *positional: Any, **named: Any) -> Any:
        return load(self)(*positional, **named)

    def __mro_entries__(self, _: tuple[Any, ...]) -> tuple[Any, ...]:
        return (load(self),)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, load(self))

    def __subclasscheck__(self, other: type) -> bool:
        return issubclass(other, load(self))

    def __getitem__(self, key: Any) -> Any:
        return load(self)[key]

    def __str__(self) -> str:
        return str(load(self))

    def __iter__(self) -> Iterator[Any]:
        return iter(load(self))

    def __eq__(self, other: object) -> bool:
        return bool(load(self) == other)

    def __hash__(self) -> int:
        return hash(load(self))

    def __or__(self, other: Any) -> Any:
        # An annotation, as in `user: BaseUser | None`, is no use yet.
        return Union[self, other]  # noqa: UP007

    __ror__ = __or__


class Finder:
    """Finds the deferred modules, before the finders of Python; it is removed at the first use."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, _: object = None) -> Any:
        if not f"{name}.".startswith(DEFERRED) or f"{name}." in LOADED:
            return None
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path)
        if spec is not None:
            spec.loader = Finder  # type: ignore[assignment]
        return spec

    @staticmethod
    def create_module(spec: Any) -> ModuleType:
        return DeferredModule(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Run nothing yet."""


def defer() -> None:
    """Defer what is not loaded yet, in this process, from now on."""
    if Finder in sys.meta_path:
        return
    if not any(f"{name}.".startswith(DEFERRED) for name in sys.modules):
        sys.meta_path.insert(0, Finder)


def keep_callbacks() -> None:
    """Let every step of a run use the callback manager that the run is given, see `graph.run.without_tracing`.

    The functions by which langgraph does so for its nodes replace those of langchain_core, which read and reset the
    state of langsmith for any step.
    """
    if Finder in sys.meta_path:
        from langchain_core.runnables import base
        from langgraph._internal import _config, _runnable
        from langgraph.pregel import main

        for module in (main, base):
            vars(module)["get_callback_manager_for_config"] = (
                _config.get_callback_manager_for_config
            )
        vars(base)["set_config_context"] = _runnable.set_config_context


def load(deferred: DeferredName) -> Any:
    """Import everything that was deferred, and return what a name stands for. Raises ImportError."""
    if Finder in sys.meta_path:
        sys.meta_path.remove(Finder)
        for name in [
            name for name, module in sys.modules.items() if type(module) is DeferredModule
        ]:
            del sys.modules[name]
    module, name = deferred.__dict__["@"]
    found = import_module(module)
    return (
        getattr(found, name) if hasattr(found, name) else import_module(f"{module}.{name}")
    )
