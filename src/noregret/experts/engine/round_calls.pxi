cdef class RoundCalls:
    """The methods of a master for one round, which call its ``ExpertRound`` directly.

    The parameters are those of ``ExpertRound``.
    """

    def __cinit__(self, *args, **options):
        self._round = ExpertRound.__new__(ExpertRound)

    def __init__(self, weigher: Weigher, *args, **options):
        self._round.__init__(weigher, *args, **options)

    cdef const double* row_of(self, object x) except NULL:
        """Return a pointer to the numbers of a row; the first row sets the number of experts."""
        cdef ExpertRound round = self._round
        round.wait()
        if type(x) is cnp.ndarray and cnp.PyArray_NDIM(<cnp.ndarray> x) == 1 \
                and cnp.PyArray_TYPE(<cnp.ndarray> x) == cnp.NPY_DOUBLE \
                and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> x) \
                and cnp.PyArray_DIM(<cnp.ndarray> x, 0) == round.weigher.n and round.weigher.n:
            round.row, round.culprit = x, -1
        else:
            from noregret.experts.rows import as_row

            row = as_row(self, x)
            round.wait()  # reading a row may let other threads run
            round.hold_row(row)
        return <const double*> cnp.PyArray_DATA(round.row)

    def learn_losses(self, losses) -> None:
        """Learn from the loss of each expert in a round; NaN for one asleep."""
        cdef const double* x = self.row_of(losses)
        self._round.run(x, 0.0, True, NULL, NULL)

    def learn_one(self, advice, y: float) -> None:
        """Learn from a round: the forecast of each expert, and the outcome."""
        cdef double outcome = y if type(y) is float else self._round.outcome_of(y)
        cdef const double* x = self.row_of(advice)
        self._round.run(x, outcome, False, NULL, NULL)

    def predict_one(self, advice) -> float:
        """Return the forecast for a round from those of the experts, without learning."""
        self.row_of(advice)
        return self._round.forecast()
