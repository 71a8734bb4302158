/* Contents that share runs.
 *
 * Put Block List creates content from blocks of the previous one. If the old content has no other
 * holder, it is deleted in the same commit, and each run simply changes owner. If a snapshot
 * retains it, the old and the new content may refer to the same runs. All contents for which this
 * is possible form the chain of the blob, ordered by id, which is the order of creation.
 *
 *   key    'k', 8 id be             value  1 version (1)    a member
 *   key    'K', 8 (2^64-1 - id) be  value  same             same, to find the previous member
 *
 * Chain invariants, cited as "chain invariant N":
 *  (1) The members that refer to a run are adjacent in the chain without a gap, because a list can
 *  name a committed block only if the newest content has it. So another member needs a run of a
 *  member if and only if the previous or the next member refers to it.
 *  (2) A content outside of the chain refers to no run that another content refers to.
 *  (3) Members leave one at a time, each in its own commit, so that each sees its actual
 *  neighbours. */
#include "base/codec.h"
#include "base/endian.h"
#include "content/backlog.h"

#define CHAIN_VERSION  1
#define CHAIN_KEY_SIZE 9

static void chain_keys(uint64_t id, char forward[CHAIN_KEY_SIZE], char backward[CHAIN_KEY_SIZE])
{
    forward[0] = 'k';
    be64_put(forward + 1, id);
    backward[0] = 'K';
    be64_put(backward + 1, UINT64_MAX - id);
}

void chain_join(struct changes *changes, uint64_t id)
{
    static const char version = CHAIN_VERSION;
    char forward[CHAIN_KEY_SIZE], backward[CHAIN_KEY_SIZE];

    chain_keys(id, forward, backward);
    changes_put(changes, RECORD_INNER, bytes_of(forward, sizeof forward), bytes_of(&version, 1),
                NULL, 0);
    changes_put(changes, RECORD_INNER, bytes_of(backward, sizeof backward), bytes_of(&version, 1),
                NULL, 0);
}

/* Returns the number in the first key greater than `key` with the same prefix. */
static enum store_result next_number(struct read_view *before, const char key[CHAIN_KEY_SIZE],
                                     uint64_t *ret_number)
{
    char from[CHAIN_KEY_SIZE + 1] = { 0 };
    enum store_result result;
    struct record record;
    struct scan *scan;

    memcpy(from, key, CHAIN_KEY_SIZE);
    scan = scan_open(before, RECORD_INNER, bytes_of(key, 1), bytes_of(from, sizeof from));
    result = scan_next(scan, NULL, &record);
    if (!result && record.key.len != CHAIN_KEY_SIZE)
        result = content_damaged(0, 0, "invalid key of a chain");
    if (!result)
        *ret_number = be64_get(record.key.ptr + 1);
    scan_close(scan);
    return result;
}

/* Removes the runs of a neighbour from *dead. backward: the number is from a 'K' key. */
static enum store_result subtract_neighbour(struct read_view *before, struct arena *arena,
                                            const char key[CHAIN_KEY_SIZE], bool backward,
                                            struct run_set *dead)
{
    struct run_set runs;
    uint64_t number = 0;
    enum store_result result = next_number(before, key, &number);

    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    result = run_set_of_content(before, arena, backward ? UINT64_MAX - number : number,
                                CONTENT_BLOCKS_MAX, DAMAGE_STOPS, &runs);
    if (!result)
        run_set_subtract(dead, &runs);
    return result;
}

enum store_result chain_leave(struct read_view *before, struct changes *changes,
                              struct arena *arena, uint64_t id)
{
    char forward[CHAIN_KEY_SIZE], backward[CHAIN_KEY_SIZE];
    enum store_result result;
    struct run_set dead;
    struct bytes next;

    chain_keys(id, forward, backward);
    result = run_set_of_content(before, arena, id, CONTENT_BLOCKS_MAX, DAMAGE_IS_PASSED, &dead);
    if (!result)
        result = subtract_neighbour(before, arena, forward, false, &dead);
    if (!result)
        result = subtract_neighbour(before, arena, backward, true, &dead);
    if (!result)
        result = segments_delete(before, changes, SEGMENT_OF_CONTENT, id, SIZE_MAX, &next);
    if (result)
        return result;
    changes_delete(changes, RECORD_INNER, bytes_of(forward, sizeof forward));
    changes_delete(changes, RECORD_INNER, bytes_of(backward, sizeof backward));
    backlog_add_runs(changes, BACKLOG_OF_CONTENT, id, &dead);
    return STORE_OK;
}
