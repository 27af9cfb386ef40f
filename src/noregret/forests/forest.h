/* Aggregated Mondrian forests: trees that grow with the rows, mixed over all their prunings. */
#ifndef NOREGRET_FOREST_H
#define NOREGRET_FOREST_H

#include <stddef.h>
#include <stdint.h>


enum {
    FOREST_RATES = 2,    /* weights per node: at the proven rate, and at a bolder one */
    FOREST_FIELDS = 14,  /* numbers per node besides counts of classes and its box */
    FOREST_DENSE = 256,  /* features of a node's box; rows with more are wide, in edition 1 their first ones */
    FOREST_SLOTS = 16,   /* features of a node's box of wide rows */
};

/* A node is a row of numbers: these, the counts of the classes, then the box: low ends, high ends. Of wide
   rows, the box is that of a few features: their numbers, or 2^31 in empty slots, low ends, high ends. */
enum {
    LEFT,        /* the child below the threshold; 0 for a leaf, as the root is no child */
    RIGHT,
    PARENT,
    FEATURE,
    THRESHOLD,
    TIME,        /* of its split; 0 for a leaf */
    LOSS,        /* of its own forecaster, in the rounds whose rows came here; the first number costs nothing, */
                 /* and the first round of a new leaf what the mixture in its place costs: not in edition 1 */
    COUNT,       /* outcomes behind the mean, numbers only; may be a fraction */
    STOP,        /* at each rate, the posterior probability that the pruning stops here, given that it */
    GO = STOP + FOREST_RATES,  /* gets here, and of going on; both are kept, for accuracy near 0 and 1 */
    EXCESS = GO + FOREST_RATES,  /* at each rate, what counts besides LOSS since a subtree collapsed here */
};

typedef struct {
    double* node;        /* room * stride numbers; node 0 is the root */
    int32_t* at;         /* scratch: room numbers of nodes */
    double* spare;       /* scratch: BEST_FIELDS * room */
    ptrdiff_t count, room;
    uint64_t random;
    double since;        /* what the forest had lost when the tree started */
} noregret_tree;

typedef struct {
    noregret_tree* tree;
    int edition;
    int trees, old;      /* all, and those that are not fresh: the first ones */
    ptrdiff_t budget;    /* nodes per tree */
    int classes;         /* 0 for numbers */
    int class_room;      /* counts that fit in a node: at least 1, which is the mean of numbers */
    ptrdiff_t features, width;  /* those that trees split by, and room for them in a node */
    ptrdiff_t columns;   /* and in what is kept of each */
    int wide;            /* whether rows are wide; then sums take the place of means in column */
    ptrdiff_t stride;    /* numbers per node */
    long long rounds;
    double low, high;    /* range of the outcomes */
    double near, far;    /* the ends of an interval of that length around them: not in edition 1 */
    double scale;        /* its length, which grows by a quarter at least; a power of two in edition 1 */
    double growth;       /* what rounds cost in which it grew, above the losses of the mixture: not in edition 1 */
    double* column;      /* statistics of the features, COLUMN_FIELDS * columns */
    double most, best, shares, measured; /* of wide rows: of all features, and numbers since they were counted */
    int32_t* seen;       /* of wide rows: the features that have not been 0, and how many */
    ptrdiff_t known;
    double lost;         /* the loss of the forest, without that of the first number */
    long long generation, born;  /* of the fresh trees: their number, and the rounds before they started */
    /* Of the members: averages over the old trees per rate, over the fresh ones, then all trees by rate. */
    double* paid;        /* losses, */
    double* prior;       /* the logarithm of the prior probability, */
    double* before;      /* and what had been paid when the fresh trees started */
    double* row;         /* scratch of a round, of columns numbers */
    double* rates;       /* how fast each feature is split, per unit: scratch of a round, unless rows are wide */
    int32_t* nonzero;    /* of wide rows: the features that are not 0 in the row, and how many */
    ptrdiff_t present;
    int32_t strongest[FOREST_SLOTS]; /* of them, */
    int strong;                      /* and how many */
    double* said;        /* scratch of a round: predictions of the members, then the ends, see noregret_trees_predict() */
    double outcome_mean, outcome_spread;
    double start;        /* scratch of a round: what empty trees predict */
} noregret_forest;

/* A row to predict: all values, or those of the features in at, which increase; others are 0. */
typedef struct {
    const double* values;
    const int32_t* at;
    ptrdiff_t count;
} noregret_row;

enum { COLUMN_LOW, COLUMN_HIGH, COLUMN_MEAN, COLUMN_SPREAD, COLUMN_SHARED, COLUMN_GAIN, COLUMN_TRIED, COLUMN_FIELDS };

int noregret_forest_begin(noregret_forest* f, int trees, ptrdiff_t budget, int classes, uint64_t seed, int edition);
void noregret_forest_end(noregret_forest* f);
/* Room for features and classes: 0 if there is no memory, and then nothing has changed. */
int noregret_forest_widen(noregret_forest* f, ptrdiff_t features, int classes);
int noregret_forest_room(noregret_tree* t, ptrdiff_t room, ptrdiff_t stride);
void noregret_forest_admit(noregret_forest* f);

int noregret_forest_members(const noregret_forest* f);
int noregret_fresh_trees(int trees);
void noregret_fresh_begin(noregret_forest* f);
void noregret_fresh_judge(noregret_forest* f);
/* Predictions of all trees, each at both rates: a number, or a probability per class. Of numbers, ends has
   per tree what the likelihoods, at the proven rate, of both ends of their interval are below 1; edition 1 has
   none. */
void noregret_trees_predict(const noregret_forest* f, const noregret_row* row, double* out, double* ends, int learning);
/* Numbers that a round keeps in said: what the members say, then the ends. */
ptrdiff_t noregret_forest_says(const noregret_forest* f);
/* The mixture of all members; said has room for what each says. */
void noregret_forest_predict(const noregret_forest* f, const double* row, double* said, double* out);
void noregret_forest_predict_row(const noregret_forest* f, const noregret_row* row, double* said, double* out);
/* Makes room for the nodes of a round: 0 if there is no memory. Clears foreseen if predictions have changed. */
int noregret_forest_reserve(noregret_forest* f, int* foreseen);
/* Learns from f->row: returns 0 if there is no memory, and then nothing has changed. If foreseen, f->said has
   what the members say of it. */
int noregret_forest_learn(noregret_forest* f, double y, int foreseen);
/* Learns one row with one tree; the rates of features are those of f. Returns the loss of the mixture of its
   prunings at the proven rate. */
double noregret_tree_learn(noregret_forest* f, noregret_tree* t, const double* row, double y);
void noregret_tree_reweigh(noregret_forest* f, noregret_tree* t);
void noregret_tree_collapse(noregret_forest* f, noregret_tree* t);
double noregret_forest_unit(const noregret_forest* f);

/* Wide rows, in which only what is not 0 counts. Begins with nodes as they are: 0 if there is no memory. */
int noregret_wide_begin(noregret_forest* f);
void noregret_wide_measure(noregret_forest* f, double y);
double noregret_wide_distance(const noregret_forest* f, const double* v, const double* row);
/* The feature at which the distance so far exceeds left, and the ends of the box; -1 if there is none. */
ptrdiff_t noregret_wide_pick(const noregret_forest* f, const double* v, const double* row, double left, double* low, double* high);
void noregret_wide_include(const noregret_forest* f, double* v, const double* row);
void noregret_wide_leaf(const noregret_forest* f, double* v, const double* row);

/* Forests as values: NULL if there is no memory. Packing returns the bytes, and only counts them if out is NULL. */
noregret_forest* noregret_forest_new(int trees, ptrdiff_t budget, int classes, uint64_t seed); /* of edition 1 */
void noregret_forest_delete(noregret_forest* f);
ptrdiff_t noregret_forest_bytes(const noregret_forest* f);
ptrdiff_t noregret_forest_pack(const noregret_forest* f, char* out);
noregret_forest* noregret_forest_unpack(const char* in);

/* 1 - e^(-off^2 / unit), for squares of up to 2 units: the likelihood of an outcome is so far below 1. */
double noregret_forest_short(double off, double unit);
/* The loss of a mixture whose likelihood is so far below 1. */
double noregret_forest_mixed(double below, double unit);

/* The best pruning by loss + excess + unit * log-prior: its loss, the rest, its leaves, its excess; and the
   least loss of any. */
enum { BEST_LOSS, BEST_PRICE, BEST_LEAVES, BEST_EXCESS, BEST_LEAST, BEST_FIELDS };
void noregret_tree_best(const noregret_forest* f, noregret_tree* t, double unit, double out[BEST_FIELDS]);
/* The order in which parents come before their children, in t->at. */
void noregret_tree_order(const noregret_forest* f, noregret_tree* t);
double noregret_prior_go(const noregret_forest* f, const noregret_tree* t, const double* v, int rate);
/* The rate times the price of a nat: 1 for the proven one. */
double noregret_boldness(const noregret_forest* f, int rate);

#endif
