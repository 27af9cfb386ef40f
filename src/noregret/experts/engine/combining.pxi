# How the advice of a round is read, combined and charged: included in round.pyx.

cdef inline double drawn(uint64_t seed, uint64_t round) noexcept nogil:
    """Return a pseudorandom number in [0, 1) that depends only on the seed and the round."""
    cdef uint64_t z = seed * 0x9E3779B97F4A7C15ULL + (round + 1) * 0xD1B54A32D192ED03ULL
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL
    z ^= z >> 31
    return (z >> 11) * (1.0 / 9007199254740992.0)


cdef inline double within(double mean, double low, double high) noexcept nogil:
    """Return a mean, clipped to the range of its values.

    If all experts agree, the mixture is the same number to the bit, and rounding errors have no effect.
    """
    return low if mean < low else high if mean > high else mean


cdef int check_outcome(ExpertRound master, double y) noexcept nogil:
    """Return a status for an outcome."""
    if not fabs(y) <= MAX_VALUE:
        return BAD_OUTCOME
    if master.votes and y != 0 and y != 1:
        return NOT_BOOLEAN
    if master.cost.table.value == log_value and not (0 <= y <= 1):
        return NOT_PROBABILITY
    if master.cost.table.value == percentage_value and y == 0:
        return ZERO_OUTCOME
    return FINE


cdef int wake(ExpertRound master, const double* x) noexcept nogil:
    """Set the flags of experts awake; return the number asleep."""
    cdef Py_ssize_t i
    cdef int asleep = 0
    for i in range(master.weigher.n):
        master.awake[i] = not isnan(x[i])
        asleep += not master.awake[i]
    return asleep


cdef const double* shares(ExpertRound master, int asleep) noexcept nogil:
    """Return the weights among those awake."""
    if asleep:
        master.weigher.weigh(master.q, master.awake)
        return master.q
    master.weigher.next_weights()
    return master.weigher.p


cdef int read(ExpertRound master, const double* x, noregret_survey* found) noexcept nogil:
    """Read the advice of a round: experts asleep, range and mean; return a status."""
    cdef Py_ssize_t i, n = master.weigher.n
    cdef bint chances = master.cost.table.value == log_value
    master.weigher.next_weights()
    found[0] = noregret_survey_of(master.weigher.p, x, n)
    master.sleepers = 0
    if found.sane == 0 and not master.votes and -MAX_VALUE <= found.low <= found.high <= MAX_VALUE \
            and not (chances and (found.low < 0 or found.high > 1)):
        return FINE
    master.sleepers = wake(master, x)
    if master.sleepers and not master.may_sleep:
        return NO_SLEEP
    if master.sleepers == n:
        return ALL_ASLEEP
    found.low, found.high = INFINITY, -INFINITY
    for i in range(n):
        if not master.awake[i]:
            continue
        master.culprit = i
        if not (fabs(x[i]) <= MAX_VALUE):
            return BAD_ADVICE
        if master.votes and x[i] != 0 and x[i] != 1:
            return NOT_BOOLEAN
        if chances and not (0 <= x[i] <= 1):
            return NOT_PROBABILITY
        found.low, found.high = min(found.low, x[i]), max(found.high, x[i])
    master.culprit = -1
    return FINE


cdef double combined(
    ExpertRound master, const double* q, const double* x, const noregret_survey* found, Py_ssize_t* pick
) noexcept nogil:
    """Return the prediction."""
    cdef Py_ssize_t i
    cdef double sum = 0
    if master.manner == SAMPLE:
        pick[0] = draw(master, q)
        return x[pick[0]]
    if master.manner == SUBSTITUTE:
        return substituted(master, q, x)
    if master.sleepers:
        for i in range(master.weigher.n):
            if q[i] > 0:
                sum += q[i] * x[i]
    else:
        sum = found.dot
    if master.manner == VOTE:
        return 1.0 if sum >= HALF_THE_VOTES else 0.0
    return within(sum, found.low, found.high)


cdef Py_ssize_t draw(ExpertRound master, const double* q) noexcept nogil:
    """Return the expert drawn in this master."""
    cdef double u = drawn(master.seed, master.weigher.rounds), sum = 0
    cdef Py_ssize_t i, pick = 0
    for i in range(master.weigher.n):
        if q[i] > 0:
            sum += q[i]
            pick = i
            if u < sum:
                break
    return pick


cdef double substituted(ExpertRound master, const double* q, const double* x) noexcept nogil:
    """Return Vovk's prediction, whose loss is at most the mixed loss for any outcome."""
    cdef double width = master.ceiling - master.floor, rate = 2 / (width * width), guess
    guess = (master.ceiling + master.floor) / 2 + (
        mixed(master, q, x, master.floor, rate) - mixed(master, q, x, master.ceiling, rate)) / (2 * width)
    return master.floor if guess < master.floor else master.ceiling if guess > master.ceiling else guess


cdef double mixed(ExpertRound master, const double* q, const double* x, double y, double rate) noexcept nogil:
    """Return −ln Σ q exp(−rate · (x − y)²) / rate, relative to the smallest exponent."""
    cdef Py_ssize_t i
    cdef double least = INFINITY, sum = 0, off
    for i in range(master.weigher.n):
        if q[i] > 0:
            least = min(least, (x[i] - y) * (x[i] - y))
    for i in range(master.weigher.n):
        if q[i] > 0:
            off = (x[i] - y) * (x[i] - y) - least
            sum += q[i] * exp(-rate * off)
    return least - log(sum) / rate


cdef void cost_all(ExpertRound master, const double* x, double y) noexcept nogil:
    """Compute the loss of each forecast; 0 for experts asleep."""
    cdef Py_ssize_t i, n = master.weigher.n
    cdef LossTable* table = &master.cost.table
    if table.value == square_like.table.value:
        for i in range(n):
            master.paid[i] = (x[i] - y) * (x[i] - y)
        if master.sleepers:
            for i in range(n):
                if not master.awake[i]:
                    master.paid[i] = 0.0
    else:
        for i in range(n):
            master.paid[i] = table.value(table, x[i], y) if not master.sleepers or master.awake[i] else 0.0


cdef double mean_of(ExpertRound master, const double* q, const double* losses) noexcept nogil:
    """Return the weighted mean of losses; those with weight 0 may be infinite."""
    cdef Py_ssize_t i
    cdef double sum = 0, low = INFINITY, high = -INFINITY
    for i in range(master.weigher.n):
        if q[i] > 0:
            sum += q[i] * losses[i]
            low, high = min(low, losses[i]), max(high, losses[i])
    return within(sum, low, high)
