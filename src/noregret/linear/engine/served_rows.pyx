"""Rows that are scored, as a service answers, and then learned: what ``decision_one`` and ``learn_one`` do."""

from libc.math cimport isfinite
from libc.stdint cimport int32_t

import numpy as np

from noregret.base.compiled.losses cimport LossTable
from noregret.linear.engine.engine cimport FINE, Row
from noregret.linear.engine.entry cimport Entry


def serve_rows(Entry entry not None, list names not None, const double[:, ::1] numbers not None, Py_ssize_t outcome,
               double[::1] scores not None, double[::1] losses not None) -> int:
    """Score each row, then learn it; fill in the scores and their losses; return how many rows were learned.

    The row after these is refused, or the learner has to read rows one by one.

    Parameters
    ----------
    entry
        The entry of a learner of numbers.
    names
        The features, which differ from each other.
    numbers
        The values of the features in each row, and the outcome; all of them can be squared.
    outcome
        The column of the outcome.
    scores, losses
        Where to write the results.
    """
    cdef Py_ssize_t r, k, count = len(names), rows = numbers.shape[0]
    cdef int status
    cdef double score, given, target
    cdef const LossTable* loss = &entry.engine.loss.table
    cdef Row row
    if numbers.shape[1] != count + 1 or not 0 <= outcome <= count or min(scores.shape[0], losses.shape[0]) < rows:
        raise ValueError("the arrays do not fit each other")
    if not rows or type(entry) is not Entry or entry.prepare is not None or entry.recorder is not None \
            or entry.known.constant != 0 or loss.labels or loss.python != NULL:
        return 0
    columns = [k for k in range(count + 1) if k != outcome]
    entry.enter(True)
    try:
        # Read as an example is whose values are the columns, so that they say where each one belongs.
        entry.take({name: float(k) for name, k in zip(names, columns)}, &row, False)
        if row.unseen or row.count != count:
            return 0
        values = np.empty(count)
        positions = np.array([row.indices[k] for k in range(count)], dtype=np.int32)
        places = np.array([row.values[k] for k in range(count)], dtype=np.intp)
        return serve(entry, loss, values, positions, places, numbers, outcome, scores, losses)
    finally:
        entry.leave()


cdef Py_ssize_t serve(Entry entry, const LossTable* loss, double[::1] values, const int32_t[::1] positions,
                      const Py_ssize_t[::1] places, const double[:, ::1] numbers, Py_ssize_t outcome,
                      double[::1] scores, double[::1] losses) except -1:
    cdef Py_ssize_t r, k, count = values.shape[0]
    cdef double given, target
    cdef Row row
    row.values, row.indices, row.count = &values[0], &positions[0], count
    row.unseen, row.unseen_sum, row.unseen_norm2, row.spread = 0, 0, 0, 0
    for r in range(numbers.shape[0]):
        for k in range(count):
            values[k] = numbers[r, places[k]]
        given = target = numbers[r, outcome]
        scores[r] = entry.score(&row)
        if not isfinite(scores[r]) or entry.settle(&target) != FINE or entry.play_recorded(&row, target, given) != FINE:
            return r
        losses[r] = loss.value(loss, scores[r], given)
    return numbers.shape[0]
