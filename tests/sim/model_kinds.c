/* What only one kind of blob has. rest: Append-Block, Append-Blob-Seal, Put-Page,
 * Set-Blob-Properties, Get-Page-Ranges, Set-Blob-Tier */
#include "model_private.h"
#include "sim_limits.h"

#include <limits.h>
#include <string.h>

/* ---- append and page blobs ---- */

void rule_append_block(struct run *run)
{
    const struct ask *ask = run->ask;
    struct contents *contents = &run->out->blob.contents;
    uint32_t length = contents_length(contents);

    if (!rule_check_kind(run, KIND_APPENDED))
        return;
    if (contents->sealed) {
        rule_refuse(run, 409, "BlobIsSealed");
    } else if (ask->has_position && ask->position != length) {
        rule_refuse(run, 412, "AppendPositionConditionNotMet");
    } else if (ask->has_size_max && length + ask->content.length > ask->size_max) {
        rule_refuse(run, 412, "MaxBlobSizeConditionNotMet");
    } else if (contents->appended >= limit_of(LIMIT_APPENDED, UINT_MAX)) {
        rule_refuse(run, 409, "BlockCountExceedsLimit");
    } else if (rule_check_key(run, contents->key)) {
        rule_change_blob(run, 201);
        contents_append(contents, &ask->content, run->commits);
    }
}

void rule_seal(struct run *run)
{
    const struct ask *ask = run->ask;
    struct contents *contents = &run->out->blob.contents;

    if (!rule_check_kind(run, KIND_APPENDED))
        return;
    if (ask->has_position && ask->position != contents_length(contents)) {
        rule_refuse(run, 412, "AppendPositionConditionNotMet");
        return;
    }
    rule_change_blob(run, 200);
    contents->sealed = true;
}

static bool check_sequence(struct run *run)
{
    uint64_t is = run->out->blob.contents.sequence, asked = run->ask->if_sequence;
    enum sequence_condition condition = run->ask->sequence_condition;

    if (condition == IF_ANY_SEQUENCE || (condition == IF_SEQUENCE_LE && is <= asked) ||
        (condition == IF_SEQUENCE_LT && is < asked) || (condition == IF_SEQUENCE_EQ && is == asked))
        return true;
    rule_refuse(run, 412, "SequenceNumberConditionNotMet");
    return false;
}

void rule_put_page(struct run *run)
{
    const struct ask *ask = run->ask;
    struct contents *contents = &run->out->blob.contents;

    if (!rule_check_kind(run, KIND_PAGES))
        return;
    if (ask->range_to >= contents_length(contents)) {
        rule_refuse(run, 416, "InvalidPageRange");
        return;
    }
    if (!check_sequence(run) || !rule_check_key(run, contents->key))
        return;
    rule_change_blob(run, 201);
    contents_write(contents, ask->range_from, ask->range_to + 1 - ask->range_from,
                   ask->op == OP_PUT_PAGE ? &ask->content : NULL, rule_next_write(run),
                   run->commits);
}

void rule_set_properties(struct run *run)
{
    const struct ask *ask = run->ask;
    struct blob_state *b = &run->out->blob;
    struct contents *contents = &b->contents;
    bool of_pages = ask->has_size || ask->sequence_act != SEQUENCE_KEPT;

    if (of_pages && !rule_check_kind(run, KIND_PAGES))
        return;
    if (ask->protect.key > 0 && !rule_check_key(run, contents->key))
        return;
    if (!rule_check_archived(run, b))
        return;
    if (ask->sequence_act == SEQUENCE_INCREMENT && contents->sequence == INT64_MAX) {
        rule_refuse(run, 409, "SequenceNumberIncrementTooLarge");
        return;
    }
    rule_change_blob(run, 200);
    if (ask->sequence_act == SEQUENCE_INCREMENT)
        contents->sequence++;
    else if (ask->sequence_act == SEQUENCE_UPDATE ||
             (ask->sequence_act == SEQUENCE_MAX && ask->sequence > contents->sequence))
        contents->sequence = ask->sequence;
    if (ask->has_size)
        contents_resize(contents, ask->size, run->commits);
    b->copy = IS_NO_COPY;
    if (!of_pages || ask->type > 0)
        b->type = ask->type;
}

void rule_page_ranges(struct run *run)
{
    const struct ask *ask = run->ask;
    const struct blob_state *b = &run->out->blob;
    const struct contents *contents =
        run->out->snapshot ? &run->out->snapshot->contents : &b->contents;

    if (!rule_check_kind(run, KIND_PAGES))
        return;
    if (!run->out->snapshot && b->copy == COPIES_STILL) {
        rule_refuse(run, 409, "PendingCopyOperation");
        return;
    }
    if (ask->has_range && ask->range_from >= contents_length(contents)) {
        rule_refuse(run, 416, "InvalidRange");
        return;
    }
    if (ask->previous[0]) {
        run->out->previous = rule_find_snapshot(b, ask->previous, false);
        if (ask->snapshot[0] && strcmp(ask->previous, ask->snapshot) > 0) {
            rule_refuse(run, 400, "PreviousSnapshotCannotBeNewer");
            return;
        }
        if (!run->out->previous) {
            rule_refuse(run, 409, "PreviousSnapshotNotFound");
            return;
        }
        if (run->out->previous->contents.made != contents->made) {
            rule_refuse(run, 409, "BlobOverwritten");
            return;
        }
    }
    rule_succeed(run, 200, false);
}

/* ---- tiers ---- */

/* An archived blob comes back some time after it is due. */
static void come_back(struct run *run)
{
    struct blob_state *b = &run->out->blob;

    if (b->comes_back == AT_INFERRED || !rule_came_back(run, &b->back))
        return;
    b->tier = b->comes_back;
    b->comes_back = AT_INFERRED;
}

bool rule_check_archived(struct run *run, const struct blob_state *b)
{
    if (!b->exists || b->tier != AT_ARCHIVE)
        return true;
    rule_refuse(run, 409, b->comes_back ? "BlobBeingRehydrated" : "BlobArchived");
    return false;
}

/* With high priority in a tenth of the time. */
void rule_bring_back(struct run *run, enum tier tier)
{
    struct blob_state *b = &run->out->blob;

    b->comes_back = tier;
    b->is_fast = run->ask->is_fast;
    b->back = rule_ending_after(run, b->is_fast ? REHYDRATE_S / 10 : REHYDRATE_S);
    b->back.to_ns = UINT64_MAX / 2;
    b->back.life = UINT_MAX; /* steps of the wall clock do not move it, as they do leases */
}

/* Those of the archive are not set where blobs have versions. */
static void set_tier_of_version(struct run *run)
{
    struct blob_state *b = &run->out->blob;
    struct snapshot_state *s = &b->snapshots[run->out->snapshot - b->snapshots];

    if (!rule_check_key(run, s->contents.key))
        return;
    if (s->contents.kind != KIND_BLOCKS) {
        rule_refuse(run, 400, "AccessTierNotSupportedForBlobType");
        return;
    }
    s->tier = run->ask->tier;
    rule_succeed(run, 200, true);
}

void rule_set_tier(struct run *run)
{
    const struct ask *ask = run->ask;
    struct blob_state *b = &run->out->blob;
    struct ending was_due;

    if (run->out->snapshot) {
        set_tier_of_version(run);
        return;
    }
    if (!rule_check_key(run, b->contents.key))
        return;
    if (b->contents.kind != KIND_BLOCKS) {
        rule_refuse(run, 400, "AccessTierNotSupportedForBlobType");
        return;
    }
    if (b->tier != AT_ARCHIVE || (ask->tier == AT_ARCHIVE && !b->comes_back)) {
        b->tier = ask->tier;
        rule_succeed(run, 200, true);
        return;
    }
    if (b->comes_back && (ask->tier != b->comes_back || (b->is_fast && !ask->is_fast))) {
        rule_refuse(run, 409, "BlobBeingRehydrated");
        return;
    }
    was_due = b->back;
    run->out->either_status = b->comes_back && rule_is_doubtful(run, &b->back);
    if (!b->comes_back || ask->is_fast != b->is_fast) {
        rule_bring_back(run, ask->tier);
        if (run->out->either_status)
            b->back.from_ns = was_due.from_ns;
    }
    rule_succeed(run, 202, true);
}

void rule_begin_kind(struct run *run)
{
    come_back(run);
}
