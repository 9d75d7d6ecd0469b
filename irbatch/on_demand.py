"""A package's names that are loaded when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any


def load_on_demand(
    package: str, places: Mapping[str, Collection[str]], modules: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's `__getattr__` and `__dir__`.

    Args:
        package: its name, ``__name__``.
        places: module within the package to the names to take from it.
        modules: modules that are names of the package themselves.
    """
    place_of = {name: place for place, names in places.items() for name in names}

    def get(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        if name not in place_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        public = getattr(import_module(f"{package}.{place_of[name]}"), name)
        setattr(import_module(package), name, public)  # asked for once
        return public

    return get, lambda: [*place_of, "__all__", "__doc__", "__name__", "__path__"]
