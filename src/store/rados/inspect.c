/* lagra check on RADOS: every record once, and how often each piece is referred to, shard by shard. Nobody else serves
 * the store meanwhile: other front ends that live are noticed. */
#include "store/inspect.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/rados/beat.h"
#include "store/rados/blocking.h"
#include "store/rados/inspect_chain.h"
#include "store/rados/inspect_leftovers.h"
#include "store/rados/inspect_limbs.h"
#include "store/rados/piece_rows.h"
#include "store/rados/rados_private.h"
#include "store/rados/slot.h"
#include "store/rados/task_row.h"
#include "store/record_value.h"

#define PAGE_ARENA_MAX (512u << 20)
#define SENTENCE_SIZE  200
/* Names are read again so often, while moves are found that were begun. */
#define FINDS_MAX      4u

struct names {
    char **names; /* on the heap */
    size_t count, capacity;
};

/* A piece as records refer to it, or as a row counts it. */
struct counted {
    uint32_t extent, length;
    uint64_t offset, references;
};

struct counts {
    struct counted *all; /* on the heap */
    size_t count, capacity;
};

struct inspection {
    struct rados *rados;
    inspect_visit *visit;
    inspect_say *say;
    void *context;
    struct names shards;
    unsigned finds;
    struct limb_lists limbs;
    struct suspects *suspects; /* NULL: they were reported before */
    /* Of one shard: */
    const char *object;
    struct guid space;
    struct shard_bounds bounds; /* keys in the arena of the shard */
    struct counts records, rows;
    bool has_locks;
};

static void say(struct inspection *i, const char *what)
{
    char sentence[SHARD_NAME_SIZE + SENTENCE_SIZE];

    (void)snprintf(sentence, sizeof sentence, "shard %s: %s", i->object, what);
    i->say(i->context, sentence);
}

/* ---- names of objects ---- */

static void add_name(struct names *names, const char *name)
{
    if (names->count == names->capacity) {
        names->capacity = names->capacity > 0 ? 2 * names->capacity : 1024;
        names->names = xrealloc(names->names, names->capacity * sizeof names->names[0]);
    }
    names->names[names->count++] = xstrdup(name);
}

static void release_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
}

static void found(void *context, const char *object)
{
    struct inspection *i = context;
    struct guid space;

    if (shard_name_space(object, &space))
        add_name(&i->shards, object);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Logged, if another front end has written its heartbeat lately. */
static bool is_alone(struct inspection *i)
{
    const struct bytes none = { NULL, 0 };
    struct port_op *op = arrival_op();
    struct port_step *list = port_list(op, none, bytes_from_string("b"), PORT_ROWS_MAX);
    struct arrival *arrival = send_block(i->rados->port, BEAT_OBJECT, op);
    bool is_alone = op->result == PORT_OK || op->result == PORT_ABSENT;
    uint32_t incarnation;
    struct beat_row row;

    for (uint32_t n = 0; op->result == PORT_OK && n < list->row_count; n++) {
        if (!beat_read(&list->rows[n], &incarnation, &row) ||
            incarnation == shards_incarnation(i->rados->shards) ||
            clock_now() >= row.at + BEAT_DEAD_TICKS)
            continue;
        log_line(LOG_ERROR,
                 "rados: front end %08x has served the store within the last minute: stop it, and "
                 "check again a minute later",
                 incarnation);
        is_alone = false;
    }
    arrival_drop(arrival);
    return is_alone;
}

/* ---- pieces ---- */

static void add_piece(struct counts *counts, struct counted piece)
{
    if (counts->count == counts->capacity) {
        counts->capacity = counts->capacity > 0 ? 2 * counts->capacity : 1024;
        counts->all = xrealloc(counts->all, counts->capacity * sizeof counts->all[0]);
    }
    counts->all[counts->count++] = piece;
}

static int by_place(const void *a, const void *b)
{
    const struct counted *left = a, *right = b;

    if (left->extent != right->extent)
        return left->extent < right->extent ? -1 : 1;
    return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static void sort(struct counts *counts)
{
    if (counts->count > 0)
        qsort(counts->all, counts->count, sizeof counts->all[0], by_place);
}

/* Adds up the references to one place. */
static void add_up(struct counts *counts)
{
    size_t kept = 0;

    sort(counts);
    for (size_t n = 0; n < counts->count; n++) {
        if (kept > 0 && by_place(&counts->all[kept - 1], &counts->all[n]) == 0)
            counts->all[kept - 1].references += counts->all[n].references;
        else
            counts->all[kept++] = counts->all[n];
    }
    counts->count = kept;
}

static void say_piece(struct inspection *i, const struct counted *piece, uint64_t rows,
                      uint64_t records)
{
    char what[SENTENCE_SIZE];

    (void)snprintf(what, sizeof what,
                   "its row counts %llu references to the piece %08x.%016llx, records have %llu",
                   (unsigned long long)rows, piece->extent, (unsigned long long)piece->offset,
                   (unsigned long long)records);
    say(i, what);
}

static void compare_pieces(struct inspection *i)
{
    size_t at = 0;

    add_up(&i->records);
    sort(&i->rows);
    for (size_t n = 0; n < i->rows.count; n++) {
        const struct counted *row = &i->rows.all[n], *record = NULL;

        while (at < i->records.count && by_place(&i->records.all[at], row) < 0) {
            say_piece(i, &i->records.all[at], 0, i->records.all[at].references);
            at++;
        }
        if (at < i->records.count && by_place(&i->records.all[at], row) == 0)
            record = &i->records.all[at++];
        if (!record || record->references != row->references || record->length != row->length)
            say_piece(i, row, row->references, record ? record->references : 0);
    }
    for (; at < i->records.count; at++)
        say_piece(i, &i->records.all[at], 0, i->records.all[at].references);
}

/* ---- rows ---- */

static void inspect_record(struct inspection *i, const struct row_name *name, struct bytes value,
                           struct arena *arena)
{
    const struct record_place place = {
        .family = name->kind == ROW_LISTED ? RECORD_LISTED : RECORD_INNER,
        .space = i->space,
        .partition_key = name->partition_key,
        .record_key = name->record_key,
    };
    struct record record = { .key = name->record_key };
    struct bytes payload;

    if (!row_value_read(value, &payload) || record_value_read(payload, arena, &record)) {
        say(i, "a record makes no sense");
        return;
    }
    for (size_t n = 0; n < record.piece_count; n++)
        add_piece(&i->records, (struct counted){ record.pieces[n].extent, record.pieces[n].length,
                                                 record.pieces[n].offset, 1 });
    i->visit(i->context, &place, &record);
}

static void inspect_piece(struct inspection *i, const struct port_row *row)
{
    struct piece_change piece;

    if (!piece_row_name(row->key, row->value, &piece)) {
        say(i, "a row that counts a piece makes no sense");
    } else if (piece.references > 0) { /* else it has moved */
        suspects_clear(i->suspects, piece.extent, piece.offset);
        add_piece(&i->rows, (struct counted){ piece.extent, piece.length, piece.offset,
                                              (uint64_t)piece.references });
    }
}

static void inspect_task(struct inspection *i, const struct port_row *row)
{
    struct piece_change piece;
    struct task_row task;
    struct bytes value;

    if (!row_value_read(row->value, &value) || !task_row_read(value, &task)) {
        say(i, "a deferred task makes no sense");
        return;
    }
    while (task.kind == TASK_COLLECT && piece_name_take(&task.payload, &piece))
        suspects_clear(i->suspects, piece.extent, piece.offset);
}

/* ---- limbs ---- */

static void inspect_in_limb(void *context, const struct row_name *name, const struct port_row *row,
                            struct arena *arena)
{
    struct inspection *i = context;

    if (name->kind == ROW_TASK)
        inspect_task(i, row);
    else
        inspect_record(i, name, row->value, arena);
}

/* By the row where it ends: its records are of this shard's space. */
static void inspect_limb(struct inspection *i, const struct port_row *row,
                         const struct row_name *name)
{
    const char *wrong = limb_inspect(i->rados->shards, row, name, &i->limbs, inspect_in_limb, i);

    if (wrong)
        say(i, wrong);
}

static bool has_partition(enum row_kind kind)
{
    return kind == ROW_LISTED || kind == ROW_INNER || kind == ROW_INDEX || kind == ROW_HEADER ||
           kind == ROW_LIMB || kind == ROW_PIECE || kind == ROW_DECIDED || kind == ROW_PREPARED;
}

static void inspect_row(struct inspection *i, const struct port_row *row, struct arena *arena)
{
    struct partition_header header;
    struct row_name name;
    struct bytes value;
    uint64_t number;

    if (!row_key_read(row->key, arena, &name)) {
        say(i, "a row has a key that makes no sense");
        return;
    }
    if (has_partition(name.kind) && !shard_bounds_have(&i->bounds, name.partition_key))
        say(i, "it has a row of a partition that belongs to another shard");
    switch (name.kind) {
    case ROW_LISTED:
    case ROW_INNER:
        inspect_record(i, &name, row->value, arena);
        break;
    case ROW_PIECE:
        inspect_piece(i, row);
        break;
    case ROW_HEADER:
        if (partition_header_read(row->value, &header))
            say(i, "the header of a partition makes no sense");
        else
            i->has_locks = i->has_locks || partition_is_locked(&header);
        break;
    case ROW_TASK:
        inspect_task(i, row);
        break;
    case ROW_COUNTER:
    case ROW_LOOKED:
        if (!row_number_read(row->value, &number))
            say(i, "a number makes no sense");
        break;
    case ROW_INDEX:
        if (!row_value_read(row->value, &value))
            say(i, "a record of an index makes no sense");
        break;
    case ROW_LIMB:
        inspect_limb(i, row, &name);
        break;
    case ROW_BOUNDS:
    case ROW_FENCE:
    case ROW_HOME:
    case ROW_DECIDED:
    case ROW_PREPARED:
    case ROW_SLOT:
        break;
    }
}

/* ---- shards ---- */

/* One page of rows. *after: the last key, in the arena of the caller; empty: there are no more. */
static enum store_result inspect_page(struct inspection *i, struct bytes *after, struct arena *keys)
{
    struct arena *arena = arena_new(PAGE_ARENA_MAX);
    struct port_op *op = arrival_op();
    struct port_step *list = port_list(op, *after, (struct bytes){ NULL, 0 }, PORT_ROWS_MAX);
    struct arrival *arrival = send_block(i->rados->port, i->object, op);
    enum store_result result = op->result ? STORE_IO : STORE_OK;
    struct arena_mark empty = arena_mark(arena);

    for (uint32_t n = 0; !result && n < list->row_count; n++) {
        inspect_row(i, &list->rows[n], arena);
        arena_rewind(arena, empty);
    }
    if (!result && list->is_cut && list->row_count > 0)
        *after = arena_copy(keys, list->rows[list->row_count - 1].key);
    else
        *after = (struct bytes){ NULL, 0 };
    if (result)
        say(i, port_result_text(op->result));
    arrival_drop(arrival);
    arena_free(arena);
    return result;
}

/* Settles or rolls back what commits have left locked. */
static void resolve_locks(struct inspection *i)
{
    struct port_op *op = arrival_op();
    struct port_step *slots = port_list(op, (struct bytes){ NULL, 0 }, bytes_of("X", 1), ROW_SLOTS);
    struct arrival *arrival = send_block(i->rados->port, i->object, op);

    for (uint32_t n = 0; !op->result && n < slots->row_count; n++) {
        struct slot slot;

        if (slots->rows[n].value.len > 0 && slot_read(slots->rows[n].value, &slot)) {
            const struct partition locked = { i->space, slot.partition_key };
            struct arrival *resolved = resolve_start(i->rados->shards, &locked);

            arrival_block(resolved);
            arrival_drop(resolved);
        }
    }
    arrival_drop(arrival);
}

/* *ret_is_live: false for one that was dropped. */
static enum store_result read_bounds(struct inspection *i, struct arena *keys, bool *ret_is_live)
{
    struct port_op *op = arrival_op();
    struct port_step *row = port_get(op, row_key_bounds());
    struct arrival *arrival = send_block(i->rados->port, i->object, op);
    enum store_result result = op->result && op->result != PORT_ABSENT ? STORE_IO : STORE_OK;

    i->bounds = (struct shard_bounds){ .state = SHARD_SEALED };
    if (!op->result && shard_bounds_read(arena_copy(keys, port_value(row)), &i->bounds))
        say(i, "its bounds make no sense");
    *ret_is_live = i->bounds.state != SHARD_SEALED;
    if (result)
        say(i, port_result_text(op->result));
    arrival_drop(arrival);
    return result;
}

static enum store_result inspect_shard(struct inspection *i, const char *object)
{
    struct arena *keys = arena_new(PAGE_ARENA_MAX);
    struct bytes after = { NULL, 0 };
    enum store_result result;
    bool is_live;

    i->object = object;
    (void)shard_name_space(object, &i->space);
    i->records.count = i->rows.count = 0;
    i->has_locks = false;
    result = read_bounds(i, keys, &is_live);
    if (!result && is_live)
        resolve_locks(i);
    if (!result && is_live && limb_note(i->rados->shards, object, &i->limbs))
        is_live = false; /* it is looked at where it is listed */
    if (!result && is_live) {
        do
            result = inspect_page(i, &after, keys);
        while (!result && after.len > 0);
    }
    if (!result && i->has_locks)
        say(i, "a partition is locked, and cannot be settled");
    if (!result)
        compare_pieces(i);
    arena_free(keys);
    return result;
}

/* The names of all shards, in order, once nothing is being moved from one to another. */
static bool find_shards(struct inspection *i)
{
    do {
        release_names(&i->shards);
        i->shards = (struct names){ .names = NULL };
        if (!port_each_object(i->rados->port, found, i))
            return false;
        if (i->shards.count > 0)
            qsort(i->shards.names, i->shards.count, sizeof i->shards.names[0], by_name);
    } while (++i->finds < FINDS_MAX &&
             chains_finish(i->rados->shards, i->shards.names, i->shards.count));
    return true;
}

enum store_result rados_inspect(struct store *base, inspect_visit *visit, inspect_say *tell,
                                void *context)
{
    struct inspection i = {
        .rados = rados_of(base), .visit = visit, .say = tell, .context = context
    };
    enum store_result result = STORE_OK;

    if (!is_alone(&i)) {
        result = STORE_BUSY;
    } else if (!find_shards(&i)) {
        tell(context, "the names of the pool's objects cannot be read");
        result = STORE_IO;
    }
    if (!result)
        chains_check(i.rados->shards, i.shards.names, i.shards.count, tell, context);
    if (!result && !i.rados->has_told_leftovers)
        i.suspects = suspects_find(i.rados);
    for (size_t n = 0; !result && n < i.shards.count; n++)
        result = inspect_shard(&i, i.shards.names[n]);
    if (!result)
        limbs_unlisted(&i.limbs, tell, context);
    limb_lists_release(&i.limbs);
    i.rados->has_told_leftovers = i.rados->has_told_leftovers || i.suspects;
    (void)suspects_end(i.suspects);
    free(i.records.all);
    free(i.rows.all);
    release_names(&i.shards);
    return result;
}
