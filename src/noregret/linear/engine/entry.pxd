"""The way into a learner, for one example or a block of rows."""

from noregret.linear.engine.engine cimport Engine, Row
from noregret.linear.engine.features cimport Features
from noregret.linear.engine.recorder cimport Recorder


cdef class Entry:
    cdef readonly Engine engine
    cdef readonly Features known
    cdef int labels                 # which were seen, a set of Labels
    cdef long owner                 # the thread that is at it, or 0;
    cdef bint claimed, busy         # for several calls, or within one;
    cdef long since                 # the process, by its number of forks, in which that began;
    cdef bint built                 # whether it has an engine of its own
    cdef int readers                # and how many score blocks with the GIL released
    cdef object held                # keeps the numbers of the row at hand alive
    cdef Recorder recorder          # writes down what is played, where a game asks for it
    cdef bint due                   # whether its page should be handed over
    cdef bint late                  # whether the step is for a score served earlier,
    cdef double served              # which is this one,
    cdef const double* note         # with this note,
    cdef Py_ssize_t note_size       # of so many numbers
    cdef public object prepare      # turns raw rows into those that the engine knows, or None

    cdef int take(self, object x, Row* row, bint learning) except -1
    cdef int columns(self, Py_ssize_t count, Row* row, bint learning) except -1
    cdef double outcome(self, object y) except? -1
    cdef int enter(self, bint readers_too) except -1
    cdef void leave(self) noexcept
    cdef int wait(self, bint readers_too) except -1
    cdef int take_turn(self, bint readers_too) except -1
    cdef int read_along(self) except -1
    cdef void read_on(self) noexcept
    cdef bint is_whole(self) noexcept
    cpdef int hold(self) except -1
    cpdef void let_go(self) noexcept
    cdef int settle_columns(self, Py_ssize_t count) except -1
    cdef int forget_unplayed(self) except -1
    cdef int drop(self, Py_ssize_t count, int kind) except -1
    cpdef double decide(self, object x) except? -1
    cdef double decided(self, object x, double* note) except? -1
    cdef double score(self, Row* row) noexcept nogil
    cdef Py_ssize_t width(self) noexcept nogil
    cdef int score_into(self, Row* row, double* out, Py_ssize_t count) noexcept nogil
    cdef int settle(self, double* y) noexcept nogil
    cdef int play(self, object x, object y, double* prediction) except -1
    cdef int refuse(self, int status, double given, const Row* row) except -1
    cdef object answer(self, double score)
    cdef int play_recorded(self, Row* row, double y, double given) noexcept nogil
    cdef int hand_over(self) except -1


cdef class ExampleCalls:
    cdef readonly Entry _entry
    cdef object __weakref__
