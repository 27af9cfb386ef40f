/* Wide rows, mostly 0: a node has the box of a few features, and a round costs what is not 0 in its row.

   A node keeps the features that were not 0 in its rows while it had slots, which are the strongest of each
   row; all others count as inside of its box, so they are not split by there. Statistics of features are
   sums, so that a 0 changes none of them, and what is relative to all features that were not 0 is counted
   again after as many numbers as there are such features. One that was always 0 changes nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forest.h"

/* The share of a feature that says nothing is so much in this many features, and else in proportion. */
#define IDLE_SHARE 0.003
#define IDLE_FEATURES 256
#define LINEAR_SHARE 0.1
/* The number of a slot that has no feature. */
#define NO_FEATURE 0x1p31

/* The features of a node and of a row, by number: the box, and the row's values. */
typedef struct {
    int count;
    double feature[FOREST_SLOTS], low[FOREST_SLOTS], high[FOREST_SLOTS], x[FOREST_SLOTS];
} gaps;

static double* slots(const noregret_forest* f, const double* v) { return (double*)v + FOREST_FIELDS + f->class_room; }

static void add(gaps* g, double feature, double low, double high, const double* row)
{
    g->feature[g->count] = feature;
    g->low[g->count] = low;
    g->high[g->count] = high;
    g->x[g->count++] = row[(ptrdiff_t)feature];
}

static void gather(const noregret_forest* f, const double* v, const double* row, gaps* g)
{
    const double *feature = slots(f, v), *low = feature + FOREST_SLOTS, *high = low + FOREST_SLOTS;
    int used = 0, k = 0;
    while (used < FOREST_SLOTS && feature[used] < NO_FEATURE)
        used++;
    g->count = 0;
    for (int i = 0, left = FOREST_SLOTS - used; i <= used; i++) {
        double next = i < used ? feature[i] : NO_FEATURE;
        for (; k < f->strong && f->strongest[k] < next && left > 0; k++, left--)
            add(g, f->strongest[k], 0, 0, row);
        k += k < f->strong && f->strongest[k] == next;
        if (i < used)
            add(g, next, low[i], high[i], row);
    }
}

static double off(const gaps* g, int i)
{
    double below = g->low[i] - g->x[i], above = g->x[i] - g->high[i], far = below > above ? below : above;
    return far > 0 ? far : 0;
}

double noregret_wide_distance(const noregret_forest* f, const double* v, const double* row)
{
    double far = 0;
    gaps g;
    gather(f, v, row, &g);
    for (int i = 0; i < g.count; i++)
        far += off(&g, i) * f->rates[(ptrdiff_t)g.feature[i]];
    return far;
}

ptrdiff_t noregret_wide_pick(const noregret_forest* f, const double* v, const double* row, double left, double* low, double* high)
{
    ptrdiff_t feature = -1;
    gaps g;
    gather(f, v, row, &g);
    for (int i = 0; i < g.count && left > 0; i++) {
        double far = off(&g, i) * f->rates[(ptrdiff_t)g.feature[i]];
        if (far > 0) {
            feature = (ptrdiff_t)g.feature[i];
            *low = g.low[i];
            *high = g.high[i];
            left -= far;
        }
    }
    return feature;
}

static void write(const noregret_forest* f, double* v, const gaps* g)
{
    double *feature = slots(f, v), *low = feature + FOREST_SLOTS, *high = low + FOREST_SLOTS;
    for (int i = 0; i < FOREST_SLOTS; i++) {
        int used = i < g->count;
        feature[i] = used ? g->feature[i] : NO_FEATURE;
        low[i] = !used ? 0 : g->x[i] < g->low[i] ? g->x[i] : g->low[i];
        high[i] = !used ? 0 : g->x[i] > g->high[i] ? g->x[i] : g->high[i];
    }
}

void noregret_wide_include(const noregret_forest* f, double* v, const double* row)
{
    gaps g;
    gather(f, v, row, &g);
    write(f, v, &g);
}

void noregret_wide_leaf(const noregret_forest* f, double* v, const double* row)
{
    gaps g = {0};
    for (int k = 0; k < f->strong; k++)
        add(&g, f->strongest[k], row[f->strongest[k]], row[f->strongest[k]], row);
    write(f, v, &g);
}

/* The square of the correlation with the outcome. */
static double correlation(const noregret_forest* f, const double* s)
{
    double t = (double)f->rounds, spread = f->classes > 2 ? 0 : f->outcome_spread;
    double own = s[COLUMN_SPREAD] - s[COLUMN_MEAN] * (s[COLUMN_MEAN] / t);
    double shared = s[COLUMN_SHARED] - s[COLUMN_MEAN] * f->outcome_mean;
    double share = own > 0 && spread > 0 ? shared / own * (shared / spread) : 0;
    return share > 0 && share <= 1 ? share : share > 1;
}

static double gain(const double* s)
{
    return s[COLUMN_GAIN] > 0 ? s[COLUMN_GAIN] / s[COLUMN_TRIED] : 0;
}

/* The share of a feature, beside those that have the most. */
static double share_of(const noregret_forest* f, const double* s)
{
    double share = IDLE_SHARE * IDLE_FEATURES / (double)f->known;
    share += f->most > 0 ? LINEAR_SHARE * (correlation(f, s) / f->most) : 0;
    share += f->best > 0 ? gain(s) / f->best : 0;
    return s[COLUMN_HIGH] > s[COLUMN_LOW] ? share : 0;
}

static void rate(noregret_forest* f, ptrdiff_t j)
{
    const double* s = f->column + COLUMN_FIELDS * j;
    double range = s[COLUMN_HIGH] - s[COLUMN_LOW];
    f->rates[j] = range > 0 && f->shares > 0 ? share_of(f, s) / range / f->shares : 0;
}

/* Notes the largest of what shares are relative to. */
static void compare(noregret_forest* f, ptrdiff_t j)
{
    const double* s = f->column + COLUMN_FIELDS * j;
    double linear = correlation(f, s), saved = gain(s);
    f->most = linear > f->most ? linear : f->most;
    f->best = saved > f->best ? saved : f->best;
}

/* Finds the strongest features of the row, by number. */
static void choose(noregret_forest* f)
{
    double weight[FOREST_SLOTS];
    f->strong = 0;
    for (ptrdiff_t k = 0; k < f->present; k++) {
        int32_t j = f->nonzero[k];
        double own = f->rates[j] * fabs(f->row[j]);
        int at = f->strong < FOREST_SLOTS ? f->strong++ : FOREST_SLOTS;
        for (; at > 0 && own > weight[at - 1]; at--)
            if (at < FOREST_SLOTS) {
                weight[at] = weight[at - 1];
                f->strongest[at] = f->strongest[at - 1];
            }
        if (at < FOREST_SLOTS) {
            weight[at] = own;
            f->strongest[at] = j;
        }
    }
    for (int i = 1; i < f->strong; i++) {
        int32_t j = f->strongest[i];
        int at = i;
        for (; at > 0 && f->strongest[at - 1] > j; at--)
            f->strongest[at] = f->strongest[at - 1];
        f->strongest[at] = j;
    }
}

void noregret_wide_measure(noregret_forest* f, double y)
{
    for (ptrdiff_t k = 0; k < f->present; k++) {
        double x = f->row[f->nonzero[k]], *s = f->column + COLUMN_FIELDS * (ptrdiff_t)f->nonzero[k];
        if (s[COLUMN_LOW] == 0 && s[COLUMN_HIGH] == 0)
            f->seen[f->known++] = f->nonzero[k];
        s[COLUMN_LOW] = x < s[COLUMN_LOW] ? x : s[COLUMN_LOW];
        s[COLUMN_HIGH] = x > s[COLUMN_HIGH] ? x : s[COLUMN_HIGH];
        s[COLUMN_MEAN] += x;
        s[COLUMN_SPREAD] += x * x;
        s[COLUMN_SHARED] += x * y;
        compare(f, f->nonzero[k]);
    }
    f->measured += (double)f->present;
    if (f->measured >= (double)f->known) {
        f->measured = f->most = f->best = f->shares = 0;
        for (ptrdiff_t k = 0; k < f->known; k++)
            compare(f, f->seen[k]);
        for (ptrdiff_t k = 0; k < f->known; k++)
            f->shares += share_of(f, f->column + COLUMN_FIELDS * (ptrdiff_t)f->seen[k]);
        for (ptrdiff_t k = 0; k < f->known; k++)
            rate(f, f->seen[k]);
    } else
        for (ptrdiff_t k = 0; k < f->present; k++)
            rate(f, f->nonzero[k]);
    choose(f);
}

/* A node's box of all features, as slots. */
static void narrow(const noregret_forest* f, const double* low, double* slot)
{
    const double* high = low + f->width;
    int used = 0;
    for (int i = 0; i < FOREST_SLOTS; i++)
        slot[i] = NO_FEATURE;
    for (ptrdiff_t j = 0; j < f->width && used < FOREST_SLOTS; j++)
        if (low[j] != 0 || high[j] != 0) {
            slot[used] = (double)j;
            slot[FOREST_SLOTS + used] = low[j];
            slot[2 * FOREST_SLOTS + used++] = high[j];
        }
}

int noregret_wide_begin(noregret_forest* f)
{
    ptrdiff_t head = FOREST_FIELDS + f->class_room, stride = head + 3 * FOREST_SLOTS;
    double** node = calloc(f->trees, sizeof *node);
    int fits = node != NULL;
    for (int i = 0; fits && i < f->trees; i++)
        fits = (node[i] = calloc(f->tree[i].room + 1, stride * sizeof(double))) != NULL;
    for (int i = 0; i < f->trees && node != NULL; i++) {
        noregret_tree* t = &f->tree[i];
        for (ptrdiff_t k = 0; fits && k < t->count; k++) {
            memcpy(node[i] + k * stride, t->node + k * f->stride, head * sizeof(double));
            narrow(f, t->node + k * f->stride + head, node[i] + k * stride + head);
        }
        free(fits ? t->node : node[i]);
        if (fits)
            t->node = node[i];
    }
    free(node);
    if (!fits)
        return 0;
    for (ptrdiff_t j = 0; j < f->features; j++) {
        double *s = f->column + COLUMN_FIELDS * j, t = (double)f->rounds;
        s[COLUMN_LOW] = s[COLUMN_LOW] < 0 ? s[COLUMN_LOW] : 0;
        s[COLUMN_HIGH] = s[COLUMN_HIGH] > 0 ? s[COLUMN_HIGH] : 0;
        s[COLUMN_SHARED] += t * s[COLUMN_MEAN] * f->outcome_mean;
        s[COLUMN_SPREAD] += t * s[COLUMN_MEAN] * s[COLUMN_MEAN];
        s[COLUMN_MEAN] *= t;
        if (s[COLUMN_LOW] != 0 || s[COLUMN_HIGH] != 0)
            f->seen[f->known++] = (int32_t)j;
    }
    f->measured = (double)f->known;
    f->stride = stride;
    f->wide = 1;
    return 1;
}
