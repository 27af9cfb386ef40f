/* Any line such as "1 2.5 'tag |word cat:2 dog |size:0.1 height:3": a label, perhaps an importance,
   an initial prediction and a tag, then features by name in namespaces; or what is wrong with it. */
#include "vw.h"

#include <math.h>
#include <stdio.h>

static int wrong(noregret_vw_reader *reader, const char *at, int kind) {
    reader->at = at;
    return kind;
}

static inline int is_blank(char c) { return c == ' ' || c == '\t'; }
static inline int ends_value(char c) { return is_blank(c) || c == '\n' || c == '\r' || c == '|'; }
static inline int ends_name(char c) { return ends_value(c) || c == ':'; }

/* The top bit of every byte that may end a name: blanks and others up to them, colon, bar. */
static inline uint64_t name_ends(uint64_t word) {
    const uint64_t above = ((word & EACH_BYTE(0x7f)) + EACH_BYTE(0x7f - ' ')) | word;
    return (~above & EACH_BYTE(0x80)) | noregret_equal_bytes(word, ':') |
           noregret_equal_bytes(word, '|');
}

/* Copy a name behind those that are there; returns where it ends, NULL where there is no memory. */
static inline const char *copy_name(noregret_scanned *scanned, const char *p, const char *end) {
    for (;;) {
        char *room = noregret_name_room(scanned, 8);
        if (UNLIKELY(room == NULL)) {
            return NULL;
        }
        const uint64_t word = noregret_load8_before(p, end);
        const uint64_t found = name_ends(word);
        const int count = found ? noregret_zeros_below(found) >> 3 : 8;
        if (LIKELY(end - p >= 8)) {
            memcpy(room, p, 8);
        } else {
            memcpy(room, p, (size_t)count);
        }
        scanned->used += (size_t)count;
        p += count;
        if (LIKELY(found)) {
            if (LIKELY(ends_name(noregret_peek(p, end)))) {
                return p;
            }
            scanned->names[scanned->used++] =
                *p++; /* another control character: part of the name */
        }
    }
}

static int append(noregret_scanned *scanned, const char *bytes, size_t length) {
    char *room = noregret_name_room(scanned, length);
    if (room != NULL) {
        memcpy(room, bytes, length);
        scanned->used += length;
    }
    return room != NULL;
}

/* A value that is text belongs to the name: "colour:red" is a feature colour^red. What begins as a
   number does is one, or wrong. */
static int is_text(const char *p, const char *end) {
    const char c = noregret_peek(p, end);
    if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' || ends_name(c)) {
        return 0;
    }
    if (end - p >= 3) {
        const char word[3] = {(char)(p[0] | 0x20), (char)(p[1] | 0x20), (char)(p[2] | 0x20)};
        return memcmp(word, "nan", 3) != 0 && memcmp(word, "inf", 3) != 0;
    }
    return 1;
}

/* A name that is left out, as VW numbers them: 0, 1, ... in the namespace. */
static int append_number(noregret_vw_reader *reader) {
    char digits[24];
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)reader->nameless++);
    return append(reader->scanned, digits, (size_t)length);
}

/* Read what follows the colon. */
static inline int read_value(noregret_vw_reader *reader, const char **at, int named,
                             double *value) {
    const char *end = reader->end, *first = *at;
    const char *p = noregret_read_number(first, end, value);
    if (UNLIKELY(p == NULL)) {
        if (!named || !is_text(first, end)) {
            return wrong(reader, first,
                         ends_value(noregret_peek(first, end)) ? FAULT_NO_VALUE : FAULT_VALUE);
        }
        if (!append(reader->scanned, "^", 1) ||
            (p = copy_name(reader->scanned, first, end)) == NULL) {
            return LINE_READ;
        }
        *value = 1;
    }
    if (UNLIKELY(!ends_value(noregret_peek(p, end)))) {
        return wrong(reader, first, FAULT_VALUE);
    }
    *at = p;
    return LINE_READ;
}

/* One feature: its name, and a value where a colon follows. */
static inline int read_feature(noregret_vw_reader *reader, const char **at) {
    noregret_scanned *scanned = reader->scanned;
    const char *end = reader->end, *first = *at, *p = first;
    const size_t begin = scanned->used;
    char *room = noregret_name_room(scanned, reader->prefix_length);
    if (UNLIKELY(room == NULL)) {
        return LINE_READ;
    }
    memcpy(room, reader->prefix, reader->prefix_length);
    scanned->used += reader->prefix_length;
    p = copy_name(scanned, p, end);
    if (UNLIKELY(p == NULL)) {
        return LINE_READ;
    }
    double value = 1;
    if (noregret_peek(p, end) == ':') {
        const int named = p > first;
        p++;
        const int status = read_value(reader, &p, named, &value);
        if (UNLIKELY(status != LINE_READ || scanned->lines.failed)) {
            return status;
        }
        if (UNLIKELY(!named) && !append_number(reader)) {
            return LINE_READ;
        }
    }
    value *= reader->scale;
    const double magnitude = fabs(value);
    if (UNLIKELY(!(magnitude < NOREGRET_MAX_VALUE))) {
        return wrong(reader, first, FAULT_TOO_LARGE);
    }
    *at = p;
    const size_t length = scanned->used - begin;
    const char *name = scanned->names + begin;
    if (UNLIKELY(reader->intercept && noregret_vw_is_intercept(name, length))) {
        return wrong(reader, first, FAULT_INTERCEPT);
    }
    if (UNLIKELY(value == 0)) {
        scanned->used = begin;
        return LINE_READ;
    }
    if (UNLIKELY(scanned->count == scanned->room) && !noregret_grow_scanned(scanned, 1)) {
        return LINE_READ;
    }
    reader->sum += magnitude;
    const noregret_entry entry = {noregret_name_hash(scanned->hashed, name, length), value,
                                  length};
    scanned->entries[scanned->count++] = entry;
    return LINE_READ;
}

/* What follows a bar: "name", "name:scale", or a blank where the namespace has no name. */
int noregret_vw_read_namespace(noregret_vw_reader *reader, const char **at) {
    const char *end = reader->end, *first = *at, *p = first;
    while (!ends_name(noregret_peek(p, end))) {
        p++;
    }
    const size_t length = (size_t)(p - first);
    if (length >= LONGEST_NAMESPACE) {
        return wrong(reader, first, FAULT_LONG_NAMESPACE);
    }
    memcpy(reader->prefix, first, length);
    reader->prefix[length] = '^';
    reader->prefix_length = length ? length + 1 : 0;
    if (reader->prefix_length < 8) {
        memset(reader->prefix + reader->prefix_length, 0, 8 - reader->prefix_length);
        reader->prefix_word = noregret_load8(reader->prefix);
    }
    reader->scale = 1, reader->nameless = 0;
    if (noregret_peek(p, end) == ':') {
        const char *number = ++p;
        p = noregret_read_number(number, end, &reader->scale);
        if (length == 0 || p == NULL || !ends_value(noregret_peek(p, end))) {
            return wrong(reader, number, FAULT_SCALE);
        }
        if (!(fabs(reader->scale) < NOREGRET_MAX_VALUE)) {
            return wrong(reader, number, FAULT_TOO_LARGE);
        }
    }
    *at = p;
    return LINE_READ;
}

static int read_features(noregret_vw_reader *reader, const char *p) {
    const char *end = reader->end;
    int status = LINE_READ;
    reader->sum = 0;
    while (status == LINE_READ && !reader->scanned->lines.failed) {
        p = noregret_skip_blanks(p, end);
        const char c = noregret_peek(p, end);
        if (c == '|') {
            p++;
            status = noregret_vw_read_namespace(reader, &p);
        } else if (c == '\n' || c == '\r') {
            reader->at = p;
            return noregret_at_line_end(p, end) ? status : wrong(reader, p, FAULT_RETURN);
        } else {
            status = read_feature(reader, &p);
        }
    }
    return status;
}

static int read_word(noregret_vw_reader *reader, const char *word, const char *after,
                     noregret_vw_head *head) {
    static const int faults[3] = {FAULT_LABEL, FAULT_IMPORTANCE, FAULT_BASE};
    if (head->count == 3) {
        return wrong(reader, word, FAULT_TOO_MANY);
    }
    double *number = &head->number[head->count];
    const int usual = after > word && reader->end - after >= NOREGRET_BEHIND_FIELD;
    if (usual ? !noregret_read_field(word, after, number)
              : noregret_read_number(word, after, number) != after) {
        return wrong(reader, word, faults[head->count]);
    }
    if (!(fabs(*number) < NOREGRET_MAX_VALUE)) {
        return wrong(reader, word, FAULT_TOO_LARGE);
    }
    if (head->count == 1 && *number < 0) {
        return wrong(reader, word, faults[head->count]);
    }
    head->count++;
    return LINE_READ;
}

/* The last word is a tag if it touches the bar or starts with a quote. */
int noregret_vw_read_head(noregret_vw_reader *reader, const char **at, noregret_vw_head *head) {
    const char *end = reader->end, *p = *at;
    for (;;) {
        while (noregret_peek(p, end) == ' ') {
            p++;
        }
        const char *word = p;
        char c = noregret_peek(p, end);
        for (; c != ' ' && c != '|' && c != '\n' && c != '\t'; c = noregret_peek(p, end)) {
            p++;
        }
        const char *after = p, *next = p;
        while (noregret_peek(next, end) == ' ') {
            next++;
        }
        c = noregret_peek(next, end);
        if (c == '\t') {
            return wrong(reader, next, FAULT_TAB);
        }
        if (c == '\n') {
            return wrong(reader, word, FAULT_NO_BAR);
        }
        if (c == '|' && (next == after || *word == '\'')) {
            head->tag = word + (word < after && *word == '\''), head->tag_end = after;
            *at = next;
            return LINE_READ;
        }
        const int status = read_word(reader, word, after, head);
        if (status != LINE_READ) {
            return status;
        }
        if (c == '|') {
            *at = next;
            return LINE_READ;
        }
        p = next;
    }
}

int noregret_vw_keep_row(noregret_vw_reader *reader, const noregret_vw_head *head, int64_t first) {
    noregret_lines *lines = &reader->scanned->lines;
    if (!(reader->sum < NOREGRET_MAX_VALUE)) {
        return wrong(reader, reader->start, FAULT_SUM_TOO_LARGE);
    }
    if (!reader->ascii) {
        const char *odd = noregret_invalid_utf8(reader->start, reader->at);
        if (odd != reader->at) {
            return wrong(reader, odd, FAULT_NOT_UTF8);
        }
    }
    if (!noregret_add_row(lines, head->count ? head->number[0] : NAN, reader->line)) {
        return LINE_READ;
    }
    const int64_t row = lines->count - 1;
    lines->starts[row] = first, lines->starts[row + 1] = reader->scanned->count;
    if (head->count > 1) {
        lines->importances[row] = head->number[1];
        lines->weighted |= head->number[1] != 1;
        lines->bases[row] = head->number[2];
        lines->based |= head->number[2] != 0;
    }
    lines->tags[2 * row] = head->tag - reader->text,
                    lines->tags[2 * row + 1] = head->tag_end - reader->text;
    lines->tagged |= head->tag_end > head->tag;
    return LINE_READ;
}

/* A number that touches the bar is a tag to VW, and hardly meant so. */
static int is_label(const noregret_vw_reader *reader, const noregret_vw_head *head) {
    double number;
    const int quoted = head->tag > reader->text && head->tag[-1] == '\'';
    return head->tag_end > head->tag && *head->tag_end == '|' && !quoted &&
           noregret_read_number(head->tag, head->tag_end, &number) == head->tag_end;
}

int noregret_vw_read_line(noregret_vw_reader *reader) {
    const char *p = noregret_skip_blanks(reader->start, reader->end);
    reader->at = p;
    if (noregret_at_line_end(p, reader->end)) {
        return LINE_EMPTY;
    }
    noregret_vw_head head = {{0, 1, 0}, 0, reader->text, reader->text};
    p = reader->start;
    int status = noregret_vw_read_head(reader, &p, &head);
    if (status == LINE_READ && head.count == 0 && !reader->scored && is_label(reader, &head)) {
        status = wrong(reader, reader->start, FAULT_TOUCHES_BAR);
    }
    if (status != LINE_READ) {
        return status;
    }
    const int64_t first = reader->scanned->count;
    const size_t used = reader->scanned->used;
    status = read_features(reader, p);
    if (status == LINE_READ) {
        status = noregret_vw_keep_row(reader, &head, first);
    }
    if (status == LINE_READ) {
        return status;
    }
    reader->scanned->count = first, reader->scanned->used = used;
    return status;
}
