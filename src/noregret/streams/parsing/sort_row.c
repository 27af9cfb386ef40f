/* Sort the entries of a row by position. In a short row, each entry is copied to its rank, without
   branches; in a longer one, or one with a repeated position, by insertion if few are out of place,
   else by radix sort. Equal positions stay in order. */
#include "row_buffers.h"

#include <stdlib.h>

#include "cpu_dispatch.h"

enum { SHORT = 96, FULL = 16, DIGIT = 8, DIGITS = 1 << DIGIT };

static int grow_sorter(noregret_sorter *sorter, int64_t count) {
    const int64_t room = count + count / 2;
    free(sorter->keys), free(sorter->values);
    sorter->keys = malloc((size_t)room * 2 * sizeof(uint64_t));
    sorter->values = malloc((size_t)room * sizeof(double));
    sorter->room = sorter->keys && sorter->values ? room : 0;
    return sorter->room > 0;
}

void noregret_free_sorter(noregret_sorter *sorter) {
    free(sorter->keys), free(sorter->values);
    memset(sorter, 0, sizeof *sorter);
}

/* Return whether this took at most that many moves. */
static int insert(uint64_t *keys, int64_t count, int64_t moves) {
    for (int64_t i = 1; i < count; i++) {
        const uint64_t key = keys[i];
        int64_t k = i;
        for (; k > 0 && keys[k - 1] > key; k--) {
            keys[k] = keys[k - 1];
        }
        keys[k] = key;
        moves -= i - k;
        if (moves < 0) {
            return 0;
        }
    }
    return 1;
}

/* Sort by the upper half of the keys, digit by digit from the lowest. */
static uint64_t *by_digits(uint64_t *keys, uint64_t *other, int64_t count) {
    uint64_t highest = 0;
    for (int64_t k = 0; k < count; k++) {
        highest |= keys[k];
    }
    for (int at = 32; at < 64 && highest >> at; at += DIGIT) {
        uint32_t next[DIGITS] = {0}, sum = 0;
        for (int64_t k = 0; k < count; k++) {
            next[keys[k] >> at & (DIGITS - 1)]++;
        }
        for (int d = 0; d < DIGITS; d++) {
            const uint32_t here = next[d];
            next[d] = sum;
            sum += here;
        }
        for (int64_t k = 0; k < count; k++) {
            other[next[keys[k] >> at & (DIGITS - 1)]++] = keys[k];
        }
        uint64_t *swapped = keys;
        keys = other, other = swapped;
    }
    return keys;
}

/* How many entries have lower positions than each; there are so many that vectors are full. */
static DISPATCHED(void, rank_all,
                  (const int32_t *restrict at, int32_t *restrict ranks, int32_t count,
                   int32_t padded),
                  (at, ranks, count, padded)) {
    for (int32_t i = 0; i < count; i++) {
        const int32_t here = at[i];
        int32_t before = 0;
        for (int32_t k = 0; k < padded; k++) {
            before += at[k] < here;
        }
        ranks[i] = before;
    }
}

/* Returns 0 where a position occurs twice. */
static int sort_short(int32_t *at, double *values, int32_t count) {
    int32_t positions[SHORT], ranks[SHORT];
    double numbers[SHORT];
    const int32_t padded = (count + FULL - 1) / FULL * FULL;
    int32_t total = 0;
    memcpy(positions, at, (size_t)count * sizeof *at);
    memcpy(numbers, values, (size_t)count * sizeof *values);
    for (int32_t k = count; k < padded; k++) {
        positions[k] = INT32_MAX;
    }
    rank_all(positions, ranks, count, padded);
    for (int32_t k = 0; k < count; k++) {
        total += ranks[k];
    }
    if (total != count * (count - 1) / 2) { /* equals have one rank, and leave others out */
        return 0;
    }
    for (int32_t k = 0; k < count; k++) {
        at[ranks[k]] = positions[k], values[ranks[k]] = numbers[k];
    }
    return 1;
}

int64_t noregret_sort_row(noregret_sorter *sorter, int32_t *at, double *values, int64_t count) {
    if (count <= SHORT && sort_short(at, values, (int32_t)count)) {
        return count;
    }
    if (count > UINT32_MAX || (count > sorter->room && !grow_sorter(sorter, count))) {
        return -1;
    }
    uint64_t *keys = sorter->keys;
    int64_t falls = 0;
    for (int64_t k = 0; k < count; k++) { /* the lower half says where the value is */
        keys[k] = (uint64_t)(uint32_t)at[k] << 32 | (uint64_t)k;
        falls += k > 0 && at[k] < at[k - 1];
        sorter->values[k] = values[k];
    }
    if (falls > count / 8 || !insert(keys, count, 4 * count)) {
        keys = by_digits(keys, keys + sorter->room, count);
    }
    int64_t left = 0;
    for (int64_t k = 0; k < count; k++) {
        const int32_t position = (int32_t)(keys[k] >> 32);
        const double value = sorter->values[(uint32_t)keys[k]];
        if (left > 0 && at[left - 1] == position) {
            values[left - 1] += value;
        } else {
            at[left] = position, values[left] = value;
            left++;
        }
    }
    return left;
}
