"""A package's names that are loaded when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any


def load_on_demand(
    package: str, places: Mapping[str, Collection[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package, whose modules are names of it, too.

    Args:
        package: its name, ``__name__``.
        places: module within the package to the names to take from it.
    """
    place_of = {name: place for place, names in places.items() for name in names}

    def get(name: str) -> Any:
        if name in place_of:
            public = getattr(import_module(f"{package}.{place_of[name]}"), name)
            setattr(import_module(package), name, public)  # asked for once
            return public
        module = f"{package}.{name}"
        try:
            return import_module(module)
        except ModuleNotFoundError as problem:
            if problem.name != module:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return get, lambda: [*place_of, "__all__", "__doc__", "__name__", "__path__"]
