"""A learner's methods for one named example as other libraries call them, with little in between.

Estimators of theirs derive from these classes. What is out of the ordinary (a name that is no text, a
label never met, a game that keeps the rows) goes to methods of the estimator itself, in Python.
"""

cimport cython
from libc.math cimport exp

from noregret.linear.engine.entry cimport Entry

from noregret import limits
from noregret.errors import BadExample

cdef str INTERCEPT = limits.INTERCEPT
cdef object NEGATIVE = 0.0, POSITIVE = 1.0


@cython.auto_pickle(False)  # an estimator is copied by its own state
cdef class Port:
    """The way to a learner, with a constant feature if one is asked for."""

    cdef Entry entry          # None where nothing goes straight to it
    cdef double constant    # the value of the constant feature; 0 for no such feature

    def lead_to(self, Entry entry, double constant):
        """Pass examples directly to a learner from now on; None to stop."""
        self.entry, self.constant = entry, constant

    cdef int learn(self, object x, object y) except -1:
        cdef Entry entry = self.entry  # Python code that is run meanwhile may lead elsewhere
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
        """An example with the constant feature, unless it brings one of its own."""
        cdef dict row = dict(x)
        if self.constant != 0:
            row.setdefault(INTERCEPT, self.constant)
        return row


@cython.auto_pickle(False)
cdef class NumberPort(Port):
    """The way to a learner of numbers."""

    def learn_one(self, x, y, w=None):
        """Learn from one example, which counts as much as w says: 1 if not given."""
        try:
            if self.entry is None or w is not None:
                self._learn(self.row(x), y, w)
            else:
                self.learn(x, y)
        except BadExample as refusal:
            self._learn(self._renamed(self.row(x), refusal), y, w)

    def predict_one(self, x):
        """Predict the outcome of one example; nothing changes."""
        try:
            return self._decide(self.row(x)) if self.entry is None else self.score(x)
        except BadExample as refusal:
            return self._decide(self._renamed(self.row(x), refusal))


@cython.auto_pickle(False)
cdef class LabelPort(Port):
    """The way to a learner of two labels, once both were met."""

    cdef object negative, positive

    def tell_apart(self, negative, positive):
        """Take two labels for those of the learner."""
        self.negative, self.positive = negative, positive

    def learn_one(self, x, y, w=None):
        """Learn from one example, which counts as much as w says: 1 if not given."""
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

    def predict_one(self, x):
        """Predict the label of one example; None before any was met."""
        try:
            if self.entry is None:
                return self._predict(self.row(x))
            return self.positive if self.score(x) > 0 else self.negative
        except BadExample as refusal:
            return self._predict(self._renamed(self.row(x), refusal))

    def predict_proba_one(self, x):
        """Return the probability of every label met.

        They are probabilities where the loss is logistic. For others they are scores, squashed into
        0 to 1 as River's own margin classifiers have them: they rank, no more.
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


def squashed(double score):
    """Return 1/(1 + exp(−score))."""
    return squash(score)
