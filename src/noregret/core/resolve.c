/* Names to positions. The table is far from the processor, so what a run of entries will need of it
   is asked for before any of them is looked up. */
#include "lines.h"

enum { AHEAD = 16 };

static inline void prefetch(const noregret_names *names, const noregret_entry *entries, int64_t count) {
    if (names->table != NULL) {
        for (int64_t k = 0; k < count; k++) {
            PREFETCH(&names->table[noregret_short_hash(names, entries[k].hash) & names->mask]);
        }
    }
}

/* The name of an entry whose bucket is near by now is asked for next. */
static inline void prefetch_name(const noregret_names *names, const noregret_entry *entry) {
    if (names->table != NULL && !names->bits) {
        const uint32_t hash = noregret_short_hash(names, entry->hash);
        const noregret_bucket bucket = names->table[hash & names->mask];
        if (bucket.hash == hash && bucket.position) {
            PREFETCH(&names->ends[bucket.position - 1]);
        }
    }
}

/* Returns whether the positions of the row that began at start fall, or what went wrong. */
static int64_t look_up(noregret_rows *rows, int64_t start, noregret_names *names,
                       const noregret_entry *entries, int64_t count, const char **name, int admit) {
    int falls = 0;
    int64_t filled = rows->count;
    int32_t last = filled > start ? rows->indices[filled - 1] : -1;
    for (int64_t k = 0; k < count; k++) {
        const noregret_entry *entry = &entries[k];
        const int32_t at = noregret_find_name(names, *name, entry->length, entry->hash, admit);
        *name += entry->length;
        if (UNLIKELY(at < 0)) {
            if (at == NOREGRET_UNKNOWN) {
                continue;
            }
            return at;
        }
        falls |= at <= last;
        last = at;
        rows->indices[filled] = at;
        rows->data[filled++] = entry->value;
    }
    rows->count = filled;
    return falls;
}

int noregret_resolve(noregret_rows *rows, const noregret_scanned *scanned, noregret_names *names,
                     int admit) {
    const int64_t known = names->count;
    const char *name = scanned->names;
    const noregret_entry intercept = {noregret_hash("intercept", 9), 1, 9};
    noregret_sorter sorter = {NULL, NULL, 0};
    int64_t status = 0;
    for (int64_t row = 0; row < scanned->lines.count && status >= 0; row++) {
        const int64_t start = rows->count, first = scanned->lines.starts[row];
        const int64_t end = scanned->lines.starts[row + 1];
        int falls = 0;
        rows->lines.starts[row] = start;
        if (scanned->intercept) {
            const char *itself = "intercept\0\0\0\0\0\0\0"; /* eight bytes to spare */
            status = look_up(rows, start, names, &intercept, 1, &itself, admit);
        }
        for (int64_t k = first; k < end && status >= 0; k += AHEAD) {
            const int64_t count = end - k < AHEAD ? end - k : AHEAD;
            prefetch(names, scanned->entries + k, count);
            for (int64_t i = 0; i < count; i++) {
                prefetch_name(names, &scanned->entries[k + i]);
            }
            status = look_up(rows, start, names, scanned->entries + k, count, &name, admit);
            falls |= status > 0;
        }
        if (status >= 0 && falls && rows->count > start) {
            const int64_t left = noregret_sort_row(&sorter, rows->indices + start, rows->data + start,
                                                   rows->count - start);
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
