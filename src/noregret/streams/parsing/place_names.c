/* Names to positions, as far as they are known: in any thread, right after the lines were read, while
   their entries are in the cache. The table of names may not be, so the memory for a run of entries is
   prefetched before any of them is looked up. */
#include "row_buffers.h"

enum { BATCH = 32 };

static inline void prefetch(const noregret_names *names, const noregret_entry *entries,
                            int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        PREFETCH(&names->table[noregret_key(names, entries[k].hash) & names->mask]);
    }
}

/* The buckets have been prefetched; so are, for long names, their ends and bytes, each before the pass
   that reads it. */
static void find_candidates(const noregret_names *names, const noregret_entry *entries, int count,
                            int32_t *found) {
    int some_long = 0;
    for (int k = 0; k < count; k++) {
        const uint64_t key = noregret_key(names, entries[k].hash);
        found[k] = noregret_candidate(names, key, names->bits ? 0 : entries[k].length);
        if (names->bits) {
            PREFETCH(&names->owners[found[k] < 0 ? 0 : found[k]]);
        } else if (entries[k].length > NOREGRET_SHORT_NAME) {
            PREFETCH(&names->ends[found[k] < 0 ? 0 : found[k]]);
            some_long = 1;
        }
    }
    for (int k = 0; k < count && some_long; k++) {
        PREFETCH(names->bytes + (found[k] > 0 ? names->ends[found[k] - 1] : 0));
    }
}

/* The candidate, or another with the name; a slot counts only if nothing is left to note about it. */
static inline int32_t confirmed(const noregret_names *names, int32_t at, const char *name,
                                const noregret_entry *entry) {
    if (at < 0) {
        return NOREGRET_UNKNOWN;
    }
    if (names->bits) {
        return names->owners[at] == entry->hash || names->taken[at] ? at : NOREGRET_UNKNOWN;
    }
    return LIKELY(noregret_is_named(names, at, name, entry->length))
               ? at
               : noregret_search_name(names, name, entry->length, entry->hash);
}

/* Keep an entry by its name; false where there is no memory. */
APART static int keep_unknown(noregret_scanned *scanned, const char *name,
                              const noregret_entry *entry) {
    noregret_named *unknown = &scanned->unknown;
    if (unknown->count == unknown->room) {
        const int64_t room = unknown->room + unknown->room / 2 + 64;
        if (!noregret_enlarge(&scanned->lines, (void **)&unknown->entries, room, sizeof *entry)) {
            return 0;
        }
        unknown->room = room;
    }
    if (unknown->size - unknown->used < entry->length + 8) {
        const size_t size = unknown->size + unknown->size / 2 + entry->length + 1024;
        if (!noregret_enlarge(&scanned->lines, (void **)&unknown->names, (int64_t)size, 1)) {
            return 0;
        }
        unknown->size = size;
    }
    memcpy(unknown->names + unknown->used, name, entry->length);
    unknown->used += entry->length;
    unknown->entries[unknown->count++] = *entry;
    return 1;
}

/* What is true of a row so far: whether positions fall, and whether some are unknown. */
typedef struct {
    int32_t last;
    int falls, open;
} Order;

/* Place up to BATCH entries, for which there is room; moves *name behind their names. */
static inline void place_some(noregret_scanned *scanned, const noregret_entry *entries, int count,
                              const char **name, Order *order) {
    const noregret_names *known = scanned->known;
    int32_t found[BATCH], last = order->last, falls = 0;
    int32_t *indices = scanned->indices + scanned->filled;
    double *data = scanned->data + scanned->filled;
    const char *here = *name;
    if (LIKELY(known != NULL && known->count > 0)) {
        find_candidates(known, entries, count, found);
    } else {
        memset(found, 0xff, sizeof found); /* NOREGRET_UNKNOWN */
    }
    for (int k = 0; k < count; k++) {
        const int32_t at = confirmed(known, found[k], here, &entries[k]);
        if (UNLIKELY(at < 0)) {
            order->open = 1;
            if (!keep_unknown(scanned, here, &entries[k])) {
                break;
            }
        }
        here += entries[k].length;
        falls |= at <= last;
        last = at;
        indices[k] = at;
        data[k] = entries[k].value;
    }
    scanned->filled += count;
    order->last = last, order->falls |= falls;
    *name = here;
}

static int grow(noregret_scanned *scanned, int64_t more, int64_t times) {
    const int64_t room = scanned->fill_room + scanned->fill_room / 2 +
                         (scanned->fill_room ? more : more * times + more / 4);
    const int fine =
        noregret_enlarge(&scanned->lines, (void **)&scanned->indices, room, sizeof(int32_t)) &&
        noregret_enlarge(&scanned->lines, (void **)&scanned->data, room, sizeof(double));
    scanned->fill_room = fine ? room : scanned->fill_room;
    return fine;
}

static int keep_open(noregret_scanned *scanned, int64_t row) {
    if (scanned->open_count == scanned->open_room) {
        const int64_t room = scanned->open_room + scanned->open_room / 2 + 64;
        if (!noregret_enlarge(&scanned->lines, (void **)&scanned->open, room, sizeof row)) {
            return 0;
        }
        scanned->open_room = room;
    }
    scanned->open[scanned->open_count++] = row;
    return 1;
}

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

void noregret_place(noregret_scanned *scanned, int64_t times) {
    noregret_lines *lines = &scanned->lines;
    const int64_t rows = lines->count - scanned->placed, most = scanned->count + rows;
    const char *const constant = NOREGRET_INTERCEPT "\0\0\0\0\0\0\0"; /* eight bytes to spare */
    const noregret_entry intercept = {
        noregret_name_hash(scanned->hashed, constant, NOREGRET_INTERCEPT_LENGTH), 1,
        NOREGRET_INTERCEPT_LENGTH};
    noregret_sorter sorter = {NULL, NULL, 0};
    if (rows == 0 || lines->failed ||
        (scanned->fill_room - scanned->filled < most && !grow(scanned, most, times))) {
        return;
    }
    const char *name = scanned->names;
    const int searching = scanned->known != NULL && scanned->known->count > 0;
    int64_t first = lines->starts[scanned->placed], ready = first;
    for (int64_t row = scanned->placed; row < lines->count && !lines->failed; row++) {
        const int64_t start = scanned->filled, end = lines->starts[row + 1];
        Order order = {NOREGRET_UNKNOWN, 0, 0};
        if (scanned->intercept) {
            const char *itself = constant;
            place_some(scanned, &intercept, 1, &itself, &order);
        }
        for (; first < end; first += BATCH) {
            const int count = end - first < BATCH ? (int)(end - first) : BATCH;
            const int64_t soon = least(scanned->count, first + count + BATCH);
            if (searching && ready < soon) {
                prefetch(scanned->known, scanned->entries + ready, soon - ready);
                ready = soon;
            }
            place_some(scanned, scanned->entries + first, count, &name, &order);
        }
        first = end;
        lines->starts[row] = start;
        if (UNLIKELY(order.open)) {
            keep_open(scanned, row);
        } else if (order.falls) {
            const int64_t left = noregret_sort_row(&sorter, scanned->indices + start,
                                                   scanned->data + start, scanned->filled - start);
            lines->failed |= left < 0;
            scanned->filled = start + left;
        }
    }
    lines->starts[lines->count] = scanned->filled;
    noregret_free_sorter(&sorter);
    scanned->placed = lines->count, scanned->count = 0, scanned->used = 0;
}
