/* A tree is fitted to the residuals of all others, split by split, where it gains most.
 *
 * Slopes and curvatures of the loss are whole numbers, both in one of 64 bits, so that one addition counts a row, sums
 * depend on no order, and the counts of one child are exactly those of its parent without those of the other. */
#include "boosting_fit.h"

#include <math.h>
#include <string.h>

#include "cpu_dispatch.h"

enum {
    TREES = NOREGRET_BOOST_TREES,
    LEAVES = NOREGRET_BOOST_LEAVES,
    NODES = 2 * LEAVES - 1,
    BINS = NOREGRET_BOOST_BINS,     /* of an input, at most */
    COUNTS = NOREGRET_BOOST_COUNTS, /* of a histogram */
    SAMPLE = NOREGRET_BOOST_SAMPLE, /* rows that a tree is fitted to, at most */
    MOST_INPUTS = 32,               /* that a tree may use: others are drawn for the next one */
    CURVATURE_BITS = 26,            /* of a sum; the slope has those above */
    CHANCE_BITS = 13,               /* of the curvature of a label, which is at most 1/4 */
    SLOPE_BITS = 22,                /* of one row */
    AHEAD = 8,                      /* rows whose bins are fetched in advance */
    SIDE_BY_SIDE = 8,               /* rows that are led down a tree at the same time */
};

_Static_assert((int64_t)SAMPLE << (CHANCE_BITS - 2) < (int64_t)1 << CURVATURE_BITS, "sums of curvatures fit");
_Static_assert(MOST_INPUTS * NOREGRET_BOOST_FEWEST_BINS <= COUNTS, "bins of all inputs fit");
_Static_assert((int64_t)SAMPLE << SLOPE_BITS < (int64_t)1 << (63 - CURVATURE_BITS), "sums of slopes fit");

static const int64_t CURVATURE = ((int64_t)1 << CURVATURE_BITS) - 1;
/* The share of what is left that a tree takes; rows that shrink a leaf; the least gain of a split, in mean squares. */
static const double RATE = 0.3, SHRINKING_ROWS = 5, LEAST_GAIN = 1;
/* The least curvature of the loss in a leaf: rows for numbers. */
static const double LEAST_ROWS = 10, LEAST_CURVATURE = 1;
/* What a step of each kind costs, in nanoseconds or so. */
static const double COUNTING = 0.5, SCANNING = 1.5, PARTING = 2.5, PLACING = 4, NUMBERS = 3, LABELS = 6, STARTING = 3000;

typedef struct {
    int start, stop;                /* of its rows */
    int node, depth, counts;        /* its place in the tree, and which of the histograms is its own */
    int input, bin;                 /* of the best split; -1 for none */
    int64_t sums;
    double gain;
} leaf;

typedef struct {
    noregret_boost *b;
    noregret_boost_arrays at;
    int inputs[MOST_INPUTS], count; /* that may be used, */
    int first[MOST_INPUTS + 1];     /* and where the bins of each start in a histogram */
    int rows;                       /* of the sample */
    double step, curvature_step;    /* units of slopes and curvatures */
    double least, cost;
    uint8_t bins[NODES];            /* of the new tree: the highest bin that goes to the left */
    int64_t histograms[LEAVES][COUNTS];
    int64_t told[SAMPLE];           /* slope and curvature of each row of the sample */
    uint16_t order[SAMPLE];
    int64_t other_told[SAMPLE];     /* scratch of a split, and what rows are fitted as before it */
    uint16_t other_order[SAMPLE];
} work;

ptrdiff_t noregret_boost_scratch(void) { return sizeof(work); }

static uint64_t hashed(uint64_t z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static double slope_of(const work *w, int64_t sums) { return (double)((sums - (sums & CURVATURE)) >> CURVATURE_BITS) * w->step; }

static double curvature_of(const work *w, int64_t sums) { return (double)(sums & CURVATURE) * w->curvature_step; }

/* Choose the inputs of a tree: all that vary, or as many as it may use of them. */
static void choose_inputs(work *w)
{
    int all[NOREGRET_BOOST_INPUTS], varying = 0;
    for (int j = 0; j < w->b->features; j++)
        if (w->at.edge_count[j] > 0)
            all[varying++] = j;
    w->count = varying < MOST_INPUTS ? varying : MOST_INPUTS;
    w->first[0] = 0;
    for (int k = 0; k < w->count; k++) {
        int other = k + (varying > MOST_INPUTS ? (int)(hashed(w->b->fits * MOST_INPUTS + k) % (varying - k)) : 0);
        w->inputs[k] = all[other];
        all[other] = all[k];
        w->first[k + 1] = w->first[k] + w->at.edge_count[w->inputs[k]] + 1;
    }
}

/* Choose the rows: all, or one of each stretch of as many as there are too many. */
static void choose_rows(work *w)
{
    int64_t rows = w->b->rows;
    w->rows = rows < SAMPLE ? (int)rows : SAMPLE;
    for (int k = 0; k < w->rows; k++) {
        int64_t place = (int64_t)k << 16;
        if (rows > SAMPLE)
            place += hashed(w->b->fits * SAMPLE + k) & 0xffff;
        w->order[k] = (uint16_t)(place * rows / w->rows >> 16);
    }
}

/* Counting. */

static void count_rows(work *w, const leaf *l)
{
    int64_t *counts = w->histograms[l->counts];
    const int64_t p = w->b->features;
    const int count = w->count, *inputs = w->inputs, *first = w->first;
    const uint8_t *bins = w->at.bins;
    memset(counts, 0, first[count] * sizeof(int64_t));
    for (int k = l->start; k < l->stop; k++) {
        const uint8_t *row = bins + w->order[k] * p;
        int64_t told = w->told[k];
        if (k + AHEAD < l->stop)
            __builtin_prefetch(bins + w->order[k + AHEAD] * p);
        for (int f = 0; f < count; f++)
            counts[first[f] + row[inputs[f]]] += told;
    }
    w->cost += COUNTING * count * (l->stop - l->start);
}

/* The gains of the splits after each bin; those with too little on a side gain nothing. */
static DISPATCHED(void, gains, (const double *slope, const double *curvature, const double *whole, double least, double shrinking, double *gain, int n),
                  (slope, curvature, whole, least, shrinking, gain, n))
{
    double all = whole[0] * whole[0] / (whole[1] + shrinking);
    for (int c = 0; c < n; c++) {
        double other = whole[0] - slope[c], more = whole[1] - curvature[c];
        double left = curvature[c] + shrinking, right = more + shrinking;
        double found = (slope[c] * slope[c] * right + other * other * left) / (left * right) - all;
        double scarce = curvature[c] < more ? curvature[c] : more;
        gain[c] = scarce >= least ? found : 0;
    }
}

static void find_split(work *w, leaf *l)
{
    double whole[2] = {slope_of(w, l->sums), curvature_of(w, l->sums)}, slope[BINS], curvature[BINS], gain[BINS];
    l->gain = 0;
    l->input = -1;
    if (whole[1] < 2 * w->least)
        return;
    for (int f = 0; f < w->count; f++) {
        const int64_t *counts = w->histograms[l->counts] + w->first[f];
        int n = w->at.edge_count[w->inputs[f]];
        int64_t sums = 0;
        for (int c = 0; c < n; c++) {
            sums += counts[c];
            slope[c] = slope_of(w, sums);
            curvature[c] = curvature_of(w, sums);
        }
        gains(slope, curvature, whole, w->least, SHRINKING_ROWS, gain, n);
        for (int c = 0; c < n; c++)
            if (gain[c] > l->gain) {
                l->gain = gain[c];
                l->input = f;
                l->bin = c;
            }
        w->cost += SCANNING * n;
    }
}

/* Splitting. */

/* Divide the rows of a leaf, those of the left first and in their order; return where those of the right start. */
static int part(work *w, const leaf *l, int64_t *sums)
{
    const int64_t p = w->b->features;
    const uint8_t *bins = w->at.bins + w->inputs[l->input];
    int left = l->start, right = 0;
    for (int k = l->start; k < l->stop; k++) {
        uint16_t i = w->order[k];
        int64_t told = w->told[k];
        int goes = bins[i * p] <= l->bin;
        w->order[left] = i;
        w->told[left] = told;
        w->other_order[right] = i;
        w->other_told[right] = told;
        *sums += goes ? told : 0;
        left += goes;
        right += !goes;
    }
    memcpy(w->order + left, w->other_order, right * sizeof(uint16_t));
    memcpy(w->told + left, w->other_told, right * sizeof(int64_t));
    w->cost += PARTING * (l->stop - l->start);
    return left;
}

/* Split a leaf; its own place is the left child's then. Unless they are the last, rows are counted in the smaller one,
 * and the other has the difference. */
static void split(work *w, leaf *l, leaf *right, int node, int histogram, int last)
{
    int64_t sums = 0;
    int middle = part(w, l, &sums);
    *right = *l;
    right->start = l->stop = middle;
    right->sums = l->sums - sums;
    l->sums = sums;
    l->node = node;
    right->node = node + 1;
    right->depth = ++l->depth;
    leaf *small = l->stop - l->start <= right->stop - right->start ? l : right, *large = small == l ? right : l;
    small->counts = histogram;
    l->gain = right->gain = 0;
    l->input = right->input = -1;
    if (last)
        return;
    count_rows(w, small);
    const int64_t *less = w->histograms[small->counts];
    int64_t *counts = w->histograms[large->counts];
    for (int k = 0; k < w->first[w->count]; k++)
        counts[k] -= less[k];
    find_split(w, l);
    find_split(w, right);
}

/* What is left. */

/* Residuals and curvatures of labels with these log-odds: 0 or 1 less the chance. */
static DISPATCHED(void, label_slopes, (const double *score, const double *label, double *slope, double *curvature, int n),
                  (score, label, slope, curvature, n))
{
    for (int i = 0; i < n; i++) {
        double x = -score[i];
        x = x > 40 ? 40 : x < -40 ? -40 : x;
        /* e^x = 2^k e^r, r at most ln 2 / 2 from 0, by a polynomial. */
        double shifted = x * 1.4426950408889634 + 0x1.8p52, k = shifted - 0x1.8p52, r = x - k * 0.6931471805599453, power;
        uint64_t bits;
        memcpy(&bits, &shifted, sizeof bits);
        bits = (bits + 1023) << 52;
        memcpy(&power, &bits, sizeof power);
        double e = power * (1 + r * (1 + r * (0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * (1.0 / 5040))))))));
        double chance = 1 / (1 + e);
        slope[i] = label[i] - chance;
        curvature[i] = chance * (1 - chance);
    }
}

/* Fill in the residuals of the sample without the tree, and the root of the new one; return the mean square. */
static double residuals(work *w, int t, leaf *root)
{
    enum { BLOCK = 128 };
    const noregret_boost *b = w->b;
    const noregret_boost_node *old = w->at.nodes + t * w->at.per_tree;
    const uint8_t *own = w->at.leaf + t * b->room;
    double squares = 0, most = 0, *left = (double *)w->other_told;
    double score[BLOCK], label[BLOCK], curvature[BLOCK];
    *root = (leaf){.stop = w->rows, .input = -1};
    for (int start = 0; start < w->rows; start += BLOCK) {
        int some = w->rows - start < BLOCK ? w->rows - start : BLOCK;
        for (int k = 0; k < some; k++) {
            int i = w->order[start + k];
            score[k] = w->at.fitted[i] - old[own[i]].value;
            label[k] = w->at.outcomes[i];
        }
        if (b->labels)
            label_slopes(score, label, left + start, curvature, some);
        for (int k = 0; k < some; k++) {
            if (b->labels) {
                w->told[start + k] = (int64_t)(curvature[k] * (1 << CHANCE_BITS) + 0.5);
            } else {
                double far = label[k] - score[k];
                left[start + k] = far;
                squares += far * far;
                most = fabs(far) > most ? fabs(far) : most;
            }
        }
    }
    w->step = b->labels ? 1.0 / (1 << SLOPE_BITS) : most / (1 << SLOPE_BITS);
    w->curvature_step = b->labels ? 1.0 / (1 << CHANCE_BITS) : 1;
    double per = w->step > 1e-300 ? 1 / w->step : 0;
    for (int k = 0; k < w->rows; k++) {
        int64_t told = (int64_t)floor(left[k] * per + 0.5) * (CURVATURE + 1);
        w->told[k] = told + (b->labels ? w->told[k] : 1);
        root->sums += w->told[k];
    }
    w->cost += STARTING + (b->labels ? LABELS : NUMBERS) * w->rows;
    return b->labels ? 1 : squares / w->rows;
}

/* Replacing. */

/* Lead all rows down the new tree, some side by side, and change what they are fitted as. */
static void place_rows(work *w, int t, const noregret_boost_node *tree, int depth)
{
    noregret_boost *b = w->b;
    const noregret_boost_node *old = w->at.nodes + t * w->at.per_tree;
    uint8_t *own = w->at.leaf + t * b->room;
    for (int64_t i = 0; i < b->rows; i += SIDE_BY_SIDE) {
        int some = b->rows - i < SIDE_BY_SIDE ? (int)(b->rows - i) : SIDE_BY_SIDE, at[SIDE_BY_SIDE] = {0};
        const uint8_t *row = w->at.bins + i * b->features;
        for (int d = 0; d < depth; d++)
            for (int k = 0; k < some; k++) {
                const noregret_boost_node *node = tree + at[k];
                at[k] = node->left + (row[k * b->features + node->feature] > w->bins[at[k]]);
            }
        for (int k = 0; k < some; k++) {
            w->at.fitted[i + k] += tree[at[k]].value - old[own[i + k]].value;
            own[i + k] = (uint8_t)at[k];
        }
    }
    w->cost += PLACING * b->rows;
}

/* Replace the tree, and what rows were fitted as. */
static void replace(work *w, int t, const leaf *leaves, int count, noregret_boost_node *tree)
{
    noregret_boost *b = w->b;
    b->depth[t] = 0;
    for (int k = 0; k < count; k++) {
        const leaf *l = leaves + k;
        double value = RATE * slope_of(w, l->sums) / (curvature_of(w, l->sums) + SHRINKING_ROWS);
        tree[l->node] = (noregret_boost_node){value, NOREGRET_BOOST_NEVER, 0, (int16_t)l->node};
        w->bins[l->node] = UINT8_MAX;
        b->depth[t] = (uint8_t)(l->depth > b->depth[t] ? l->depth : b->depth[t]);
    }
    place_rows(w, t, tree, b->depth[t]);
    memcpy(w->at.nodes + t * w->at.per_tree, tree, w->at.per_tree * sizeof *tree);
}

double noregret_boost_fit(noregret_boost *b, void *scratch)
{
    leaf leaves[LEAVES];
    noregret_boost_node tree[NODES] = {{0}};
    int t = (int)(b->fits % TREES), count = 1, nodes = 1, most = noregret_boost_leaves(b->rows);
    work *w = scratch;
    w->b = b;
    w->at = noregret_boost_at(b);
    w->least = b->labels ? LEAST_CURVATURE : LEAST_ROWS;
    w->cost = 0;
    choose_inputs(w);
    choose_rows(w);
    double least_gain = LEAST_GAIN * residuals(w, t, leaves);
    count_rows(w, leaves);
    find_split(w, leaves);
    while (count < most) {
        leaf *best = leaves;
        for (int k = 1; k < count; k++)
            best = leaves[k].gain > best->gain ? leaves + k : best;
        if (best->input < 0 || !(best->gain > least_gain))
            break;
        int input = w->inputs[best->input];
        tree[best->node] = (noregret_boost_node){0, w->at.edges[input * w->at.per_input + best->bin], (int16_t)input, (int16_t)nodes};
        w->bins[best->node] = (uint8_t)best->bin;
        split(w, best, leaves + count, nodes, count, count + 1 == most);
        nodes += 2;
        count++;
    }
    replace(w, t, leaves, count, tree);
    b->fits++;
    return w->cost;
}
