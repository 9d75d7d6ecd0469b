"""Children of a fork beside threads that evaluate, as data loaders make them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

FORKS = """
import os, threading, time
import irbatch

documents = {f"d{i}": i % 3 for i in range(20)}
qrels = {f"q{i}": documents for i in range(40)}
run = {f"q{i}": {f"d{j}": (i * 7 + j * 3) % 11 / 2 for j in range(40)} for i in range(40)}
scores = [[(i * j) % 7 / 4 for j in range(20)] for i in range(20)]
grades = [[(i + j) % 5 == 0 for j in range(20)] for i in range(20)]

def work():
    irbatch.evaluate(qrels, run, "nDCG@10 AP Bpref IPrec(recall=0.5) P(rel=2)@5").mean()
    irbatch.evaluate_scores(scores, grades, measures="nDCG@10 AP").mean()

done = threading.Event()

def repeat():
    while not done.is_set():
        work()

work()
for thread in (threads := [threading.Thread(target=repeat) for _ in range(2)]):
    thread.start()
still = 0
for _ in range(60):
    time.sleep(0.003)
    child = os.fork()
    if not child:
        work()
        os._exit(0)
    end = time.monotonic() + 60
    while not os.waitpid(child, os.WNOHANG)[0]:
        if time.monotonic() > end:
            still += 1
            os.kill(child, 9)
            os.waitpid(child, 0)
            break
        time.sleep(0.001)
    if still:
        break
done.set()
for thread in threads:
    thread.join()
raise SystemExit(still)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_children_of_a_fork_evaluate_while_threads_of_the_parent_do() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], check=True, timeout=300)
