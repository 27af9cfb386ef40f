"""Learners side by side in the lanes of a vector: first-order ones, and diagonal filters."""

from libc.stdint cimport int32_t

from noregret.auto.memory_filters cimport MAX_INPUTS


cdef enum:
    MAX_FILTER_FEATURES = MAX_INPUTS - 1
    FEATURE_NUMBERS = 24       # doubles per noregret_feature

cdef extern from "first_order.h" nogil:
    ctypedef struct noregret_feature:
        double[8] weight
        double[4] squares
        double[4] variance
        double count, sum, sum2, prior, size
    void noregret_lanes_hold(const double* scores, double low, double high, double mean, double* says) noexcept
    void noregret_lanes_errors(const double* scores, double low, double high, bint within, double y, double most, double* errors) noexcept
    Py_ssize_t noregret_lanes_score(const noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, double* out, double* z) noexcept
    void noregret_lanes_observe(noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, double grant, const double* most) noexcept
    void noregret_lanes_meet(noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, const double* slopes, const double* rates, double* steps, double* moves) noexcept
    void noregret_lanes_learn(noregret_feature* features, const double* values, const int32_t* indices, Py_ssize_t count, const double* steps, const double* slopes, const double* errors, const double* r, const double* keep, const double* most) noexcept
    enum: NOREGRET_CLASS_LANES
    Py_ssize_t noregret_classes_score(const noregret_feature* features, const double* lanes, Py_ssize_t stride, Py_ssize_t classes, const double* values, const int32_t* indices, Py_ssize_t count, double* out, double* z) noexcept
    void noregret_classes_meet(const noregret_feature* features, double* lanes, Py_ssize_t stride, Py_ssize_t classes, const double* values, const int32_t* indices, Py_ssize_t count, const double* slopes, const double* rates, double* steps, double* moves) noexcept
    void noregret_classes_learn(noregret_feature* features, double* lanes, Py_ssize_t stride, Py_ssize_t classes, const double* values, const int32_t* indices, Py_ssize_t count, const double* steps, const double* slopes, const double* errors, const double* r, const double* keep, const double* most) noexcept
