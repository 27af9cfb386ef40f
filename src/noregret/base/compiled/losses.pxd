
cdef struct LossTable:
    double (*value)(const LossTable*, double, double) noexcept nogil
    double (*slope)(const LossTable*, double, double) noexcept nogil
    # The step of the exact (implicit) update: w moves by -step * x.
    double (*implicit)(const LossTable*, double, double, double, double) noexcept nogil
    double parameter
    double curvature     # of an unbounded slope (explicit steps above 2/curvature overshoot), or 0
    bint labels          # outcomes are -1 or +1
    void* python         # the loss object, if its functions are Python's


cdef class Loss:
    cdef LossTable table
    cdef readonly str name
    cdef readonly double parameter
    cdef readonly bint implicit

    cdef double checked(self, double value) except? -1


cdef class PythonLoss(Loss):
    cdef readonly object value_function
    cdef readonly object slope_function
    cdef object failure


cdef Loss as_loss(object loss, object parameter)
cdef Loss class_loss(str name)

cdef double log_value(const LossTable* t, double s, double y) noexcept nogil
cdef double percentage_value(const LossTable* t, double s, double y) noexcept nogil
