/* Names to positions. The table is rarely in the cache, so the memory for a run of entries is
   prefetched before any of them is looked up. */
#include "row_buffers.h"

#include <math.h>

enum { BATCH = 32 };

/* Each pass prefetches what the next one reads: buckets, then for long names their ends and bytes. */
static void find_candidates(const noregret_names *names, const noregret_entry *entries, int count,
                            int32_t *found) {
    int some_long = 0;
    for (int k = 0; k < count; k++) {
        PREFETCH(&names->table[noregret_key(names, entries[k].hash) & names->mask]);
    }
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

static inline int is_it(const noregret_names *names, int32_t at, const char *name,
                        const noregret_entry *entry) {
    return names->bits ? names->owners[at] == entry->hash
                       : noregret_is_named(names, at, name, entry->length);
}

/* Returns whether the positions of the row that began at start fall, or what went wrong. */
static int64_t look_up(noregret_rows *rows, int64_t start, noregret_names *names,
                       const noregret_entry *entries, int count, const char **name, int admit) {
    int32_t found[BATCH];
    int falls = 0;
    int64_t filled = rows->count;
    int32_t last = filled > start ? rows->indices[filled - 1] : -1;
    const int known = names->count > 0;
    if (known) {
        find_candidates(names, entries, count, found);
    }
    for (int k = 0; k < count; k++) {
        const noregret_entry *entry = &entries[k];
        int32_t at = known ? found[k] : NOREGRET_UNKNOWN;
        if (UNLIKELY(at < 0 || !is_it(names, at, *name, entry))) {
            at = noregret_find_name(names, *name, entry->length, entry->hash, admit);
            if (at == NOREGRET_UNKNOWN) {
                *name += entry->length;
                continue;
            }
            if (at < 0) {
                return at;
            }
        }
        *name += entry->length;
        falls |= at <= last;
        last = at;
        rows->indices[filled] = at;
        rows->data[filled++] = entry->value;
    }
    rows->count = filled;
    return falls;
}

int noregret_resolve(noregret_rows *rows, const noregret_scanned *scanned, noregret_names *names,
                     int admitting, const double *outcomes) {
    const int64_t known = names->count;
    const char *name = scanned->names;
    const char *const constant = NOREGRET_INTERCEPT "\0\0\0\0\0\0\0"; /* eight bytes to spare */
    const noregret_entry intercept = {
        noregret_name_hash(names->bits, constant, NOREGRET_INTERCEPT_LENGTH), 1,
        NOREGRET_INTERCEPT_LENGTH};
    noregret_sorter sorter = {NULL, NULL, 0};
    int64_t status = 0;
    for (int64_t row = 0; row < scanned->lines.count && status >= 0; row++) {
        const int64_t start = rows->count, first = scanned->lines.starts[row];
        const int64_t end = scanned->lines.starts[row + 1];
        const int admit = admitting && (outcomes == NULL || !isnan(outcomes[row]));
        int falls = 0;
        rows->lines.starts[row] = start;
        if (scanned->intercept) {
            const char *itself = constant;
            status = look_up(rows, start, names, &intercept, 1, &itself, admit);
        }
        for (int64_t k = first; k < end && status >= 0; k += BATCH) {
            const int count = end - k < BATCH ? (int)(end - k) : BATCH;
            status = look_up(rows, start, names, scanned->entries + k, count, &name, admit);
            falls |= status > 0;
        }
        if (status >= 0 && falls && rows->count > start) {
            const int64_t left = noregret_sort_row(&sorter, rows->indices + start,
                                                   rows->data + start, rows->count - start);
            status = left < 0 ? NOREGRET_NO_MEMORY : 0;
            rows->count = start + left;
        }
        rows->lines.starts[row + 1] = rows->count;
    }
    noregret_free_sorter(&sorter);
    if (status < 0) {
        noregret_cut_names(names, known);
        return (int)status;
    }
    return 0;
}
