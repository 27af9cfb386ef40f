/* Lines in Vowpal Wabbit's format. Those written the usual way, with single blanks and names and
   numbers only, are read here and fast; at anything else the line is read again from its start by
   the reader in vw_lines.c. */
#include "marks.h"
#include "vw.h"

#include <math.h>

static inline int ends_regularly(const char *p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

/* Copy by words, so that most lengths are alike; 16 bytes more may be read, and written. */
static inline void copy_words(char *to, const char *from, size_t length) {
    memcpy(to, from, 16);
    for (size_t k = 16; k < length; k += 8) {
        memcpy(to + k, from + k, 8);
    }
}

static inline int add_entry(noregret_vw_reader *reader, const char *name, size_t length, double value) {
    noregret_scanned *scanned = reader->scanned;
    const size_t prefix = reader->prefix_length, all = prefix + length;
    char *room = noregret_name_room(scanned, all + 16);
    if (UNLIKELY(room == NULL)) {
        return 0;
    }
    memcpy(room, reader->prefix, 8);
    if (UNLIKELY(prefix > 8)) {
        memcpy(room, reader->prefix, prefix);
    }
    copy_words(room + prefix, name, length);
    if (UNLIKELY(all == 9 && reader->intercept && noregret_vw_is_intercept(room, all))) {
        return 0;
    }
    if (LIKELY(value != 0)) {
        const uint64_t hash = LIKELY(prefix < 8 && all < 32)
                                  ? noregret_hash_joined(reader->prefix_word, prefix, name, length)
                                  : noregret_hash(room, all);
        const noregret_entry entry = {hash, value, all};
        scanned->entries[scanned->count++] = entry;
        scanned->used += all;
    }
    return 1;
}

/* Read features from the mark at which the last field ended, up to the one that ends the namespace:
   a bar or the end of the line. NULL where something is not as usual. */
static inline const uint32_t *read_features(noregret_vw_reader *reader, const noregret_piece *piece,
                                            const uint32_t *mark) {
    const char *p = piece->start + *mark, *safe = reader->end - 16;
    double sum = 0;
    while (!ends_regularly(p)) {
        if (UNLIKELY(*p != ' ')) {
            if (*p == '|') {
                break;
            }
            return NULL;
        }
        const char *name = p + 1;
        double value = 1;
        p = piece->start + *++mark;
        const size_t length = (size_t)(p - name);
        if (length == 0) {
            continue; /* another blank, a bar, or the end of the line */
        }
        if (UNLIKELY(p > safe)) {
            return NULL;
        }
        if (*p == ':') {
            const char *number = p + 1;
            p = piece->start + *++mark;
            if (UNLIKELY(number == p || p > safe || !noregret_read_field(number, p, &value))) {
                return NULL;
            }
        }
        value *= reader->scale;
        sum += fabs(value);
        if (UNLIKELY(!add_entry(reader, name, length, value))) {
            return NULL;
        }
    }
    reader->sum += sum;
    return mark;
}

static inline int read_regular_line(noregret_vw_reader *reader, const noregret_piece *piece, const uint32_t **at) {
    noregret_vw_head head = {{0, 1, 0}, 0, reader->text, reader->text};
    const int64_t first = reader->scanned->count;
    const uint32_t *mark = *at;
    const char *p = reader->start;
    reader->sum = 0;
    if (noregret_vw_read_head(reader, &p, &head) != LINE_READ || (head.count == 0 && !reader->scored)) {
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
    return ends_regularly(p) && noregret_vw_keep_row(reader, &head, first) == LINE_READ;
}

static void read_one(noregret_vw_reader *reader) {
    const int status = noregret_vw_read_line(reader);
    if (status >= 0) {
        noregret_add_fault(&reader->scanned->lines, reader->line, reader->text, reader->start, reader->at, status);
    }
    reader->start = noregret_line_end(reader->at, reader->end);
    reader->start += reader->start < reader->end;
    reader->line++;
}

/* Room for all entries that a piece can have; at first, for what the whole text may come to. */
static int reserve(noregret_vw_reader *reader, const noregret_piece *piece) {
    noregret_scanned *scanned = reader->scanned;
    const int64_t pieces = (reader->end - piece->start) / (piece->end - piece->start);
    const int64_t guess = scanned->room ? 0 : (pieces + 1) * piece->count / 2;
    return scanned->room - scanned->count > piece->count || noregret_grow_scanned(scanned, piece->count + guess);
}

static void read_piece(noregret_vw_reader *reader, const noregret_piece *piece) {
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

static int is_ascii(const char *text, size_t size) {
    char any = 0;
    for (size_t k = 0; k < size; k++) {
        any |= text[k];
    }
    return !(any & 0x80);
}

void noregret_scan_vw(noregret_scanned *scanned, const char *text, size_t size, int intercept,
                      int scored) {
    const noregret_mark_set set = {':', '|', 1};
    noregret_piece piece = {NULL, NULL, NULL, 0, 0};
    noregret_vw_reader reader = {.text = text, .end = text + size, .start = text, .intercept = intercept,
                                 .scored = scored, .ascii = is_ascii(text, size), .scanned = scanned};
    scanned->intercept = intercept;
    while (size > 16 && !scanned->lines.failed && noregret_next_piece(&piece, reader.start, reader.end)) {
        noregret_mark(&piece, set);
        if (!reserve(&reader, &piece)) {
            break;
        }
        read_piece(&reader, &piece);
    }
    while (reader.start < reader.end && !scanned->lines.failed) {
        read_one(&reader);
    }
    scanned->lines.line_count = reader.line;
    noregret_free_piece(&piece);
}
