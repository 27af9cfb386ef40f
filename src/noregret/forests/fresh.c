/* Fresh trees beside the old ones, for streams that change.

   A few trees start anew from time to time. If one has predicted better than an old tree since then,
   though that knows more rows, then the old rows do harm: it takes the place of the worst old tree.
   The mixture treats a tree that starts late as one that was asleep: what the forest has lost until then
   counts as its loss, and the prior probabilities of all that ever start add up to at most 1. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "forest.h"

/* Rounds of a generation of fresh trees; every second one has twice as many, and so on, up to the most. */
#define LIFE 256
#define MAX_LIFE 1024
/* Fresh trees are compared with old ones once in so many rounds. */
#define PERIOD 64
/* The evidence for a change, in nats. */
#define EVIDENCE 3.0

int noregret_fresh_trees(int trees)
{
    return trees >= 10 ? trees / 5 : 1;
}

static long long life_of(long long generation)
{
    long long life = LIFE;
    for (; generation % 2 == 0 && life < MAX_LIFE; generation /= 2)
        life *= 2;
    return life;
}

static int is_fresh(const noregret_forest* f, int member)
{
    return member < 2 * FOREST_RATES ? member >= FOREST_RATES : (member - 2 * FOREST_RATES) / FOREST_RATES >= f->old;
}

/* Sets the prior probabilities: of a half, one half is for the averages, the other for the trees. */
static void set_priors(noregret_forest* f, int fresh)
{
    double g = (double)f->generation, own = log(fresh ? 0.5 / (g * (g + 1)) : 0.5);
    int n = noregret_forest_members(f), trees = fresh ? f->trees - f->old : f->old;
    for (int k = 0; k < n; k++)
        if (is_fresh(f, k) == fresh)
            f->prior[k] = own - log(2.0 * FOREST_RATES * (k < 2 * FOREST_RATES ? 1 : trees));
}

/* Lets the next generation of fresh trees start. */
static void start(noregret_forest* f)
{
    int n = noregret_forest_members(f);
    f->generation++;
    f->born = f->rounds;
    set_priors(f, 1);
    for (int k = 0; k < n; k++) {
        if (is_fresh(f, k))
            f->paid[k] = f->lost;
        f->before[k] = f->paid[k];
    }
    for (int i = f->old; i < f->trees; i++) {
        noregret_tree* t = &f->tree[i];
        t->count = 0;
        t->since = f->lost;
        if (t->room > 2 * MAX_LIFE) { /* the memory of an old tree: fresh ones need less */
            double* node = realloc(t->node, 2 * MAX_LIFE * f->stride * sizeof(double));
            if (node != NULL) {
                t->node = node;
                t->room = 2 * MAX_LIFE;
            }
        }
    }
}

void noregret_fresh_begin(noregret_forest* f)
{
    set_priors(f, 0);
    start(f);
}

/* What a tree has lost since the fresh ones started, at its better rate. */
static double lost_since(const noregret_forest* f, int tree)
{
    double least = INFINITY;
    for (int r = 0; r < FOREST_RATES; r++) {
        int k = FOREST_RATES * (2 + tree) + r;
        double lost = f->paid[k] - f->before[k];
        least = lost < least ? lost : least;
    }
    return least;
}

/* Moves a fresh tree to the place of an old one, with what it has paid and its prior probability. */
static void replace(noregret_forest* f, int old, int fresh)
{
    noregret_tree t = f->tree[old];
    int to = FOREST_RATES * (2 + old), from = FOREST_RATES * (2 + fresh);
    f->tree[old] = f->tree[fresh];
    f->tree[fresh] = t;
    memcpy(f->paid + to, f->paid + from, FOREST_RATES * sizeof(double));
    memcpy(f->prior + to, f->prior + from, FOREST_RATES * sizeof(double));
    memcpy(f->before + to, f->before + from, FOREST_RATES * sizeof(double));
}

/* The evidence that the stream has changed: how much less a fresh tree has lost than an old one, in nats. */
static double evidence(const noregret_forest* f, int old, int fresh)
{
    double lost = lost_since(f, old), less = lost - lost_since(f, fresh);
    if (f->classes)
        return less;
    /* As if errors were normal, with the variance of the old tree's. */
    return lost > 0 ? less / lost * (double)(f->rounds - f->born) / 2 : 0;
}

/* At the end of a round: fresh trees take the places of old ones, or start again. */
void noregret_fresh_judge(noregret_forest* f)
{
    long long age = f->rounds - f->born;
    int replaced = 0;
    if (age % PERIOD != 0)
        return;
    for (int i = f->old; i < f->trees; i++) {
        int worst = 0;
        for (int k = 1; k < f->old; k++)
            worst = lost_since(f, k) > lost_since(f, worst) ? k : worst;
        if (evidence(f, worst, i) > EVIDENCE) {
            replace(f, worst, i);
            replaced = 1;
        }
    }
    if (replaced || age >= life_of(f->generation))
        start(f);
}
