"""The whole table: all rows, all entrances, and the tests that have rows which fit no entrance."""

from __future__ import annotations

from rows import (
    entrances_of_adapters,
    entrances_of_arrays,
    entrances_of_files,
    entrances_of_tables,
    rows_of_arrays,
    rows_of_files,
    rows_of_ids,
    rows_of_judgments,
    rows_of_measures,
    rows_of_scores,
)
from rows.judge import cannot

ENTRANCES = [
    *entrances_of_tables.ENTRANCES,
    *entrances_of_arrays.ENTRANCES,
    *entrances_of_files.ENTRANCES,
    *entrances_of_adapters.ENTRANCES,
]
ROWS = [
    *rows_of_scores.ROWS,
    *rows_of_ids.ROWS,
    *rows_of_judgments.ROWS,
    *rows_of_measures.ROWS,
    *rows_of_arrays.ROWS,
    *rows_of_files.ROWS,
]

# Rows that are no problem with queries and documents, and the tests that have them.
ELSEWHERE: dict[int, tuple[str, str]] = {
    15: ("pack/test_half_floats.py", "test_values_are_those_of_float32"),
    68: ("measures/test_refused_parameters.py", "test_grade_above_the_scale"),
    82: ("trec_eval/test_refused_input.py", "test_options"),
    93: ("evaluation/test_score_matrices.py", "test_tensors"),
    94: (
        "evaluation/batches/test_batch_evaluator.py",
        "test_a_query_that_comes_again_is_counted_once",
    ),
    95: ("evaluation/batches/test_batch_evaluator.py", "test_columns_of_a_query_may_come_in_parts"),
    98: (
        "evaluation/test_refused_matrices.py",
        "test_one_deep_query_beside_many_shallow_ones_is_not_padded",
    ),
    120: ("formats/test_archives_and_pipes.py", "test_120_bomb"),
    121: ("evaluation/test_streaming.py", "test_pieces_stay_small_whatever_the_order"),
    122: ("formats/test_archives_and_pipes.py", "test_122_only_a_lone_dash_is_standard_input"),
    124: ("faults/test_failing_system.py", "test_a_process_that_is_killed_leaves_whole_files"),
    125: ("data/test_writers.py", "test_a_full_disk_is_told_with_the_name_of_the_file"),
    126: ("runtime/test_kernels.py", "test_where_nothing_can_be_kept"),
    127: ("runtime/test_kernels.py", "test_many_threads_at_once"),
    128: (
        "runtime/test_forks.py",
        "test_children_of_a_fork_evaluate_while_threads_of_the_parent_do",
    ),
    129: ("evaluation/test_every_entry_point.py", "test_by_what_comes_out"),
    130: ("evaluation/test_results.py", "test_values_are_read_only_and_results_picklable"),
    131: ("test_imports.py", "test_nothing_reads_pickles"),
    133: ("report/test_forms.py", "test_pages_have_no_element_that_is_not_theirs"),
    134: ("report/test_forms.py", "test_latex_gives_no_character_of_a_name_a_meaning"),
    135: ("evaluation/test_results.py", "test_csv_defuses_formulas"),
    136: ("cli/test_eval.py", "test_control_characters_are_shown_not_sent"),
    137: ("evaluation/test_every_entry_point.py", "test_validation_does_not_rest_on_assert"),
    138: (
        "evaluation/batches/test_batch_evaluator.py",
        "test_an_update_that_fails_changes_nothing",
    ),
    139: (
        "evaluation/batches/test_batch_evaluator.py",
        "test_an_update_that_fails_changes_nothing",
    ),
}

# Rows that no test can have, and why.
NOWHERE = {
    132: "no path is made of ids: what writes a file is given its path",
    140: "Numba has no build for Python without its lock",
}


def counts() -> dict[str, int]:
    """Count the table: rows and their cases, entrances, cells, cells that cannot be expressed."""
    reasons = [cannot(row, entrance) for row in ROWS for entrance in ENTRANCES]
    return {
        "rows": len({*(row.number for row in ROWS), *ELSEWHERE, *NOWHERE}),
        "cases": len(ROWS),
        "entrances": len(ENTRANCES),
        "cells": reasons.count(""),
        "not to be expressed": len(reasons) - reasons.count(""),
    }
