"""List every cell that is not checked, and why: ``PYTHONPATH=.:tests python -m rows``."""

from rows.judge import cannot
from rows.table import ELSEWHERE, ENTRANCES, NOWHERE, ROWS, counts

print(", ".join(f"{number} {what}" for what, number in counts().items()))
for row in ROWS:
    for entrance in ENTRANCES:
        if reason := cannot(row, entrance):
            print(f"{row.id} | {entrance.name} | {reason}")
        elif missing := entrance.absent():
            print(f"{row.id} | {entrance.name} | {missing} is not installed")
for number, (path, test) in ELSEWHERE.items():
    print(f"{number} | all | see {test} in {path}")
for number, reason in NOWHERE.items():
    print(f"{number} | all | {reason}")
