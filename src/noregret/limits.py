"""Bounds on numbers, and names that features may not take: each stated once, for every package.

An engine's own headroom, such as the norm at which weights are rescaled, stands in that engine.
``streams/parsing/numbers.h`` and ``vw.h`` repeat what loops in C need; a test compares them.
"""

# Features, outcomes and forecasts stay below this, so that float64 can hold sums of their squares.
MAX_VALUE = 1e150
# Parameters stay below this, so that float64 can hold their products with other numbers.
MAX_PARAMETER = 1e100
# Losses of experts count as no more than this.
MAX_EXPERT_LOSS = 1e300
# The squares of rows and numbers smaller than this may underflow, and lose digits.
MIN_NORM = 1e-145
# Losses up to this count as zero: sums of squares underflow there.
UNDERFLOW = 1e-300
# Half the distance from 1 to the next float64, and the smallest positive float64.
UNIT, SMALLEST = 2.0**-53, 5e-324
# Features per learner: positions are 32-bit integers, and the intercept may be one more.
MAX_POSITIONS = 2**31 - 1
MAX_COLUMNS = MAX_POSITIONS - 1

# The feature that is constant. A column of this name is refused where an intercept is added.
INTERCEPT = "intercept"
