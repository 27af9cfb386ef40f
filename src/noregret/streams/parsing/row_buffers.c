#include "row_buffers.h"

#include "cpu_dispatch.h"

#include <stdlib.h>

int noregret_enlarge(noregret_lines *lines, void **block, int64_t items, size_t size) {
    void *moved =
        (uint64_t)items > SIZE_MAX / 2 / size ? NULL : realloc(*block, (size_t)items * size);
    if (moved == NULL) {
        lines->failed = 1;
        return 0;
    }
    *block = moved;
    return 1;
}

static int64_t more_than(int64_t room) { return room + room / 2 + 64; }

int noregret_add_row(noregret_lines *lines, double outcome, int64_t line) {
    if (UNLIKELY(lines->count == lines->room)) {
        const int64_t room = more_than(lines->room);
        if (!(noregret_enlarge(lines, (void **)&lines->starts, room + 1, sizeof(int64_t)) &&
              noregret_enlarge(lines, (void **)&lines->outcomes, room, sizeof(double)) &&
              noregret_enlarge(lines, (void **)&lines->importances, room, sizeof(double)) &&
              noregret_enlarge(lines, (void **)&lines->bases, room, sizeof(double)) &&
              noregret_enlarge(lines, (void **)&lines->lines, room, sizeof(int64_t)) &&
              noregret_enlarge(lines, (void **)&lines->tags, 2 * room, sizeof(int64_t)))) {
            return 0;
        }
        lines->room = room;
    }
    const int64_t row = lines->count++;
    lines->outcomes[row] = outcome;
    lines->importances[row] = 1;
    lines->bases[row] = 0;
    lines->lines[row] = line;
    lines->tags[2 * row] = lines->tags[2 * row + 1] = 0;
    return 1;
}

void noregret_add_fault(noregret_lines *lines, int64_t line, const char *text, const char *start,
                        const char *at, int kind) {
    if (lines->fault_count == lines->fault_room) {
        const int64_t room = more_than(lines->fault_room);
        if (!noregret_enlarge(lines, (void **)&lines->faults, room, sizeof(noregret_fault))) {
            return;
        }
        lines->fault_room = room;
    }
    const noregret_fault fault = {lines->count, line, start - text, at - text, kind};
    lines->faults[lines->fault_count++] = fault;
}

int noregret_grow_rows(noregret_rows *rows, int64_t more) {
    const int64_t room = more_than(rows->room) + more;
    const int fine =
        noregret_enlarge(&rows->lines, (void **)&rows->indices, room, sizeof(int32_t)) &&
        noregret_enlarge(&rows->lines, (void **)&rows->data, room, sizeof(double));
    rows->room = fine ? room : rows->room;
    return fine;
}

int noregret_grow_scanned(noregret_scanned *scanned, int64_t more) {
    const int64_t room = more_than(scanned->room) + more;
    const int fine =
        noregret_enlarge(&scanned->lines, (void **)&scanned->entries, room, sizeof(noregret_entry));
    scanned->room = fine ? room : scanned->room;
    return fine;
}

int noregret_grow_name_bytes(noregret_scanned *scanned, size_t more) {
    const size_t size = scanned->size + scanned->size / 2 + more + 1024;
    const int fine = noregret_enlarge(&scanned->lines, (void **)&scanned->names, (int64_t)size, 1);
    scanned->size = fine ? size : scanned->size;
    return fine;
}

void noregret_free_lines(noregret_lines *lines) {
    free(lines->starts), free(lines->outcomes), free(lines->importances), free(lines->bases), free(lines->lines);
    free(lines->tags), free(lines->faults);
    memset(lines, 0, sizeof *lines);
}

void noregret_free_rows(noregret_rows *rows) {
    noregret_free_lines(&rows->lines);
    free(rows->indices), free(rows->data);
    memset(rows, 0, sizeof *rows);
}

void noregret_free_scanned(noregret_scanned *scanned) {
    noregret_free_lines(&scanned->lines);
    free(scanned->entries), free(scanned->names), free(scanned->indices), free(scanned->data);
    free(scanned->unknown.entries), free(scanned->unknown.names), free(scanned->open);
    memset(scanned, 0, sizeof *scanned);
}

enum { COUNTED = 224 }; /* whole vectors, and below what a narrow counter can take */

DISPATCHED(int64_t, noregret_count_lines, (const char *text, size_t size), (text, size)) {
    int64_t count = 0;
    for (size_t k = 0; k < size;) {
        const size_t stop = size - k < COUNTED ? size : k + COUNTED;
        uint8_t found = 0;
        for (; k < stop; k++) {
            found += text[k] == '\n';
        }
        count += found;
    }
    return count + (size > 0 && text[size - 1] != '\n');
}

/* How many bytes the character at p takes, 0 where it is none. Leaves out what is spelled longer
   than needed, halves of pairs and numbers past the last character. */
static int character(const uint8_t *p, ptrdiff_t left) {
    const int more = p[0] >= 0xc2 && p[0] <= 0xdf   ? 1
                     : p[0] >= 0xe0 && p[0] <= 0xef ? 2
                     : p[0] >= 0xf0 && p[0] <= 0xf4 ? 3
                                                    : 0;
    if (p[0] < 0x80) {
        return 1;
    }
    if (more == 0 || more >= left) {
        return 0;
    }
    const uint8_t low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < low || p[1] > high) {
        return 0;
    }
    for (int k = 2; k <= more; k++) {
        if (p[k] < 0x80 || p[k] > 0xbf) {
            return 0;
        }
    }
    return more + 1;
}

const char *noregret_invalid_utf8(const char *p, const char *end) {
    while (p < end) {
        while (end - p >= 8 && !(noregret_load8(p) & EACH_BYTE(0x80))) {
            p += 8;
        }
        if (p == end) {
            break;
        }
        const int length = character((const uint8_t *)p, end - p);
        if (length == 0) {
            return p;
        }
        p += length;
    }
    return end;
}
