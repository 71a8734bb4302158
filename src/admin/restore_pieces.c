/* Writes the pieces of a partition that is being restored: see restore_pieces.h. */
#include "admin/restore_pieces.h"

#include <string.h>

#include "base/sleeper.h"

bool restore_fail(struct restore *r, const char *problem)
{
    if (!r->problem)
        r->problem = problem;
    return false;
}

bool restore_fail_store(struct restore *r, enum store_result result)
{
    return restore_fail(r, result == STORE_NOT_FOUND
                               ? "the restore took too long, and its data was dropped"
                               : store_result_text(result));
}

void restore_close_pieces(struct restore *r)
{
    for (int sealed = 0; sealed < 2; sealed++) {
        if (r->stages[sealed])
            stage_close(r->stages[sealed]);
        r->stages[sealed] = NULL;
    }
    r->pieces = NULL;
    r->piece_count = 0;
    r->seals = NULL;
    r->added = r->seal_room = 0;
}

/* Records the seal of the next piece. */
static void add_seal(struct restore *r, struct bytes bytes)
{
    struct piece_seal *seal = NULL;

    if (r->added == r->seal_room) {
        size_t room = r->seal_room > 0 ? 2 * r->seal_room : 64;
        const struct piece_seal **seals = arena_array(r->part, room, sizeof *seals);

        if (r->added > 0)
            memcpy(seals, r->seals, r->added * sizeof *seals);
        r->seals = seals;
        r->seal_room = room;
    }
    if (bytes.ptr) {
        seal = arena_alloc(r->part, offsetof(struct piece_seal, salt) + bytes.len);
        seal->store_key = 0;
        memcpy((char *)seal + offsetof(struct piece_seal, salt), bytes.ptr, bytes.len);
    }
    r->seals[r->added++] = seal;
}

/* Returns the stage of pieces with or without a seal. */
static struct stage *stage_for(struct restore *r, bool sealed)
{
    struct stage **stage = &r->stages[sealed];

    if (*stage)
        return *stage;
    *stage = stage_open(r->endpoint->store, UINT64_MAX);
    if (sealed)
        stage_keep(*stage);
    return *stage;
}

bool restore_add_piece(struct restore *r, struct bytes data, struct bytes seal)
{
    enum store_result result = STORE_OK;
    struct sleeper sleeper;
    struct stage *stage;

    if (data.len == 0 || data.len > PIECE_MAX_BYTES || r->pieces ||
        (seal.ptr && seal.len != RESTORE_SEAL_SIZE(piece_sectors_of((uint32_t)data.len))))
        return restore_fail(r, "a piece of the backup is malformed");
    add_seal(r, seal);
    stage = stage_for(r, seal.ptr != NULL);
    stage_cut(stage, data.len);
    sleeper_init(&sleeper);
    while (!result && data.len > 0) {
        size_t taken = 0;

        result = stage_write(stage, data, sleeper_arm(&sleeper), &taken);
        data = bytes_from(data, taken);
        if (result == STORE_WAIT) {
            sleeper_wait(&sleeper);
            result = STORE_OK;
        }
    }
    sleeper_release(&sleeper);
    return result ? restore_fail_store(r, result) : true;
}

static bool finish_stage(struct restore *r, struct stage *stage)
{
    enum store_result result;
    struct sleeper sleeper;

    sleeper_init(&sleeper);
    while ((result = stage_finish(stage, sleeper_arm(&sleeper))) == STORE_WAIT)
        sleeper_wait(&sleeper);
    sleeper_release(&sleeper);
    return result ? restore_fail_store(r, result) : true;
}

bool restore_finish_pieces(struct restore *r)
{
    const struct piece *next[2] = { NULL, NULL };
    struct piece *pieces;
    size_t count[2] = { 0, 0 };

    if (r->added == 0 || r->pieces)
        return true;
    for (int sealed = 0; sealed < 2; sealed++) {
        if (!r->stages[sealed])
            continue;
        if (!finish_stage(r, r->stages[sealed]))
            return false;
        next[sealed] = stage_pieces(r->stages[sealed], &count[sealed]);
    }
    if (count[0] + count[1] != r->added)
        return restore_fail(r, "a piece of the backup is malformed");
    pieces = arena_array(r->part, r->added, sizeof *pieces);
    for (size_t i = 0; i < r->added; i++) {
        pieces[i] = *next[r->seals[i] != NULL]++;
        if (r->seals[i])
            pieces[i].seal = r->seals[i];
    }
    r->pieces = pieces;
    r->piece_count = r->added;
    return true;
}
