/* The block of the boosted trees of `auto`, their predictions, and the rows they keep. boosting_fit.c fits a tree. */
#include "boosting.h"

#include <stdlib.h>
#include <string.h>

#include "boosting_fit.h"

enum {
    TREES = NOREGRET_BOOST_TREES,
    FEWEST_BINS = NOREGRET_BOOST_FEWEST_BINS,
    FIRST_BINS = 64,   /* rows before inputs are divided into bins, and trees are fitted */
    SECOND_ROOM = 128, /* rows that there is room for then */
    SAMPLED = 16,      /* rows for each bin by which they are */
};

/* Nanoseconds per row that fits may take, about. */
static const double BUDGET = 5000;

int noregret_boost_leaves(int64_t rows)
{
    int64_t most = rows / NOREGRET_BOOST_ROWS_PER_LEAF;
    most = most < NOREGRET_BOOST_LEAVES ? most : NOREGRET_BOOST_LEAVES;
    return (int)(most > NOREGRET_BOOST_FEWEST_LEAVES ? most : NOREGRET_BOOST_FEWEST_LEAVES);
}

int64_t noregret_boost_nodes(int64_t rows) { return 2 * noregret_boost_leaves(rows) - 1; }

int64_t noregret_boost_bins(int64_t room)
{
    int64_t most = room / NOREGRET_BOOST_ROWS_PER_BIN;
    most = most < NOREGRET_BOOST_BINS ? most : NOREGRET_BOOST_BINS;
    return most > FEWEST_BINS ? most : FEWEST_BINS;
}

int64_t noregret_boost_room(int64_t rows)
{
    int64_t room = SECOND_ROOM;
    while (room < rows)
        room *= 2;
    return rows < FIRST_BINS ? FIRST_BINS - 1 : room;
}

static int64_t room_for_nodes(int64_t room) { return room < FIRST_BINS ? 1 : noregret_boost_nodes(room); }

ptrdiff_t noregret_boost_bytes(int64_t features, int64_t room)
{
    ptrdiff_t wide = 8 * (2 * features + 2 * room), floats = 4 * (features * room + features * noregret_boost_bins(room));
    ptrdiff_t nodes = TREES * room_for_nodes(room) * sizeof(noregret_boost_node);
    return sizeof(noregret_boost) + nodes + wide + floats + features + features * room + TREES * room;
}

noregret_boost_arrays noregret_boost_at(const noregret_boost *b)
{
    noregret_boost_arrays at;
    int64_t p = b->features, n = b->room;
    at.nodes = (noregret_boost_node *)(b + 1);
    at.per_tree = room_for_nodes(n);
    at.per_input = noregret_boost_bins(n);
    at.origin = (double *)(at.nodes + TREES * at.per_tree);
    at.scale = at.origin + p;
    at.outcomes = at.scale + p;
    at.fitted = at.outcomes + n;
    at.x = (float *)(at.fitted + n);
    at.edges = at.x + p * n;
    at.edge_count = (uint8_t *)(at.edges + p * at.per_input);
    at.bins = at.edge_count + p;
    at.leaf = at.bins + p * n;
    return at;
}

noregret_boost *noregret_boost_sized(const noregret_boost *from, int64_t features, int64_t room)
{
    noregret_boost *b = calloc(1, noregret_boost_bytes(features, room));
    if (b == NULL)
        return NULL;
    if (from != NULL)
        *b = *from;
    b->features = features;
    b->room = room;
    noregret_boost_arrays to = noregret_boost_at(b);
    for (int64_t k = 0; k < features * to.per_input; k++)
        to.edges[k] = NOREGRET_BOOST_NEVER;
    if (from == NULL) {
        b->bin_at = FIRST_BINS;
        for (int t = 0; t < TREES; t++)
            to.nodes[t * to.per_tree].threshold = NOREGRET_BOOST_NEVER;
        return b;
    }
    noregret_boost_arrays was = noregret_boost_at(from);
    int64_t before = from->features, kept = before < features ? before : features, rows = b->rows;
    int64_t nodes = to.per_tree < was.per_tree ? to.per_tree : was.per_tree;
    for (int t = 0; t < TREES; t++)
        memcpy(to.nodes + t * to.per_tree, was.nodes + t * was.per_tree, nodes * sizeof(noregret_boost_node));
    memcpy(to.origin, was.origin, kept * sizeof(double));
    memcpy(to.scale, was.scale, kept * sizeof(double));
    memcpy(to.outcomes, was.outcomes, rows * sizeof(double));
    memcpy(to.fitted, was.fitted, rows * sizeof(double));
    for (int64_t i = 0; i < rows; i++)
        memcpy(to.x + i * features, was.x + i * before, kept * sizeof(float));
    int64_t edges = to.per_input < was.per_input ? to.per_input : was.per_input;
    for (int64_t j = 0; j < kept; j++)
        memcpy(to.edges + j * to.per_input, was.edges + j * was.per_input, edges * sizeof(float));
    memcpy(to.edge_count, was.edge_count, kept);
    for (int64_t i = 0; i < rows; i++)
        memcpy(to.bins + i * features, was.bins + i * before, kept);
    for (int t = 0; t < TREES; t++)
        memcpy(to.leaf + t * room, was.leaf + t * from->room, rows);
    return b;
}

/* Predictions. */

static float near_to(double value)
{
    return value > 1e38 ? 1e38f : value < -1e38 ? -1e38f : value == value ? (float)value : 0.0f;
}

/* Fill in the leaves of a row in all trees, four trees side by side. */
static void find_leaves(const noregret_boost *b, const noregret_boost_arrays *in, const float *own, uint8_t *leaf)
{
    for (int t = 0; t < TREES; t += 4) {
        int at[4] = {0, 0, 0, 0}, depth = 0;
        for (int k = 0; k < 4; k++)
            depth = b->depth[t + k] > depth ? b->depth[t + k] : depth;
        for (int d = 0; d < depth; d++)
            for (int k = 0; k < 4; k++) {
                const noregret_boost_node *node = &in->nodes[(t + k) * in->per_tree + at[k]];
                at[k] = node->left + (own[node->feature] > node->threshold);
            }
        for (int k = 0; k < 4; k++)
            leaf[t + k] = (uint8_t)at[k];
    }
}

static double sum_of(const noregret_boost_arrays *in, const uint8_t *leaf)
{
    double sum = 0;
    for (int t = 0; t < TREES; t++)
        sum += in->nodes[t * in->per_tree + leaf[t]].value;
    return sum;
}

double noregret_boost_predict(const noregret_boost *b, const double *x, float *own, uint8_t *leaf)
{
    noregret_boost_arrays at = noregret_boost_at(b);
    for (int64_t j = 0; j < b->features; j++)
        own[j] = b->rounds > 0 ? near_to((x[j] - at.origin[j]) * at.scale[j]) : 0;
    find_leaves(b, &at, own, leaf);
    return sum_of(&at, leaf);
}

/* Bins. */

static int rising(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static float between(float low, float high)
{
    float middle = low + (high - low) / 2;
    return middle < high ? middle : low;
}

/* The number of edges of an input below a value. */
static uint8_t bin_of(const noregret_boost_arrays *in, int64_t j, float value)
{
    const float *edges = in->edges + j * in->per_input;
    int below = 0, count = in->edge_count[j];
    for (int c = 0; c < count; c++)
        below += value > edges[c];
    return (uint8_t)below;
}

static void fill_bins(noregret_boost *b)
{
    noregret_boost_arrays at = noregret_boost_at(b);
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = 0; j < b->features; j++)
            at.bins[i * b->features + j] = bin_of(&at, j, at.x[i * b->features + j]);
}

/* The bins of each of so many inputs, with so many rows: those of all that a tree may use are counted side by side. */
static int bins_of(int64_t features, int64_t rows)
{
    int64_t most = NOREGRET_BOOST_COUNTS / features, bins = noregret_boost_bins(rows);
    return (int)(most < FEWEST_BINS ? FEWEST_BINS : most < bins ? most : bins);
}

/* Divide the values of an input into bins of about as many rows each. */
static void divide(noregret_boost *b, int64_t j)
{
    noregret_boost_arrays at = noregret_boost_at(b);
    float sample[SAMPLED * NOREGRET_BOOST_BINS], *edges = at.edges + j * at.per_input;
    int most = bins_of(b->features, b->rows), distinct = 1, count = 0;
    int n = (int)(b->rows < SAMPLED * most ? b->rows : SAMPLED * most);
    for (int c = 0; c < at.per_input; c++)
        edges[c] = NOREGRET_BOOST_NEVER;
    for (int k = 0; k < n; k++)
        sample[k] = at.x[(k * b->rows / n) * b->features + j];
    qsort(sample, n, sizeof(float), rising);
    for (int k = 1; k < n; k++)
        distinct += sample[k] > sample[k - 1];
    for (int c = 1; c < (distinct <= most ? n : most); c++) {
        int k = distinct <= most ? c : c * n / most;
        while (distinct > most && k < n && sample[k] == sample[k - 1])
            k++;
        if (k == n || sample[k] == sample[k - 1])
            continue;
        float edge = between(sample[k - 1], sample[k]);
        if (count == 0 || edge > edges[count - 1])
            edges[count++] = edge;
    }
    at.edge_count[j] = (uint8_t)count;
}

/* Learning. */

int noregret_boost_reserve(noregret_boost **b)
{
    noregret_boost *was = *b, *made;
    if (was->rows == was->room && was->room < NOREGRET_BOOST_ROWS) {
        if ((made = noregret_boost_sized(was, was->features, noregret_boost_room(was->rows + 1))) == NULL)
            return 0;
        free(was);
        *b = made;
    }
    return 1;
}

int noregret_boost_due(const noregret_boost *b)
{
    return b->rounds + 1 >= FIRST_BINS && b->debt <= BUDGET;
}

void noregret_boost_learn(noregret_boost *b, const double *x, float *own, const uint8_t *leaf, double y, void *scratch)
{
    noregret_boost_arrays at = noregret_boost_at(b);
    int due = noregret_boost_due(b);
    int64_t p = b->features, row = b->next;
    if (b->rounds == 0)
        memcpy(at.origin, x, p * sizeof(double));
    for (int64_t j = 0; j < p; j++)
        if (at.scale[j] == 0 && x[j] != at.origin[j]) { /* the first difference is 1: neither unit nor sign matter */
            double scale = 1 / (x[j] - at.origin[j]);
            at.scale[j] = scale < -1e300 ? -1e300 : scale > 1e300 ? 1e300 : scale;
            own[j] = near_to((x[j] - at.origin[j]) * at.scale[j]);
        }
    memcpy(at.x + row * p, own, p * sizeof(float));
    for (int64_t j = 0; j < p; j++)
        at.bins[row * p + j] = bin_of(&at, j, own[j]);
    for (int t = 0; t < TREES; t++)
        at.leaf[t * b->room + row] = leaf[t];
    at.fitted[row] = sum_of(&at, leaf);
    at.outcomes[row] = y;
    b->rounds++;
    b->rows = row + 1 > b->rows ? row + 1 : b->rows;
    b->next = row + 1 < NOREGRET_BOOST_ROWS ? row + 1 : 0;
    if (b->rounds == b->bin_at) {
        for (int64_t j = 0; j < p; j++)
            divide(b, j);
        fill_bins(b);
        b->bin_at += b->rows;
    }
    b->debt = b->debt > BUDGET ? b->debt - BUDGET : 0;
    if (due)
        b->debt = noregret_boost_fit(b, scratch);
}

void noregret_boost_restore(noregret_boost *b)
{
    noregret_boost_arrays at = noregret_boost_at(b);
    for (int t = 0; t < TREES; t++) {
        uint8_t depths[2 * NOREGRET_BOOST_LEAVES] = {0};
        const noregret_boost_node *nodes = at.nodes + t * at.per_tree;
        b->depth[t] = 0;
        for (int k = 0; k < at.per_tree; k++) {
            int left = nodes[k].left;
            if (left > k)
                depths[left] = depths[left + 1] = depths[k] + 1;
            if (depths[k] > b->depth[t])
                b->depth[t] = depths[k];
        }
    }
    fill_bins(b);
    for (int64_t i = 0; i < b->rows; i++) {
        uint8_t leaf[TREES];
        find_leaves(b, &at, at.x + i * b->features, leaf);
        for (int t = 0; t < TREES; t++)
            at.leaf[t * b->room + i] = leaf[t];
    }
}
