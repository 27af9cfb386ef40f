/* The names that were not known when their lines were read: admitted here, in order. */
#include "row_buffers.h"

#include <math.h>

/* What is left of the unknown names, and where the next entry goes. */
typedef struct {
    const noregret_entry *entry;
    const char *name;
    int64_t filled;
} Cursor;

/* Move rows up behind those that have become shorter. */
static void move_rows(noregret_scanned *scanned, int64_t first, int64_t last, Cursor *cursor) {
    int64_t *starts = scanned->lines.starts;
    const int64_t start = starts[first], count = starts[last] - start;
    if (cursor->filled < start) {
        memmove(scanned->indices + cursor->filled, scanned->indices + start,
                (size_t)count * sizeof(int32_t));
        memmove(scanned->data + cursor->filled, scanned->data + start,
                (size_t)count * sizeof(double));
        for (int64_t row = first; row < last; row++) {
            starts[row] += cursor->filled - start;
        }
    }
    cursor->filled += count;
}

/* Give positions to the unknown names of a row, leave out those not admitted, and sort it. */
static int complete_row(noregret_scanned *scanned, noregret_names *names, int64_t row, int admit,
                        noregret_sorter *sorter, Cursor *cursor) {
    const int64_t first = scanned->lines.starts[row], end = scanned->lines.starts[row + 1];
    const int64_t start = cursor->filled;
    int32_t last = NOREGRET_UNKNOWN;
    int falls = 0;
    for (int64_t k = first; k < end; k++) {
        int32_t at = scanned->indices[k];
        if (at < 0) {
            const noregret_entry *entry = cursor->entry++;
            at = noregret_find_name(names, cursor->name, entry->length, entry->hash, admit);
            cursor->name += entry->length;
            if (at == NOREGRET_UNKNOWN) {
                continue;
            }
            if (at < 0) {
                return at;
            }
        }
        falls |= at <= last;
        last = at;
        scanned->indices[cursor->filled] = at;
        scanned->data[cursor->filled++] = scanned->data[k];
    }
    scanned->lines.starts[row] = start;
    if (falls) {
        const int64_t left = noregret_sort_row(sorter, scanned->indices + start,
                                               scanned->data + start, cursor->filled - start);
        if (left < 0) {
            return NOREGRET_NO_MEMORY;
        }
        cursor->filled = start + left;
    }
    return 0;
}

int noregret_resolve(noregret_scanned *scanned, noregret_names *names, int admitting,
                     const double *outcomes) {
    const int64_t known = names->count, rows = scanned->lines.count;
    noregret_sorter sorter = {NULL, NULL, 0};
    Cursor cursor = {scanned->unknown.entries, scanned->unknown.names, 0};
    int64_t next = 0;
    int status = 0;
    for (int64_t k = 0; k < scanned->open_count && status == 0; k++) {
        const int64_t row = scanned->open[k];
        const int admit = admitting && (outcomes == NULL || !isnan(outcomes[row]));
        move_rows(scanned, next, row, &cursor);
        status = complete_row(scanned, names, row, admit, &sorter, &cursor);
        next = row + 1;
    }
    noregret_free_sorter(&sorter);
    if (status < 0) {
        noregret_cut_names(names, known);
        return status;
    }
    if (rows > 0) {
        move_rows(scanned, next, rows, &cursor);
        scanned->lines.starts[rows] = cursor.filled;
    }
    scanned->filled = cursor.filled;
    return 0;
}
