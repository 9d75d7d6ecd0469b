"""`irbatch judges`: files in, a report out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import Cli


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    people = "".join(f"q{i} 0 d{k} {(i + k) % 2}\n" for i in range(25) for k in range(4))
    model = "".join(f"q{i} 0 d{k} {(i * k) % 2}\n" for i in range(40) for k in range(4))
    run = "".join(f"q{i} Q0 d{k} 0 {9 - k} x\n" for i in range(40) for k in range(4))
    paths = [tmp_path / name for name in ("people.qrels", "model.qrels", "x.run")]
    for path, text in zip(paths, (people, model, run), strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


def test_report(cli: Cli, files: list[str]) -> None:
    status, out, _ = cli("judges", *files[:2], "--runs", files[2], "-m", "P@2")
    assert (status, "kappa" in out) == (0, True)
    assert (
        json.loads(cli("judges", *files[:2], "--format", "json")[1])["agreements"][0]["both_judged"]
        == 100
    )
