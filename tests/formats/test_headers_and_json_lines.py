"""Files with headers and files of JSON lines, and what tells forms apart."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import pytest
from support.file_readers import refused_by_all

from irbatch import evaluate, read_qrels, read_run

NAMES = ("query-id", "corpus-id", "score")
ROWS = [("q1", "d1", 2), ("q1", "d2", 1), ("q2", "d1", 3), *((f"z{i}", "d", i) for i in range(9))]
TABLE: dict[str, dict[str, float]] = {}
for _query, _document, _value in ROWS:
    TABLE.setdefault(_query, {})[_document] = _value
Write = Callable[..., str]
pytestmark = pytest.mark.usefixtures("reader")


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
    def test_orders(self, write_lines: Write, names: tuple[str, ...], end: bytes) -> None:
        assert_read(write_lines(*tabbed(names, *ROWS), end=end), TABLE)

    @pytest.mark.parametrize("place", [0, 1, 3])
    def test_further_columns(self, write_lines: Write, place: int) -> None:
        names = (*NAMES[:place], "text of it", *NAMES[place:])
        assert_read(write_lines(*tabbed(names, *ROWS)), TABLE)

    def test_names_of_others(self, write_lines: Write) -> None:
        assert_read(write_lines("qid\tdocno\tscore", "q1\td1\t1"), {"q1": {"d1": 1}})
        path = write_lines("query_id\tdoc_id\trelevance", "q1\td1\t1")
        assert read_qrels(path).to_dict() == {"q1": {"d1": 1}}
        refused_by_all("run", path, "no column is the score", line=1)

    def test_mark_blank_lines_and_no_end(self, write_lines: Write) -> None:
        lines = [b"\xef\xbb\xbf", b"", b" \t", b"query-id\tcorpus-id\tscore", b"", b"q1\td1\t1"]
        assert_read(write_lines(b"\n".join(lines), end=b""), {"q1": {"d1": 1}})

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
            ("q1\td9\t1,5", "'1,5' is not a number", {"document": "d9", "value": "1,5"}),
            ("q1\td9\tTrue", "'True' is not a number", {"value": "True"}),
            ("# comment", "1 column where 3", {"query": "# comment"}),
            ("q1\td\x009\t1", "NUL byte", {"query": "q1"}),
            (b"q1\td\xe9\t1", "not UTF-8", {"query": "q1"}),
            ("q1\td9\t1\rq1\td10\t1", "5 columns where 3", {"query": "q1"}),
            ("query-id\tcorpus-id\tscore", "'score' is not a number", {"query": "query-id"}),
        ],
        ids=repr,
    )
    def test_bad_line(
        self, write_lines: Write, line: str, facts: str, fields: dict[str, str]
    ) -> None:
        path = write_lines(*tabbed(NAMES, *ROWS), line, "z\td\t1")
        for source in ("run", "qrels"):
            refused_by_all(source, path, facts, line=14, **fields)

    @pytest.mark.parametrize("comment", ["#comment", "# comment"])
    def test_comment_before(self, write_lines: Write, comment: str) -> None:
        for lines in (["qid\tdocno\tscore", "1\t2\t-1"], ["1 2 1"]):  # or MS MARCO's
            assert read_run(write_lines(comment, *lines)).to_dict() == {"1": {"2": -1}}

    @pytest.mark.parametrize(
        "header",
        [
            "query\tcorpus\tpoints", "query-id corpus-id score", "query,corpus,points",
            "query-id", "qid\tquery-id\tdocno\tscore",
            "query-id\tcorpus-id\tscore\tscore",
        ],
        ids=repr,
    )  # fmt: skip
    def test_header_that_is_not_known(self, write_lines: Write, header: str) -> None:
        """Read as TREC's lines then, of which it is none, unless a word is between tabs."""
        for source in ("run", "qrels"):
            refused_by_all(source, write_lines(header, "q1\td1\t1"), "line 1")

    def test_header_alone(self, write_lines: Write) -> None:
        for source, end in itertools.product(("run", "qrels"), (b"", b"\r\n", b"\n\n \n")):
            refused_by_all(source, write_lines("\t".join(NAMES), end=end), "no data lines")


def objects(*rows: tuple[object, ...]) -> list[str]:
    return [json.dumps(dict(zip(NAMES, row, strict=True))) for row in rows]


class TestJson:
    def test_rows(self, write_lines: Write) -> None:
        assert_read(write_lines(*objects(*ROWS)), TABLE)
        assert_read(write_lines(*objects(*ROWS), "", " \t", end=b"\r\n"), TABLE)
        path = write_lines("\n".join(["\ufeff", "", *objects(*ROWS)]), end=b"")
        assert_read(path, TABLE)

    def test_kinds(self, write_lines: Write) -> None:
        path = write_lines(*objects((1, 2, 3), ("1", "a b\t", "4"), (-7, "é\u2028", -1)))
        table = {"1": {"2": 3, "a b\t": 4}, "-7": {"é\u2028": -1}}
        assert read_run(path).to_dict() == table
        assert read_qrels(path).to_dict() == table
        path = write_lines(*objects(("q", "d", 1e-7), ("q", "e", 1e300), ("q", "f", 2**70)))
        assert read_run(path).to_dict() == {"q": {"d": 1e-7, "e": 1e300, "f": 2.0**70}}

    def test_escaped_document_twice(self, write_lines: Write) -> None:
        row = '{"query-id": "q1", "corpus-id": "\\u00e9", "score": %d}'
        path = write_lines(row % 2, row % 1)
        refused_by_all("run", path, "in line 1", line=2, document="é")

    def test_first_line_is_deep(self, write_lines: Write) -> None:
        for source in ("run", "qrels"):
            refused_by_all(source, write_lines('{"a":' + "[" * 100_000), line=1)

    def test_keys_in_any_order_and_others_beside(self, write_lines: Write) -> None:
        lines = ['{"score": 1, "x": [{}], "corpus-id": "d1", "query-id": "q1"}',
                 '{"query-id": "q1", "corpus-id": "d2", "score": 0}']  # fmt: skip
        assert_read(write_lines(*lines), {"q1": {"d1": 1, "d2": 0}})

    @pytest.mark.parametrize(
        ("line", "fact"),
        [
            ('{"query-id": "q1", "corpus-id": "d9"}', "there is no 'score'"),
            ('{"corpus-id": "d9", "score": 1}', "there is no 'query-id'"),
            ('{"query-id": "q1", "corpus-id": null, "score": 1}', "'corpus-id' is None"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": true}', "'score' is True"),
            ('{"query-id": false, "corpus-id": "d9", "score": 1}', "'query-id' is False"),
            ('{"query-id": 1.0, "corpus-id": "d9", "score": 1}', "'query-id' is 1.0"),
            ('{"query-id": "q1", "corpus-id": ["d9"], "score": 1}', "'corpus-id' is ['d9']"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": {"a": 1}}', "'score' is {'a': 1}"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": "x"}', "'x' is not a number"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": NaN}', "'NaN' is not a number"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": ""}', "'' is not a number"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": 1e400}', "1e400 overflows"),
            ('{"query-id": "", "corpus-id": "d9", "score": 1}', "an id is empty"),
            ('{"query-id": "q\\u0000", "corpus-id": "d9", "score": 1}', "NUL byte"),
            ('{"query-id": "\\ud800", "corpus-id": "d9", "score": 1}', "not UTF-8"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": 1', "is not JSON"),
            ('{"query-id": "q1", "corpus-id": "d9", "score": 1}{}', "is not JSON"),
            ("{'query-id': 'q1'}", "is not JSON"),
            (b'{"query-id": "\xe9"}', "is not JSON"),
            ("[" * 100_000, "is not JSON"),
            ('{"query-id": "q", "x": %s}' % ("1" * 5000), "is not JSON"),
            ("1" * 5000, "is not JSON"),
            ("[]", "[] is not a JSON object"),
            ("null", "None is not a JSON object"),
            ("q1 0 d1 1", "is not JSON"),
        ],
        ids=lambda text: repr(text)[:60],
    )
    def test_bad_line(self, write_lines: Write, line: str, fact: str) -> None:
        path = write_lines(*objects(*ROWS), line, *objects(("z", "d", 1)))
        for source in ("run", "qrels"):
            refused_by_all(source, path, fact, line=13)

    def test_unknown_keys(self, write_lines: Write) -> None:
        for source in ("run", "qrels"):
            said = "no column is the query" + ", the document or the score" * (source == "run")
            refused_by_all(source, write_lines('{"q1": {"d1": 1}}'), said, "['q1']", line=1)


@pytest.mark.parametrize("as_lines", [lambda *rows: tabbed(NAMES, *rows), objects])
def test_spaces_and_signs_are_of_the_id(
    write_lines: Write, as_lines: Callable[..., list[str]]
) -> None:
    table = {"a b": {"d1": 1, " d": 2, "d ": 3}, "#": {"#": 4, "# x": 5}, "#q": {"d\x0b": 6}}
    rows = [(query, d, value) for query, each in table.items() for d, value in each.items()]
    path = write_lines(*as_lines(*rows))
    assert read_run(path).to_dict() == read_qrels(path).to_dict() == table
    path = write_lines(*as_lines(("a", "d", 1), ("#1", "d", "x")))
    for source in ("run", "qrels"):
        refused_by_all(source, path, "'x'", query="#1")


@pytest.mark.parametrize("lines", [tabbed(NAMES, *ROWS), objects(*ROWS)], ids=["header", "JSON"])
def test_no_ranks(write_lines: Write, lines: list[str]) -> None:
    path = write_lines(*lines)
    refused_by_all("run", path, "no column is the rank", order_by="rank", line=1)


@pytest.mark.parametrize("query", ["PAR1", "BZhang-7"])
def test_query_that_starts_like_another_form(write_lines: Write, query: str) -> None:
    path = write_lines(f"{query} Q0 d1 1 2.5 t", f"{query} Q0 d2 2 1.5 t")
    assert read_run(path).to_dict() == {query: {"d1": 2.5, "d2": 1.5}}


@pytest.mark.parametrize(
    "before", [["", " \t"], ["#"], ["# two words", "", "#" * 30], ["# " + "of many words " * 9]],
    ids=["blank", "signs", "both", "long"],
)  # fmt: skip
@pytest.mark.parametrize("form", ["header", "objects"])
def test_any_number_of_blank_lines_and_comments_before(
    write_lines: Write, monkeypatch: pytest.MonkeyPatch, before: list[str], form: str
) -> None:
    """More than are read at once; what a query that returns has is read a second time."""
    monkeypatch.setattr("irbatch.formats.streams.PIECE", 256)
    many = before * (1500 // sum(len(each) + 1 for each in before))
    rows = [*ROWS, *((q, f"e{i}", 1) for i in range(9) for q in ("q1", "q2"))]
    table = {q: {d: v for each, d, v in rows if each == q} for q, _, _ in rows}
    lines = tabbed(NAMES, *rows) if form == "header" else objects(*rows)
    assert_read(write_lines(*many, *lines), table)
    path = write_lines(*many, *lines, lines[-2])
    number = len(many) + len(lines) + 1
    for source in ("run", "qrels"):
        refused_by_all(source, path, "given before", f"line {number - 2}", line=number)
