/* Forests as values: made, copied to bytes and back, and deleted. */
#include <stdlib.h>
#include <string.h>

#include "forest.h"

static noregret_forest* made(int trees, ptrdiff_t budget, int classes, uint64_t seed, int edition)
{
    noregret_forest* f = malloc(sizeof *f);
    if (f == NULL)
        return NULL;
    if (noregret_forest_begin(f, trees, budget, classes, seed, edition))
        return f;
    noregret_forest_delete(f);
    return NULL;
}

noregret_forest* noregret_forest_new(int trees, ptrdiff_t budget, int classes, uint64_t seed)
{
    return made(trees, budget, classes, seed, 1);
}

void noregret_forest_delete(noregret_forest* f)
{
    if (f != NULL)
        noregret_forest_end(f);
    free(f);
}

ptrdiff_t noregret_forest_bytes(const noregret_forest* f)
{
    ptrdiff_t per_node = f->stride * sizeof(double) + sizeof(int32_t) + BEST_FIELDS * sizeof(double), nodes = 0;
    for (int i = 0; i < f->trees; i++)
        nodes += f->tree[i].room;
    return sizeof *f + f->trees * sizeof *f->tree + nodes * per_node + f->columns * ((COLUMN_FIELDS + 3) * sizeof(double));
}

static char* put(char* to, const void* from, ptrdiff_t bytes, int write)
{
    if (write && bytes > 0)
        memcpy(to, from, bytes);
    return to + bytes;
}

ptrdiff_t noregret_forest_pack(const noregret_forest* f, char* out)
{
    int write = out != NULL;
    char start = 0, *to = write ? out : &start, *first = to;
    to = put(to, f, sizeof *f, write);
    for (int i = 0; i < f->trees; i++) {
        to = put(to, &f->tree[i], sizeof f->tree[i], write);
        to = put(to, f->tree[i].node, f->tree[i].count * f->stride * sizeof(double), write);
    }
    to = put(to, f->column, COLUMN_FIELDS * f->width * sizeof(double), write);
    to = put(to, f->paid, noregret_forest_members(f) * sizeof(double), write);
    to = put(to, f->prior, noregret_forest_members(f) * sizeof(double), write);
    to = put(to, f->before, noregret_forest_members(f) * sizeof(double), write);
    return to - first;
}

noregret_forest* noregret_forest_unpack(const char* in)
{
    noregret_forest was, *f;
    memcpy(&was, in, sizeof was);
    in += sizeof was;
    if ((f = made(was.old, was.budget, was.classes, 0, was.edition)) == NULL)
        return NULL;
    if (!noregret_forest_widen(f, was.width, was.class_room)) {
        noregret_forest_delete(f);
        return NULL;
    }
    f->features = was.features;
    f->rounds = was.rounds;
    f->low = was.low;
    f->high = was.high;
    f->near = was.near;
    f->far = was.far;
    f->scale = was.scale;
    f->growth = was.growth;
    f->outcome_mean = was.outcome_mean;
    f->outcome_spread = was.outcome_spread;
    f->lost = was.lost;
    f->generation = was.generation;
    f->born = was.born;
    for (int i = 0; i < f->trees; i++) {
        noregret_tree t;
        memcpy(&t, in, sizeof t);
        in += sizeof t;
        if (!noregret_forest_room(&f->tree[i], t.count > 0 ? t.count : 1, f->stride)) {
            noregret_forest_delete(f);
            return NULL;
        }
        f->tree[i].count = t.count;
        f->tree[i].random = t.random;
        f->tree[i].since = t.since;
        memcpy(f->tree[i].node, in, t.count * f->stride * sizeof(double));
        in += t.count * f->stride * sizeof(double);
    }
    memcpy(f->column, in, COLUMN_FIELDS * f->width * sizeof(double));
    in += COLUMN_FIELDS * f->width * sizeof(double);
    ptrdiff_t bytes = noregret_forest_members(f) * sizeof(double);
    memcpy(f->paid, in, bytes);
    memcpy(f->prior, in + bytes, bytes);
    memcpy(f->before, in + 2 * bytes, bytes);
    return f;
}
