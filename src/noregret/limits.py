"""Bounds on numbers and reserved feature names, shared by all packages.

Thresholds of a single engine, such as the norm at which weights are rescaled, stand in that engine.
``streams/parsing/numbers.h`` and ``vw.h`` repeat those needed in C; a test compares them.
"""

# Features, outcomes and forecasts stay below this, so that float64 can hold sums of their squares.
MAX_VALUE = 1e150
# Parameters stay below this, so that float64 can hold their products with other numbers.
MAX_PARAMETER = 1e100
# Losses of experts are clipped to this.
MAX_EXPERT_LOSS = 1e300
# Squares of smaller norms and numbers may underflow and lose digits.
MIN_NORM = 1e-145
# Losses up to this count as zero, because sums of squares underflow.
UNDERFLOW = 1e-300
# Half the distance from 1 to the next float64, and the smallest positive float64.
UNIT, SMALLEST = 2.0**-53, 5e-324
# Features per learner: positions are 32-bit integers, and the intercept may be one more.
MAX_POSITIONS = 2**31 - 1
MAX_COLUMNS = MAX_POSITIONS - 1
# Classes per learner, and weights of all its classes together (1 GiB).
MAX_CLASSES, MAX_CLASS_WEIGHTS = 4_096, 2**27

# The constant feature. A column of this name is refused if an intercept is added.
INTERCEPT = "intercept"
# A missing value of the feature x is the feature x=missing.
MISSING = "missing"
# Characters of a text in a certificate, and of the one that lists the classes.
MAX_TEXT, MAX_CLASS_LIST = 10_000, 2_000_000
