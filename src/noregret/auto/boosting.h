/* Gradient boosted trees over the latest rows, of which one tree is fitted again from time to time. */
#ifndef NOREGRET_BOOSTING_H
#define NOREGRET_BOOSTING_H

#include <stddef.h>
#include <stdint.h>

enum {
    NOREGRET_BOOST_TREES = 64,
    NOREGRET_BOOST_LEAVES = 32,         /* of a tree, with many rows */
    NOREGRET_BOOST_FEWEST_BINS = 64,    /* of an input, with few rows or many inputs, */
    NOREGRET_BOOST_BINS = 256,          /* the most, */
    NOREGRET_BOOST_ROWS_PER_BIN = 64,   /* and rows for each bin with more */
    NOREGRET_BOOST_COUNTS = 2048,       /* bins of all inputs of a tree */
    NOREGRET_BOOST_ROWS = 32768,        /* that are kept */
    NOREGRET_BOOST_SAMPLE = 16384,      /* of them, to which a tree is fitted */
    NOREGRET_BOOST_FEWEST_LEAVES = 16,  /* of a tree, with few rows, */
    NOREGRET_BOOST_ROWS_PER_LEAF = 512, /* and rows for each leaf with more */
    NOREGRET_BOOST_INPUTS = 264,
};

/* The threshold of leaves, and of bins that there are not: no input is greater. */
#define NOREGRET_BOOST_NEVER 3e38f

typedef struct {
    double value;                   /* of a leaf */
    float threshold;                /* rows with an input up to this go to the left */
    int16_t feature, left;          /* the right child follows the left one; a leaf is its own left child */
} noregret_boost_node;

/* A block of memory in one piece: this header, then arrays, whose places follow from the numbers of features and rows. */
typedef struct {
    int64_t features, room;         /* inputs, and rows that fit */
    int64_t rows, next;             /* rows kept, and where the next one goes */
    int64_t rounds, fits;           /* rows learned, and trees fitted so far */
    int64_t bin_at;                 /* rounds after which inputs are divided into bins again */
    int64_t labels;
    double debt;                    /* what the last fit cost, in nanoseconds or so, and rounds have not paid yet */
    double unit;                    /* outcomes are divided by it */
    uint8_t depth[NOREGRET_BOOST_TREES];
} noregret_boost;

/* The arrays: nodes tree by tree, origin and scale of each input, outcomes and what was fitted to them, inputs row by row, edges of bins and
 * their number per input, bins row by row, and the leaves of all rows tree by tree. */
typedef struct {
    noregret_boost_node *nodes;
    int64_t per_tree;               /* room for nodes; one before the first fit */
    int64_t per_input;              /* room for edges */
    double *origin, *scale, *outcomes, *fitted;
    float *x, *edges;
    uint8_t *edge_count, *bins, *leaf;
} noregret_boost_arrays;

/* The leaves and the nodes that a tree may have with so many rows. */
int noregret_boost_leaves(int64_t rows);
int64_t noregret_boost_nodes(int64_t rows);

/* The bins of an input that there is room for, with room for so many rows. */
int64_t noregret_boost_bins(int64_t room);

/* Room for so many rows, or some more. */
int64_t noregret_boost_room(int64_t rows);

noregret_boost_arrays noregret_boost_at(const noregret_boost *b);

/* The bytes of a block. */
ptrdiff_t noregret_boost_bytes(int64_t features, int64_t room);

/* A block with so many inputs and so much room, with what is in another one (or nothing, for NULL); NULL without memory.
 * Further inputs have been 0 so far, those beyond are dropped. */
noregret_boost *noregret_boost_sized(const noregret_boost *from, int64_t features, int64_t room);

/* Fill in the inputs in their own units, and the leaf of each tree; return the prediction. */
double noregret_boost_predict(const noregret_boost *b, const double *x, float *own, uint8_t *leaf);

/* Make room for the next row, perhaps moving the block; return whether there was memory. */
int noregret_boost_reserve(noregret_boost **b);

/* Whether a tree is fitted again with the next row, which takes scratch memory of so many bytes. */
int noregret_boost_due(const noregret_boost *b);
ptrdiff_t noregret_boost_scratch(void);

/* Learn a row, whose inputs and leaves are those of its prediction, with scratch memory if a fit is due. */
void noregret_boost_learn(noregret_boost *b, const double *x, float *own, const uint8_t *leaf, double y, void *scratch);

/* Compute the depths of trees, and the bins and leaves of rows, from the other arrays. */
void noregret_boost_restore(noregret_boost *b);

#endif
