/* Lines in Vowpal Wabbit's format. Those written the usual way, with single blanks and names and
   numbers only, are read here and fast; at anything else the line is read again from its start by
   the reader in vw_lines.c. */
#include "cpu_dispatch.h"
#include "field_ends.h"
#include "vw.h"

#include <math.h>

/* Where the next name and the next entry go. As local variables: otherwise they would be reloaded
   after every byte written, which might alias them. */
typedef struct {
    char *name;
    const char *limit; /* up to where names may be written */
    noregret_entry *entry;
} Cursor;

static inline Cursor cursor_of(noregret_scanned *scanned) {
    const Cursor cursor = {scanned->names + scanned->used, scanned->names + scanned->size,
                           scanned->entries + scanned->count};
    return cursor;
}

static inline void keep_cursor(noregret_scanned *scanned, Cursor cursor) {
    scanned->used = (size_t)(cursor.name - scanned->names);
    scanned->count = cursor.entry - scanned->entries;
}

/* Make room for names when there is little. */
APART static int grow(noregret_scanned *scanned, Cursor *cursor, size_t more) {
    keep_cursor(scanned, *cursor);
    const int fine = noregret_grow_name_bytes(scanned, more);
    *cursor = cursor_of(scanned);
    return fine;
}

/* A long prefix or name. */
APART static uint64_t copy_long(const noregret_vw_reader *reader, char *to, const char *name,
                                size_t length) {
    memcpy(to, reader->prefix, reader->prefix_length);
    memcpy(to + reader->prefix_length, name, length);
    return noregret_name_hash(reader->scanned->hashed, to, reader->prefix_length + length);
}

/* Read features from the mark at which the last field ended, up to the one that ends the namespace:
   a bar or the end of the line. NULL where something is not as usual. */
INLINE const uint32_t *read_features(noregret_vw_reader *reader, const noregret_piece *piece,
                                     const uint32_t *mark) {
    const char *start = piece->start, *p = start + *mark, *safe = reader->end - 24;
    const size_t prefix_length = reader->prefix_length;
    const uint64_t prefix = reader->prefix_word;
    const double scale = reader->scale;
    const int unnamed = reader->intercept && prefix_length == 0, hashed = reader->scanned->hashed;
    Cursor cursor = cursor_of(reader->scanned);
    double sum = 0;
    while (!noregret_ends_line(p)) {
        if (UNLIKELY(*p != ' ')) {
            if (*p == '|') {
                break;
            }
            return NULL;
        }
        const char *name = p + 1;
        double value = scale;
        p = start + *++mark;
        const size_t length = (size_t)(p - name), all = prefix_length + length;
        if (UNLIKELY(length == 0)) {
            continue; /* another blank, a bar, or the end of the line */
        }
        if (*p == ':') {
            const char *number = p + 1;
            p = start + *++mark;
            if (UNLIKELY(number == p || p > safe || !noregret_read_field(number, p, &value))) {
                return NULL;
            }
            value *= scale;
        }
        if (UNLIKELY(p > safe || (unnamed && noregret_vw_is_intercept(name, length)))) {
            return NULL;
        }
        if (UNLIKELY((size_t)(cursor.limit - cursor.name) < all + 32) &&
            !grow(reader->scanned, &cursor, all + 32)) {
            return NULL;
        }
        if (LIKELY(all < 24 && prefix_length < 8)) {
            memcpy(cursor.name, reader->prefix, 8);
            memcpy(cursor.name + prefix_length, name, 16);
            memcpy(cursor.name + prefix_length + 8, name + 8, 16);
            cursor.entry->hash = hashed
                                     ? noregret_hash_joined(prefix, prefix_length, name, length)
                                     : noregret_quick_hash(prefix, prefix_length, name, length);
        } else {
            cursor.entry->hash = copy_long(reader, cursor.name, name, length);
        }
        cursor.entry->value = value;
        cursor.entry->length = all;
        sum += fabs(value);
        if (LIKELY(value != 0)) {
            cursor.entry++;
            cursor.name += all;
        }
    }
    keep_cursor(reader->scanned, cursor);
    reader->sum += sum;
    return mark;
}

INLINE int read_regular_line(noregret_vw_reader *reader, const noregret_piece *piece,
                             const uint32_t **at) {
    noregret_vw_head head = {{0, 1, 0}, 0, reader->text, reader->text};
    const int64_t first = reader->scanned->count;
    const uint32_t *mark = *at;
    const char *p = reader->start;
    reader->sum = 0;
    if (noregret_vw_read_head(reader, &p, &head) != LINE_READ ||
        (head.count == 0 && !reader->scored)) {
        return 0;
    }
    while (*p == '|') {
        p++;
        if (noregret_vw_read_namespace(reader, &p) != LINE_READ) {
            return 0;
        }
        mark = read_features(reader, piece, noregret_mark_from(piece, mark, p));
        if (mark == NULL) {
            return 0;
        }
        p = piece->start + *mark;
    }
    reader->at = p, *at = mark;
    return noregret_ends_line(p) && noregret_vw_keep_row(reader, &head, first) == LINE_READ;
}

static void read_one(noregret_vw_reader *reader) {
    const int status = noregret_vw_read_line(reader);
    if (status >= 0) {
        noregret_add_fault(&reader->scanned->lines, reader->line, reader->text, reader->start,
                           reader->at, status);
    }
    reader->start = noregret_line_end(reader->at, reader->end);
    reader->start += reader->start < reader->end;
    reader->line++;
}

/* Room for all entries that a piece can have. */
static int reserve(noregret_vw_reader *reader, const noregret_piece *piece) {
    noregret_scanned *scanned = reader->scanned;
    if (scanned->names == NULL && !noregret_grow_name_bytes(scanned, 0)) {
        return 0;
    }
    return scanned->room - scanned->count > piece->count ||
           noregret_grow_scanned(scanned, piece->count);
}

INLINE void read_piece(noregret_vw_reader *reader, const noregret_piece *piece) {
    noregret_scanned *scanned = reader->scanned;
    const uint32_t *mark = piece->marks;
    while (reader->start < piece->end && !scanned->lines.failed) {
        const int64_t count = scanned->count;
        const size_t used = scanned->used;
        if (LIKELY(read_regular_line(reader, piece, &mark))) {
            reader->start = reader->at + 1 + (*reader->at == '\r');
            reader->line++;
        } else {
            scanned->count = count, scanned->used = used;
            read_one(reader);
            if (!reserve(reader, piece)) {
                return;
            }
        }
        mark = noregret_mark_from(piece, mark, reader->start);
    }
}

BITWISE(void, noregret_scan_vw,
        (noregret_scanned * scanned, const char *text, size_t size, int intercept, int scored),
        (scanned, text, size, intercept, scored)) {
    const noregret_mark_set set = {':', '|', 1, 12};
    noregret_piece piece = {NULL, NULL, NULL, 0, 0, 0};
    noregret_vw_reader reader = {.text = text,
                                 .end = text + size,
                                 .start = text,
                                 .intercept = intercept,
                                 .scored = scored,
                                 .scanned = scanned};
    scanned->intercept = intercept;
    while (size > 24 && !scanned->lines.failed &&
           noregret_next_piece(&piece, reader.start, reader.end)) {
        noregret_mark(&piece, set);
        reader.ascii = piece.ascii;
        if (!reserve(&reader, &piece)) {
            break;
        }
        read_piece(&reader, &piece);
        noregret_place(scanned, (int64_t)size / (piece.end - piece.start) + 1);
    }
    reader.ascii = 0; /* not known of the rest */
    while (reader.start < reader.end && !scanned->lines.failed) {
        read_one(&reader);
    }
    noregret_place(scanned, 1);
    scanned->lines.line_count = reader.line;
    noregret_free_piece(&piece);
}
