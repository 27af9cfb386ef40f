/* The fit of one tree to what the others leave. */
#include "boosting.h"

/* Fit the tree whose turn it is, with scratch memory; return what that cost, in nanoseconds or so. */
double noregret_boost_fit(noregret_boost *b, void *scratch);
