#include "store/rados/inspect_chain.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/rados/blocking.h"
#include "store/rados/move.h"

#define CHAIN_ARENA_MAX (256u << 20)
#define SENTENCE_SIZE   (SHARD_NAME_SIZE + 80)
/* "s.", space, lane */
#define LANE_NAME       (2 + 32 + 1 + 2)

/* In the arena. False: it is not there, or makes no sense. */
static bool read_bounds(struct shards *shards, const char *object, struct arena *arena,
                        struct shard_bounds *ret_bounds)
{
    struct port_op *op = arrival_op();
    struct port_step *row = port_get(op, row_key_bounds());
    struct arrival *arrival = send_block(shards_port(shards), object, op);
    bool is_read =
        op->result == PORT_OK && !shard_bounds_read(arena_copy(arena, port_value(row)), ret_bounds);

    arrival_drop(arrival);
    return is_read;
}

bool chains_finish(struct shards *shards, char *const *names, size_t count)
{
    struct arena *arena = arena_new(CHAIN_ARENA_MAX);
    bool were_begun = false;

    for (size_t i = 0; i < count; i++) {
        struct arena_mark mark = arena_mark(arena);
        struct shard_bounds bounds;

        if (read_bounds(shards, names[i], arena, &bounds) && bounds.is_moving &&
            bounds.state == SHARD_LIVE) {
            struct arrival *finished = move_finish(shards, names[i]);

            arrival_block(finished);
            arrival_drop(finished);
            were_begun = true;
        }
        arena_rewind(arena, mark);
    }
    arena_free(arena);
    return were_begun;
}

struct chains {
    struct shards *shards;
    inspect_say *say;
    void *context;
    struct arena *arena;
};

static void say(const struct chains *c, const char *object, const char *what)
{
    char sentence[SENTENCE_SIZE];

    (void)snprintf(sentence, sizeof sentence, "shard %s: %s", object, what);
    c->say(c->context, sentence);
}

/* Follows the chain of one lane, of which these are all shards, the first first. */
static void check_lane(const struct chains *c, char *const *names, size_t count)
{
    const char *object = names[0];
    struct shard_bounds bounds;
    struct bytes lo = { NULL, 0 };
    size_t found = 0;
    char next[SHARD_NAME_SIZE];
    struct guid space;
    unsigned lane;
    uint64_t number;

    if (!shard_name_read(object, &space, &lane, &number)) {
        say(c, object, "its name makes no sense");
        return;
    }
    do {
        if (!read_bounds(c->shards, object, c->arena, &bounds)) {
            say(c, object, "its lane cannot be followed");
            return;
        }
        if (bounds.state != SHARD_SEALED && (bounds.is_empty || !bytes_equal(bounds.lo, lo)))
            say(c, object, "it does not begin where the one before it ends");
        lo = bounds.hi;
        shard_name(&space, lane, bounds.next, next);
        object = next;
    } while (++found <= count && bounds.next > 0);
    if (found != count)
        say(c, names[0], "its lane has other shards than follow it");
}

void chains_check(struct shards *shards, char *const *names, size_t count, inspect_say *tell,
                  void *context)
{
    struct chains c = { shards, tell, context, arena_new(CHAIN_ARENA_MAX) };
    size_t lane;

    for (size_t at = 0; at < count; at += lane) {
        struct arena_mark mark = arena_mark(c.arena);

        for (lane = 1; at + lane < count; lane++)
            if (strncmp(names[at], names[at + lane], LANE_NAME) != 0)
                break;
        check_lane(&c, names + at, lane);
        arena_rewind(c.arena, mark);
    }
    arena_free(c.arena);
}
