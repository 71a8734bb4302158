/* What lies in the cluster when all is quiet: read as a client of it. */
#include <stdio.h>
#include <stdlib.h>

#include "fronts.h"
#include "scheduler.h"
#include "store/rados/blocking.h"
#include "store/rados/row_key.h"
#include "store/rados/shard_rows.h"
#include "store/rados/slot.h"
#include "world.h"

#define ROWS_ARENA (64u << 20)
#define SECOND_NS  UINT64_C(1000000000)
/* Longer than a lock whose owner has gone stays. */
#define ENDS_MAX_S 60u

/* What was found that has to end; empty: nothing was. */
static char odd[200];

static void note(const char *object, const char *what, struct bytes partition_key)
{
    char key[64];
    size_t used = 0;

    for (size_t i = 0; i < partition_key.len && used + 4 < sizeof key; i++) {
        unsigned char byte = (unsigned char)partition_key.ptr[i];
        bool is_plain = byte > ' ' && byte < 0x7f;

        used += (size_t)snprintf(key + used, sizeof key - used, is_plain ? "%c" : "%%%02x", byte);
    }
    (void)snprintf(odd, sizeof odd, "cluster: %s: %s, of %.*s", object, what, (int)used, key);
}

/* The value of a row of a record and the like, or of what has a form of its own. */
static void check_row(const char *object, const struct row_name *name, struct bytes value)
{
    struct partition_header header;
    struct slot slot;

    if (name->kind == ROW_PREPARED)
        note(object, "a prepared change", name->partition_key);
    if (name->kind == ROW_DECIDED)
        note(object, "a decision", name->partition_key);
    if (name->kind == ROW_HEADER && partition_header_read(value, &header))
        world_fail("cluster: %s has a header that makes no sense", object);
    if (name->kind == ROW_HEADER && partition_is_locked(&header))
        note(object, "a lock", name->partition_key);
    if (name->kind == ROW_SLOT && value.len > 0 && slot_read(value, &slot) &&
        slot.partition_key.len > 0)
        note(object, "a slot that is taken", slot.partition_key);
}

static void check_rows(const char *object)
{
    struct arena *arena = arena_new(ROWS_ARENA);
    struct bytes after = { NULL, 0 };
    bool is_more = true;

    while (is_more) {
        struct port_op *op = arrival_op();
        struct port_step *rows = port_list(op, after, bytes_of("", 0), PORT_ROWS_MAX);
        struct arrival *arrival = send_block(fronts_port(), object, op);

        is_more = op->result == PORT_OK && rows->is_cut;
        for (uint32_t i = 0; op->result == PORT_OK && i < rows->row_count; i++) {
            struct row_name name;

            if (!row_key_read(rows->rows[i].key, arena, &name))
                world_fail("cluster: %s has a row that makes no sense", object);
            check_row(object, &name, rows->rows[i].value);
            after = arena_copy(arena, rows->rows[i].key);
        }
        arrival_drop(arrival);
    }
    arena_free(arena);
}

#define SHARDS_MAX 256u
static char *shards[SHARDS_MAX];
static unsigned shard_count;

static void add_shard(void *context, const char *object)
{
    (void)context;
    if (strncmp(object, "s.", 2) == 0 && shard_count < SHARDS_MAX)
        shards[shard_count++] = xstrdup(object);
}

static void look(void)
{
    odd[0] = '\0';
    for (unsigned i = 0; i < shard_count; i++)
        check_rows(shards[i]);
}

void front_cluster_check(void)
{
    port_each_object(fronts_port(), add_shard, NULL);
    look();
    for (unsigned i = 0; odd[0] && i < ENDS_MAX_S; i++) { /* a task may be at work now */
        sched_sleep(SECOND_NS);
        look();
    }
    if (odd[0])
        world_fail("%s", odd);
}
