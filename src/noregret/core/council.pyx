"""The council's door: rounds and blocks of them come in, are checked once, and are played or refused."""

from cpython.pythread cimport PyThread_get_thread_ident
from libc.math cimport INFINITY, NAN

from math import ldexp
from time import sleep

import numpy as np

cimport numpy as cnp

from noregret.core.chamber cimport (
    ALL_ASLEEP, BAD_ADVICE, BAD_LOSS, BAD_OUTCOME, FINE, HOPELESS, LOSS_FAILED, NO_SLEEP, NOT_BOOLEAN,
    NOT_PROBABILITY, OVERFLOWED, ZERO_OUTCOME, Chamber,
)
from noregret.core.gate cimport come_in, generation, go_out
from noregret.core.losses cimport PythonLoss
from noregret.core.weigher cimport noregret_fetch, noregret_survey

from noregret.checks import state_numbers
from noregret.errors import BadExample, NoRegretError

cnp.import_array()

# Seconds between looks at a master that another thread is at.
WAIT = 1e-4


cdef class Council(Chamber):
    """Experts, how they are weighed and combined, and what everyone has paid; see ``Chamber``."""

    cdef unsigned long player                # the thread that plays a block, or 0
    cdef long since                          # the process, by its number of forks, in which that began
    cdef cnp.ndarray row                     # the latest, as long as it is looked at

    def begin(self, n):
        """Start with n experts."""
        self.wait()
        self.weigher.begin(n)
        self.held = None
        self.settle()

    # What there is to know.

    @property
    def width(self):
        """How many experts there are; 0 before the first round."""
        return self.weigher.n

    @property
    def rounds(self):
        """How many rounds were learned from."""
        return self.weigher.rounds

    @property
    def total_loss(self):
        """What was paid in all; the expected loss where experts are drawn."""
        return self.total + self.rest

    @property
    def expert_losses(self):
        """What each expert paid in all; in rounds it slept, what the mixture paid."""
        return self.total_loss - self.regrets

    @property
    def regrets(self):
        """What the mixture paid more than each expert."""
        return -(self.weigher.excess() if self.by_gap else self.held["excess"])

    @property
    def rounds_awake(self):
        """In how many rounds each expert was awake."""
        return self.weigher.rounds - self.held["asleep_rounds"].astype(np.int64)

    # Errors.

    def name_of(self, i):
        """Name an expert."""
        return self.experts[i] if self.experts else str(i)

    cdef int refuse(self, int status, double value) except -1:
        """Say why a round cannot be played."""
        cdef Py_ssize_t i = self.culprit
        self.culprit = -1
        if isinstance(self.cost, PythonLoss):
            self.cost.raise_failure()
        round = self.weigher.rounds + 1
        who = None if i < 0 else self.name_of(i)
        about = f"expert {who!r}" if who is not None else "the outcome"
        said = {
            BAD_ADVICE: f"{about} says {value:g}: forecasts are numbers up to 1e150 in size, or NaN for one that sleeps",
            BAD_OUTCOME: f"the outcome is {value:g}: it must be a number up to 1e150 in size",
            BAD_LOSS: f"{about} loses {value:g}: losses are numbers up to 1e300 in size, or NaN for one that sleeps",
            ALL_ASLEEP: "every expert sleeps, so there is nothing to predict with",
            NO_SLEEP: "an expert sleeps, and the promise is about experts that are always awake:"
                      " use hedge, ml-poly or another that lets them sleep",
            NOT_BOOLEAN: f"{about} is {value:g}: votes and their outcomes are 0 or 1",
            NOT_PROBABILITY: f"{about} is {value:g}: the log loss takes probabilities, from 0 to 1",
            ZERO_OUTCOME: "the outcome is 0, of which there is no percentage: use the absolute loss",
            HOPELESS: "the mixture gives probability 0 to what happened, an infinite loss: leave experts out"
                      " that are certain and wrong, or bound forecasts away from 0 and 1",
            OVERFLOWED: "forecast and outcome are so far apart that the loss overflows: scale them down",
            LOSS_FAILED: f"the loss {self.cost.name!r} is not a number here",
        }[status]
        raise BadExample(f"round {round}: {said}", round=round, feature=who)

    cdef int keep_kind(self, bint losses) except -1:
        """Refuse losses after advice, and advice after losses."""
        if self.weigher.rounds > 0 and self.advised == losses:
            raise BadExample(
                "it has learned from advice and outcomes so far: go on with these, or take a fresh one" if losses
                else "it has learned from losses so far: go on with these, or take a fresh one",
                round=self.weigher.rounds + 1)
        return 0

    @property
    def from_losses(self):
        """Whether rounds come as losses, without advice."""
        return self.weigher.rounds > 0 and not self.advised

    # Blocks, and single rounds.

    cdef int run(self, const double* x, double y, bint losses, double* prediction, double* used) except -1:
        """Play a round, or say why not; a loss in Python may let other threads run meanwhile."""
        cdef int status
        self.keep_kind(losses)
        self.come_along()
        self.player = PyThread_get_thread_ident()
        status = self.play_losses(x, prediction, used) if losses else self.play(x, y, prediction, used)
        self.player = 0
        go_out()
        if status != FINE:
            self.refuse(status, x[self.culprit] if self.culprit >= 0 else y)
        return 0

    def play_rows(self, cnp.ndarray X, y, predictions=None, weights=None):
        """Play the rows of a block in order; without outcomes they are losses."""
        self.wait()
        self.check_rooms(X, y, predictions, weights)
        cdef Py_ssize_t t, rows = cnp.PyArray_DIM(X, 0), n = self.weigher.n
        cdef const double* x = <const double*> cnp.PyArray_DATA(X)
        cdef const double* outcomes = NULL
        cdef double* guesses = NULL
        cdef double* used = NULL
        cdef bint losses = y is None
        cdef int status = FINE
        if not losses:
            outcomes = <const double*> cnp.PyArray_DATA(<cnp.ndarray> y)
        if predictions is not None:
            guesses = <double*> cnp.PyArray_DATA(<cnp.ndarray> predictions)
        if weights is not None:
            used = <double*> cnp.PyArray_DATA(<cnp.ndarray> weights)
        self.culprit = -1
        self.keep_kind(losses)
        self.come_along()
        self.player = PyThread_get_thread_ident()
        with nogil:
            for t in range(rows):
                if t + 1 < rows:
                    noregret_fetch(x + n, n)
                if losses:
                    status = self.play_losses(x, guesses, used)
                else:
                    status = self.play(x, outcomes[t], guesses, used)
                if status != FINE:
                    break
                x += n
                if guesses != NULL:
                    guesses += 1
                if used != NULL:
                    used += n
        self.player = 0
        go_out()
        if status != FINE:
            self.refuse(status, x[self.culprit] if self.culprit >= 0 else 0.0 if losses else outcomes[t])

    def check_rooms(self, X, y, predictions, weights):
        """Check that what a block comes with, and what is to be filled, are arrays of its size."""
        rows = len(X) if X.ndim else 0
        for name, array, shape in (
            ("rows", X, (rows, self.weigher.n)), ("outcomes", y, (rows,)),
            ("predictions", predictions, (rows,)), ("weights", weights, (rows, self.weigher.n)),
        ):
            if array is not None and not (
                isinstance(array, np.ndarray) and array.shape == shape and array.dtype == np.float64
                and array.flags.c_contiguous and array.flags.aligned
                and (array.flags.writeable or name in ("rows", "outcomes"))
            ):
                raise ValueError(f"{name} must be an array of float64 of shape {shape}")

    cdef int come_along(self) except -1:
        """Begin a round: wait while another thread forks, and look again who is at it."""
        come_in()
        try:
            self.wait()
        except BaseException:
            go_out()
            raise
        self.since = generation()
        return 0

    cdef int wait(self) except -1:
        """Wait for another thread that plays; only then may anything be looked at."""
        while self.player:
            if self.player == PyThread_get_thread_ident():
                raise NoRegretError("a loss must not use the master that asks for it")
            if self.since != generation():
                raise NoRegretError(
                    "the process was forked in the middle of a round of this master, by a thread that the copy does not"
                    " have: use another, or fork when no thread learns"
                )
            sleep(WAIT)
        if not self.built:
            raise NoRegretError(f"this {type(self).__name__} was never built: its __init__ has not run")
        if self.seats != self.weigher.n:
            raise NoRegretError(
                f"there is room for {self.seats} experts, but {self.weigher.n} are weighed: the weigher was changed from"
                " outside; load the master again or take a fresh one"
            )
        return 0

    cdef const double* row_of(self, object x) except NULL:
        """Return where the numbers of a row are; the first row settles how many experts there are."""
        self.wait()
        if type(x) is cnp.ndarray and cnp.PyArray_NDIM(<cnp.ndarray> x) == 1 \
                and cnp.PyArray_TYPE(<cnp.ndarray> x) == cnp.NPY_DOUBLE \
                and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> x) \
                and cnp.PyArray_DIM(<cnp.ndarray> x, 0) == self.weigher.n and self.weigher.n:
            self.row = x
        else:
            from noregret.experts.rows import as_row

            row = as_row(self, x)
            self.wait()  # reading a row may let other threads in
            if not isinstance(row, np.ndarray) or row.shape != (self.weigher.n,) or row.dtype != np.float64 \
                    or not (row.flags.c_contiguous and row.flags.aligned):
                raise ValueError(f"{len(row)} numbers for {self.weigher.n} experts")
            self.row = row
        self.culprit = -1
        return <const double*> cnp.PyArray_DATA(self.row)

    def learn_losses(self, losses):
        """Learn from what every expert lost in a round; NaN for one that slept."""
        cdef const double* x = self.row_of(losses)
        self.run(x, 0.0, True, NULL, NULL)

    def learn_one(self, advice, y):
        """Learn from a round: what every expert said, and what happened."""
        cdef double outcome = y if type(y) is float else self.outcome_of(y)
        cdef const double* x = self.row_of(advice)
        self.run(x, outcome, False, NULL, NULL)

    def outcome_of(self, y):
        """Return an outcome as a number; None is refused, and so is text, which float would read."""
        try:
            return ldexp(y, 0)
        except TypeError:
            round = self.weigher.rounds + 1
            said = repr(y)[:60]
            raise BadExample(f"round {round}: the outcome must be a number: it is {said}", round=round) from None

    def predict_one(self, advice):
        """Return the forecast for a round from what every expert says; nothing is learned."""
        cdef const double* x = self.row_of(advice)
        cdef Py_ssize_t pick = -1
        cdef noregret_survey found
        if not self.weigher.n:
            raise ValueError("there are no experts yet")
        cdef int status = self.read(x, &found)
        if status != FINE:
            self.refuse(status, x[self.culprit] if self.culprit >= 0 else NAN)
        return self.combined(self.shares(self.sleepers), x, &found, &pick)

    def drawn_expert(self):
        """Return which expert is drawn in the next round, all being awake."""
        self.wait()
        if not self.weigher.n:
            raise ValueError("the first round says who the experts are: nobody can be drawn before")
        self.weigher.next_weights()
        return self.draw(self.weigher.p)

    def current_weights(self, awake=None):
        """Return the weights of the next round, all awake or some."""
        self.wait()
        self.weigher.next_weights()
        cdef cnp.ndarray made = np.array(self.weigher.arrays["p"])
        if awake is not None:
            flags = np.ascontiguousarray(awake, np.uint8)
            if flags.shape != (self.weigher.n,):
                raise ValueError(f"{flags.size} marks of who is awake for {self.weigher.n} experts")
            self.weigher.weigh(<double*> cnp.PyArray_DATA(made), <unsigned char*> cnp.PyArray_DATA(<cnp.ndarray> flags))
        return made

    def join(self, name, share):
        """Let an expert in while running."""
        self.wait()
        self.weigher.join(share, {})
        self.settle()
        if name is not None:
            self.experts.append(name)

    # The state.

    def get_state(self):
        """Return the arrays, the numbers and the names that it goes on from."""
        self.wait()
        arrays, numbers = self.weigher.get_state()
        for name in ("excess", "asleep_rounds"):
            arrays["council." + name] = self.held[name].copy()
        numbers |= {
            "rounds": self.weigher.rounds, "total": self.total, "rest": self.rest, "drawn_loss": self.drawn_loss,
            "reached": bool(self.weigher.rounds > 0 and self.lowest <= self.highest),
            "lowest": self.lowest if self.lowest <= self.highest else 0.0,
            "highest": self.highest if self.lowest <= self.highest else 0.0,
            "widest": self.widest, "first_outside": self.first_outside, "first_wide": self.first_wide,
            "naps": self.naps, "first_nap": self.first_nap, "worst": self.worst, "advised": bool(self.advised),
        }
        return arrays, numbers, list(self.experts)

    def set_state(self, arrays, numbers, names):
        """Go on from a state; ValueError where it makes none."""
        own = {name.removeprefix("council."): array for name, array in arrays.items() if name.startswith("council.")}
        rest = {name: array for name, array in arrays.items() if not name.startswith("council.")}
        kept, like, _ = Council.get_state(self)
        theirs = {name: numbers.get(name) for name in type(self.weigher).NUMBERS}
        mine = {name: value for name, value in numbers.items() if name not in theirs}
        state_numbers(mine, {name: like[name] for name in like if name not in theirs})
        if set(own) != {"excess", "asleep_rounds"}:
            raise ValueError("what the experts paid is missing")
        n = len(self.weigher.checked_arrays(rest)["prior"])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("the names of experts must be text")
        if names and (len(names) != n or len(set(names)) != n):
            raise ValueError(f"{len(names)} names for {n} experts")
        for name, array in own.items():
            array = np.asarray(array)
            if array.dtype != np.float64 or array.shape != (n,) or not np.isfinite(array).all():
                raise ValueError(f"{name} must hold one number an expert")
        if mine["rounds"] and not n:
            raise ValueError("there were rounds, but no experts")
        self.weigher.set_state(rest, theirs)
        self.held = None
        self.settle()
        for name, array in own.items():
            self.held[name][:] = array
        self.experts = list(names)
        self.weigher.rounds = mine["rounds"]
        self.total, self.rest, self.drawn_loss = mine["total"], mine["rest"], mine["drawn_loss"]
        if mine["reached"]:
            self.lowest, self.highest = mine["lowest"], mine["highest"]
        else:
            self.lowest, self.highest = INFINITY, -INFINITY
        self.widest, self.worst = mine["widest"], mine["worst"]
        self.first_outside, self.first_wide = mine["first_outside"], mine["first_wide"]
        self.naps, self.first_nap, self.advised = mine["naps"], mine["first_nap"], mine["advised"]
