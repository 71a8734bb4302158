/* Placements in the cells of a cluster: the root has a row for each name that is in another cell, and counts them; a cell
 * knows which of its names have one, and which moves are cancelled. A row without a container may be left, and tasks that need another cell. */
#include "census_part.h"

#include <string.h>

#include "auth/auth.h"
#include "base/codec.h"
#include "commits.h"
#include "service/placement.h"
#include "service/placement_move.h"
#include "service/task_retry.h"
#include "services.h"
#include "store/record_key.h"
#include "world.h"

static unsigned row_cells[NAMES_MAX]; /* by name; 0: it has no row */
static unsigned row_counts[CLUSTER_CELLS + 1];

static int name_of(struct bytes partition_key)
{
    for (unsigned i = 0; i < sim_service()->name_count; i++)
        if (bytes_is_nocase(partition_key, sim_service()->names[i]))
            return (int)i;
    return -1;
}

/* A row of the root. */
static const char *note_row(unsigned name, struct bytes value)
{
    unsigned is_in = sim_service()->cell_of(name);
    struct decoder in;
    unsigned cell;

    decoder_init(&in, value);
    (void)decode_u8(&in);
    cell = (unsigned)decode_u64(&in);
    if (in.bad || cell < 2 || cell > world->plan.cluster_cells)
        return "a placement that makes no sense";
    row_cells[name] = cell;
    row_counts[cell]++;
    return is_in == 0 || is_in == cell ? NULL : "the placement of a container that is elsewhere";
}

bool census_placement_record(const struct record_place *place, const struct record *record,
                             const char **ret_why)
{
    int name = name_of(place->partition_key);
    unsigned cell = commits_cell();

    *ret_why = NULL;
    if (!commits_are_divided() || name < 0)
        return false;
    if (cell == 1 && bytes_is(place->record_key, "m")) {
        *ret_why = note_row((unsigned)name, record->value);
        return true;
    }
    return bytes_is(place->record_key, "x") ||
           (cell > 1 && (bytes_is(place->record_key, "n") || bytes_is(place->record_key, "o")));
}

bool census_placement_counter(struct bytes key)
{
    char kind = key.len > KEY_SPACE_SIZE ? key.ptr[KEY_SPACE_SIZE] : '\0';

    return commits_are_divided() && (kind == 'v' || (commits_cell() == 1 && kind == 'm'));
}

bool census_placement_task(struct bytes value)
{
    struct decoder in;
    uint64_t kind;

    decoder_init(&in, value);
    (void)decode_u8(&in);
    kind = decode_u64(&in);
    if (kind == TASK_RETRY) { /* it has failed before, because the other cell was away */
        decoder_init(&in, decode_bytes(&in));
        (void)decode_u8(&in);
        (void)decode_u64(&in);
        kind = decode_u64(&in);
    }
    return commits_are_divided() && !in.bad &&
           (kind == TASK_CHECK_PLACEMENT || kind == TASK_TELL_ROOT);
}

void census_placement_end(struct store *store, struct guid account)
{
    struct move_count moves;

    if (placement_count_moves(store, sim_service()->service->name,
                              bytes_from_string(DEVELOPMENT_ACCOUNT), STORE_MAY_BLOCK, &moves) ||
        moves.seals != moves.finished)
        world_fail("census: %lld moves were sealed, and %lld are finished", (long long)moves.seals,
                   (long long)moves.finished);
    if (commits_cell() != 1)
        return;
    for (unsigned i = 0; i < sim_service()->name_count; i++) {
        unsigned is_in = sim_service()->cell_of(i);

        if (is_in > 1 && row_cells[i] != is_in)
            world_fail("census: %s is in cell %u, and the root does not say so",
                       sim_service()->names[i], is_in);
    }
    for (unsigned cell = 2; cell <= world->plan.cluster_cells; cell++) {
        int64_t counted = 0;

        if (placement_count(store, account, cell, STORE_MAY_BLOCK, &counted) ||
            counted != (int64_t)row_counts[cell])
            world_fail("census: %u names are placed in cell %u, and %lld are counted",
                       row_counts[cell], cell, (long long)counted);
    }
}
