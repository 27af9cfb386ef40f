"""Passes of dual coordinate ascent over sparse rows, without Python's lock.

For a multiplier λ, the dual of  Σ ℓ_t(x_t·w) + λ ‖w‖²/2  is

    −Σ ℓ_t*(a_t) − ‖g‖²/(2λ)  with  g = Σ a_t x_t  and  w = −g/λ.

A pass visits rows in a given order and moves each slope a_t to where the dual is highest while the
others stay. Rows are three arrays, as in ``passes``. Callers pass arrays that fit together.
"""

from libc.math cimport exp, fabs, isfinite, log
from libc.stdint cimport int32_t, int64_t

cdef extern from "sparse_dot.h" nogil:
    double noregret_sparse_dot(const double* values, const int32_t* at, Py_ssize_t count, const double* w)
    void noregret_fetch(const void* address)
    void noregret_fetch_row(const int64_t* starts, const int32_t* at, const double* values, Py_ssize_t t)

# Rows are scattered in memory: their numbers are prefetched this many rows ahead, their starts twice as many.
cdef enum:
    AHEAD = 4
# Steps of Newton's method for one slope, and the share of it at which they end: the error is about its square.
cdef enum:
    MAX_STEPS = 8
cdef double CLOSE = 2e-3
# A first step by a larger share of the slope starts too far away.
cdef double MAX_FIRST_STEP = 0.5


def ascend(const int64_t[::1] starts not None, const int32_t[::1] at not None, const double[::1] values not None,
           const double[::1] squares not None, const int32_t[::1] order not None, double multiplier, bint logistic,
           const double[::1] low not None, const double[::1] high not None, const double[::1] centre not None,
           double flat, double softness, double[::1] slopes not None, double[::1] g not None) -> None:
    """Move the slopes of the rows in ``order``, which are ‖x_t‖² = squares[t] long, and g with them.

    The losses are those of ``losses.Clipped``, or logistic with the labels in ``centre``.
    """
    cdef Py_ssize_t j, t, k
    cdef double inner, bend, reach, slope, step
    with nogil:
        for j in range(order.shape[0]):
            if j + 2 * AHEAD < order.shape[0]:
                t = order[j + 2 * AHEAD]
                noregret_fetch(&starts[t])
                noregret_fetch(&slopes[t])
                noregret_fetch(&squares[t])
                noregret_fetch(&low[t])
                noregret_fetch(&high[t])
                noregret_fetch(&centre[t])
            if j + AHEAD < order.shape[0]:
                noregret_fetch_row(&starts[0], &at[0], &values[0], order[j + AHEAD])
            t = order[j]
            bend = squares[t] / multiplier
            if not (0 < bend and isfinite(bend)):
                continue
            k = starts[t]  # the row is not empty, as it has a length
            inner = noregret_sparse_dot(&values[k], &at[k], starts[t + 1] - k, &g[0])
            # The score would be reach − bend a for a slope a.
            reach = bend * slopes[t] - inner / multiplier
            if logistic:
                slope = -centre[t] * wrong(bend, centre[t] * reach, -centre[t] * slopes[t])
            else:
                reach -= centre[t]
                reach = reach - flat if reach > flat else reach + flat if reach < -flat else 0
                slope = reach / (bend + softness)
            slope = low[t] if slope < low[t] else high[t] if slope > high[t] else slope
            step = slope - slopes[t]
            if step == 0 or not isfinite(step):
                continue
            slopes[t] = slope
            for k in range(starts[t], starts[t + 1]):
                g[at[k]] += step * values[k]


cdef double wrong(double bend, double reach, double guess) noexcept nogil:
    """Return the p with  ln(p/(1 − p)) + bend p + reach = 0:  the probability of the wrong label.

    The left side is concave up to p = 1/2, and solved there or, with 1 − p for p, beyond. Newton's
    method converges from below. It begins at the guess if that is close, else at p = u/bend, where
    ln u + u ≈ ln bend − reach.
    """
    cdef bint beyond = 0.5 * bend + reach < 0
    cdef double x, p, step
    cdef int steps = 0
    if beyond:
        reach, guess = -(reach + bend), 1 - guess
    if 0 < guess <= 0.5:
        step = newton_step(guess, bend, reach)
        p = guess + step
        if fabs(step) <= MAX_FIRST_STEP * guess and p <= 0.5:
            steps = 1
    if steps == 0:
        x, step = log(bend) - reach, 1
        if x <= 1:
            p = exp(x)
            p = p / (1 + p) / bend
        else:
            p = (x - log(x)) / bend
        p = 0.5 if p > 0.5 else p
    while p > 0 and steps < MAX_STEPS and fabs(step) > CLOSE * p:
        step = newton_step(p, bend, reach)
        if p + step <= 0:
            step = -0.9 * p
        elif p + step > 0.5:
            step = 0.5 - p
        p += step
        steps += 1
    return 1 - p if beyond else p


cdef inline double newton_step(double p, double bend, double reach) noexcept nogil:
    """Return the step of Newton's method towards the root."""
    cdef double rest = p * (1 - p)
    return -(log(p / (1 - p)) + bend * p + reach) * rest / (1 + bend * rest)
