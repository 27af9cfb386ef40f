#include "plain_lines.h"

#include "numbers.h"

#include <math.h>

enum { MAX_WHOLE_DIGITS = 15 }; /* of a number without a dot: a double holds it */

void noregret_prepare_shape(noregret_shape *shape) {
    for (ptrdiff_t k = 0; k < shape->numbers + 2; k++) {
        noregret_text *each = &shape->texts[k];
        char first[8] = {0}, kept[8] = {0};
        const size_t size = each->size < 8 ? each->size : 8;
        memcpy(first, each->text, size);
        memset(kept, 0xff, size);
        each->word = noregret_load8(first), each->mask = noregret_load8(kept);
    }
}

INLINE int follows(const noregret_text *text, const char *at, const char *end) {
    if (UNLIKELY(end - at < (text->size < 8 ? 8 : (ptrdiff_t)text->size))) {
        return end - at >= (ptrdiff_t)text->size && memcmp(at, text->text, text->size) == 0;
    }
    return ((noregret_load8(at) ^ text->word) & text->mask) == 0 &&
           (text->size <= 8 || memcmp(at + 8, text->text + 8, text->size - 8) == 0);
}

/* The quote behind an id of printable ASCII without an escape. */
static inline const char *id_end(const char *at, const char *end) {
    const char *const most = end - at > NOREGRET_MAX_PLAIN_ID ? at + NOREGRET_MAX_PLAIN_ID : end;
    const char *p = at;
    while (p < most && *p >= ' ' && *p < 127 && *p != '"' && *p != '\\') {
        p++;
    }
    return p > at && p < end && *p == '"' ? p : NULL;
}

static inline const char *digits_end(const char *p, const char *end) {
    while (p < end && (uint8_t)(*p - '0') < 10) {
        p++;
    }
    return p;
}

/* A number as JSON has it, of a size that learners take. Other readers may take minus zero without a
   dot for an integer, which has no sign, and long integers for something else. */
static inline const char *read_number(const char *at, const char *end, double *value) {
    const char *const first = at + (at < end && *at == '-');
    const char *p = digits_end(first, end);
    if (UNLIKELY(p == first || (*first == '0' && p - first > 1))) {
        return NULL;
    }
    const ptrdiff_t whole = p - first;
    int is_whole = 1;
    if (p < end && *p == '.') {
        const char *const after = ++p;
        p = digits_end(p, end);
        if (UNLIKELY(p == after)) {
            return NULL;
        }
        is_whole = 0;
    }
    if (UNLIKELY(p < end && (*p | 0x20) == 'e')) {
        p++;
        p += p < end && (*p == '-' || *p == '+');
        const char *const power = p;
        p = digits_end(p, end);
        if (p == power) {
            return NULL;
        }
        is_whole = 0;
    }
    if (UNLIKELY(is_whole && (whole > MAX_WHOLE_DIGITS || (*first == '0' && first > at)))) {
        return NULL;
    }
    double number;
    const int read = LIKELY(end - p >= NOREGRET_BEHIND_FIELD)
                         ? noregret_read_field(at, p, &number)
                         : noregret_read_any_number(at, p, &number) == p;
    *value = number;
    return read && fabs(number) < NOREGRET_MAX_VALUE ? p : NULL;
}

const char *noregret_read_plain(const noregret_shape *shape, const char *at, const char *end,
                                double *numbers, noregret_id *id) {
    const noregret_text *text = shape->texts;
    for (ptrdiff_t k = 0;; k++, text++) {
        if (UNLIKELY(k == shape->id)) {
            if (!follows(text, at, end)) {
                return NULL;
            }
            id->start = at + text->size;
            at = id_end(id->start, end);
            if (at == NULL) {
                return NULL;
            }
            id->size = at - id->start;
            text++;
        }
        if (!follows(text, at, end)) {
            return NULL;
        }
        at += text->size;
        if (k == shape->numbers) {
            return at;
        }
        at = read_number(at, end, &numbers[k]);
        if (at == NULL) {
            return NULL;
        }
    }
}
