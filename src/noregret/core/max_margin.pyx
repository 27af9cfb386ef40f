"""The engine of ``max-margin``: corrections that shrink, of examples scaled to norm 1, in the unit ball."""

from libc.math cimport sqrt

from noregret.core.additive cimport Additive
from noregret.core.engine cimport FINE, Row

from noregret.checks import positive

# The squares of shorter rows have lost digits by underflow: nothing is learned from those.
cdef double SHORTEST_NORM2 = 1e-290


cdef class ShrinkingMargin(Additive):
    """After k − 1 corrections an example short of the margin (1 − α)·B/√k moves w by C/√k."""

    cdef double accuracy
    cdef long long corrections

    def __init__(self, accuracy=0.5):
        Additive.__init__(self, "mistake", rate=sqrt(2.0), schedule="sqrt", domain="ball", radius=1.0)
        if not 0 < positive("accuracy", accuracy) <= 1:
            raise ValueError(f"accuracy must be above 0 and at most 1: got {accuracy!r}")
        self.accuracy = accuracy

    cdef int update(self, Row* row, double score, double slope, double y) noexcept nogil:
        cdef double norm = sqrt(row.norm2), turn = sqrt(<double> (self.corrections + 1))
        cdef int status
        if row.norm2 < SHORTEST_NORM2 or y * score > (1 - self.accuracy) * (sqrt(8.0) / self.accuracy / turn) * norm:
            return FINE
        status = self.add(row, y * (self.rate.value / turn) / norm / self.factor)
        if status == FINE:
            self.corrections += 1
            self.project(row)
        return status

    @property
    def correction_count(self):
        """How many examples it was corrected by."""
        return self.corrections

    def accounts(self):
        """Return what the promise is about."""
        return {"corrections": [float(self.corrections)]}

    @property
    def takes_importance(self):
        """Whether a round may stand for several."""
        return False

    def scalars(self):
        """Return the numbers that, with the arrays, make up the state."""
        return Additive.scalars(self) | {"corrections": self.corrections}

    def check_state(self, arrays, numbers):
        """Raise ValueError where there are more corrections than rounds."""
        if numbers["corrections"] > numbers["rounds"]:
            raise ValueError("the state has more corrections than rounds")

    def restore(self, numbers):
        """Take the numbers of a state over."""
        Additive.restore(self, numbers)
        self.corrections = numbers["corrections"]
