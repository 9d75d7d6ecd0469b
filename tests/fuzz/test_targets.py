"""The corpus, and a few generated inputs of each target; `python -m tests.fuzz` runs many."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from fuzz.command import main
from fuzz.corpus import CORPUS
from fuzz.target import Target, guarded, run, shrunk
from fuzz.targets import TARGETS

SLOW = {"batches": 5, "matrices": 20, "reports": 20, "pieces": 50}  # of the others more are run
EXECUTIONS = 200


CASES = [
    pytest.param(name, each, id=f"{name}-{place}")
    for name, every in CORPUS.items()
    for place, each in enumerate(every)
]


@pytest.mark.parametrize(("target", "given"), CASES)
def test_corpus(target: str, given: Any) -> None:
    with guarded():
        TARGETS[target].check(given)


@pytest.mark.parametrize("name", TARGETS)
def test_generated_inputs(name: str) -> None:
    outcome = run(TARGETS[name], SLOW.get(name, EXECUTIONS), "test")
    assert not outcome.findings, "\n".join(map(str, outcome.findings))
    assert outcome.executions == SLOW.get(name, EXECUTIONS)


class Refusing(Target):
    """Breaks at one word."""

    name, share = "refusing", 1

    def generate(self, rng: Random) -> tuple[str, int]:
        return "a word and " * rng.randrange(3) + rng.choice(("bad", "good")), rng.randrange(100)

    def check(self, given: tuple[str, int]) -> None:
        if "bad" in given[0] and given[1] != 50:
            raise KeyError(given)


def test_a_finding_is_made_small_and_can_be_had_again() -> None:
    first, second = (run(Refusing(), 100, 1) for _ in range(2))
    assert [each.given for each in first.findings] == [("bad", 0)]
    assert str(first.findings[0]).endswith("--replay refusing ('bad', 0)\n")
    assert [str(each) for each in first.findings] == [str(each) for each in second.findings]
    assert shrunk(Refusing(), ("bad", 7), KeyError())[0] == ("bad", 7), "fails in another way"


def test_the_command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.command._limit_memory", lambda: None)
    monkeypatch.setenv("IRBATCH_JIT", "0")
    assert main(["--executions", "30", "--target", "names", "--target", "trec-names"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["target", "names", "trec-names", "all"]
    assert main(["--replay", "names", "'nDCG@10'"]) == 0
    monkeypatch.setitem(TARGETS, "names", Refusing())
    assert main(["--executions", "9", "--target", "names"]) == 1
    assert "--replay refusing" in capsys.readouterr().out
