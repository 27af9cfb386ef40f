/* A tree: its growth by the Mondrian process, the weights of its prunings, and its collapse to a budget.

   A pruning stops on the way from the time τ to τ' with probability (τ' − τ) / (τ' + c), whatever lies
   between. So a node that is inserted on the way takes its share of that, and the probabilities of all
   others stay as they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_dispatch.h"
#include "forest.h"

/* c, for each rate. The average over many trees is best where each is deep, and that is what a large c
   prefers at the smaller rate; the bolder rate finds shallow prunings where outcomes are noise. */
static const double prior_time[FOREST_RATES] = {1000, 1};
/* Outcomes that a child must have seen for its loss to say whether a split is good for something. */
#define TRIED 3
/* Trees whose nodes are loaded at the same time, and numbers of a node that are. */
#define SIDE_BY_SIDE 16
#define MAX_FETCHED 64
/* Probabilities stay above this: less is lost than rounding does. */
#define LEAST 1e-290

static double drawn(noregret_tree* t)
{
    uint64_t z = (t->random += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

static double* box_low(const noregret_forest* f, double* v) { return v + FOREST_FIELDS + f->class_room; }

static double* box_high(const noregret_forest* f, double* v) { return v + FOREST_FIELDS + f->class_room + f->width; }

static int is_leaf(const double* v) { return v[LEFT] == 0; }

/* Forecasts. */

static double total_of(const noregret_forest* f, const double* v)
{
    double total = 0;
    for (int c = 0; c < f->classes; c++)
        total += v[FOREST_FIELDS + c];
    return total;
}

/* Outcomes that the initial forecast of a new node counts for. */
static double inherited(const noregret_forest* f) { return f->classes ? 0.5 : 0.05; }

static double forecast(const noregret_forest* f, const double* v, int c)
{
    return f->classes ? v[FOREST_FIELDS + c] / total_of(f, v) : v[FOREST_FIELDS];
}

static void see(const noregret_forest* f, double* v, double y)
{
    if (f->classes)
        v[FOREST_FIELDS + (int)y] += 1;
    else {
        v[COUNT] += 1;
        v[FOREST_FIELDS] += (y - v[FOREST_FIELDS]) / v[COUNT];
    }
}

/* A way down a tree. */
typedef struct {
    const double* v;
    double reach[FOREST_RATES]; /* the probability that a pruning gets there */
} way;

static way way_from(const double* v)
{
    way w = {v, {0}};
    for (int k = 0; k < FOREST_RATES; k++)
        w.reach[k] = 1;
    return w;
}

/* Outcomes whose likelihoods are asked for, as noregret_forest_short() has them. */
typedef struct {
    int count;
    double outcome[2], unit;
} asked;

static double value_of(const noregret_row* row, ptrdiff_t feature)
{
    ptrdiff_t low = 0, high = row->count;
    if (row->at == NULL)
        return feature < high ? row->values[feature] : 0;
    while (low < high) {
        ptrdiff_t middle = low + (high - low) / 2;
        if (row->at[middle] < feature)
            low = middle + 1;
        else
            high = middle;
    }
    return low < row->count && row->at[low] == feature ? row->values[low] : 0;
}

/* Adds what a node says to the mixtures, at the first rates, and those of the outcomes asked for at the
   proven one, and goes on to its child: 0 at a leaf. */
static int follow(const noregret_forest* f, const noregret_tree* t, way* w, const noregret_row* row, int rates, double* out,
                  const asked* of, double* below)
{
    int wide = f->classes ? f->classes : 1;
    const double* v = w->v;
    int leaf = is_leaf(v);
    double total = f->classes ? total_of(f, v) : 1;
    for (int k = 0; k < rates; k++) {
        double stop = (leaf ? w->reach[k] : w->reach[k] * v[STOP + k]) / total;
        for (int c = 0; c < wide; c++)
            out[k * wide + c] += stop * v[FOREST_FIELDS + c];
        for (int i = 0; k == 0 && i < of->count; i++)
            below[i] += stop * noregret_forest_short(v[FOREST_FIELDS] - of->outcome[i], of->unit);
        w->reach[k] *= v[GO + k];
    }
    if (!leaf)
        w->v = t->node + f->stride * (ptrdiff_t)(value_of(row, (ptrdiff_t)v[FEATURE]) <= v[THRESHOLD] ? v[LEFT] : v[RIGHT]);
    return !leaf;
}

/* Loads the start of a node, or all of it, into the cache. */
static void fetch(const noregret_forest* f, const double* v, int whole)
{
    ptrdiff_t numbers = !whole ? FOREST_FIELDS + 1 : f->stride < MAX_FETCHED ? f->stride : MAX_FETCHED;
    for (ptrdiff_t k = 0; k < numbers; k += 8)
        __builtin_prefetch(v + k);
}

/* Trees are followed side by side, so that the processor waits for the memory of many at a time. */
void noregret_trees_predict(const noregret_forest* f, const noregret_row* row, double* out, double* ends, int learning)
{
    asked of = {ends == NULL ? 0 : 2, {f->near, f->far}, noregret_forest_unit(f)};
    int wide = FOREST_RATES * (f->classes ? f->classes : 1);
    way ways[SIDE_BY_SIDE];
    for (int first = 0; first < f->trees; first += SIDE_BY_SIDE) {
        int some = f->trees - first < SIDE_BY_SIDE ? f->trees - first : SIDE_BY_SIDE, going = some;
        for (int i = 0; i < some; i++) {
            const noregret_tree* t = &f->tree[first + i];
            for (int k = 0; k < wide; k++)
                out[(first + i) * wide + k] = t->count > 0 ? 0 : f->classes ? 1.0 / f->classes : f->outcome_mean;
            for (int k = 0; k < of.count; k++)
                ends[(first + i) * 2 + k] = t->count > 0 ? 0 : noregret_forest_short(f->outcome_mean - of.outcome[k], of.unit);
            ways[i] = way_from(t->count > 0 ? t->node : NULL);
            going -= t->count == 0;
        }
        while (going > 0)
            for (int i = 0; i < some; i++) {
                const noregret_tree* t = &f->tree[first + i];
                if (ways[i].v == NULL)
                    continue;
                if (follow(f, t, &ways[i], row, FOREST_RATES, out + (first + i) * wide, &of, ends + (first + i) * of.count))
                    fetch(f, ways[i].v, learning);
                else {
                    ways[i].v = NULL;
                    going--;
                }
            }
    }
}

/* Weights. */

static double begins(const noregret_forest* f, const noregret_tree* t, const double* v)
{
    return v == t->node ? 0 : t->node[f->stride * (ptrdiff_t)v[PARENT] + TIME];
}

double noregret_prior_go(const noregret_forest* f, const noregret_tree* t, const double* v, int rate)
{
    return (begins(f, t, v) + prior_time[rate]) / (v[TIME] + prior_time[rate]);
}

static double prior_stop(double begin, double end, int rate)
{
    return (end - begin) / (end + prior_time[rate]);
}

static void set_odds(double* v, int k, double stop, double go)
{
    v[STOP + k] = stop > LEAST ? stop : LEAST;
    v[GO + k] = go > LEAST ? go : LEAST;
}

/* Multiplies the weights of a node by its own likelihood and of what is below it by b, at rate k. */
static double learned(double* v, int k, double own, double below)
{
    double mixed = v[STOP + k] * own + v[GO + k] * below;
    set_odds(v, k, v[STOP + k] * own / mixed, v[GO + k] * below / mixed);
    return mixed;
}

void noregret_tree_order(const noregret_forest* f, noregret_tree* t)
{
    ptrdiff_t filled = t->count > 0;
    if (filled)
        t->at[0] = 0;
    for (ptrdiff_t k = 0; k < filled; k++) {
        const double* v = t->node + f->stride * t->at[k];
        if (!is_leaf(v)) {
            t->at[filled++] = (int32_t)v[LEFT];
            t->at[filled++] = (int32_t)v[RIGHT];
        }
    }
}

/* Computes all weights again from the nodes' losses, for a smaller rate. */
void noregret_tree_reweigh(noregret_forest* f, noregret_tree* t)
{
    double unit = noregret_forest_unit(f);
    noregret_tree_order(f, t);
    for (int r = 0; r < FOREST_RATES; r++) {
        double rate = unit > 0 ? noregret_boldness(f, r) / unit : 0;
        for (ptrdiff_t k = t->count - 1; k >= 0; k--) {
            double* v = t->node + f->stride * t->at[k];
            double own = -rate * (v[LOSS] + v[EXCESS + r]);
            if (!is_leaf(v)) {
                double stop = log(prior_stop(begins(f, t, v), v[TIME], r)) + own;
                double go = log(noregret_prior_go(f, t, v, r));
                go += t->spare[(ptrdiff_t)v[LEFT]] + t->spare[(ptrdiff_t)v[RIGHT]];
                double top = stop > go ? stop : go;
                stop = exp(stop - top);
                go = exp(go - top);
                own = top + log(stop + go);
                /* Not by own, whose rounding may exceed the logarithm: shares add up to 1. */
                set_odds(v, r, stop / (stop + go), go / (stop + go));
            }
            t->spare[t->at[k]] = own;
        }
    }
}

/* Growth. */

static void begin_leaf(const noregret_forest* f, double* v, const double* row)
{
    memset(v, 0, FOREST_FIELDS * sizeof(double));
    for (int k = 0; k < FOREST_RATES; k++)
        v[STOP + k] = 1;
    for (int c = 0; c < f->class_room; c++)
        v[FOREST_FIELDS + c] = f->classes && c < f->classes ? 0.5 : 0;
    if (f->wide) {
        noregret_wide_leaf(f, v, row);
        return;
    }
    memcpy(box_low(f, v), row, f->features * sizeof(double));
    memcpy(box_high(f, v), row, f->features * sizeof(double));
    for (ptrdiff_t j = f->features; j < f->width; j++)
        box_low(f, v)[j] = box_high(f, v)[j] = 0;
}

/* How far a row is outside of a box, in terms of the rates. Sums are the same on all processors, and with
   features still to come. */
static DISPATCHED(double, distance, (const double* low, const double* high, const double* rates, const double* row, ptrdiff_t n),
                  (low, high, rates, row, n))
{
    double far[4] = {0, 0, 0, 0};
    ptrdiff_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (int lane = 0; lane < 4; lane++) {
            double below = low[j + lane] - row[j + lane], above = row[j + lane] - high[j + lane];
            double off = below > above ? below : above;
            far[lane] += (off > 0 ? off : 0) * rates[j + lane];
        }
    for (; j < n; j++) {
        double below = low[j] - row[j], above = row[j] - high[j], off = below > above ? below : above;
        far[j % 4] += (off > 0 ? off : 0) * rates[j];
    }
    return (far[0] + far[1]) + (far[2] + far[3]);
}

static DISPATCHED(void, widen, (double* low, double* high, const double* row, ptrdiff_t n), (low, high, row, n))
{
    for (ptrdiff_t j = 0; j < n; j++) {
        low[j] = row[j] < low[j] ? row[j] : low[j];
        high[j] = row[j] > high[j] ? row[j] : high[j];
    }
}

/* Draws the feature of a split between a box and the row, by their distances: -1 if none has any. */
static ptrdiff_t pick(const noregret_forest* f, double* v, const double* row, double left, double* low, double* high)
{
    ptrdiff_t feature = -1;
    if (f->wide)
        return noregret_wide_pick(f, v, row, left, low, high);
    for (ptrdiff_t j = 0; j < f->features && left > 0; j++) {
        double below = box_low(f, v)[j] - row[j], above = row[j] - box_high(f, v)[j], off = below > above ? below : above;
        if (off > 0 && f->rates[j] > 0) {
            feature = j;
            left -= off * f->rates[j];
        }
    }
    if (feature >= 0) {
        *low = box_low(f, v)[feature];
        *high = box_high(f, v)[feature];
    }
    return feature;
}

/* Puts a split between the box of node k and the row, at that time: the row's side is a new leaf, the
   other one is the node as it was. Returns the leaf, or 0 if no number lies between; first is the
   loss of the mixture in its place. */
static ptrdiff_t insert(noregret_forest* f, noregret_tree* t, ptrdiff_t k, const double* row, double y, double far, double time,
                        double* first)
{
    asked of = {!f->classes && f->edition > 1, {y}, noregret_forest_unit(f)};
    double* v = t->node + k * f->stride;
    double begin = begins(f, t, v), low, high, a, b, threshold;
    ptrdiff_t feature = pick(f, v, row, drawn(t) * far, &low, &high), moved = t->count, leaf = t->count + 1;
    int after;
    if (feature < 0)
        return 0;
    after = row[feature] > high;
    a = after ? high : row[feature];
    b = after ? row[feature] : low;
    /* From the box to the row, so that a feature with the other sign is split at the same place. */
    threshold = after ? a + (b - a) * drawn(t) : b - (b - a) * drawn(t);
    if (!(threshold >= a && threshold < b))
        threshold = a;
    double* old = t->node + moved * f->stride;
    double* fresh = t->node + leaf * f->stride;
    memcpy(old, v, f->stride * sizeof(double));
    old[PARENT] = (double)k;
    begin_leaf(f, fresh, row);
    fresh[PARENT] = (double)k;
    fresh[COUNT] = inherited(f);
    for (int r = 0; r < FOREST_RATES; r++) {
        double upper = prior_stop(begin, time, r), all = is_leaf(v) ? 1 : prior_stop(begin, v[TIME], r);
        double stop = v[STOP + r] * (upper / all), rest = v[STOP + r] * ((all - upper) / all);
        double go = rest + (is_leaf(v) ? 0 : v[GO + r]);
        if (!is_leaf(v))
            set_odds(old, r, rest / go, v[GO + r] / go);
        set_odds(v, r, stop, go);
    }
    if (!is_leaf(old)) {
        t->node[f->stride * (ptrdiff_t)old[LEFT] + PARENT] = (double)moved;
        t->node[f->stride * (ptrdiff_t)old[RIGHT] + PARENT] = (double)moved;
    }
    /* What the tree has predicted for this row is then the same with the split. */
    memset(fresh + FOREST_FIELDS, 0, f->class_room * sizeof(double));
    noregret_row all = {row, NULL, f->features};
    way below = way_from(old);
    double off = 0;
    while (follow(f, t, &below, &all, 1, fresh + FOREST_FIELDS, &of, &off))
        ;
    if (of.count > 0)
        *first = noregret_forest_mixed(off, of.unit);
    for (int c = 0; c < f->classes; c++)
        fresh[FOREST_FIELDS + c] *= inherited(f);
    v[TIME] = time;
    v[FEATURE] = (double)feature;
    v[THRESHOLD] = threshold;
    v[LEFT] = (double)(after ? moved : leaf);
    v[RIGHT] = (double)(after ? leaf : moved);
    t->count += 2;
    return leaf;
}

/* Whether all outcomes of a leaf are of this class: then there is nothing to tell apart. */
static int is_pure(const noregret_forest* f, const double* v, double y)
{
    /* No class has 1 before its first outcome. Before edition 3, only the sum counted: with many classes, a new
       leaf, whose counts begin at half an outcome in all, seemed pure until it had seen several others. */
    if (f->edition > 2 && f->classes) {
        for (int c = 0; c < f->classes; c++)
            if (c != (int)y && v[FOREST_FIELDS + c] >= 1)
                return 0;
        return 1;
    }
    return f->classes && total_of(f, v) - v[FOREST_FIELDS + (int)y] <= 0.5 * (f->classes - 1) + 1e-6;
}

/* Charges the outcome to the nodes on the way, of which the last may be a new leaf: its loss is then first,
   which is negative if there is none. Returns the loss of the mixture of numbers at the proven rate. */
static double pay(noregret_forest* f, noregret_tree* t, ptrdiff_t length, double y, double first)
{
    double unit = noregret_forest_unit(f), bolder = noregret_boldness(f, 1), below[FOREST_RATES], lower = 0, seen = 0, off = 0;
    for (ptrdiff_t k = length - 1; k >= 0; k--) {
        double* v = t->node + f->stride * t->at[k];
        double says = forecast(f, v, f->classes ? (int)y : 0), own[FOREST_RATES], loss;
        if (f->classes) {
            loss = -log(says);
            own[0] = says;
            own[1] = says * says;
        } else {
            double own_off = noregret_forest_short(says - y, unit);
            loss = (says - y) * (says - y);
            if (k == length - 1 && first >= 0) {
                loss = first;
                own_off = unit > 0 ? -expm1(-first / unit) : 0;
            }
            off = k == length - 1 ? own_off : v[STOP] * own_off + v[GO] * off;
            own[0] = f->edition > 1 ? 1 - own_off : unit > 0 ? exp(-loss / unit) : 1;
            own[1] = own[0];
            for (double power = 1; power < bolder; power *= 2)
                own[1] *= own[1];
        }
        for (int r = 0; r < FOREST_RATES; r++)
            below[r] = k == length - 1 ? own[r] : learned(v, r, own[r], below[r]);
        v[LOSS] += loss;
        if (seen >= TRIED) { /* what splits by this feature are good for */
            double* s = f->column + COLUMN_FIELDS * (ptrdiff_t)v[FEATURE];
            s[COLUMN_GAIN] += loss - lower;
            s[COLUMN_TRIED] += loss;
        }
        lower = loss;
        seen = f->classes ? total_of(f, v) : v[COUNT];
        see(f, v, y);
    }
    return noregret_forest_mixed(off, unit);
}

double noregret_tree_learn(noregret_forest* f, noregret_tree* t, const double* row, double y)
{
    ptrdiff_t k = 0, length = 0;
    double begin = 0, first = -1;
    if (t->count == 0) {
        begin_leaf(f, t->node, row);
        t->node[LOSS] = f->classes ? log((double)f->classes) : f->rounds == 1 ? 0 : (f->start - y) * (f->start - y);
        see(f, t->node, y);
        t->count = 1;
        return t->node[LOSS];
    }
    for (;;) {
        double* v = t->node + k * f->stride;
        double far = f->wide ? noregret_wide_distance(f, v, row)
                             : distance(box_low(f, v), box_high(f, v), f->rates, row, f->features);
        int leaf = is_leaf(v);
        t->at[length++] = (int32_t)k;
        if (far > 0) {
            ptrdiff_t fresh = 0;
            if (!(leaf && is_pure(f, v, y))) {
                double time = begin - log(drawn(t)) / far;
                if (time > begin && (leaf ? time < 1e300 : time < v[TIME]))
                    fresh = insert(f, t, k, row, y, far, time, &first);
            }
            if (f->wide)
                noregret_wide_include(f, v, row);
            else
                widen(box_low(f, v), box_high(f, v), row, f->features);
            if (fresh) {
                t->at[length++] = (int32_t)fresh;
                break;
            }
        }
        if (leaf)
            break;
        begin = v[TIME];
        k = (ptrdiff_t)(row[(ptrdiff_t)v[FEATURE]] <= v[THRESHOLD] ? v[LEFT] : v[RIGHT]);
    }
    return pay(f, t, length, y, first);
}
