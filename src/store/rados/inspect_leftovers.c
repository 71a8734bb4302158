#include "store/rados/inspect_leftovers.h"

#include <stdlib.h>

#include "base/log.h"
#include "store/rados/leftovers.h"
#include "store/rados/piece_label.h"
#include "store/rados/row_key.h"

/* Labels that are asked for at once. */
#define WAVE 64u

struct suspect {
    uint32_t incarnation, length;
    uint64_t number;
    bool is_cleared;
};

struct suspects {
    struct suspect *all; /* on the heap */
    size_t count, capacity;
};

static void found(void *context, const char *object)
{
    struct suspects *suspects = context;
    struct suspect suspect = { .length = 0 };

    if (!piece_of_object(object, &suspect.incarnation, &suspect.number))
        return;
    if (suspects->count == suspects->capacity) {
        suspects->capacity = suspects->capacity > 0 ? 2 * suspects->capacity : 1024;
        suspects->all = xrealloc(suspects->all, suspects->capacity * sizeof suspects->all[0]);
    }
    suspects->all[suspects->count++] = suspect;
}

static int by_name(const void *a, const void *b)
{
    const struct suspect *x = a, *y = b;

    if (x->incarnation != y->incarnation)
        return x->incarnation < y->incarnation ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Whether no row of its owner names it. Pieces of dropped spaces go with those. */
static bool is_suspect(struct rados *rados, struct suspect *suspect, struct bytes label)
{
    struct piece_label read;

    if (!piece_label_read(label, &read))
        return false;
    suspect->length = read.length;
    return leftovers_fate(rados->shards, &read.owner, suspect->incarnation, suspect->number) ==
           PIECE_LEFT;
}

/* Keeps those of a wave that are suspect, from `kept` on; returns how many are kept in all. */
static size_t look_at_wave(struct rados *rados, struct suspects *suspects, size_t from,
                           size_t count, size_t kept)
{
    struct arrival *asked[WAVE];
    struct port_step *labels[WAVE];
    char object[PIECE_OBJECT_SIZE];

    for (size_t i = 0; i < count; i++) {
        const struct suspect *suspect = &suspects->all[from + i];
        struct port_op *op = arrival_op();

        labels[i] = port_get_label(op);
        piece_object(suspect->incarnation, suspect->number, object);
        asked[i] = arrival_send(rados->pieces, object, op);
    }
    for (size_t i = 0; i < count; i++) {
        struct suspect suspect = suspects->all[from + i];

        arrival_block(asked[i]);
        if (arrival_answer(asked[i])->result == PORT_OK &&
            is_suspect(rados, &suspect, port_value(labels[i])))
            suspects->all[kept++] = suspect;
        arrival_drop(asked[i]);
    }
    return kept;
}

struct suspects *suspects_find(struct rados *rados)
{
    struct suspects *suspects = xcalloc(1, sizeof *suspects);
    size_t kept = 0;

    if (!port_each_object(rados->pieces, found, suspects)) {
        log_line(LOG_ERROR, "rados: the names of the pieces cannot be read");
        free(suspects->all);
        free(suspects);
        return NULL;
    }
    for (size_t at = 0; at < suspects->count; at += WAVE)
        kept = look_at_wave(rados, suspects, at,
                            suspects->count - at < WAVE ? suspects->count - at : WAVE, kept);
    suspects->count = kept;
    if (kept > 0)
        qsort(suspects->all, kept, sizeof suspects->all[0], by_name);
    return suspects;
}

void suspects_clear(struct suspects *suspects, uint32_t incarnation, uint64_t number)
{
    const struct suspect wanted = { .incarnation = incarnation, .number = number };
    struct suspect *at;

    if (!suspects || suspects->count == 0)
        return;
    at = bsearch(&wanted, suspects->all, suspects->count, sizeof wanted, by_name);
    if (at)
        at->is_cleared = true;
}

size_t suspects_end(struct suspects *suspects)
{
    uint64_t bytes = 0;
    size_t count = 0;

    if (!suspects)
        return 0;
    for (size_t i = 0; i < suspects->count; i++)
        if (!suspects->all[i].is_cleared) {
            count++;
            bytes += suspects->all[i].length;
        }
    if (count > 0)
        log_line(LOG_WARN,
                 "rados: nothing refers to %zu pieces (%llu bytes), front ends "
                 "that were killed have left them, and those that serve will delete them",
                 count, (unsigned long long)bytes);
    free(suspects->all);
    free(suspects);
    return count;
}
