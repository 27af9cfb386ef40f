/* Tables of plain numbers, such as "0.5,17,,1e-3". At the first cell that is anything else the
   reader gives up: another, slower one knows about quotes, words and dates. */
#include "lines.h"

#include <math.h>

typedef struct {
    const char *end;
    char delimiter;
    int zero_for_missing;
} Reader;

static inline const char *skip_blanks(const Reader *reader, const char *p) {
    while (p < reader->end && (*p == ' ' || *p == '\t') && *p != reader->delimiter) {
        p++;
    }
    return p;
}

static inline int ends_cell(const Reader *reader, const char *p) {
    const char c = noregret_peek(p, reader->end);
    return c == reader->delimiter || c == '\n' || (c == '\r' && noregret_at_line_end(p, reader->end));
}

/* Where the cell ends; NULL where it is no plain number. */
APART static const char *read_odd_cell(const Reader *reader, const char *p, double *value, int outcome) {
    p = skip_blanks(reader, p);
    if (ends_cell(reader, p)) {
        *value = 0;
        return reader->zero_for_missing && !outcome ? p : NULL;
    }
    p = noregret_read_number(p, reader->end, value);
    if (p == NULL || !(fabs(*value) < NOREGRET_LARGEST)) {
        return NULL;
    }
    p = skip_blanks(reader, p);
    return ends_cell(reader, p) ? p : NULL;
}

static inline const char *read_cell(const Reader *reader, const char *p, double *value, int outcome) {
    const char *after = noregret_read_number(p, reader->end, value);
    if (LIKELY(after != NULL && fabs(*value) < NOREGRET_LARGEST)) {
        const char c = noregret_peek(after, reader->end);
        if (LIKELY(c == reader->delimiter || c == '\n')) {
            return after;
        }
    }
    return read_odd_cell(reader, p, value, outcome);
}

static const char *skip_cell(const Reader *reader, const char *p) {
    for (; p < reader->end && *p != reader->delimiter && *p != '\n'; p++) {
        if (*p == '"') {
            return NULL;
        }
    }
    return p;
}

/* Where the row's line ends; NULL where it is not plain. */
static inline const char *read_row(const Reader *reader, const char *p, int64_t columns,
                                   const int32_t *places, double *x, double *outcome) {
    for (int64_t c = 0; c < columns; c++) {
        const int32_t place = places[c];
        if (LIKELY(place >= 0)) {
            p = read_cell(reader, p, &x[place], 0);
        } else if (place == NOREGRET_OUTCOME) {
            p = read_cell(reader, p, outcome, 1);
        } else {
            p = skip_cell(reader, p);
        }
        if (UNLIKELY(p == NULL)) {
            return NULL;
        }
        if (c + 1 < columns) {
            if (UNLIKELY(p >= reader->end || *p != reader->delimiter)) {
                return NULL;
            }
            p++;
        }
    }
    return noregret_at_line_end(p, reader->end) ? noregret_line_end(p, reader->end) : NULL;
}

int noregret_read_csv(noregret_table *table, const char *text, size_t size, int64_t columns,
                      const int32_t *places, char delimiter, int zero_for_missing) {
    const Reader reader = {text + size, delimiter, zero_for_missing};
    for (const char *p = text; p < reader.end; p++, table->line_count++) {
        if (noregret_at_line_end(p, reader.end)) {
            p = noregret_line_end(p, reader.end);
            continue;
        }
        double *x = table->X + table->rows * table->width, *outcome = table->outcomes + table->rows;
        for (int64_t k = 0; k < table->width; k++) {
            x[k] = 1;
        }
        *outcome = NAN;
        p = read_row(&reader, p, columns, places, x, outcome);
        if (p == NULL) {
            return 0;
        }
        table->lines[table->rows++] = table->line_count;
    }
    return 1;
}
