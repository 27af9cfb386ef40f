/* Names of features, each with a position: 0, 1, ... in order of first appearance.

   The names lie one behind the other in one block; a table with open addressing finds them. Where
   names are hashed instead, nothing is kept of them but the slot that each position stands for. */
#ifndef NOREGRET_NAMES_H
#define NOREGRET_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum { NOREGRET_UNKNOWN = -1, NOREGRET_NO_MEMORY = -2, NOREGRET_FULL = -3 };

typedef struct {
    uint32_t hash;     /* the lower half of the name's hash, or its slot */
    uint32_t position; /* one more than it; 0 where nothing is */
} noregret_bucket;

typedef struct {
    int bits;          /* 2^bits slots; 0 where names are kept */
    int64_t count;     /* positions given */
    int64_t room;      /* positions there is room for */
    uint32_t *hashes;  /* as in the buckets; NULL where names are hashed */
    int64_t *ends;     /* where each name ends in the block; NULL likewise */
    uint64_t *owners;  /* hashed: the whole hash of the name that came first */
    uint8_t *taken;    /* hashed: whether another name fell into the same slot */
    int64_t shared;    /* hashed: for how many that is so */
    char *bytes;
    size_t used, size; /* of the block */
    noregret_bucket *table;
    uint64_t mask;     /* one less than the table's size, a power of two */
} noregret_names;

/* XXH64 with seed 0, as its public specification has it. */
uint64_t noregret_hash(const char *name, size_t length);

/* An empty collection takes no memory: all zeros, but for bits. */
void noregret_free_names(noregret_names *names);

/* The name's position, given to it now if it is new and admitted; else a negative number. */
int32_t noregret_find_name(noregret_names *names, const char *name, size_t length, uint64_t hash,
                           int admit);

/* Forget all positions from size on. */
void noregret_cut_names(noregret_names *names, int64_t size);

static inline uint32_t noregret_short_hash(const noregret_names *names, uint64_t hash) {
    return (uint32_t)(names->bits ? hash & ((UINT64_C(1) << names->bits) - 1) : hash);
}

#endif
