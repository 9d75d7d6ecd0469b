"""Installing the provider for ir_measures, uninstalling it, and a Python without ir_measures."""

from __future__ import annotations

import ir_measures
from ir_measures.providers import registry
from support.other_tools import python

from irbatch.integrations.ir_measures import install, uninstall


def test_install_and_uninstall() -> None:
    pipeline = ir_measures.DefaultPipeline.providers
    before = list(pipeline)
    assert "irbatch" not in [each.NAME for each in before]
    installed = install()
    assert install() is installed is registry["irbatch"]
    assert pipeline == [installed, *before]
    uninstall()
    assert pipeline == before
    uninstall()
    assert pipeline == before
    assert install() is installed
    uninstall()


def test_importing_installs_nothing() -> None:
    code = """
import ir_measures
before = list(ir_measures.DefaultPipeline.providers)
import irbatch.integrations.ir_measures
assert ir_measures.DefaultPipeline.providers == before
assert "irbatch" not in ir_measures.providers.registry
"""
    assert python(code).stderr == ""


WITHOUT = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "ir_measures":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
import irbatch.integrations
try:
    import irbatch.integrations.ir_measures
except ImportError as error:
    print(error)
"""


def test_what_is_missing_is_named() -> None:
    done = python(WITHOUT)
    assert done.stderr == ""
    assert "pip install ir_measures" in done.stdout
