# Checks of arrays, the errors of a round and the state: included in round.pyx.

cdef int check_arrays(ExpertRound master, X, y, predictions, weights) except -1:
    """Check the shapes and types of the arrays of a block, and of those to fill."""
    rows = len(X) if X.ndim else 0
    for name, array, shape in (
        ("rows", X, (rows, master.weigher.n)), ("outcomes", y, (rows,)),
        ("predictions", predictions, (rows,)), ("weights", weights, (rows, master.weigher.n)),
    ):
        if array is not None and not (
            isinstance(array, np.ndarray) and array.shape == shape and array.dtype == np.float64
            and array.flags.c_contiguous and array.flags.aligned
            and (array.flags.writeable or name in ("rows", "outcomes"))
        ):
            raise ValueError(f"{name} must be an array of float64 of shape {shape}")
    return 0


cdef int refuse_round(ExpertRound master, int status, double value) except -1:
    """Raise the error for a status."""
    cdef Py_ssize_t i = master.culprit
    master.culprit = -1
    if isinstance(master.cost, PythonLoss):
        master.cost.raise_failure()
    round = master.weigher.rounds + 1
    who = None if i < 0 else master.name_of(i)
    about = f"expert {who!r}" if who is not None else "the outcome"
    what, *cure = {
        BAD_ADVICE: (f"{about}: the forecast is {value:g}: forecasts are numbers up to {MAX_VALUE:g} in size, or NaN for one that sleeps",),
        BAD_OUTCOME: (f"the outcome is {value:g}: it must be a number up to {MAX_VALUE:g} in size",),
        BAD_LOSS: (f"{about}: the loss is {value:g}: losses are numbers up to {MAX_LOSS:g} in size, or NaN for one that sleeps",),
        ALL_ASLEEP: ("every expert sleeps, so there is no forecast",),
        NO_SLEEP: ("an expert sleeps, and the theorem needs experts that are always awake",
                   "use hedge, ml-poly or another master that allows sleep"),
        NOT_BOOLEAN: (f"{about} is {value:g}: votes and their outcomes are 0 or 1",),
        NOT_PROBABILITY: (f"{about} is {value:g}: the log loss takes probabilities, from 0 to 1",),
        ZERO_OUTCOME: ("the outcome is 0, for which the percentage error is undefined", "use the absolute loss"),
        HOPELESS: ("the mixture gives probability 0 to what happened, an infinite loss", "leave out"
                   " experts that are certain and wrong, or bound forecasts away from 0 and 1"),
        OVERFLOWED: ("forecast and outcome are so far apart that the loss overflows", "scale them down"),
        LOSS_FAILED: (f"the loss {master.cost.name!r} is not a number here",),
    }[status]
    raise BadExample(what, cure, round=round, feature=who)


cdef tuple state_of(ExpertRound master):
    """Return the arrays, numbers and names of the state."""
    master.wait()
    arrays, numbers = master.weigher.get_state()
    for name in ("excess", "asleep_rounds"):
        arrays["council." + name] = master.held[name].copy()
    numbers |= {
        "rounds": master.weigher.rounds, "total": master.total, "rest": master.rest, "drawn_loss": master.drawn_loss,
        "reached": bool(master.weigher.rounds > 0 and master.lowest <= master.highest),
        "lowest": master.lowest if master.lowest <= master.highest else 0.0,
        "highest": master.highest if master.lowest <= master.highest else 0.0,
        "widest": master.widest, "first_outside": master.first_outside, "first_wide": master.first_wide,
        "naps": master.naps, "first_nap": master.first_nap, "worst": master.worst, "advised": bool(master.advised),
    }
    return arrays, numbers, list(master.experts)

cdef int restore_state(ExpertRound master, arrays, numbers, names) except -1:
    """Restore a state; raise ValueError if it is invalid."""
    own = {name.removeprefix("council."): array for name, array in arrays.items() if name.startswith("council.")}
    rest = {name: array for name, array in arrays.items() if not name.startswith("council.")}
    kept, like, _ = master.get_state()
    theirs = {name: numbers.get(name) for name in type(master.weigher).NUMBERS}
    mine = {name: value for name, value in numbers.items() if name not in theirs}
    state_numbers(mine, {name: like[name] for name in like if name not in theirs},
                  ("total", "rest", "drawn_loss", "lowest", "highest"))
    n = len(master.weigher.checked_arrays(rest)["prior"])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("the names of experts must be text")
    if names and (len(names) != n or len(set(names)) != n):
        raise ValueError(f"{len(names)} names for {n} experts")
    state_arrays(own, {"excess": n, "asleep_rounds": n})
    if mine["rounds"] and not n:
        raise ValueError("there were rounds, but no experts")
    master.weigher.set_state(rest, theirs)
    master.held = None
    master.settle()
    for name, array in own.items():
        master.held[name][:] = array
    master.experts = list(names)
    master.weigher.rounds = mine["rounds"]
    master.total, master.rest, master.drawn_loss = mine["total"], mine["rest"], mine["drawn_loss"]
    if mine["reached"]:
        master.lowest, master.highest = mine["lowest"], mine["highest"]
    else:
        master.lowest, master.highest = INFINITY, -INFINITY
    master.widest, master.worst = mine["widest"], mine["worst"]
    master.first_outside, master.first_wide = mine["first_outside"], mine["first_wide"]
    master.naps, master.first_nap, master.advised = mine["naps"], mine["first_nap"], mine["advised"]
    return 0
