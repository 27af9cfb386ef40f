"""The compiled methods of estimators for one named example.

Estimators derive from these classes. Special cases (a name that is not text, a new label, a game that
keeps the rows) are handled by methods of the estimator in Python.
"""

cimport cython
from libc.math cimport exp

from noregret.linear.engine.entry cimport Entry

from noregret import limits
from noregret.errors import BadExample

cdef str INTERCEPT = limits.INTERCEPT
cdef object NEGATIVE = 0.0, POSITIVE = 1.0


@cython.auto_pickle(False)  # an estimator has its own pickling
cdef class Port:
    """Pass examples to a learner, with a constant feature if requested."""

    cdef Entry entry          # None if examples are not passed directly
    cdef double constant    # the value of the constant feature; 0 for no such feature

    def lead_to(self, Entry entry: Entry | None, double constant) -> None:
        """Pass examples directly to a learner from now on; None to stop."""
        self.entry, self.constant = entry, constant

    cdef int learn(self, object x, object y) except -1:
        cdef Entry entry = self.entry  # Python code that runs meanwhile may replace it
        entry.hold()
        try:
            entry.known.constant = self.constant
            entry.play(x, y, NULL)
        finally:
            entry.known.constant = 0
            entry.let_go()
        return 0

    cdef double score(self, object x) except? -1:
        cdef Entry entry = self.entry
        entry.hold()
        try:
            entry.known.constant = self.constant
            return entry.decide(x)
        finally:
            entry.known.constant = 0
            entry.let_go()

    cdef dict row(self, object x):
        """Return an example with the constant feature, unless it has one."""
        cdef dict row = dict(x)
        if self.constant != 0:
            row.setdefault(INTERCEPT, self.constant)
        return row


@cython.auto_pickle(False)
cdef class NumberPort(Port):
    """Pass examples to a learner of numbers."""

    def learn_one(self, x, y, w: float | None = None) -> None:
        """Learn from one example with weight w, by default 1."""
        try:
            if self.entry is None or w is not None:
                self._learn(self.row(x), y, w)
            else:
                self.learn(x, y)
        except BadExample as refusal:
            self._learn(self._renamed(self.row(x), refusal), y, w)

    def predict_one(self, x) -> float:
        """Predict the outcome of one example, without learning."""
        try:
            return self._decide(self.row(x)) if self.entry is None else self.score(x)
        except BadExample as refusal:
            return self._decide(self._renamed(self.row(x), refusal))


@cython.auto_pickle(False)
cdef class LabelPort(Port):
    """Pass examples to a learner of two labels, once both are known."""

    cdef object negative, positive

    def tell_apart(self, negative, positive) -> None:
        """Set the two labels of the learner."""
        self.negative, self.positive = negative, positive

    def learn_one(self, x, y, w: float | None = None) -> None:
        """Learn from one example with weight w, by default 1."""
        cdef bint straight = self.entry is not None and w is None
        try:
            if straight and y is self.positive:
                self.learn(x, POSITIVE)
            elif straight and y is self.negative:
                self.learn(x, NEGATIVE)
            else:
                self._learn(self.row(x), y, w)
        except BadExample as refusal:
            self._learn(self._renamed(self.row(x), refusal), y, w)

    def predict_one(self, x) -> Any:
        """Predict the label of one example; None before any label is known."""
        try:
            if self.entry is None:
                return self._predict(self.row(x))
            return self.positive if self.score(x) > 0 else self.negative
        except BadExample as refusal:
            return self._predict(self._renamed(self.row(x), refusal))

    def predict_proba_one(self, x) -> dict[Any, float]:
        """Return the probability of each known label.

        With the logistic loss they are probabilities. With other losses they are scores, mapped to
        0 to 1 as in River's own margin classifiers: only their order is meaningful.
        """
        cdef double chance
        try:
            if self.entry is None:
                return self._probabilities(self.row(x))
            chance = squash(self.score(x))
        except BadExample as refusal:
            return self._probabilities(self._renamed(self.row(x), refusal))
        return {self.negative: 1.0 - chance, self.positive: chance}


cdef double squash(double score) noexcept:
    cdef double small
    if score >= 0:
        return 1.0 / (1.0 + exp(-score))
    small = exp(score)
    return small / (1.0 + small)


def squashed(double score) -> float:
    """Return 1/(1 + exp(−score))."""
    return squash(score)
