"""Children of a fork beside threads that evaluate, as data loaders make them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FORKS = """
import os, tempfile, threading, time
import irbatch
from irbatch.formats import streams
from irbatch.formats.bytes import parse_lines

documents = {f"d{i}": i % 3 for i in range(20)}
qrels = {f"q{i}": documents for i in range(40)}
run = {f"q{i}": {f"d{j}": (i * 7 + j * 3) % 11 / 2 for j in range(40)} for i in range(40)}
scores = [[(i * j) % 7 / 4 for j in range(20)] for i in range(20)]
grades = [[(i + j) % 5 == 0 for j in range(20)] for i in range(20)]

path = tempfile.mkdtemp() + "/run"
irbatch.Run(run).to_trec(path)
parse_lines.run_compiled = parse_lines.run  # however few lines: they are read by threads
streams.PIECE = 1 << 12
expected = irbatch.evaluate(qrels, run, "nDCG@10 AP").mean()

def work(with_file=False):
    if with_file:
        assert irbatch.evaluate(qrels, path, "nDCG@10 AP").mean() == expected
    irbatch.evaluate(qrels, run, "nDCG@10 AP Bpref IPrec(recall=0.5) P(rel=2)@5").mean()
    irbatch.evaluate_scores(scores, grades, measures="nDCG@10 AP").mean()

done = threading.Event()

def repeat():
    while not done.is_set():
        work()

failed = []

def fork(times):
    for number in range(times):
        time.sleep(0.003)
        child = os.fork()
        if not child:
            status = 1
            try:
                work(with_file=number % 5 == 0)
                status = 0
            finally:
                os._exit(status)
        end = time.monotonic() + 300
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > end:
                os.kill(child, 9)
            time.sleep(0.001)
        if ended[1]:
            failed.append(ended[1])
            break

work(with_file=True)
for thread in (threads := [threading.Thread(target=repeat) for _ in range(2)]):
    thread.start()
fork(30)
forking = threading.Thread(target=fork, args=[6])  # as data loaders in threads do
forking.start()
forking.join()
done.set()
for thread in threads:
    thread.join()
raise SystemExit(len(failed))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_children_of_a_fork_evaluate_while_threads_of_the_parent_do() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], check=True, timeout=300)
