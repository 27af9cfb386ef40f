from noregret.linear.engine.engine cimport Engine, Row


cdef enum:
    MOST_KEPT = 5

cdef class Coordinates(Engine):
    cdef readonly tuple kept_names              # of the arrays, in the order of kept
    cdef double[5] newborn                      # what a feature starts with
    cdef double *kept[5]

    cdef int keep(self, tuple names) except -1
