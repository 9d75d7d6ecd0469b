"""What every refusal must be: an InputError that says what, of whom, and where."""

from collections.abc import Callable

import pytest

from irbatch import InputError

ANYTHING = object()


def input_error(call: Callable[[], object], *facts: str, **fields: object) -> InputError:
    """Check that a call raises InputError, that its text holds the facts, and its fields' values.

    A field given as `ANYTHING` only has to be set.
    """
    with pytest.raises(InputError) as caught:
        call()
    error = caught.value
    for fact in facts:
        assert fact in str(error), f"{fact!r} is not in {str(error)!r}"
    for name, expected in fields.items():
        found = getattr(error, name)
        if expected is ANYTHING:
            assert found is not None, f"{name} is not set"
        else:
            assert found is expected or found == expected, f"{name} is {found!r}"
            assert type(found) is type(expected), f"{name} is a {type(found)}"
    return error


def refusal(call: Callable[[], object]) -> InputError | None:
    """Return the InputError that a call raises, one short line; None if it raises nothing."""
    try:
        call()
    except InputError as problem:
        said = str(problem)
        if "\n" in said or len(said) > 500:
            raise AssertionError(f"no short line: {said}") from problem
        return problem
    return None
