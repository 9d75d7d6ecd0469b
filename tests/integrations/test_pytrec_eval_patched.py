"""Patching pytrec_eval: what it replaces, for how long, and without pytrec_eval."""

from __future__ import annotations

import pytest
import pytrec_eval
from support.other_tools import python

from irbatch.integrations import pytrec_eval as ours


def test_importing_patches_nothing() -> None:
    code = """
import sys, irbatch.integrations.pytrec_eval as ours
assert "pytrec_eval" not in sys.modules
import pytrec_eval, importlib
before = dict(vars(pytrec_eval))
importlib.reload(ours)
assert dict(vars(pytrec_eval)) == before
assert pytrec_eval.RelevanceEvaluator is not ours.RelevanceEvaluator
"""
    assert python(code).stderr == ""


PATCHED = [name for name in ours.__all__ if name != "patched"]


def is_theirs() -> bool:
    return all(getattr(pytrec_eval, name) is not getattr(ours, name) for name in PATCHED)


def is_ours() -> bool:
    return all(getattr(pytrec_eval, name) is getattr(ours, name) for name in PATCHED)


def test_patched() -> None:
    assert is_theirs()
    before = dict(vars(pytrec_eval))
    with ours.patched() as module:
        assert module is pytrec_eval
        assert is_ours()
        with ours.patched():
            assert is_ours()
        assert is_ours()
    assert dict(vars(pytrec_eval)) == before
    assert is_theirs()


def test_patched_ends_with_an_exception() -> None:
    with pytest.raises(KeyError), ours.patched():
        raise KeyError(is_ours())
    assert is_theirs()


WITHOUT = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pytrec_eval":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
from irbatch.integrations import pytrec_eval as ours
def missing():
    try:
        import pytrec_eval
    except ImportError:
        return "pytrec_eval" not in sys.modules
assert missing()
with ours.patched() as module:
    import pytrec_eval
    from pytrec_eval import RelevanceEvaluator
    assert pytrec_eval is module is ours and RelevanceEvaluator is ours.RelevanceEvaluator
    with ours.patched():
        import pytrec_eval
    import pytrec_eval
assert missing()
try:
    with ours.patched():
        raise KeyError
except KeyError:
    assert missing()
"""


def test_patched_without_pytrec_eval() -> None:
    assert python(WITHOUT).stderr == ""
