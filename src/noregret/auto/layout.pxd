"""The order of a bank's members, and their predictions in one round."""

from libc.math cimport exp, fabs
from libc.stdint cimport uint8_t

from noregret.base.compiled.losses cimport Loss


cdef enum:  # Kind
    SQUARE
    TILTED                     # the absolute and the quantile loss
    LOGISTIC


cdef struct Layout:
    # The index of the first member of each group; after all members come the mixtures weighted with them.
    int kind
    int variants               # of the filters over the row, which come first: plain, clipped to the range, robust
    int first                  # four of AdaGrad, then four diagonal filters
    int trees                  # a forest, if there is one
    int mean                   # the running mean, and for labels even odds
    int several                # filters over other members; they and those below are not in the base
    int unclipped              # the mean of the outcomes as they were; −1 for labels and in edition 1
    int forward                # the filter with a promise; −1 if there is none
    int boosted                # boosted trees; −1 if there are none
    int lagged                 # filters over the row and the latest outcomes
    int last                   # the last outcome,
    int seasonal               # and that of a period ago, if one was found; −1 in edition 1
    int following              # filters over the base mixture and the latest outcomes,
    int seeing                 # and over both
    int members
    int weighed                # members and mixtures


cdef struct Known:
    # What members know of earlier outcomes.
    double origin              # outcomes and predictions are relative to it
    double[3] outcomes         # the latest ones,
    double[2] foreseen         # the base's predictions of them,
    double[2] averages         # and their averages
    double last                # the latest one, never clipped; not in edition 1, nor what follows
    double period              # or 0 for none,
    double[2] seasonal         # the outcome of the same place in the period before, and the one before that


cdef struct Round:
    # The inputs and predictions of all members in one round.
    double[264] x              # 1, then the features
    double[264] recent_x       # 1, the latest outcomes, then the features
    double[20] several         # inputs of filters over other members,
    double[16] following       # over the base mixture and the latest outcomes,
    double[20] seeing          # and over both
    double[12] plain_scores    # of the filters, before they are clipped to the range of outcomes
    double[4] lagged_scores
    double[8] first_scores
    double[4] several_scores
    double[4] following_scores
    double[4] seeing_scores
    double[64] forest_says     # predictions within the forest
    double[264] boosted_x      # the inputs of boosted trees,
    float[264] boosted_own     # the same in units of their own,
    uint8_t[64] boosted_leaf   # and the leaf of each tree
    double[4] first_z          # variances of the scores
    double[4] plain_z
    double[4] lagged_z
    double[4] several_z
    double[4] following_z
    double[4] seeing_z
    double[48] says            # predictions of the members; for labels log-odds,
    double[48] chance          # the probabilities of +1
    double[48] other           # and of −1
    Known known                # the outcomes known
    double base                # the mixture of the members that use no outcomes
    double[264] forward_x      # the features as the filter with a promise factors them,
    double forward_score       # its score before it predicts forward,
    double forward_z           # and the variance of that
    Py_ssize_t present         # nonzero features
    bint full, lagged, grown   # whether the filters, those that use outcomes and the forest take part
    bint foreseen              # whether forest_says is filled in,
    bint boosted               # and what boosted trees need


cdef inline Layout layout_of(Loss loss, bint recent, int edition, bint trees):
    """Return the order of an edition's members for a loss, with or without those that use outcomes, and the forest."""
    cdef Layout at
    at.kind = SQUARE if loss.name == "square" else LOGISTIC if loss.name == "logistic" else TILTED
    at.variants = 1 if at.kind == LOGISTIC else 3
    at.first = 4 * at.variants
    at.trees = at.first + 8
    at.mean = at.trees + trees
    at.several = at.mean + (2 if at.kind == LOGISTIC else 1)
    at.unclipped = at.several + 4 if edition > 1 and at.kind != LOGISTIC else -1
    at.lagged = at.several + (5 if at.unclipped >= 0 else 4)
    at.forward = -1
    if edition > 1 and at.kind == SQUARE:
        at.forward = at.lagged
        at.lagged += 1
    at.boosted = -1
    if edition > 2 and trees:
        at.boosted = at.lagged
        at.lagged += 1
    at.last = at.lagged + 4
    at.seasonal = at.last + 1 if edition > 1 else -1
    at.following = at.last + (2 if edition > 1 else 1)
    at.seeing = at.following + 4
    at.members = at.seeing + 4 if recent else at.lagged
    at.weighed = at.members + (1 if at.kind == LOGISTIC else 2)
    return at


cdef inline double clip(double value, double low, double high) noexcept nogil:
    value = low if low > value else value  # in this form one instruction, without a branch
    return high if high < value else value


cdef inline double chance_of(double score) noexcept nogil:
    cdef double e = exp(-fabs(score))
    return 1 / (1 + e) if score >= 0 else e / (1 + e)


cdef inline double usable(double error) noexcept nogil:
    """Return an error, or 0 if it is so large that its square would overflow."""
    return error if fabs(error) < 1e180 else 0.0
