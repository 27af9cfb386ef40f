/* Names of features, each with a position: 0, 1, ... in order of first appearance.

   The names lie one behind the other in one block; a table with open addressing finds them. Where
   names are hashed instead, nothing is kept of them but the slot that each position stands for. */
#ifndef NOREGRET_NAMES_H
#define NOREGRET_NAMES_H

#include "bits.h"

enum { NOREGRET_UNKNOWN = -1, NOREGRET_NO_MEMORY = -2, NOREGRET_FULL = -3 };

typedef struct {
    uint64_t key;      /* the name's hash, or its slot */
    uint32_t position; /* one more than it; 0 where nothing is */
    uint32_t length;   /* of the name; 0 where names are hashed */
} noregret_bucket;

typedef struct {
    int bits;         /* 2^bits slots; 0 where names are kept */
    int64_t count;    /* positions given */
    int64_t room;     /* positions there is room for */
    uint64_t *hashes; /* of the names; NULL where names are hashed */
    int64_t *ends;    /* where each name ends in the block; NULL likewise */
    uint64_t *owners; /* hashed: the whole hash of the name that came first */
    uint8_t *taken;   /* hashed: whether another name fell into the same slot */
    int64_t shared;   /* hashed: for how many that is so */
    char *bytes;
    size_t used, size; /* of the block */
    noregret_bucket *table;
    uint64_t mask; /* one less than the table's size, a power of two */
} noregret_names;

/* The name of the constant feature, as in limits.py. */
#define NOREGRET_INTERCEPT "intercept"
#define NOREGRET_INTERCEPT_LENGTH (sizeof NOREGRET_INTERCEPT - 1)

/* XXH64 with seed 0, as its public specification has it. The package xxhash has it for Python alone,
   where one call takes 1.7 times as long as reading and hashing a whole feature here. */
uint64_t noregret_hash(const char *name, size_t length);

#define NOREGRET_PRIME1 UINT64_C(0x9E3779B185EBCA87)
#define NOREGRET_PRIME2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define NOREGRET_PRIME3 UINT64_C(0x165667B19E3779F9)
#define NOREGRET_PRIME4 UINT64_C(0x85EBCA77C2B2AE63)
#define NOREGRET_PRIME5 UINT64_C(0x27D4EB2F165667C5)

static inline uint64_t noregret_rotated(uint64_t word, int by) {
    return word << by | word >> (64 - by);
}

static inline uint64_t noregret_mixed(uint64_t lane, uint64_t word) {
    return noregret_rotated(lane + word * NOREGRET_PRIME2, 31) * NOREGRET_PRIME1;
}

/* By arithmetic: compilers would make a branch of it. */
static inline uint64_t noregret_chosen(int first, uint64_t a, uint64_t b) {
    return b ^ ((a ^ b) & (0 - (uint64_t)first));
}

/* Mix in a word, half a word, a byte: the steps of XXH64. */
static inline uint64_t noregret_hash_word(uint64_t hash, uint64_t word) {
    return noregret_rotated(hash ^ noregret_mixed(0, word), 27) * NOREGRET_PRIME1 + NOREGRET_PRIME4;
}

static inline uint64_t noregret_hash_half(uint64_t hash, uint32_t half) {
    return noregret_rotated(hash ^ half * NOREGRET_PRIME1, 23) * NOREGRET_PRIME2 + NOREGRET_PRIME3;
}

static inline uint64_t noregret_hash_byte(uint64_t hash, char byte) {
    return noregret_rotated(hash ^ (uint8_t)byte * NOREGRET_PRIME5, 11) * NOREGRET_PRIME1;
}

static inline uint64_t noregret_hash_end(uint64_t hash) {
    hash = (hash ^ hash >> 33) * NOREGRET_PRIME2;
    hash = (hash ^ hash >> 29) * NOREGRET_PRIME3;
    return hash ^ hash >> 32;
}

/* The same for a name in two parts, of which the first has fewer than eight bytes, given as a word
   that has zeros behind them. Up to eight more bytes of memory must follow the second, whatever
   they hold. Nothing is read right after it was written, which would stall the processor, and there
   are few branches, since lengths are hard to predict. */
INLINE uint64_t noregret_hash_joined(uint64_t prefix, size_t prefix_length, const char *name,
                                     size_t length) {
    const size_t all = prefix_length + length;
    uint64_t hash = NOREGRET_PRIME5 + all, word = prefix | noregret_load8(name)
                                                               << 8 * prefix_length;
    const char *next = name + 8 - prefix_length;
    for (size_t left = all; left >= 8; left -= 8, next += 8) {
        hash = noregret_hash_word(hash, word);
        word = noregret_load8(next);
    }
    hash = noregret_chosen((all & 4) != 0, noregret_hash_half(hash, (uint32_t)word), hash);
    word >>= 8 * (all & 4);
    hash = noregret_chosen((all & 3) > 0, noregret_hash_byte(hash, (char)word), hash);
    hash = noregret_chosen((all & 3) > 1, noregret_hash_byte(hash, (char)(word >> 8)), hash);
    hash = noregret_chosen((all & 3) > 2, noregret_hash_byte(hash, (char)(word >> 16)), hash);
    return noregret_hash_end(hash);
}

/* Names of up to this many bytes are equal if their quick hashes and lengths are. */
enum { NOREGRET_SHORT_NAME = 8 };

/* Names that are kept need no hash that others can compute, only a quick one: a step per word, zeros
   in front of the bytes of the last. Each step can be undone, so that names of one word and the same
   length have different hashes. As above, the first part has fewer than eight bytes, and eight more
   bytes of memory follow the second. */
INLINE uint64_t noregret_quick_hash(uint64_t prefix, size_t prefix_length, const char *name,
                                    size_t length) {
    const size_t all = prefix_length + length;
    uint64_t hash = all * NOREGRET_PRIME1, word = prefix | noregret_load8(name) << 8 * prefix_length;
    const char *next = name + 8 - prefix_length;
    size_t left = all;
    for (; UNLIKELY(left > 8); left -= 8, next += 8) {
        hash = noregret_hash_word(hash, word);
        word = noregret_load8(next);
    }
    hash = (hash ^ (left ? word << (64 - 8 * left) : 0)) * NOREGRET_PRIME1;
    hash = (hash ^ hash >> 32) * NOREGRET_PRIME2;
    return hash ^ hash >> 32;
}

/* The hash by which a collection of this kind finds a name; eight more bytes of memory follow it. */
static inline uint64_t noregret_name_hash(int bits, const char *name, size_t length) {
    return bits ? noregret_hash(name, length) : noregret_quick_hash(0, 0, name, length);
}

/* An empty collection takes no memory: all zeros, but for bits. */
void noregret_free_names(noregret_names *names);

/* The name's position, given to it now if it is new and admitted; else a negative number. Eight
   more bytes of memory must follow the name. */
int32_t noregret_find_name(noregret_names *names, const char *name, size_t length, uint64_t hash,
                           int admit);

/* The position of a name or of its slot, or NOREGRET_UNKNOWN. */
int32_t noregret_search_name(const noregret_names *names, const char *name, size_t length,
                             uint64_t hash);

/* Copy what is needed to search; false where there is no memory, with nothing copied. */
int noregret_copy_names(noregret_names *to, const noregret_names *from);

/* Forget all positions from size on. */
void noregret_cut_names(noregret_names *names, int64_t size);

static inline uint64_t noregret_key(const noregret_names *names, uint64_t hash) {
    return names->bits ? hash & ((UINT64_C(1) << names->bits) - 1) : hash;
}

/* Where a name may be, going by its key and length alone; else NOREGRET_UNKNOWN. The length is 0
   where names are hashed. */
static inline int32_t noregret_candidate(const noregret_names *names, uint64_t key, size_t length) {
    for (uint64_t at = key & names->mask; names->table[at].position; at = (at + 1) & names->mask) {
        if (LIKELY(names->table[at].key == key && names->table[at].length == length)) {
            return (int32_t)(names->table[at].position - 1);
        }
    }
    return NOREGRET_UNKNOWN;
}

/* Whether the position of a candidate has this name, which eight more bytes of memory must follow. */
static inline int noregret_is_named(const noregret_names *names, int64_t position, const char *name,
                                    size_t length) {
    if (LIKELY(length <= NOREGRET_SHORT_NAME)) {
        return 1;
    }
    const char *known = names->bytes + names->ends[position] - length;
    uint64_t other = 0;
    for (; length >= 8; length -= 8, known += 8, name += 8) {
        other |= noregret_load8(known) ^ noregret_load8(name);
    }
    return !(other | (noregret_load8(known) ^ noregret_load8(name)) << (56 - 8 * length) << 8);
}

#endif
