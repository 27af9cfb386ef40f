"""Probabilities of classes: from scores, at least a floor; and what follows from them."""

from libc.math cimport exp, fabs, log

from noregret.auto.layout cimport chance_of, clip


cdef inline void settle_chances(double* p, Py_ssize_t count, double floor) noexcept nogil:
    """Raise probabilities to the floor and normalise them."""
    cdef Py_ssize_t c
    cdef double total = 0
    for c in range(count):
        p[c] = p[c] if p[c] > floor else floor  # NaN too
        total += p[c]
    for c in range(count):
        p[c] /= total


cdef inline void chances_of(const double* scores, int apart, double shrink, Py_ssize_t count, double floor, double* out) noexcept nogil:
    """Fill in the softmax of scores times a factor, with a floor; even odds where scores overflowed."""
    cdef Py_ssize_t c
    cdef double top = scores[0], total = 0
    for c in range(1, count):
        top = max(top, scores[apart * c])
    for c in range(count):
        out[c] = exp((scores[apart * c] - top) * shrink)
        total += out[c]
    for c in range(count):
        out[c] /= total
    settle_chances(out, count, floor)


cdef inline void extend_chances(const double* then, Py_ssize_t known, Py_ssize_t count, double floor, double* out) noexcept nogil:
    """Fill in earlier probabilities, with the floor for classes that were not known then."""
    cdef Py_ssize_t c
    for c in range(count):
        out[c] = then[c] if c < known else 0
    settle_chances(out, count, floor)


cdef inline double weight_of(const double* p, Py_ssize_t count) noexcept nogil:
    """Return the weight of an observation with these probabilities: half of the largest p(1 − p), at least 1e-4."""
    cdef Py_ssize_t c
    cdef double most = 1e-4
    for c in range(count):
        most = max(most, 0.5 * p[c] * (1 - p[c]))
    return most


cdef inline double moved_by(double margin, double slope, double move) noexcept nogil:
    """Return the change of a margin by the implicit step of the logistic loss, between 0 and |slope| · move.

    It is the root of ln(move · chance) − ln(far), by Newton's method for ln(far).
    """
    cdef double chance, step, found = fabs(slope)
    cdef double far = min(found * move / (1 + move * found * (1 - found)), max(1.0, log(move) - margin))
    cdef int k
    for k in range(60):
        chance = chance_of(-margin - far)
        step = clip(log(move * chance / far) / (1 + far * (1 - chance)), -1, 1)
        far *= (2 + step) / (2 - step)
        if fabs(step) <= 1e-9:
            break
    return far


cdef inline double floor_at(double rounds, Py_ssize_t count) noexcept nogil:
    """Return the smallest probability of a class."""
    return 1 / ((rounds + 2) * count)
