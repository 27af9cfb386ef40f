/* A tree is fitted to the residuals of all others over the rows kept, split by split, where it gains most. */
#include "boosting_fit.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    TREES = NOREGRET_BOOST_TREES,
    LEAVES = NOREGRET_BOOST_LEAVES,
    NODES = NOREGRET_BOOST_NODES,
    BINS = NOREGRET_BOOST_BINS,
    ROWS = NOREGRET_BOOST_ROWS,
    MOST_INPUTS = 32,               /* that a tree may use: others are drawn for the next one */
};

/* The share of what is left that a tree takes; rows that shrink a leaf; the least gain of a split, in mean squares. */
static const double RATE = 0.3, SHRINKING_ROWS = 5, LEAST_GAIN = 1;
/* The least curvature of the loss in a leaf: rows for numbers. */
static const double LEAST_ROWS = 10, LEAST_CURVATURE = 1;

typedef struct {
    double slope, curvature;        /* sums over rows: residuals, and second derivatives of the loss */
} cell;

typedef struct {
    int start, stop;                /* of its rows */
    int node, depth, counts;        /* its place in the tree, and which of the histograms is its own */
    int input, bin;                 /* of the best split; -1 for none */
    double slope, curvature, gain;
} leaf;

typedef struct {
    const noregret_boost *b;
    noregret_boost_arrays at;
    int inputs[MOST_INPUTS], count; /* that may be used */
    cell *histograms;
    float *slope, *curvature, *other_slope, *other_curvature;
    uint16_t *order, *other_order;
    double least, cost;
} work;

ptrdiff_t noregret_boost_scratch(void)
{
    return LEAVES * MOST_INPUTS * BINS * sizeof(cell) + ROWS * (4 * sizeof(float) + 2 * sizeof(uint16_t));
}

static uint64_t hashed(uint64_t z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* Choose the inputs of a tree: all that vary, or as many as it may use of them. */
static void choose_inputs(work *w)
{
    int all[NOREGRET_BOOST_INPUTS], varying = 0;
    for (int j = 0; j < w->b->features; j++)
        if (w->at.edge_count[j] > 0)
            all[varying++] = j;
    w->count = varying < MOST_INPUTS ? varying : MOST_INPUTS;
    for (int k = 0; k < w->count; k++) {
        int other = k + (varying > MOST_INPUTS ? (int)(hashed(w->b->fits * MOST_INPUTS + k) % (varying - k)) : 0);
        w->inputs[k] = all[other];
        all[other] = all[k];
    }
}

static void count_rows(work *w, const leaf *l)
{
    cell *counts = w->histograms + l->counts * MOST_INPUTS * BINS;
    memset(counts, 0, w->count * BINS * sizeof(cell));
    for (int f = 0; f < w->count; f++, counts += BINS) {
        const uint8_t *bins = w->at.bins + w->inputs[f] * w->b->room;
        for (int k = l->start; k < l->stop; k++) {
            cell *own = counts + bins[w->order[k]];
            own->slope += w->slope[k];
            own->curvature += w->b->labels ? w->curvature[k] : 1;
        }
    }
    w->cost += 0.8 * w->count * (l->stop - l->start);
}

static void find_split(work *w, leaf *l)
{
    const cell *counts = w->histograms + l->counts * MOST_INPUTS * BINS;
    double whole = l->slope * l->slope / (l->curvature + SHRINKING_ROWS);
    l->gain = 0;
    l->input = -1;
    for (int f = 0; f < w->count; f++, counts += BINS) {
        double slope = 0, curvature = 0;
        for (int c = 0; c < w->at.edge_count[w->inputs[f]]; c++) {
            slope += counts[c].slope;
            curvature += counts[c].curvature;
            double other = l->slope - slope, more = l->curvature - curvature;
            if (curvature < w->least)
                continue;
            if (more < w->least)
                break;
            double gain = slope * slope / (curvature + SHRINKING_ROWS) + other * other / (more + SHRINKING_ROWS) - whole;
            if (gain > l->gain) {
                l->gain = gain;
                l->input = f;
                l->bin = c;
            }
        }
    }
    w->cost += 4.0 * w->count * BINS;
}

/* Divide the rows of a leaf, those of the left first and in their order; return where those of the right start. */
static int part(work *w, const leaf *l, cell *left_sums)
{
    const uint8_t *bins = w->at.bins + w->inputs[l->input] * w->b->room;
    int left = l->start, right = 0;
    for (int k = l->start; k < l->stop; k++) {
        uint16_t i = w->order[k];
        float curvature = w->b->labels ? w->curvature[k] : 1;
        if (bins[i] <= l->bin) {
            left_sums->slope += w->slope[k];
            left_sums->curvature += curvature;
            w->order[left] = i;
            w->slope[left] = w->slope[k];
            w->curvature[left++] = curvature;
        } else {
            w->other_order[right] = i;
            w->other_slope[right] = w->slope[k];
            w->other_curvature[right++] = curvature;
        }
    }
    memcpy(w->order + left, w->other_order, right * sizeof(uint16_t));
    memcpy(w->slope + left, w->other_slope, right * sizeof(float));
    memcpy(w->curvature + left, w->other_curvature, right * sizeof(float));
    w->cost += 3.0 * (l->stop - l->start);
    return left;
}

/* Split a leaf; its own place is the left child's then. Rows are counted in the smaller one, the other has the difference. */
static void split(work *w, leaf *l, leaf *right, int node, int histogram)
{
    cell sums = {0, 0};
    int middle = part(w, l, &sums);
    *right = *l;
    right->start = l->stop = middle;
    right->slope = l->slope - sums.slope;
    right->curvature = l->curvature - sums.curvature;
    l->slope = sums.slope;
    l->curvature = sums.curvature;
    l->node = node;
    right->node = node + 1;
    right->depth = ++l->depth;
    leaf *small = l->stop - l->start <= right->stop - right->start ? l : right, *large = small == l ? right : l;
    small->counts = histogram;
    count_rows(w, small);
    const cell *less = w->histograms + small->counts * MOST_INPUTS * BINS;
    cell *counts = w->histograms + large->counts * MOST_INPUTS * BINS;
    for (int k = 0; k < w->count * BINS; k++) {
        counts[k].slope -= less[k].slope;
        counts[k].curvature -= less[k].curvature;
    }
    find_split(w, l);
    find_split(w, right);
}

/* Fill in the residuals of all trees but one, and the root of the new one; return the mean square. */
static double residuals(work *w, int t, leaf *root)
{
    const noregret_boost *b = w->b;
    const uint8_t *own = w->at.leaf + t * b->room;
    double squares = 0;
    *root = (leaf){.stop = (int)b->rows, .input = -1};
    for (int i = 0; i < b->rows; i++) {
        double score = w->at.fitted[i] - b->nodes[t][own[i]].value, curvature = 1, slope;
        if (b->labels) {
            double chance = 1 / (1 + exp(-score));
            slope = w->at.outcomes[i] - chance;
            curvature = chance * (1 - chance);
        } else {
            slope = w->at.outcomes[i] - score;
        }
        w->order[i] = (uint16_t)i;
        w->slope[i] = (float)slope;
        w->curvature[i] = (float)curvature;
        root->slope += w->slope[i];
        root->curvature += w->curvature[i];
        squares += slope * slope;
    }
    w->cost += (b->labels ? 12.0 : 4.0) * b->rows;
    return b->labels ? 1 : squares / b->rows;
}

/* Replace the tree, and what rows were fitted as. */
static void replace(noregret_boost *b, const work *w, int t, const leaf *leaves, int count, noregret_boost_node *tree)
{
    uint8_t *own = w->at.leaf + t * b->room;
    b->depth[t] = 0;
    for (int k = 0; k < count; k++) {
        const leaf *l = leaves + k;
        double value = RATE * l->slope / (l->curvature + SHRINKING_ROWS);
        tree[l->node] = (noregret_boost_node){value, FLT_MAX, 0, (int16_t)l->node};
        b->depth[t] = (uint8_t)(l->depth > b->depth[t] ? l->depth : b->depth[t]);
        for (int i = l->start; i < l->stop; i++) {
            int row = w->order[i];
            w->at.fitted[row] += value - b->nodes[t][own[row]].value;
            own[row] = (uint8_t)l->node;
        }
    }
    memcpy(b->nodes[t], tree, sizeof b->nodes[t]);
}

double noregret_boost_fit(noregret_boost *b, void *scratch)
{
    leaf leaves[LEAVES];
    noregret_boost_node tree[NODES] = {{0}};
    int t = (int)(b->fits % TREES), count = 1, nodes = 1;
    work w = {.b = b, .at = noregret_boost_at(b), .histograms = scratch};
    w.slope = (float *)(w.histograms + LEAVES * MOST_INPUTS * BINS);
    w.curvature = w.slope + ROWS;
    w.other_slope = w.curvature + ROWS;
    w.other_curvature = w.other_slope + ROWS;
    w.order = (uint16_t *)(w.other_curvature + b->room);
    w.other_order = w.order + ROWS;
    w.least = b->labels ? LEAST_CURVATURE : LEAST_ROWS;
    choose_inputs(&w);
    double least_gain = LEAST_GAIN * residuals(&w, t, leaves);
    count_rows(&w, leaves);
    find_split(&w, leaves);
    while (count < LEAVES) {
        leaf *best = leaves;
        for (int k = 1; k < count; k++)
            best = leaves[k].gain > best->gain ? leaves + k : best;
        if (best->input < 0 || !(best->gain > least_gain))
            break;
        int input = w.inputs[best->input];
        tree[best->node] = (noregret_boost_node){0, w.at.edges[input * BINS + best->bin], (int16_t)input, (int16_t)nodes};
        split(&w, best, leaves + count, nodes, count);
        nodes += 2;
        count++;
    }
    replace(b, &w, t, leaves, count, tree);
    b->fits++;
    return w.cost;
}
