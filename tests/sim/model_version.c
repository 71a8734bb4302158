/* Versions of blobs: what a write leaves of the state before it, and under which id.
 * rest: "Blob versioning"; decisions: 803 to 805 */
#include <string.h>

#include "model_private.h"
#include "times.h"
#include "world.h"

#define TICKS_AHEAD 10000u /* a millisecond */

/* What becomes of the base, and what its successor is. */
struct change {
    bool keeps;        /* it stays as a version, */
    uint64_t kept, id; /* under this id; and that of what takes its place; 0: none */
};

/* Of something that has expired nobody knows whether it is there still: did it go? */
static bool is_gone(const struct run *run, uint64_t expires)
{
    return expires > 0 && !rule_is_kept(run, expires) && run->doubt.came_back;
}

bool rule_check_versions(struct run *run, enum blob_kind kind)
{
    const struct blob_state *b = &run->out->blob;
    bool are_others = false;

    for (unsigned i = 0; i < b->snapshot_count; i++)
        are_others |= b->snapshots[i].is_version && b->snapshots[i].contents.kind != kind &&
                      !is_gone(run, b->snapshots[i].expires);
    if (are_others)
        rule_refuse(run, 409, "InvalidBlobType");
    return !are_others;
}

bool model_has_versions_only(const struct blob_state *b)
{
    if (b->exists)
        return false;
    for (unsigned i = 0; i < b->snapshot_count; i++)
        if (b->snapshots[i].is_version)
            return true;
    return false;
}

/* ---- states that stay ---- */

struct snapshot_state *rule_add_state(struct run *run, uint64_t at)
{
    struct blob_state *b = &run->out->blob;
    unsigned place = b->snapshot_count;

    if (b->snapshot_count == SNAPSHOTS_MAX)
        world_fail("the model is too small for so many snapshots");
    while (at > 0 && place > 0 && b->snapshots[place - 1].at > at)
        place--;
    memmove(&b->snapshots[place + 1], &b->snapshots[place],
            (b->snapshot_count - place) * sizeof b->snapshots[0]);
    b->snapshot_count++;
    b->snapshots[place] =
        (struct snapshot_state){ .time = rule_new_stamp(run),
                                 .stamp = b->stamp,
                                 .at = at,
                                 .metadata = b->metadata,
                                 .type = b->type,
                                 .tag = b->tag,
                                 .tier = b->tier,
                                 .copy = b->copy == COPIES_STILL ? IS_NO_COPY : b->copy,
                                 .contents = b->contents,
                                 .created = b->created,
                                 .modified = b->modified,
                                 .shield = b->shield };
    if (run->commits && at > 0)
        times_format(at, b->snapshots[place].time->snapshot);
    return &b->snapshots[place];
}

/* Ids only rise, and are nothing else's. */
static void check_id(const struct run *run, uint64_t id)
{
    const struct blob_state *b = &run->out->blob;

    if (!run->commits)
        return;
    if (id <= b->newest_version)
        world_fail("a version id that is not above those that the blob has given");
    for (unsigned i = 0; i < b->snapshot_count; i++)
        if (b->snapshots[i].at == id)
            world_fail("a version id that another state of the blob has");
}

static void keep(struct run *run, uint64_t id)
{
    struct blob_state *b = &run->out->blob;

    if (id != b->version)
        check_id(run, id);
    rule_add_state(run, id)->is_version = true;
    if (id > b->newest_version)
        b->newest_version = id;
}

static void give(struct run *run, uint64_t id)
{
    struct blob_state *b = &run->out->blob;

    b->version = id;
    if (id == 0)
        return;
    check_id(run, id);
    b->newest_version = id;
}

/* ---- writes ---- */

/* What was soft-deleted becomes a snapshot of now, so that instant is taken. */
static bool takes_now(const struct run *run)
{
    const struct blob_state *b = &run->out->blob;

    return b->expires > 0 && rule_is_kept(run, b->expires) ? true : run->doubt.kept.has_kept_base;
}

static struct change plan(const struct run *run)
{
    const struct blob_state *b = &run->out->blob;
    struct change change = { .keeps =
                                 b->exists && (run->doubt.kept.is_versioned || b->version > 0) };
    uint64_t now = run->doubt.kept.now;
    bool is_taken = !b->exists && takes_now(run);

    if (change.keeps) {
        change.kept = b->version > 0 ? b->version : now;
        is_taken = change.kept == now;
    }
    if (run->doubt.kept.is_versioned)
        change.id = now + is_taken;
    return change;
}

bool rule_begin_version(struct run *run, enum blob_kind kind, bool *ret_keeps)
{
    const struct blob_state *b = &run->out->blob;
    struct change change = plan(run);

    *ret_keeps = change.keeps;
    if (change.keeps && b->contents.kind != kind) {
        rule_refuse(run, 409, "InvalidBlobType");
        return false;
    }
    if (!rule_check_versions(run, kind))
        return false;
    if (change.keeps)
        keep(run, change.kept);
    give(run, change.id);
    return true;
}

void rule_delete_to_version(struct run *run)
{
    struct blob_state *b = &run->out->blob;

    keep(run, b->version > 0 ? b->version : run->doubt.kept.now);
    b->last_stamp = b->stamp;
    b->last_length = contents_length(&b->contents);
    b->exists = false;
    b->version = 0;
    b->staged_count = 0;
    b->tag = 0;
    memset(&b->lease, 0, sizeof b->lease);
}

/* The version is ahead of the snapshot by a millisecond, or, where the last one is ahead of the clock, by a tick. */
uint64_t rule_begin_snapshot(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    uint64_t now = run->doubt.kept.now, date = now, kept = b->version > 0 ? b->version : now;
    bool is_ahead = b->newest_version + 1 >= now;

    if (!kept_has_versions() || !run->doubt.kept.is_versioned)
        return kept_has_versions() ? now : 0;
    date += kept == now;
    keep(run, kept);
    give(run, date + (is_ahead ? 1 : TICKS_AHEAD));
    return date;
}
