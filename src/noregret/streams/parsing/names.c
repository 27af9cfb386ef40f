#include "names.h"

#include <stdlib.h>

static uint64_t hash_stripes(const char **at, const char *end) {
    uint64_t lane[4] = {NOREGRET_PRIME1 + NOREGRET_PRIME2, NOREGRET_PRIME2, 0, 0 - NOREGRET_PRIME1};
    for (; end - *at >= 32; *at += 32) {
        for (int k = 0; k < 4; k++) {
            lane[k] = noregret_mixed(lane[k], noregret_load8(*at + 8 * k));
        }
    }
    uint64_t hash = noregret_rotated(lane[0], 1) + noregret_rotated(lane[1], 7) +
                    noregret_rotated(lane[2], 12) + noregret_rotated(lane[3], 18);
    for (int k = 0; k < 4; k++) {
        hash = (hash ^ noregret_mixed(0, lane[k])) * NOREGRET_PRIME1 + NOREGRET_PRIME4;
    }
    return hash;
}

uint64_t noregret_hash(const char *name, size_t length) {
    const char *at = name, *end = name + length;
    uint64_t hash = length >= 32 ? hash_stripes(&at, end) : NOREGRET_PRIME5;
    hash += length;
    for (; end - at >= 8; at += 8) {
        hash = noregret_hash_word(hash, noregret_load8(at));
    }
    if (end - at >= 4) {
        hash = noregret_hash_half(hash, noregret_load4(at));
        at += 4;
    }
    for (; at < end; at++) {
        hash = noregret_hash_byte(hash, *at);
    }
    return noregret_hash_end(hash);
}

void noregret_free_names(noregret_names *names) {
    free(names->hashes), free(names->ends), free(names->owners), free(names->taken);
    free(names->bytes), free(names->table);
    names->hashes = NULL, names->ends = NULL, names->owners = NULL, names->taken = NULL;
    names->bytes = NULL, names->table = NULL;
    names->count = names->room = names->shared = 0;
    names->used = names->size = 0, names->mask = 0;
}

/* Enlarge *block to that many items; false where there is no memory. */
static int enlarged(void **block, int64_t items, size_t size) {
    void *moved = realloc(*block, (size_t)items * size);
    if (moved != NULL) {
        *block = moved;
    }
    return moved != NULL;
}

static int grow_positions(noregret_names *names) {
    const int64_t room = names->room ? names->room + names->room / 2 : 64;
    const int fine = names->bits ? enlarged((void **)&names->owners, room, 8) &&
                                       enlarged((void **)&names->taken, room, 1)
                                 : enlarged((void **)&names->hashes, room, 8) &&
                                       enlarged((void **)&names->ends, room, 8);
    names->room = fine ? room : names->room;
    return fine;
}

static uint64_t key_at(const noregret_names *names, int64_t position) {
    return noregret_key(names, names->bits ? names->owners[position] : names->hashes[position]);
}

static uint32_t length_at(const noregret_names *names, int64_t position) {
    if (names->bits) {
        return 0;
    }
    return (uint32_t)(names->ends[position] - (position ? names->ends[position - 1] : 0));
}

static void put(noregret_names *names, int64_t position) {
    const uint64_t key = key_at(names, position);
    uint64_t at = key & names->mask;
    while (names->table[at].position) {
        at = (at + 1) & names->mask;
    }
    names->table[at].key = key;
    names->table[at].position = (uint32_t)(position + 1);
    names->table[at].length = length_at(names, position);
}

/* Names go in by position, so that the last is at the end of every chain it is on. */
static int grow_table(noregret_names *names) {
    const uint64_t size = names->table ? 2 * (names->mask + 1) : 128;
    noregret_bucket *table = calloc(size, sizeof *table);
    if (table == NULL) {
        return 0;
    }
    free(names->table);
    names->table = table, names->mask = size - 1;
    for (int64_t k = 0; k < names->count; k++) {
        put(names, k);
    }
    return 1;
}

static int keep_bytes(noregret_names *names, const char *name, size_t length) {
    if (names->size - names->used < length + 8) { /* eight to spare, for noregret_is_named */
        const size_t size = names->size + names->size / 2 + length + 1024;
        if (!enlarged((void **)&names->bytes, (int64_t)size, 1)) {
            return 0;
        }
        names->size = size;
    }
    memcpy(names->bytes + names->used, name, length);
    names->used += length;
    return 1;
}

APART static int32_t admitted(noregret_names *names, const char *name, size_t length,
                              uint64_t hash) {
    const int64_t count = names->count;
    if (count >= INT32_MAX) {
        return NOREGRET_FULL;
    }
    if (count == names->room && !grow_positions(names)) {
        return NOREGRET_NO_MEMORY;
    }
    /* at most 3 of 4 buckets are taken */
    if ((names->table == NULL || (uint64_t)count * 2 >= names->mask) && !grow_table(names)) {
        return NOREGRET_NO_MEMORY;
    }
    if (names->bits) {
        names->owners[count] = hash, names->taken[count] = 0;
    } else {
        if (!keep_bytes(names, name, length)) {
            return NOREGRET_NO_MEMORY;
        }
        names->hashes[count] = hash, names->ends[count] = (int64_t)names->used;
    }
    put(names, count);
    names->count++;
    return (int32_t)count;
}

int32_t noregret_search_name(const noregret_names *names, const char *name, size_t length,
                             uint64_t hash) {
    const uint64_t key = noregret_key(names, hash);
    if (UNLIKELY(names->table == NULL)) {
        return NOREGRET_UNKNOWN;
    }
    for (uint64_t at = key & names->mask; names->table[at].position; at = (at + 1) & names->mask) {
        const int64_t position = (int64_t)names->table[at].position - 1;
        if (names->table[at].key == key &&
            (names->bits || (names->table[at].length == length &&
                             noregret_is_named(names, position, name, length)))) {
            return (int32_t)position;
        }
    }
    return NOREGRET_UNKNOWN;
}

int32_t noregret_find_name(noregret_names *names, const char *name, size_t length, uint64_t hash,
                           int admit) {
    const int32_t position = noregret_search_name(names, name, length, hash);
    if (position < 0) {
        return admit ? admitted(names, name, length, hash) : NOREGRET_UNKNOWN;
    }
    if (names->bits && admit && names->owners[position] != hash && !names->taken[position]) {
        names->taken[position] = 1;
        names->shared++;
    }
    return position;
}

/* Copy so many bytes into memory of their own, with room for more. */
static int copied(void **to, const void *from, size_t size, size_t more) {
    *to = malloc(size + more + 1);
    if (*to != NULL && size > 0) {
        memcpy(*to, from, size);
    }
    return *to != NULL;
}

int noregret_copy_names(noregret_names *to, const noregret_names *from) {
    const size_t count = (size_t)from->count;
    memset(to, 0, sizeof *to);
    to->bits = from->bits;
    if (count == 0) {
        return 1;
    }
    const int fine =
        copied((void **)&to->table, from->table, (from->mask + 1) * sizeof *from->table, 0) &&
        (from->bits ? copied((void **)&to->owners, from->owners, count * sizeof *from->owners, 0) &&
                          copied((void **)&to->taken, from->taken, count, 0)
                    : copied((void **)&to->ends, from->ends, count * sizeof *from->ends, 0) &&
                          copied((void **)&to->bytes, from->bytes, from->used, 8));
    if (!fine) {
        noregret_free_names(to);
        return 0;
    }
    to->count = from->count, to->mask = from->mask;
    return 1;
}

/* The last name is at the end of its chain, so its bucket can be emptied and no other moves. */
void noregret_cut_names(noregret_names *names, int64_t size) {
    for (int64_t k = names->count - 1; k >= size; k--) {
        uint64_t at = key_at(names, k) & names->mask;
        while (names->table[at].position != (uint32_t)(k + 1)) {
            at = (at + 1) & names->mask;
        }
        names->table[at].position = 0;
        names->shared -= names->bits ? names->taken[k] : 0;
    }
    if (size < names->count) {
        names->count = size;
        names->used = names->bits || size == 0 ? 0 : (size_t)names->ends[size - 1];
    }
}
