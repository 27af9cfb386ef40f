"""Many learners side by side, and the mixture of them."""

from noregret.core.teaching cimport Teaching


cdef class Bank(Teaching):
    pass
