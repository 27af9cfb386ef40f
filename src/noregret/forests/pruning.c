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
    t->node[f->stride * (ptrdiff_t)v[LEFT] + PARENT] = t->node[f->stride * (ptrdiff_t)v[RIGHT] + PARENT] = -1;
    v[LEFT] = v[RIGHT] = v[TIME] = v[FEATURE] = v[THRESHOLD] = 0;
}

/* What the children of a node have saved, in terms of the bolder rate. */
static double saved(const noregret_forest* f, const noregret_tree* t, const double* v)
{
    double unit = noregret_forest_unit(f), gain = v[LOSS];
    gain -= t->node[f->stride * (ptrdiff_t)v[LEFT] + LOSS] + t->node[f->stride * (ptrdiff_t)v[RIGHT] + LOSS];
    return gain > 0 && unit > 0 ? gain * noregret_boldness(f, FOREST_RATES - 1) / unit : 0;
}

/* Moves nodes into the places of those that were cut off, which have no parent any more. */
static void close_ranks(const noregret_forest* f, noregret_tree* t, ptrdiff_t left)
{
    ptrdiff_t last = t->count - 1;
    for (ptrdiff_t k = 1; k < left; k++) {
        double *v = t->node + f->stride * k, *from;
        if (v[PARENT] >= 0)
            continue;
        while ((from = t->node + f->stride * last)[PARENT] < 0)
            last--;
        memcpy(v, from, f->stride * sizeof(double));
        double* parent = t->node + f->stride * (ptrdiff_t)v[PARENT];
        parent[parent[LEFT] == (double)last ? LEFT : RIGHT] = (double)k;
        if (v[LEFT] != 0)
            for (int side = LEFT; side <= RIGHT; side++)
                t->node[f->stride * (ptrdiff_t)v[side] + PARENT] = (double)k;
        last--;
    }
    t->count = left;
}

/* Collapses nodes whose children are leaves, those first that cost least, until there is room again. */
void noregret_tree_collapse(noregret_forest* f, noregret_tree* t)
{
    ptrdiff_t target = t->count - t->count / SHARE, left = t->count;
    ptrdiff_t stride = f->stride;
    double *reach = t->spare, *costs = reach + t->room, *cost = costs + t->room;
    if (target > f->budget - 2)
        target = f->budget - 2;
    while (left > target && left > 1) {
        ptrdiff_t twigs = 0, filled = 1;
        t->at[0] = 0;
        reach[0] = 1;
        for (ptrdiff_t i = 0; i < filled; i++) {
            ptrdiff_t k = t->at[i];
            const double* v = t->node + stride * k;
            cost[k] = INFINITY;
            if (v[LEFT] == 0)
                continue;
            ptrdiff_t a = (ptrdiff_t)v[LEFT], b = (ptrdiff_t)v[RIGHT];
            t->at[filled++] = (int32_t)a;
            t->at[filled++] = (int32_t)b;
            reach[a] = reach[b] = reach[k] * v[GO + FOREST_RATES - 1];
            if (t->node[stride * a + LEFT] == 0 && t->node[stride * b + LEFT] == 0)
                costs[twigs++] = cost[k] = reach[a] + saved(f, t, v);
        }
        /* Half of the twigs at a time, as the nodes above them become twigs themselves. */
        qsort(costs, twigs, sizeof(double), ascending);
        double limit = costs[(twigs - 1) / 2];
        for (ptrdiff_t i = filled - 1; i >= 0 && left > target; i--) {
            ptrdiff_t k = t->at[i];
            if (cost[k] <= limit) {
                cut(f, t, k);
                left -= 2;
            }
        }
    }
    close_ranks(f, t, left);
}
