/* The forest: features and their scales, the mixture of the trees, and what a round costs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forest.h"

/* The share of a feature that says nothing about the outcome, beside the one whose splits save most. */
#define IDLE_SHARE 0.003
/* The share of the feature that is correlated most, beside the one whose splits save most. */
#define LINEAR_SHARE 0.1

/* What the interval around the outcomes grows by at least, over its length. */
#define STRETCH 0.25

static uint64_t mixed(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

int noregret_forest_members(const noregret_forest* f)
{
    return FOREST_RATES * (2 + f->trees);
}

static int outputs(const noregret_forest* f)
{
    return f->classes ? f->classes : 1;
}

/* Room. */

int noregret_forest_room(noregret_tree* t, ptrdiff_t room, ptrdiff_t stride)
{
    double* node;
    double* spare;
    int32_t* at;
    if (room <= t->room)
        return 1;
    if ((node = realloc(t->node, room * stride * sizeof(double))) == NULL)
        return 0;
    t->node = node;
    if ((at = realloc(t->at, room * sizeof(int32_t))) == NULL)
        return 0;
    t->at = at;
    if ((spare = realloc(t->spare, BEST_FIELDS * room * sizeof(double))) == NULL)
        return 0;
    t->spare = spare;
    t->room = room;
    return 1;
}

/* Whether predictions are held to where the mixture of all weights allows them. */
static int has_ends(const noregret_forest* f) { return f->edition > 1 && !f->classes; }

static ptrdiff_t says(const noregret_forest* f, int wide)
{
    return noregret_forest_members(f) * (ptrdiff_t)wide + (has_ends(f) ? 2 * f->trees : 0);
}

ptrdiff_t noregret_forest_says(const noregret_forest* f) { return says(f, outputs(f)); }

int noregret_forest_begin(noregret_forest* f, int trees, ptrdiff_t budget, int classes, uint64_t seed, int edition)
{
    memset(f, 0, sizeof *f);
    f->edition = edition;
    f->old = trees;
    f->trees = trees += noregret_fresh_trees(trees);
    f->budget = budget;
    f->classes = classes;
    f->tree = calloc(trees, sizeof *f->tree);
    f->paid = calloc(noregret_forest_members(f), sizeof(double));
    f->prior = calloc(noregret_forest_members(f), sizeof(double));
    f->before = calloc(noregret_forest_members(f), sizeof(double));
    if (f->tree == NULL || f->paid == NULL || f->prior == NULL || f->before == NULL)
        return 0;
    noregret_fresh_begin(f);
    for (int i = 0; i < trees; i++)
        f->tree[i].random = mixed(mixed(seed + 0x9E3779B97F4A7C15ULL) + 0x9E3779B97F4A7C15ULL * (uint64_t)(i + 1));
    return noregret_forest_widen(f, 0, classes);
}

void noregret_forest_end(noregret_forest* f)
{
    for (int i = 0; f->tree != NULL && i < f->trees; i++) {
        free(f->tree[i].node);
        free(f->tree[i].at);
        free(f->tree[i].spare);
    }
    free(f->tree);
    free(f->paid);
    free(f->prior);
    free(f->before);
    free(f->column);
    free(f->row);
    free(f->rates);
    free(f->nonzero);
    free(f->seen);
    free(f->said);
    memset(f, 0, sizeof *f);
}

/* Copies the nodes of a tree to rows with other room for classes and features, from the last on. */
static void spread(const noregret_forest* f, noregret_tree* t, int class_room, ptrdiff_t width, ptrdiff_t stride)
{
    for (ptrdiff_t k = t->count - 1; k >= 0; k--) {
        const double* from = t->node + k * f->stride;
        double* to = t->node + k * stride;
        const double* low = from + FOREST_FIELDS + f->class_room;
        if (f->wide)
            memmove(to + FOREST_FIELDS + class_room, low, 3 * FOREST_SLOTS * sizeof(double));
        else {
            memmove(to + FOREST_FIELDS + class_room + width, low + f->width, f->width * sizeof(double));
            memmove(to + FOREST_FIELDS + class_room, low, f->width * sizeof(double));
        }
        memmove(to, from, (FOREST_FIELDS + f->class_room) * sizeof(double));
        /* A feature that joins was absent, that is, 0, in all rows so far. */
        for (ptrdiff_t j = f->width; !f->wide && j < width; j++)
            to[FOREST_FIELDS + class_room + j] = to[FOREST_FIELDS + class_room + width + j] = 0;
        for (int c = f->class_room; c < class_room; c++)
            to[FOREST_FIELDS + c] = 0;
    }
}

static int larger(double** array, ptrdiff_t numbers)
{
    double* made = realloc(*array, (numbers > 0 ? numbers : 1) * sizeof(double));
    if (made != NULL)
        *array = made;
    return made != NULL;
}

static int listed(int32_t** array, ptrdiff_t numbers)
{
    int32_t* made = realloc(*array, (numbers + 1) * sizeof(int32_t));
    if (made != NULL)
        *array = made;
    return made != NULL;
}

int noregret_forest_widen(noregret_forest* f, ptrdiff_t features, int classes)
{
    ptrdiff_t width = f->width, columns = f->columns, boxed = features;
    int class_room = f->class_room > 0 ? f->class_room : 1;
    if (f->edition > 1 && boxed > FOREST_DENSE)
        boxed = FOREST_DENSE; /* until the first wide row is learned */
    if (width < boxed && !f->wide)
        width = boxed > width + width / 2 ? boxed : width + width / 2;
    if (columns < features)
        columns = features > columns + columns / 2 ? features : columns + columns / 2;
    while (class_room < classes)
        class_room *= 2;
    if (f->stride == 0 || width > f->width || columns > f->columns || class_room > f->class_room) {
        ptrdiff_t stride = FOREST_FIELDS + class_room + (f->wide ? 3 * FOREST_SLOTS : 2 * width), before = f->columns;
        for (int i = 0; i < f->trees; i++) {
            double* node;
            if (f->tree[i].room == 0)
                continue;
            if ((node = realloc(f->tree[i].node, f->tree[i].room * stride * sizeof(double))) == NULL)
                return 0;
            f->tree[i].node = node;
        }
        if (!listed(&f->nonzero, columns) || !listed(&f->seen, columns))
            return 0;
        if (!larger(&f->column, COLUMN_FIELDS * columns) || !larger(&f->row, columns) || !larger(&f->rates, columns) ||
            !larger(&f->said, says(f, class_room) + class_room))
            return 0;
        for (int i = 0; i < f->trees; i++)
            spread(f, &f->tree[i], class_room, width, stride);
        memset(f->column + COLUMN_FIELDS * before, 0, COLUMN_FIELDS * (columns - before) * sizeof(double));
        memset(f->row + before, 0, (columns - before) * sizeof(double));
        memset(f->rates + before, 0, (columns - before) * sizeof(double));
        f->columns = columns;
        f->width = width;
        f->class_room = class_room;
        f->stride = stride;
    }
    f->features = features;
    return 1;
}

/* Lets a class join, with half an outcome in every node. The room must be there. */
void noregret_forest_admit(noregret_forest* f)
{
    for (int i = 0; i < f->trees; i++)
        for (ptrdiff_t k = 0; k < f->tree[i].count; k++)
            f->tree[i].node[k * f->stride + FOREST_FIELDS + f->classes] = 0.5;
    f->classes++;
}

/* The mixture. */

/* The price of a nat: 1 / the proven rate. */
double noregret_forest_unit(const noregret_forest* f)
{
    return f->classes ? 1.0 : (f->edition > 1 ? 0.5 : 2) * f->scale * f->scale;
}

double noregret_boldness(const noregret_forest* f, int rate)
{
    return rate == 0 ? 1 : f->classes ? 2 : f->edition > 1 ? 128 : 512; /* powers of two, for pay() */
}

/* The loss of a round. That of the first number is the same for all members and prunings, and would take
   the digits of the others where outcomes are far from 0: it is left out everywhere. */
static double loss_of(const noregret_forest* f, double says, double y)
{
    return f->classes ? -log(says) : f->rounds == 1 ? 0 : (says - y) * (says - y);
}

/* The logarithm of the weight of a member, but for a constant. */
static double weight_of(const noregret_forest* f, int member, double unit)
{
    return f->prior[member] - (unit > 0 ? f->paid[member] / unit : 0);
}

/* By the continued fraction of t coth(t/2), so that small squares keep their digits. */
double noregret_forest_short(double off, double unit)
{
    double t = unit > 0 ? off * off / unit : 0, z = t * t;
    double over = 518918400 + z * (60540480 + z * (831600 + z * (2520 + z)));
    double under = 259459200 + z * (8648640 + z * (55440 + z * 72));
    return 2 * t * under / (over + t * under);
}

double noregret_forest_mixed(double below, double unit) { return below > 0 ? -unit * log1p(-below) : 0; }

/* The mixture: the mean, moved as little as its loss at each end of the interval demands. */
static void mix(const noregret_forest* f, const double* said, double* out)
{
    int n = noregret_forest_members(f), wide = outputs(f);
    double unit = noregret_forest_unit(f), top = -INFINITY, total = 0, ends[2] = {0, 0};
    const double* of_trees = said + n * (ptrdiff_t)wide;
    int held = has_ends(f) && unit > 0;
    for (int k = 0; k < n; k++)
        top = weight_of(f, k, unit) > top ? weight_of(f, k, unit) : top;
    for (int c = 0; c < wide; c++)
        out[c] = 0;
    for (int k = 0; k < n; k++) {
        double weight = exp(weight_of(f, k, unit) - top);
        total += weight;
        for (int c = 0; c < wide; c++)
            out[c] += weight * said[k * wide + c];
        for (int end = 0; held && end < 2; end++) {
            double off = said[k] - (end ? f->far : f->near);
            int tree = k / FOREST_RATES - 2;
            ends[end] += weight * (tree >= 0 && k % FOREST_RATES == 0 ? of_trees[2 * tree + end] : noregret_forest_short(off, unit));
        }
    }
    for (int c = 0; c < wide; c++)
        out[c] /= total;
    if (held) {
        double least = f->far - sqrt(noregret_forest_mixed(ends[1] / total, unit));
        double most = f->near + sqrt(noregret_forest_mixed(ends[0] / total, unit));
        out[0] = out[0] < least ? least : out[0] > most ? most : out[0];
    }
}

/* The loss of the mixture of all members so far. */
static double potential(const noregret_forest* f)
{
    double unit = noregret_forest_unit(f), top = -INFINITY, total = 0;
    for (int k = 0; k < noregret_forest_members(f); k++)
        top = weight_of(f, k, unit) > top ? weight_of(f, k, unit) : top;
    for (int k = 0; k < noregret_forest_members(f); k++)
        total += exp(weight_of(f, k, unit) - top);
    return -unit * (top + log(total));
}

void noregret_forest_predict(const noregret_forest* f, const double* row, double* said, double* out)
{
    noregret_row all = {row, NULL, f->features};
    noregret_forest_predict_row(f, &all, said, out);
}

void noregret_forest_predict_row(const noregret_forest* f, const noregret_row* row, double* said, double* out)
{
    int own_wide = FOREST_RATES * outputs(f);
    for (int k = 0; k < 2 * own_wide; k++)
        said[k] = 0;
    noregret_trees_predict(f, row, said + 2 * own_wide, has_ends(f) ? said + (2 + f->trees) * own_wide : NULL, said == f->said);
    for (int i = 0; i < f->trees; i++) {
        double *own = said + own_wide * (2 + i), *average = said + (i < f->old ? 0 : own_wide);
        int count = i < f->old ? f->old : f->trees - f->old;
        for (int k = 0; k < own_wide; k++)
            average[k] += own[k] / count;
    }
    mix(f, said, out);
}

/* The share of the loss that a split by a feature saves. */
static double gain_of(const double* s)
{
    return s[COLUMN_GAIN] > 0 ? s[COLUMN_GAIN] / s[COLUMN_TRIED] : 0;
}

/* How fast features are split, per unit of each: the wider a box in terms of the feature's own range,
   and the more the feature has to do with the outcome, the faster. They add up to 1 over all ranges. */
static void weigh_features(noregret_forest* f)
{
    double most = 0, best = 0, total = 0;
    /* Of more than two classes, numbers say nothing about their order. */
    double spread = f->classes > 2 ? 0 : f->outcome_spread;
    for (ptrdiff_t j = 0; j < f->features; j++) {
        const double* s = f->column + COLUMN_FIELDS * j;
        double both = s[COLUMN_SPREAD] * spread, gain = gain_of(s);
        f->rates[j] = both > 0 ? s[COLUMN_SHARED] / s[COLUMN_SPREAD] * (s[COLUMN_SHARED] / spread) : 0;
        most = f->rates[j] > most ? f->rates[j] : most;
        best = gain > best ? gain : best;
    }
    for (ptrdiff_t j = 0; j < f->features; j++) {
        const double* s = f->column + COLUMN_FIELDS * j;
        double share = IDLE_SHARE;
        share += most > 0 ? LINEAR_SHARE * (f->rates[j] / most) : 0;
        share += best > 0 ? gain_of(s) / best : 0;
        share = s[COLUMN_HIGH] > s[COLUMN_LOW] ? share : 0;
        total += share;
        f->rates[j] = share > 0 ? share / (s[COLUMN_HIGH] - s[COLUMN_LOW]) : 0;
    }
    for (ptrdiff_t j = 0; total > 0 && j < f->features; j++)
        f->rates[j] /= total;
}

/* Counts the row and the outcome in the statistics of the features. */
static void measure(noregret_forest* f, double y)
{
    double t = (double)f->rounds, above = y - f->outcome_mean;
    f->outcome_mean += above / t;
    f->outcome_spread += above * (y - f->outcome_mean);
    if (f->wide) {
        noregret_wide_measure(f, y);
        return;
    }
    for (ptrdiff_t j = 0; j < f->features; j++) {
        double* s = f->column + COLUMN_FIELDS * j;
        double x = f->row[j], off = x - s[COLUMN_MEAN];
        if (f->rounds == 1)
            s[COLUMN_LOW] = s[COLUMN_HIGH] = x;
        s[COLUMN_LOW] = x < s[COLUMN_LOW] ? x : s[COLUMN_LOW];
        s[COLUMN_HIGH] = x > s[COLUMN_HIGH] ? x : s[COLUMN_HIGH];
        s[COLUMN_MEAN] += off / t;
        s[COLUMN_SPREAD] += off * (x - s[COLUMN_MEAN]);
        s[COLUMN_SHARED] += off * (y - f->outcome_mean);
    }
    weigh_features(f);
}

int noregret_forest_reserve(noregret_forest* f, int* foreseen)
{
    for (int i = 0; i < f->trees; i++) {
        noregret_tree* t = &f->tree[i];
        if (t->count + 2 > f->budget) { /* only of a state with a smaller budget than it was made with */
            noregret_tree_collapse(f, t);
            *foreseen = 0;
        } else if (t->count + 2 > t->room) {
            ptrdiff_t room = 2 * t->room > 16 ? 2 * t->room : 16;
            if (!noregret_forest_room(t, room < f->budget ? room : f->budget, f->stride))
                return 0;
        }
    }
    return 1;
}

/* Widens the range of the outcomes, with the interval around them; returns whether the rate has changed. */
static int stretch(noregret_forest* f, double y)
{
    int first = f->rounds == 1, power;
    f->low = first || y < f->low ? y : f->low;
    f->high = first || y > f->high ? y : f->high;
    if (f->edition > 1) {
        if (first)
            f->near = f->far = y;
        if (y >= f->near && y <= f->far)
            return 0;
        double more = STRETCH * f->scale;
        if (y > f->far)
            f->far = y > f->far + more ? y : f->far + more;
        else
            f->near = y < f->near - more ? y : f->near - more;
        f->scale = f->far - f->near;
        return 1;
    }
    if (!(f->high - f->low > f->scale))
        return 0;
    double share = frexp(f->high - f->low, &power);
    f->scale = ldexp(1.0, share == 0.5 ? power - 1 : power);
    return 1;
}

int noregret_forest_learn(noregret_forest* f, double y, int foreseen)
{
    int n = noregret_forest_members(f), wide = outputs(f), c = f->classes ? (int)y : 0;
    if (!noregret_forest_reserve(f, &foreseen))
        return 0;
    if (f->edition > 1 && f->features > FOREST_DENSE && !f->wide && !noregret_wide_begin(f))
        return 0;
    double *served = f->said + noregret_forest_says(f), lost, before = 0;
    if (foreseen)
        mix(f, f->said, served);
    else
        noregret_forest_predict(f, f->row, f->said, served);
    f->rounds++;
    lost = loss_of(f, served[c], y);
    f->lost += lost;
    f->start = f->outcome_mean;
    int stretched = !f->classes && stretch(f, y);
    for (int i = 0; stretched && i < f->trees; i++)
        noregret_tree_reweigh(f, &f->tree[i]);
    if (stretched && has_ends(f))
        before = potential(f);
    measure(f, y);
    for (int k = 0; k < n; k++) {
        int tree = k / FOREST_RATES - 2, proven = tree >= 0 && k % FOREST_RATES == 0;
        double paid = loss_of(f, f->said[k * wide + c], y);
        if (proven) {
            double mixed = noregret_tree_learn(f, &f->tree[tree], f->row, y);
            paid = has_ends(f) ? mixed : paid;
        }
        f->paid[k] += paid;
    }
    if (stretched && has_ends(f)) {
        double excess = lost - (potential(f) - before);
        f->growth += excess > 0 ? excess : 0;
    }
    for (int i = 0; i < f->trees; i++)
        if (f->tree[i].count + 2 > f->budget)
            noregret_tree_collapse(f, &f->tree[i]);
    noregret_fresh_judge(f);
    return 1;
}
