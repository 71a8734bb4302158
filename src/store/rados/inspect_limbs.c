#include "store/rados/inspect_limbs.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/rados/blocking.h"
#include "store/rados/resolve.h"

#define LIMB_ARENA_MAX (512u << 20)

static const struct bytes none;

static void add(struct limb_names *names, const struct guid *space)
{
    if (names->count == names->capacity) {
        names->capacity = names->capacity > 0 ? 2 * names->capacity : 64;
        names->all = xrealloc(names->all, names->capacity * sizeof names->all[0]);
    }
    names->all[names->count++] = *space;
}

static bool has(const struct limb_names *names, const struct guid *space)
{
    for (size_t i = 0; i < names->count; i++)
        if (guid_equal(&names->all[i], space))
            return true;
    return false;
}

void limb_lists_release(struct limb_lists *lists)
{
    free(lists->listed.all);
    free(lists->found.all);
}

/* Of either family, whatever the partition. */
static bool has_records(struct shards *shards, const char *object, const struct partition *home)
{
    struct port_op *op = arrival_op();
    struct port_step *listed =
        port_list(op, none, row_key_record(op->arena, RECORD_LISTED, home->key, none), 1);
    struct port_step *inner =
        port_list(op, none, row_key_record(op->arena, RECORD_INNER, home->key, none), 1);
    struct arrival *arrival = send_block(shards_port(shards), object, op);
    bool has = op->result == PORT_OK && listed->row_count + inner->row_count > 0;

    arrival_drop(arrival);
    return has;
}

bool limb_note(struct shards *shards, const char *object, struct limb_lists *lists)
{
    struct port_op *op = arrival_op();
    struct port_step *row = port_get(op, row_key_home());
    struct arrival *arrival = send_block(shards_port(shards), object, op);
    bool is_limb = op->result == PORT_OK && row->row_count > 0;
    struct partition home;
    struct guid space;

    if (is_limb && limb_home_read(port_value(row), &home) && shard_name_space(object, &space) &&
        has_records(shards, object, &home))
        add(&lists->found, &space);
    arrival_drop(arrival);
    return is_limb;
}

/* ---- one ---- */

struct inspecting {
    const struct row_name *end; /* of the row at home */
    struct limb_row listed;
    limb_visit *visit;
    void *context;
    const char *wrong;
    bool has_header;
};

static void take_header(struct inspecting *i, struct bytes row)
{
    struct partition_header header;

    i->has_header = true;
    if (partition_header_read(row, &header))
        i->wrong = "the header of a limb makes no sense";
    else if (partition_is_locked(&header))
        i->wrong = "a limb is locked, and cannot be settled";
    else if (header.version != i->listed.version)
        i->wrong = "a limb has another version than is listed";
}

static bool is_within(const struct inspecting *i, const struct row_name *name)
{
    enum record_family family = name->kind == ROW_LISTED ? RECORD_LISTED : RECORD_INNER;

    return family == i->end->family && bytes_equal(name->partition_key, i->end->partition_key) &&
           bytes_compare(name->record_key, i->listed.lo) >= 0 &&
           bytes_compare(name->record_key, i->end->record_key) <= 0;
}

static void take_row(struct inspecting *i, const struct port_row *row, struct arena *arena)
{
    struct row_name name;

    if (!row_key_read(row->key, arena, &name)) {
        i->wrong = "a row of a limb has a key that makes no sense";
    } else if (name.kind == ROW_HEADER) {
        take_header(i, row->value);
    } else if (name.kind == ROW_LISTED || name.kind == ROW_INNER) {
        if (!is_within(i, &name))
            i->wrong = "a limb has a record outside of its range";
        i->visit(i->context, &name, row, arena);
    } else if (name.kind == ROW_TASK) {
        i->visit(i->context, &name, row, arena);
    }
}

static void read_rows(struct inspecting *i, struct port *port, const char *object)
{
    struct arena *arena = arena_new(LIMB_ARENA_MAX), *keys = arena_new(LIMB_ARENA_MAX);
    struct arena_mark empty = arena_mark(arena);
    struct bytes after = none;
    bool goes_on = true;

    while (goes_on) {
        struct port_op *op = arrival_op();
        struct port_step *list = port_list(op, after, none, PORT_ROWS_MAX);
        struct arrival *arrival = send_block(port, object, op);

        if (op->result)
            i->wrong = op->result == PORT_ABSENT ? "a limb that is listed is not there"
                                                 : "a limb cannot be read";
        for (uint32_t n = 0; !op->result && n < list->row_count; n++) {
            take_row(i, &list->rows[n], arena);
            arena_rewind(arena, empty);
        }
        goes_on = !op->result && list->is_cut;
        if (goes_on)
            after = arena_copy(keys, list->rows[list->row_count - 1].key);
        arrival_drop(arrival);
    }
    arena_free(keys);
    arena_free(arena);
}

const char *limb_inspect(struct shards *shards, const struct port_row *end,
                         const struct row_name *name, struct limb_lists *lists, limb_visit *visit,
                         void *context)
{
    struct inspecting i = { .end = name, .visit = visit, .context = context };
    struct partition limb = { .key = name->partition_key };
    struct arrival *resolved;
    char object[SHARD_NAME_SIZE];

    if (!limb_row_read(end->value, &i.listed) || bytes_compare(i.listed.lo, name->record_key) > 0)
        return "a row of a limb makes no sense";
    if (has(&lists->listed, &i.listed.space))
        return "a limb is listed twice";
    add(&lists->listed, &i.listed.space);
    limb.space = i.listed.space;
    resolved = resolve_start(shards, &limb);
    arrival_block(resolved);
    arrival_drop(resolved);
    shard_name(&limb.space, 0, 0, object);
    read_rows(&i, shards_port(shards), object);
    if (!i.wrong && !i.has_header)
        i.wrong = "a limb has no header";
    return i.wrong;
}

void limbs_unlisted(const struct limb_lists *lists, inspect_say *say, void *context)
{
    for (size_t n = 0; n < lists->found.count; n++) {
        char object[SHARD_NAME_SIZE], sentence[SHARD_NAME_SIZE + 64];

        if (has(&lists->listed, &lists->found.all[n]))
            continue;
        shard_name(&lists->found.all[n], 0, 0, object);
        (void)snprintf(sentence, sizeof sentence,
                       "limb %s: it has records, and no partition lists it", object);
        say(context, sentence);
    }
}
