/* See census.h. */
#include "census.h"

#include <inttypes.h>
#include <stdio.h>

#include "auth/auth.h"
#include "base/endian.h"
#include "census_part.h"
#include "commits.h"
#include "opens/open_epoch.h"
#include "request.h"
#include "scheduler.h"
#include "service/names.h"
#include "services.h"
#include "store/embedded/cursor.h"
#include "store/record_key.h"
#include "store/record_value.h"
#include "world.h"

#define SECOND_NS     UINT64_C(1000000000)
#define SPACES_MAX    16u
/* Blocks wait a week for their list; and the wall clock may have been ahead for three days. */
#define LEAP_NS       (11 * 86400 * SECOND_NS)
#define LEAPS         3u
#define WAIT_S        180u
#define INDEX_KEY_MAX 2048u
#define SIDES_MAX     2u

/* Of the run's service, and of the one beside it. */
static struct {
    const struct census_part *part;
    struct guid account;
} parts[SIDES_MAX];
static unsigned part_count;
static struct {
    struct guid id;
    const struct census_part *part;
    unsigned index_rows;
} spaces[SPACES_MAX];
static unsigned space_count;

static void say(void *context, const char *sentence)
{
    (void)context;
    world_fail("census: %s", sentence);
}

/* -1: nothing in the account names it. */
static int find_space(const void *id)
{
    for (unsigned i = 0; i < space_count; i++) {
        if (memcmp(spaces[i].id.b, id, sizeof spaces[i].id.b) == 0)
            return (int)i;
    }
    return -1;
}

/* Whose account it is; NULL: nobody's. */
static const struct census_part *part_of_account(const void *id)
{
    for (unsigned i = 0; i < part_count; i++) {
        if (memcmp(parts[i].account.b, id, sizeof parts[i].account.b) == 0)
            return parts[i].part;
    }
    return NULL;
}

/* ---- records ---- */

static bool names_space(const struct census_part *part, struct bytes record_key)
{
    return part->is_key ? part->is_key(record_key) : bytes_is(record_key, part->record_key);
}

static void learn(void *context, const struct record_place *place, const struct record *record)
{
    const struct census_part *part = part_of_account(place->space.b);
    struct guid space;

    (void)context;
    if (place->family != RECORD_LISTED || !part)
        return;
    if (!names_space(part, place->record_key)) {
        if (part->read_other)
            part->read_other(place, record);
        return;
    }
    if (!part->read(record->value, &space))
        world_fail("census: the record of %.*s makes no sense", BYTES_ARG(place->partition_key));
    if (find_space(space.b) >= 0 && part->shares_spaces)
        return;
    if (find_space(space.b) >= 0 || space_count == SPACES_MAX)
        world_fail("census: %.*s has the space of another", BYTES_ARG(place->partition_key));
    spaces[space_count].part = part;
    spaces[space_count++].id = space;
}

static void note(void *context, const struct record_place *place, const struct record *record)
{
    int space = find_space(place->space.b);

    if (place->family == RECORD_LISTED && space >= 0)
        spaces[space].part->note(context, place, record);
}

/* As text, or what is none in hexadecimal. */
static const char *show(struct bytes key, char *to, size_t size)
{
    size_t used = 0;

    to[0] = '\0';
    for (size_t i = 0; i < key.len && used + 4 < size; i++) {
        unsigned char c = (unsigned char)key.ptr[i];

        used += (size_t)snprintf(to + used, size - used, c > ' ' && c < 0x7F ? "%c" : "<%02x>", c);
    }
    return to;
}

static noreturn void fail_record(const struct record_place *place, const char *why)
{
    char key[200], partition[200];

    world_fail("census: %s: %s record %s of the partition %s", why,
               place->family == RECORD_LISTED ? "a listed" : "an inner",
               show(place->record_key, key, sizeof key),
               show(place->partition_key, partition, sizeof partition));
}

static void judge(void *context, const struct record_place *place, const struct record *record)
{
    int space = find_space(place->space.b);
    const char *why = NULL;

    (void)context;
    if (space >= 0)
        why = spaces[space].part->judge(place, record);
    else if (start_record_inspect(&(struct partition){ place->space, place->partition_key },
                                  place->record_key, record->value) == START_RECORD)
        return;
    else if (!part_of_account(place->space.b))
        why = "in a space that nothing names";
    else if (place->family == RECORD_INNER && !bytes_is(place->record_key, "p") &&
             !census_placement_record(place, record, &why))
        why = "a note that days have not ended";
    if (why)
        fail_record(place, why);
}

/* ---- rows that are no records ---- */

unsigned census_rows(struct store *store, char kind,
                     void (*look)(const struct cursor *cursor, void *context), void *context)
{
    char end = (char)(kind + 1);
    struct cursor *cursor = cursor_open(store, bytes_of(&end, 1));
    enum store_result result = embedded_cursor_seek(cursor, bytes_of(&kind, 1));
    unsigned count = 0;

    for (; !result; count++) {
        if (look)
            look(cursor, context);
        result = embedded_cursor_next(cursor);
    }
    embedded_cursor_close(cursor);
    if (result != STORE_NOT_FOUND)
        world_fail("census: rows '%c' cannot be read: %s", kind, store_result_text(result));
    return count;
}

static struct bytes index_key(struct bytes full, char to[INDEX_KEY_MAX])
{
    struct bytes escaped, partition;
    size_t size = 0;

    if (full.len > INDEX_KEY_MAX || !key_split(full, &escaped, &partition) ||
        !key_unescape(escaped, to, &size))
        world_fail("census: a row of the index makes no sense");
    return bytes_of(to, size);
}

static void look_at_index(const struct cursor *cursor, void *context)
{
    int space = cursor->key.len > KEY_SPACE_SIZE ? find_space(cursor->key.ptr + 1) : -1;
    const struct census_part *part;
    const char *why = NULL;
    char key[INDEX_KEY_MAX];
    bool is_counted;

    (void)context;
    if (space < 0)
        world_fail("census: a row of the index is in a space that nothing names");
    part = spaces[space].part;
    is_counted =
        !part->judge_row || !part->judge_row(&spaces[space].id, index_key(cursor->key, key), &why);
    if (why)
        world_fail("census: %s", why);
    spaces[space].index_rows += is_counted;
}

static void look_at_counter(const struct cursor *cursor, void *context)
{
    int space = cursor->key.len < KEY_SPACE_SIZE ? -1 : find_space(cursor->key.ptr + 1);

    (void)context;
    if (part_of_account(cursor->key.ptr + 1) && census_placement_counter(cursor->key))
        return;
    if (space < 0)
        world_fail("census: a counter is of a space that nothing names");
    if (spaces[space].part != &census_queue)
        world_fail("census: a counter that nobody recounts");
}

static void look_at_piece(const struct cursor *cursor, void *context)
{
    struct piece_row row;
    uint64_t *bytes = context;

    if (!piece_row_read(cursor->value, &row))
        world_fail("census: a row of the index of pieces makes no sense");
    *bytes += row.length;
}

struct task_counts {
    unsigned all, due;
};

static void look_at_task(const struct cursor *cursor, void *context)
{
    struct task_counts *counts = context;

    if (census_placement_task(cursor->value))
        return;
    counts->all++;
    counts->due += be64_get(cursor->key.ptr + 1) <= clock_now();
}

/* ---- the whole ---- */

/* Until nothing is left that is to be done by now. What a service keeps for years is none of it. */
static void let_tasks_end(struct store *store)
{
    struct task_counts left = { 0 };

    for (unsigned leap = 0; leap < LEAPS; leap++) {
        world->now_ns += LEAP_NS;
        for (unsigned i = 0; i < WAIT_S; i++) {
            sched_sleep(SECOND_NS);
            left = (struct task_counts){ 0 };
            census_rows(store, KEY_KIND_TASK, look_at_task, &left);
            if (parts[0].part->keeps_tasks ? left.due == 0 : left.all == 0)
                return;
            if (!store_healthy(store))
                return;
        }
    }
    world_fail("census: after %" PRIu64 " days %u deferred tasks are left, of which %u are due",
               LEAPS * LEAP_NS / SECOND_NS / 86400, left.all, left.due);
}

static void check_pieces(struct store *store)
{
    struct store_usage usage;
    uint64_t bytes = 0;

    store_collect_now(store, &usage);
    census_rows(store, KEY_KIND_PIECE, look_at_piece, &bytes);
    if (usage.pending_bytes > 0)
        world_fail("census: %" PRIu64 " bytes of freed pieces are not given back",
                   usage.pending_bytes);
    if (usage.piece_bytes != bytes)
        world_fail("census: pieces have %" PRIu64 " bytes, and %" PRIu64 " are counted", bytes,
                   usage.piece_bytes);
}

static void inspect(struct store *store, inspect_visit *visit)
{
    enum store_result result = store_inspect(store, visit, say, store);

    if (result)
        world_fail("census: not all records can be read: %s", store_result_text(result));
}

static void add_part(const struct census_part *part)
{
    parts[part_count].part = part;
    parts[part_count++].account =
        account_space(part->service, bytes_from_string(DEVELOPMENT_ACCOUNT));
}

static void add_parts(void)
{
    static const struct census_part *const of_run[SIM_SERVICES] = {
        [SIM_BLOB] = &census_blob, [SIM_QUEUE] = &census_queue, [SIM_TABLE] = &census_table,
        [SIM_FILE] = &census_file, [SIM_PATH] = &census_path,   [SIM_PROTECT] = &census_blob
    };

    add_part(of_run[world->plan.service]);
    if (world->plan.service == SIM_FILE)
        add_part(&census_blob);
}

void census_take(struct server *server)
{
    struct store *store = server_store(server);

    add_parts();
    if (world->plan.service == SIM_PATH)
        census_kept_paths(store);
    let_tasks_end(store);
    if (!store_healthy(store))
        return;
    check_pieces(store);
    if (census_rows(store, KEY_KIND_DROPPED, NULL, NULL) > 0)
        world_fail("census: a space that was dropped is not collected");
    inspect(store, learn);
    inspect(store, note);
    inspect(store, judge);
    census_rows(store, KEY_KIND_INDEX, look_at_index, NULL);
    census_rows(store, KEY_KIND_COUNTER, look_at_counter, NULL);
    if (commits_are_divided())
        census_placement_end(store, parts[0].account);
    for (unsigned i = 0; i < space_count; i++) {
        const char *wrong = spaces[i].part->end(store, &spaces[i].id, spaces[i].index_rows);

        if (wrong)
            world_fail("census: %s", wrong);
    }
}
