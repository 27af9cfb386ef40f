# Errors of examples, worded with the round and the feature, and of states: included in entry.pyx.

cdef invalid_outcome(Entry entry, shown):
    """Return the error of an outcome that is no number or label."""
    cdef long long round = entry.engine.rounds + 1
    if entry.engine.loss.table.labels:
        message = f"the label is {shown}: labels are −1 and +1, 0 and 1, or False and True"
        if shown[:1] in "'\"":
            message += f" (for others, give y == {shown})"
        return BadLabel(message, round=round)
    message = f"the outcome is {shown}: it must be a finite number, below {MAX_VALUE:g} in size"
    return BadExample(message, round=round)


cdef int refuse_row(Entry entry, int status, double given, const Row* row) except -1:
    """Raise the error of a status, with the round and the feature."""
    cdef long long round = entry.engine.rounds + 1
    cdef Py_ssize_t k
    cdef double value
    if status == BAD_VALUE or status == NOT_BOOLEAN:
        for k in range(row.count):
            value = row.values[k]
            if status == BAD_VALUE and fabs(value) < MAX_VALUE:
                continue
            if status == NOT_BOOLEAN and (value == 0 or value == 1):
                continue
            refuse_value(entry, status, value, position(row, k), round)
        raise BadExample("the values are too large: their squares add up to infinity", round=round)
    if status == BAD_INDICES:
        raise BadExample(
            f"the indices of a sparse row must increase and lie within {entry.engine.size} columns",
            round=round,
        )
    if status == NO_MEMORY:
        if entry.recorder is None:
            raise MemoryError(f"round {round}: no memory left to learn from this row")
        if entry.recorder.failure is not None and not isinstance(entry.recorder.failure, MemoryError):
            raise entry.recorder.failure
        raise MemoryError(f"round {round}: no memory left for the record of the game")
    if status == OVERFLOWED:
        raise Diverged("the prediction is too large for float64", "scale the example down", round=round)
    if status == BAD_OUTCOME or status == BAD_LABEL:
        raise entry.bad_outcome(f"{given:g}")
    if status == MIXED_LABELS:
        raise BadLabel(
            f"the label is {given:g}, but {'−1' if given == 0 else '0'} was seen before",
            "write the negative label in one way",
            round=round,
        )
    if status == LOSS_FAILED:
        entry.engine.loss.raise_failure()
        raise BadExample("the loss or its slope is NaN or infinite", round=round)
    raise Diverged(
        "the weights are diverging, this round's step was not taken", entry.engine.advice(sqrt(row.norm2)),
        round=round,
    )


cdef int refuse_value(
    Entry entry, int status, double value, Py_ssize_t position, long long round
) except -1:
    """Raise BadExample for the value of a feature."""
    name = entry.known.describe(position) if position < entry.known.count else f"column {position}"
    if status == NOT_BOOLEAN:
        what, cure = "this learner takes only 0 and 1, or False and True", ()
    elif isfinite(value):
        what, cure = "too large to be squared", "scale it down"
    else:
        what, cure = "every value must be finite", ()
    raise BadExample(f"{name} is {value:g}: {what}", cure, round=round, feature=entry.known.called(position))


cdef int refuse_parts(Entry entry) except -1:
    """Raise NoRegretError for an entry whose parts do not belong together."""
    if not entry.built:
        raise NoRegretError("this learner was never built: its __init__ has not run")
    raise NoRegretError(
        f"this learner knows {entry.known.count} features but has weights for {entry.engine.size}: its engine"
        " was changed from outside", "load it again or take a fresh one",
    )


cdef int check_state(numbers, names) except -1:
    """Raise ValueError unless the numbers and names of a state fit together."""
    if numbers["kind"] not in (UNKNOWN, BY_POSITION, BY_NAME) or (numbers["kind"] == UNKNOWN and numbers["size"]):
        raise ValueError("features are known by position or by name")
    if numbers["labels"] > (SEEN_ZERO | SEEN_MINUS | SEEN_BOOL):
        raise ValueError("labels of an unknown kind")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("feature names are a list of strings")
    if len(set(names)) != len(names) or len(names) != (numbers["size"] if numbers["kind"] == BY_NAME else 0):
        raise ValueError("the feature names do not match the weights")
    return 0
