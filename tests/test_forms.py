"""Files with headers, JSON lines and MS MARCO's three columns, and order by rank."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from doors import WAYS, refused_everywhere, take
from refusal import refused

from irbatch import evaluate, read_qrels, read_run

NAMES = ("query-id", "corpus-id", "score")
ROWS = [("q1", "d1", 2), ("q1", "d2", 1), ("q2", "d1", 3), *((f"z{i}", "d", i) for i in range(9))]
TABLE: dict[str, dict[str, float]] = {}
for _query, _document, _value in ROWS:
    TABLE.setdefault(_query, {})[_document] = _value
Write = Callable[..., str]


@pytest.fixture(params=WAYS, autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    take(request.param, monkeypatch)
    return str(request.param)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(*lines: str | bytes, end: bytes = b"\n") -> str:
        encoded = [each.encode() if isinstance(each, str) else each for each in lines]
        (tmp_path / "file").write_bytes(b"".join(each + end for each in encoded))
        return str(tmp_path / "file")

    return written


def tabbed(names: tuple[str, ...], *rows: tuple[object, ...]) -> list[str]:
    """Lines of columns in any order, by name."""
    places = [NAMES.index(each) if each in NAMES else -1 for each in names]
    cells = [[str(row[at]) if at >= 0 else "1 2" for at in places] for row in rows]
    return ["\t".join(each) for each in (names, *cells)]


def assert_read(path: str, table: dict[str, dict[str, float]]) -> None:
    assert read_qrels(path).to_dict() == table
    assert read_run(path).to_dict() == table
    judged = {next(iter(table)): {"d1": 1}}
    expected = evaluate(judged, table, "RR AP").mean()
    assert evaluate(judged, path, "RR AP").mean() == expected


class TestHeaders:
    @pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
    @pytest.mark.parametrize("names", list(itertools.permutations(NAMES)), ids="-".join)
    def test_orders(self, write: Write, names: tuple[str, ...], end: bytes) -> None:
        assert_read(write(*tabbed(names, *ROWS), end=end), TABLE)

    @pytest.mark.parametrize("place", [0, 1, 3])
    def test_further_columns(self, write: Write, place: int) -> None:
        names = (*NAMES[:place], "text of it", *NAMES[place:])
        assert_read(write(*tabbed(names, *ROWS)), TABLE)

    def test_names_of_others(self, write: Write) -> None:
        assert_read(write("qid\tdocno\tscore", "q1\td1\t1"), {"q1": {"d1": 1}})
        path = write("query_id\tdoc_id\trelevance", "q1\td1\t1")
        assert read_qrels(path).to_dict() == {"q1": {"d1": 1}}
        refused_everywhere("run", path, "line 1", "3 columns where 6")

    def test_mark_blank_lines_and_no_end(self, write: Write) -> None:
        lines = [b"\xef\xbb\xbf", b"", b" \t", b"query-id\tcorpus-id\tscore", b"", b"q1\td1\t1"]
        assert_read(write(b"\n".join(lines), end=b""), {"q1": {"d1": 1}})

    def test_archive(self, write: Write, tmp_path: Path) -> None:
        data = Path(write(*tabbed(NAMES, *ROWS))).read_bytes()
        (tmp_path / "file.gz").write_bytes(gzip.compress(data))
        assert_read(str(tmp_path / "file.gz"), TABLE)

    def test_spaces_and_signs_are_of_the_id(self, write: Write) -> None:
        table = {"a b": {"d1": 1, " d": 2, "d ": 3}, "#": {"#": 4, "# x": 5}, "#q": {"d\x0b": 6}}
        rows = [(query, d, value) for query, each in table.items() for d, value in each.items()]
        path = write(*tabbed(NAMES, *rows))
        assert read_qrels(path).to_dict() == table
        assert read_run(path).to_dict() == table

    @pytest.mark.parametrize(
        ("line", "facts", "fields"),
        [
            ("q1\t\t1", "an id is empty", {"query": "q1"}),
            ("\td9\t1", "an id is empty", {}),
            ("q1\td9\t", "'' is not a number", {"document": "d9", "value": ""}),
            ("q1\td9", "2 columns where 3", {"query": "q1"}),
            ("q1\td9\t1\t", "4 columns where 3", {"query": "q1"}),
            ("q1 d9 1", "1 column where 3", {"query": "q1 d9 1"}),
            ("q1\td9\tx", "'x' is not a number", {"document": "d9", "value": "x"}),
            ("q1\td9\t 1", "' 1' is not a number", {"document": "d9", "value": " 1"}),
            ("q1\td9\t1,5", "decimal comma", {"document": "d9", "value": "1,5"}),
            ("q1\td9\tTrue", "'True' is not a number", {"value": "True"}),
            ("# comment", "1 column where 3", {"query": "# comment"}),
            ("q1\td\x009\t1", "NUL byte", {"query": "q1"}),
            (b"q1\td\xe9\t1", "not UTF-8", {"query": "q1"}),
            ("q1\td9\t1\rq1\td10\t1", "old Macs", {"query": "q1"}),
            ("query-id\tcorpus-id\tscore", "'score' is not a number", {"query": "query-id"}),
        ],
        ids=repr,
    )
    def test_bad_line(self, write: Write, line: str, facts: str, fields: dict[str, str]) -> None:
        path = write(*tabbed(NAMES, *ROWS), line, "z\td\t1")
        for source in ("run", "qrels"):
            refused_everywhere(source, path, facts, line=14, **fields)

    @pytest.mark.parametrize(
        "header",
        [
            "query\tcorpus\tpoints", "query-id corpus-id score", "query-id,corpus-id,score",
            "query-id\tcorpus-id", "Query-ID\tCorpus-ID\tScore", "qid\tquery-id\tdocno\tscore",
            "query-id\tcorpus-id\tscore\tscore",
        ],
        ids=repr,
    )  # fmt: skip
    def test_header_that_is_not_known(self, write: Write, header: str) -> None:
        """Read as TREC's lines then, of which it is none; no other line is."""
        for source in ("run", "qrels"):
            refused_everywhere(source, write(header, "q1\td1\t1"), "line 1")

    @pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n \n"])
    def test_header_alone(self, write: Write, end: bytes) -> None:
        for source in ("run", "qrels"):
            refused_everywhere(source, write("\t".join(NAMES), end=end), "no data lines")

    def test_no_ranks(self, write: Write) -> None:
        path = write(*tabbed(NAMES, *ROWS))
        refused_everywhere("run", path, "no column of ranks", order_by="rank")


def objects(*rows: tuple[object, ...]) -> list[str]:
    return [json.dumps(dict(zip(NAMES, row, strict=True))) for row in rows]


class TestJson:
    def test_rows(self, write: Write) -> None:
        assert_read(write(*objects(*ROWS)), TABLE)
        assert_read(write(*objects(*ROWS), "", " \t", end=b"\r\n"), TABLE)
        path = write("\n".join(["\ufeff", "", *objects(*ROWS)]), end=b"")
        assert_read(path, TABLE)

    def test_kinds(self, write: Write) -> None:
        path = write(*objects((1, 2, 3), ("1", "a b\t", "4"), (-7, "é\u2028", -1)))
        table = {"1": {"2": 3, "a b\t": 4}, "-7": {"é\u2028": -1}}
        assert read_run(path).to_dict() == table
        assert read_qrels(path).to_dict() == table
        path = write(*objects(("q", "d", 1e-7), ("q", "e", 1e300), ("q", "f", 2**70)))
        assert read_run(path).to_dict() == {"q": {"d": 1e-7, "e": 1e300, "f": 2.0**70}}

    def test_keys_in_any_order_and_others_beside(self, write: Write) -> None:
        lines = ['{"score": 1, "x": [{}], "corpus-id": "d1", "query-id": "q1"}',
                 '{"query-id": "q1", "corpus-id": "d2", "score": 0}']  # fmt: skip
        assert_read(write(*lines), {"q1": {"d1": 1, "d2": 0}})

    @pytest.mark.parametrize(
        ("line", "fact"),
        [
            ('{"query-id": "q1", "corpus-id": "d9"}', "'score' is None"),
            ('{"corpus-id": "d9", "score": 1}', "'query-id' is None"),
            ('{"query-id": "q1", "corpus-id": null, "score": 1}', "'corpus-id' is None"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": true}', "'score' is True"),
            ('{"query-id": false, "corpus-id": "d9", "score": 1}', "'query-id' is False"),
            ('{"query-id": 1.0, "corpus-id": "d9", "score": 1}', "'query-id' is 1.0"),
            ('{"query-id": "q1", "corpus-id": ["d9"], "score": 1}', "'corpus-id' is ['d9']"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": {"a": 1}}', "'score' is {'a': 1}"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": "x"}', "'x' is not a number"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": NaN}', "'NaN' is not a number"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": ""}', "'' is not a number"),
            ('{"query-id": "", "corpus-id": "d9", "score": 1}', "an id is empty"),
            ('{"query-id": "q\\u0000", "corpus-id": "d9", "score": 1}', "NUL byte"),
            ('{"query-id": "\\ud800", "corpus-id": "d9", "score": 1}', "not UTF-8"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": 1', "is no JSON"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": 1}{}', "is no JSON"),
            ("{'query-id': 'q1'}", "is no JSON"),
            (b'{"query-id": "\xe9"}', "is no JSON"),
            ("[" * 100_000, "is no JSON"),
            ("1" * 5000, "is no JSON"),
            ("[]", "'query-id' is None"),
            ("null", "'query-id' is None"),
            ("q1 0 d1 1", "is no JSON"),
        ],
        ids=lambda text: repr(text)[:60],
    )
    def test_bad_line(self, write: Write, line: str, fact: str) -> None:
        path = write(*objects(*ROWS), line, *objects(("z", "d", 1)))
        for source in ("run", "qrels"):
            refused_everywhere(source, path, fact, line=13)

    def test_unknown_keys(self, write: Write) -> None:
        for source in ("run", "qrels"):
            refused_everywhere(source, write('{"q1": {"d1": 1}}'), "none of query, document and")

    def test_no_ranks(self, write: Write) -> None:
        path = write(*objects(*ROWS))
        refused_everywhere("run", path, "no column of ranks", order_by="rank")


class TestRanks:
    @pytest.mark.parametrize("order_by", ["score", "rank"])
    @pytest.mark.parametrize("first", [0, 1, 5])
    def test_marco(self, write: Write, first: int, order_by: str) -> None:
        path = write(*(f"q{q}\td{i}\t{first + i}" for q in (1, 2) for i in range(30)))
        ranking = {f"d{i}": -float(first + i) for i in range(30)}
        assert read_run(path, order_by=order_by).to_dict() == {"q1": ranking, "q2": ranking}
        qrels = {"q1": {"d3": 1}, "q2": {"d0": 1}}
        assert evaluate(qrels, path, "RR", order_by=order_by)["RR"] == (1 / 4 + 1) / 2

    def test_marco_equal_ranks(self, write: Write) -> None:
        """Documents of one rank stand in the order of ids, as those of one score."""
        path = write("q1 a 1", "q1 b 1", "q1 c 2")
        assert evaluate({"q1": {"a": 1}}, path, "RR")["RR"] == 1 / 2
        assert evaluate({"q1": {"b": 1}}, path, "RR")["RR"] == 1

    @pytest.mark.parametrize(
        ("line", "fact"),
        [
            ("q1 d9 -1", "rank -1 is not a whole number"), ("q1 d9 1.5", "rank 1.5 is not"),
            ("q1 d9 x", "rank 'x' is not a number"), ("q1 d9 inf", "rank inf"),
            ("q1 d9 9007199254740993", "beyond 2^53"), ("q1 d9", "2 columns where 3"),
            ("q1 Q0 d9 1 2 t", "6 columns where 3"), ("q1 d9 1 t", "4 columns where 3"),
            ("q1 d\x009 1", "NUL"), (b"q1 d\xe9 1", "UTF-8"),
        ],
        ids=repr,
    )  # fmt: skip
    def test_marco_bad_line(self, write: Write, line: str, fact: str) -> None:
        path = write(*(f"q1 m{i} {i}" for i in range(30)), line, "q2 d 1")
        refused_everywhere("run", path, fact, line=31)
        path = write(line, *(f"q1 m{i} {i}" for i in range(30)))
        refused(lambda: read_run(path), "run", path=path)

    def test_marco_is_no_qrels(self, write: Write) -> None:
        refused_everywhere("qrels", write("q1 d1 1"), "3 columns where 4")

    def test_order_by_rank(self, write: Write) -> None:
        rows = [f"q1 Q0 d{i} {i + 1} {i} t" for i in range(30)]
        path = write(*rows)
        expected = {f"d{i}": -float(i + 1) for i in range(30)}
        assert read_run(path, order_by="rank").to_dict() == {"q1": expected}
        found = evaluate({"q1": {"d1": 1}}, path, "RR", order_by="rank")
        assert found["RR"] == 0.5
        assert "rank ascending" in str(found.settings)
        # What a score is doesn't matter then.
        path = write(*rows, "q1 Q0 e 31 none t")
        assert len(read_run(path, order_by="rank").to_dict()["q1"]) == 31
        refused_everywhere("run", path, "score 'none' is not a number", line=31)

    @pytest.mark.parametrize("rank", ["-1", "1.5", "x", "inf", "nan", "9007199254740993"])
    def test_bad_ranks(self, write: Write, rank: str) -> None:
        path = write(*(f"q1 Q0 m{i} {i} {-i} t" for i in range(30)), f"q1 Q0 d {rank} 1 t")
        fields = {"order_by": "rank", "line": 31, "query": "q1"}
        refused_everywhere("run", path, "rank", rank[:16], **fields)

    def test_other_orders(self, write: Write) -> None:
        path = write("q1 Q0 d1 1 1 t")
        refused(lambda: read_run(path, order_by="tag"), "'tag' is not one of score, rank")
        refused(lambda: evaluate({"q1": {"d1": 1}}, path, "RR", order_by=""), "'' is not one of")
        run = read_run(path)
        refused(lambda: evaluate({"q1": {"d1": 1}}, run, "RR", order_by="rank"), "is for files")
