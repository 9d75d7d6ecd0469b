"""Reports as a page of HTML that stands alone: it works offline and loads nothing."""

from __future__ import annotations

import io
import math
import warnings
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from string import Template

from irbatch.errors import imported, printable
from irbatch.report.document import (
    BETTER,
    WORSE,
    Cell,
    Column,
    Details,
    Document,
    Figure,
    Heading,
    Part,
    Sentences,
    Table,
)
from irbatch.report.text import join_letters

FIGURE_SPACE = "\u2007"  # as wide as a digit
COLOURS = {BETTER: ' class="up"', WORSE: ' class="down"'}

# Colours are the browser's own, light or dark. Notebooks style tables, too; these rules come first.
STYLE = """
.irbatch{--soft:color-mix(in srgb,CanvasText 65%,Canvas);--up:light-dark(#1664c0,#5aa9ff);
--line:color-mix(in srgb,CanvasText 18%,Canvas);--down:light-dark(#b8500c,#f0914b);
--stripe:color-mix(in srgb,CanvasText 4%,Canvas);color-scheme:light dark;color:CanvasText;
background:Canvas;font:15px/1.5 system-ui,sans-serif}
div.irbatch{padding:.5rem 1rem}
body.irbatch{margin:0 auto;max-width:90rem;padding:1.5rem}
.irbatch h1{font-size:1.6rem;margin:0 0 .5rem;overflow-wrap:anywhere}
.irbatch h2{font-size:1.25rem;margin:2.5rem 0 .5rem;border-bottom:1px solid var(--line)}
.irbatch h3{font-size:1rem;margin:1.5rem 0 .25rem}
.irbatch p,.irbatch li{margin:.5rem 0;max-width:60rem;overflow-wrap:anywhere}
.irbatch .soft,.irbatch caption,.irbatch figcaption{color:var(--soft);font-size:.87rem}
.irbatch .scroll{overflow-x:auto;margin:1rem 0}
.irbatch table{border-collapse:collapse;font-variant-numeric:tabular-nums;color:inherit;margin:0}
.irbatch caption{text-align:left;padding:.3rem 0}
.irbatch.irbatch th,.irbatch.irbatch td{padding:.3rem .6rem;vertical-align:baseline;
text-align:left;border-bottom:1px solid var(--line);background:none}
.irbatch.irbatch .n{text-align:right}.irbatch .n,.irbatch .mean{white-space:nowrap}
.irbatch.irbatch thead th{border-color:CanvasText;white-space:nowrap;vertical-align:bottom}
.irbatch.irbatch thead th.wrap{white-space:normal;min-width:5.5rem}
.irbatch tbody th,.irbatch .name{font-weight:inherit;min-width:9rem;max-width:22rem;
overflow-wrap:anywhere}
.irbatch tbody tr{background:none}.irbatch tbody tr:nth-child(even){background:var(--stripe)}
.irbatch sup{font-size:.72em;line-height:0;color:var(--soft);margin-left:.1em}
.irbatch sup.up{color:var(--up)}.irbatch sup.down{color:var(--down)}
.irbatch small{color:var(--soft);font-size:.8em;margin-left:.3em}
.irbatch th button{font:inherit;color:inherit;background:none;border:0;padding:0;
text-align:inherit;cursor:pointer}
.irbatch th button::after{content:"\\a0\\2195";color:var(--soft);font-weight:normal}
.irbatch th[aria-sort=ascending] button::after{content:"\\a0\\2191"}
.irbatch th[aria-sort=descending] button::after{content:"\\a0\\2193"}
.irbatch details{border:1px solid var(--line);border-radius:.4rem;margin:.5rem 0;padding:.5rem}
.irbatch summary{cursor:pointer;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.irbatch summary span{margin-right:1.2rem}.irbatch summary .key{font-weight:bold}
.irbatch td.name small{margin:0;overflow:hidden;display:-webkit-box;-webkit-line-clamp:4;
-webkit-box-orient:vertical}
.irbatch figure{margin:.75rem 0 1.5rem;max-width:100%;overflow-x:auto;break-inside:avoid}
.irbatch figcaption{width:min-content;min-width:100%}
.irbatch img{display:block;max-width:100%;height:auto;background:#fff}
@media print{.irbatch{color-scheme:light;font-size:10pt}body.irbatch{max-width:none;padding:0}
.irbatch .scroll,.irbatch figure{overflow:visible}.irbatch tr{break-inside:avoid}
.irbatch th button::after{content:none!important}}
"""

# The first click sorts by what one looks for first, the next one turns it round.
SCRIPT = """
"use strict";
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    const value = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
    const compare = (x, y, sign) => {
      if (!("first" in head.dataset)) return sign * x.localeCompare(y, undefined, {numeric: true});
      if (x === "" || y === "") return (x === "") - (y === "");
      return x === y ? 0 : sign * (Number(x) < Number(y) ? -1 : 1);
    };
    button.addEventListener("click", () => {
      const first = head.dataset.first || "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? second : first;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      body.append(...[...body.rows].sort((a, b) => compare(value(a), value(b), sign)));
    });
  });
}
"""

PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>$title</title>
<style>$style</style>
</head>
<body class="irbatch">
<main>
$body
</main>
<script>$script</script>
</body>
</html>
""")


def write_document(report: Document, *, fragment: bool = False) -> str:
    """Write sortable tables and pictures; a fragment has nothing of a page, nor the script."""
    title = _words(report.title)
    elements = [f"<h1>{title}</h1>", f"<p>{_words(report.caption)}</p>"]
    elements += [_soft(report.explained("Bold")), *_parts(report.parts), _soft(report.settings)]
    body = "\n".join(filter(None, elements))
    if fragment:
        return f'<style>{STYLE}</style>\n<div class="irbatch">\n{body}\n</div>\n'
    # Nothing runs or is loaded but what this module wrote: the page's policy names its hashes.
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(STYLE)}; "
        f"script-src {_hash(SCRIPT)}; base-uri 'none'; form-action 'none'"
    )
    return PAGE.substitute(title=title, body=body, style=STYLE, script=SCRIPT, policy=policy)


def _hash(code: str) -> str:
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"


def _parts(parts: Sequence[Part]) -> Iterator[str]:
    """Write all parts; in place of pictures, if there is no matplotlib, how to get them."""
    drawable = True
    for part in parts:
        if isinstance(part, Sentences):
            items = "".join(f"<li>{_words(text)}</li>\n" for text in part.texts)
            yield f"<ul>\n{items}</ul>"
        elif isinstance(part, Heading):
            yield f"<h2>{_name(part.text)}</h2>"
        elif isinstance(part, Table):
            yield _table(part)
            yield _soft(part.meanings)
        elif isinstance(part, Details):
            yield _details(part)
            yield _soft(part.table.meanings)
        elif drawable:
            try:
                yield _figure(part)
            except ImportError as problem:
                drawable = False
                yield _soft(str(problem))


def _figure(part: Figure) -> str:
    """Draw a picture under its title; its caption is read out where it isn't seen."""
    matplotlib = imported("pictures", "plot", "matplotlib")
    buffer = io.BytesIO()
    same = {"svg.fonttype": "none", "svg.hashsalt": ascii(part.title)}  # text stays text
    with matplotlib.rc_context(same), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # the browser has them
        part.draw().figure.savefig(buffer, format="svg", metadata={"Date": None})
    source = f"data:image/svg+xml;base64,{b64encode(buffer.getvalue()).decode()}"
    title, caption = _words(part.title), _words(part.caption)
    image = f'<img src="{source}" title="{title}" alt="{title}: {caption}">'
    caption = f"<figcaption>{caption}</figcaption>"
    return f"<h3>{_name(part.title)}</h3>\n<figure>\n{image}\n{caption}\n</figure>"


def _details(part: Details) -> str:
    """Write a row as a summary that opens what belongs to it, as browsers do without a script."""
    rows = []
    for row, behind in zip(part.table.rows, part.parts, strict=True):
        line = " ".join(map(_summary, part.table.columns, row))
        inside = "\n".join(_parts(behind))
        rows.append(f"<details>\n<summary>{line}</summary>\n{inside}\n</details>")
    return "\n".join(rows)


def _summary(column: Column, cell: Cell) -> str:
    """Write a cell of a row that opens, a number with its column's heading."""
    if column.kind == "number":
        return f"<span><small>{_name(column.heading)}</small> {_shown(cell)}</span>"
    kind = ' class="key"' if column.kind == "name" else ""
    return f"<span{kind}>{_name(cell.text)}</span>"


def _table(table: Table) -> str:
    """Write a table that is scrolled where it is too wide."""
    places = range(len(table.columns))
    annotated = [table.annotated(k) for k in places]
    sizes = [max((len(cell.text) for cell in table.column(k)), default=0) for k in places]
    head = "".join(map(_heading, table.columns, annotated))
    rows = []
    for row in table.rows:
        rows.append(f"<tr>{''.join(map(_cell, table.columns, row, annotated, sizes))}</tr>")
    caption = _words(table.caption)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}">\n<table>\n'
        f"<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n"
        "<tbody>\n" + "\n".join(rows) + "\n</tbody>\n</table>\n</div>"
    )


def _heading(column: Column, annotated: bool) -> str:
    kind, first = "", ""
    if column.kind == "number":
        kinds = [*([] if annotated else ["n"]), *(["wrap"] if " " in column.heading else [])]
        kind = f' class="{" ".join(kinds)}"' if kinds else ""
    if column.kind in ("number", "mark"):
        first = f' data-first="{"descending" if column.descends else "ascending"}"'
    return f'<th scope="col"{kind}{first}>{_name(column.heading)}</th>'


def _cell(column: Column, cell: Cell, annotated: bool, size: int) -> str:
    if column.kind == "name":
        after = f" <small>{_number(cell.after)}</small>" if cell.after else ""
        return f'<th scope="row">{_name(cell.text)}{after}</th>'
    if column.kind == "text":
        after = f" <small>{_name(cell.after)}</small>" if cell.after else ""
        return f'<td class="name">{_name(cell.text)}{after}</td>'
    exact = "" if math.isnan(cell.value) else repr(cell.value).replace("inf", "Infinity")
    if column.kind == "mark":
        return f'<td data-v="{exact}">{escape(cell.text)}</td>'
    if not annotated:
        return f'<td class="n" data-v="{exact}">{_shown(cell)}</td>'
    # Numbers stand under each other, whatever is after them.
    room = FIGURE_SPACE * (size - len(cell.text))
    return f'<td class="mean" data-v="{exact}">{room}{_shown(cell)}</td>'


def _shown(cell: Cell) -> str:
    """Write a number, and what is above and after it."""
    number = _number(cell.text)
    if cell.stands_out:
        number = f"<strong>{number}</strong>"
    marks = join_letters(cell.marks)
    above = f"<sup{COLOURS.get(marks, '')}>{marks}</sup>" if marks else ""
    after = f" <small>{_number(cell.after)}</small>" if cell.after else ""
    return f"{number}{above}{after}"


def _words(text: str) -> str:
    return escape(printable(text))


def _soft(text: str) -> str:
    return f'<p class="soft">{_words(text)}</p>' if text else ""


def _name(name: str) -> str:
    return f"<bdi>{_words(name)}</bdi>"


def _number(text: str) -> str:
    return escape(printable(text).replace("-", "−"))
