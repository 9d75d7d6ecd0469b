"""What commands check of the words and files they are given, before anything is read."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from support.commands import Cli

from irbatch.cli import main
from irbatch.cli.parser import COMMANDS
from irbatch.evaluation.runs import name_systems

QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 2\n"
RUN = "q1 Q0 b 1 2.0 x\nq1 Q0 a 2 1.0 x\nq2 Q0 c 1 1.0 x\n"


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    for name in ("one.run", "two.run", "AP", "a=b"):
        (tmp_path / name).write_text(RUN)
    monkeypatch.chdir(tmp_path)


pytestmark = pytest.mark.usefixtures("_files")


def asked(words: str, capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """Return runs and measures, in the order printed."""
    assert main(words.split()) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    return [(line.split("\t")[0], line.split("\t")[2]) for line in lines]


@pytest.mark.parametrize(
    ("words", "measures"),
    [
        ("eval qrels one.run -m RR P@5,10", "RR P@5 P@10"),
        ("eval qrels one.run -m RR,P@{5,10} -m R@3", "RR P@5 P@10 R@3"),
        ("eval -m RR R@3 qrels one.run", "RR R@3"),
        ("eval -m RR -q qrels one.run --measure=R@3 -m P@1 P@2", "RR R@3 P@1 P@2"),
        ("eval qrels -m RR one.run", "RR"),
        ("eval -m RR qrels AP", "RR"),  # the file
        ("eval qrels -m RR P@1 one.run two.run", "RR P@1"),
        ("eval qrels one.run -m RR two.run -q", "RR"),
        ("eval -m RR@3 qrels one.run -j 1 two.run", "RR@3"),
    ],
)
def test_several_measures(words: str, measures: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = [measure for _, measure in asked(words, capsys)]
    assert list(dict.fromkeys(found)) == measures.split(" ")


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        ("one.run two.run", "one two"),
        ("first=one.run two.run", "first two"),
        ("first=one.run second=./one.run", "first second"),
        ("a=b", "a=b"),  # a file
        ("x=a=b", "x"),
        ("x=one.run one.run", "x one"),
        ("=one.run", None),
        ("a=one.run a=two.run", None),
        ("two=one.run two.run", None),
    ],
)
def test_names_of_runs(runs: str, names: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    if names is None:
        assert main(f"eval qrels {runs} -m RR".split()) == 2
        assert capsys.readouterr().err.count("\n") == 1
        return
    assert [run for run, _ in asked(f"eval qrels {runs} -m RR", capsys)] == names.split(" ")


def test_a_folder_has_a_name_and_a_pattern_is_one() -> None:
    for path, name in {"runs/bm25.run.gz": "bm25", "runs/": "runs", "a/*.run": "a/*.run"}.items():
        assert list(name_systems([path])) == [name], path
    names = [".gz", ".a.gz", "a.run.gz", "a.b", ".gz.gz", "run", "a..gz", "a" + ".gz" * 100_000]
    assert list(name_systems(names[:-1])) == [".gz", ".a", "a", "a.b", ".gz.gz", "run", "a."]
    assert list(name_systems(names[-1:])) == ["a"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_s_help_has_an_example(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main([command, "--help"])
    printed = capsys.readouterr().out
    assert "example" in printed
    assert "%%" not in printed
    assert max(map(len, printed.splitlines())) <= 80


def test_completion(capsys: pytest.CaptureFixture[str]) -> None:
    shtab = pytest.importorskip("shtab")
    for shell in shtab.SUPPORTED_SHELLS:
        assert main(["completion", shell]) == 0
        printed = capsys.readouterr().out
        assert "leaderboard" in printed
        assert "alpha_nDCG" in printed
        assert "judged-only" in printed or shell == "tcsh"
    assert main(["completion", "cmd"]) == 2
    assert "completions are for bash" in capsys.readouterr().err


def test_bash_completes(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    if not (bash := shutil.which("bash")):
        pytest.skip("no bash")
    main(["completion", "bash"])
    Path("script").write_text(capsys.readouterr().out)
    for words, completed in (
        (["comp"], ["compare", "completion"]),
        (["eval", "qrels", "-m", "nDC"], ["nDCG", "nDCGrel"]),
        (["compare", "qrels", "one.run", "--measure", "alpha_n"], ["alpha_nDCG"]),
    ):
        ask = (
            f"source ./script; COMP_WORDS=(irbatch {' '.join(words)}); COMP_CWORD={len(words)}; "
            "asked=$(complete -p irbatch); asked=${asked#*-F }; "
            f"${{asked%% *}} irbatch {words[-1]} {['irbatch', *words][-2]}; "
            'echo "${COMPREPLY[@]}"'
        )
        done = subprocess.run([bash, "-c", ask], capture_output=True, text=True, check=True)
        assert done.stdout.split() == completed


class TestColumns:
    """``--columns``, and messages that name options, not arguments of Python."""

    JUDGED = "u,i,stars\na,x,1\na,y,0\nb,x,2\n"
    RANKED = "u,i,yhat\na,y,.9\na,x,.8\nb,x,.7\n"
    NAMED = ("--columns", "user=u,item=i,rating=stars,score=yhat")

    @pytest.fixture
    def files(self, tmp_path: Path) -> list[Path]:
        paths = [tmp_path / "q.csv", tmp_path / "a.csv", tmp_path / "b.csv"]
        for path, text in zip(paths, (self.JUDGED, self.RANKED, self.RANKED), strict=True):
            path.write_text(text)
        return paths

    def test_commands(self, cli: Cli, files: list[Path]) -> None:
        status, out, _ = cli("eval", *files, "-m", "RR", *self.NAMED, "--format", "tsv")
        assert (status, out.splitlines()[1:]) == (0, ["a\tall\tRR\t0.75", "b\tall\tRR\t0.75"])
        for command in ("compare", "explain"):
            status, out, err = cli(command, *files, "-m", "RR", *self.NAMED)
            assert status == 0, err
        status, out, _ = cli("overlap", *files[1:], "--columns", "user=u,item=i,score=yhat")
        assert status == 0

    def test_apart_and_without_grades(self, cli: Cli, files: list[Path]) -> None:
        files[1].write_text(self.RANKED.replace("u,i", "who,i"))
        named = "qrels.user=u,run.user=who,item=i,grade=1,score=yhat"
        status, out, err = cli(
            "eval", *files[:2], "-m", "RR", "--columns", named, "--format", "tsv"
        )
        assert (status, out.splitlines()[1:]) == (0, ["a\tall\tRR\t1.0"]), err

    @pytest.mark.parametrize(
        ("words", "fact"),
        [
            ((), "say which, --columns query=…,document=…,grade=…; the columns are"),
            (("user=u,item=i,score=yhat",), "--columns grade=…, or grade=1 if all are 1"),
            (("user=x,item=i,rating=stars",), "have others, --columns qrels.query=…,run.query=…"),
            (("usr=u",), "columns: 'usr' is none of query, document"),
            *(
                ((word,), "is not ROLE=NAME, such as user=uid")
                for word in ("user", "=u", "user=", ".user=u", "qrels.=u")
            ),
        ],
    )
    def test_refusals_name_the_option(
        self, cli: Cli, files: list[Path], words: tuple[str, ...], fact: str
    ) -> None:
        options = ("--columns", *words) if words else ()
        for command in ("eval", "compare"):
            status, out, err = cli(command, *files, "-m", "RR", *options)
            assert (status, out) == (2, "")
            assert fact in err, err
            assert "columns=" not in err

    def test_other_words_of_python(self, cli: Cli, tmp_path: Path) -> None:
        qrels, run = tmp_path / "q", tmp_path / "r"
        qrels.write_text("q 0 d 1\np 0 d 1\n")
        run.write_text("q Q0 d 1 1 t\nq Q0 e 2 7 t\n")
        _, _, err = cli("eval", qrels, run, "-m", "RR", "--missing", "error")
        assert "--missing zero scores them 0" in err
        _, _, err = cli("eval", qrels, run, "-m", "RR")
        assert "or ranks with --order-by rank" in err
