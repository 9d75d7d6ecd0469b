"""A page in a browser without a window: what it looks like there once its scripts have run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
LIGHT, DARK = 1, 0


def load(page: Path, *options: str) -> tuple[str, str]:
    """Return a page's elements as HTML after it was loaded, and what the browser complained of."""
    if CHROMIUM is None:
        pytest.skip("no chromium here")
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    words += [f"--user-data-dir={page.parent / 'profile'}", "--dump-dom", *options, page.as_uri()]
    done = subprocess.run([CHROMIUM, *words], capture_output=True, text=True, timeout=300)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, "\n".join(said)


def answer(page: Path, source: str, script: str, *, width: int = 1200, scheme: int = LIGHT) -> Any:
    """Return what a function's body returns in a page, whose policy would not let it run."""
    code = f"document.title = JSON.stringify((() => {{{script}}})());"
    allowed = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", source)
    page.write_text(allowed.replace("</body>", f"<script>{code}</script></body>"))
    window = f"--window-size={width},900", f"--blink-settings=preferredColorScheme={scheme}"
    elements, said = load(page, *window)
    assert not said
    (title,) = re.findall("<title>(.*?)</title>", elements, re.S)
    return json.loads(unescape(title))
