/* Prunings of a tree: the best in hindsight, and those that a budget forces. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forest.h"

/* The share of the nodes that is given up at once. */
#define SHARE 8

void noregret_tree_best(const noregret_forest* f, noregret_tree* t, double unit, double out[BEST_FIELDS])
{
    double *value = t->spare, *loss = value + t->room, *leaves = loss + t->room, *least = leaves + t->room;
    double* excess = least + t->room;
    memset(out, 0, BEST_FIELDS * sizeof(double));
    if (t->count == 0)
        return;
    noregret_tree_order(f, t);
    for (ptrdiff_t i = t->count - 1; i >= 0; i--) {
        ptrdiff_t k = t->at[i];
        const double* v = t->node + f->stride * k;
        loss[k] = least[k] = v[LOSS];
        excess[k] = v[EXCESS];
        value[k] = loss[k] + excess[k];
        leaves[k] = 1;
        if (v[LEFT] != 0) {
            ptrdiff_t a = (ptrdiff_t)v[LEFT], b = (ptrdiff_t)v[RIGHT];
            double go = noregret_prior_go(f, t, v, 0);
            double below = value[a] + value[b] - unit * log(go);
            value[k] -= unit * log1p(-go);
            if (least[a] + least[b] < least[k])
                least[k] = least[a] + least[b];
            if (below < value[k]) {
                value[k] = below;
                loss[k] = loss[a] + loss[b];
                leaves[k] = leaves[a] + leaves[b];
                excess[k] = excess[a] + excess[b];
            }
        }
    }
    out[BEST_LOSS] = loss[0];
    out[BEST_PRICE] = value[0] - loss[0];
    out[BEST_LEAVES] = leaves[0];
    out[BEST_EXCESS] = excess[0];
    out[BEST_LEAST] = least[0];
}

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Makes node k a leaf, which takes over the weight of all prunings below: no other weight changes. */
static void cut(const noregret_forest* f, noregret_tree* t, ptrdiff_t k)
{
    double* v = t->node + f->stride * k;
    double unit = noregret_forest_unit(f);
    for (int r = 0; r < FOREST_RATES; r++) {
        double nats = log(v[STOP + r]) - log1p(-noregret_prior_go(f, t, v, r));
        v[EXCESS + r] += nats * unit / noregret_boldness(f, r);
        v[STOP + r] = 1;
        v[GO + r] = 0;
    }
    v[LEFT] = v[RIGHT] = v[TIME] = v[FEATURE] = v[THRESHOLD] = 0;
}

/* What the children of a node have saved, in terms of the bolder rate. */
static double saved(const noregret_forest* f, const noregret_tree* t, const double* v)
{
    double unit = noregret_forest_unit(f), gain = v[LOSS];
    gain -= t->node[f->stride * (ptrdiff_t)v[LEFT] + LOSS] + t->node[f->stride * (ptrdiff_t)v[RIGHT] + LOSS];
    return gain > 0 && unit > 0 ? gain * noregret_boldness(f, FOREST_RATES - 1) / unit : 0;
}

/* Collapses nodes whose children are leaves, those first that cost least, until there is room again.
   The nodes are then moved together. Returns 0 if there is no memory. */
int noregret_tree_collapse(noregret_forest* f, noregret_tree* t)
{
    ptrdiff_t target = t->count - t->count / SHARE, left = t->count, n = 0;
    ptrdiff_t stride = f->stride;
    double* moved = malloc(t->room * stride * sizeof(double));
    double *reach = t->spare, *costs = reach + t->room, *cost = costs + t->room, *place = cost + t->room;
    if (moved == NULL)
        return 0;
    if (target > f->budget - 2)
        target = f->budget - 2;
    while (left > target && left > 1) {
        ptrdiff_t twigs = 0;
        double limit;
        noregret_tree_order(f, t);
        for (ptrdiff_t i = 0; i < left; i++) {
            ptrdiff_t k = t->at[i];
            const double* v = t->node + stride * k;
            if (k == 0)
                reach[k] = 1;
            if (v[LEFT] == 0)
                continue;
            ptrdiff_t a = (ptrdiff_t)v[LEFT], b = (ptrdiff_t)v[RIGHT];
            reach[a] = reach[b] = reach[k] * v[GO + FOREST_RATES - 1];
            cost[k] = -1;
            if (t->node[stride * a + LEFT] == 0 && t->node[stride * b + LEFT] == 0)
                costs[twigs++] = cost[k] = reach[a] + saved(f, t, v);
        }
        /* A quarter of the twigs at a time, as the nodes above them become twigs themselves. */
        qsort(costs, twigs, sizeof(double), ascending);
        limit = costs[(twigs - 1) / 4];
        for (ptrdiff_t i = left - 1; i >= 0 && left > target; i--) {
            ptrdiff_t k = t->at[i];
            if (t->node[stride * k + LEFT] != 0 && cost[k] >= 0 && cost[k] <= limit) {
                cut(f, t, k);
                left -= 2;
            }
        }
    }
    noregret_tree_order(f, t);
    for (n = 0; n < left; n++)
        place[t->at[n]] = (double)n;
    for (n = 0; n < left; n++) {
        double* v = moved + stride * n;
        memcpy(v, t->node + stride * t->at[n], stride * sizeof(double));
        v[PARENT] = place[(ptrdiff_t)v[PARENT]];
        if (v[LEFT] != 0) {
            v[LEFT] = place[(ptrdiff_t)v[LEFT]];
            v[RIGHT] = place[(ptrdiff_t)v[RIGHT]];
        }
    }
    free(t->node);
    t->node = moved;
    t->count = left;
    return 1;
}
