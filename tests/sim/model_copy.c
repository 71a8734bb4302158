/* Copy Blob and Copy Blob From URL: of sources on this server before the answer, of those on others
 * later, unless they are copied at once.
 * rest: Copy-Blob, Copy-Blob-From-URL, Abort-Copy-Blob */
#include "model_private.h"

#include <string.h>

/* What is copied. */
struct source {
    const struct stamp *stamp;
    const struct contents *contents;
    unsigned metadata, type;
    bool is_archived;
};

static bool refuse_source(struct run *run, int status, const char *code)
{
    rule_refuse(run, status, run->ask->is_sync ? "CannotVerifyCopySource" : code);
    return false;
}

/* At the commit at which it is read, which may be before that of the copy. */
static bool find_source(struct run *run, struct source *ret_source)
{
    const struct ask *ask = run->ask;
    uint64_t at = run->doubt.source_at;
    const struct container_state *c = model_container_at(ask->source_container, at);
    struct blob_state b = *model_blob_at(ask->source_container, ask->source_blob, at);
    const struct snapshot_state *s = NULL;

    if (!c->exists)
        return refuse_source(run, 404, "ContainerNotFound");
    if (b.incarnation != c->incarnation)
        return refuse_source(run, 404, "BlobNotFound");
    if (ask->source_snapshot[0]) {
        s = rule_find_snapshot(model_blob_at(ask->source_container, ask->source_blob, at),
                               ask->source_snapshot, ask->source_is_version);
        if (!s && !rule_is_current(&b, ask->source_snapshot, ask->source_is_version))
            return refuse_source(run, 404, "BlobNotFound");
    }
    if (s) {
        *ret_source = (struct source){ s->stamp, &s->contents, s->metadata, s->type, false };
    } else {
        if (!b.exists)
            return refuse_source(run, 404, "BlobNotFound");
        *ret_source = (struct source){
            b.stamp,    &model_blob_at(ask->source_container, ask->source_blob, at)->contents,
            b.metadata, b.type,
            false,
        };
    }
    if (ask->source_etag && ret_source->stamp->etag != ask->source_etag)
        return refuse_source(run, 412, "SourceConditionNotMet");
    if (!s && b.comes_back && rule_is_doubtful(run, &b.back) && run->doubt.source_came_back)
        b.tier = b.comes_back;
    if (ret_source->contents->key > 0)
        return refuse_source(run, 409, "BlobUsesCustomerSpecifiedEncryption");
    ret_source->is_archived = !s && b.tier == AT_ARCHIVE;
    if (ret_source->is_archived && ask->is_sync)
        return refuse_source(run, 409, b.comes_back ? "BlobBeingRehydrated" : "BlobArchived");
    return true;
}

/* A lease that ends would end while a long copy goes on. */
static bool check_lease(struct run *run)
{
    const struct model_lease *lease = &run->out->blob.lease;

    if (run->ask->is_sync || lease->duration_s < 0 ||
        model_lease_now(lease, run->doubt.late, run->from_ns, run->to_ns) != NOW_LEASED)
        return true;
    rule_refuse(run, 412, "InfiniteLeaseDurationRequired");
    return false;
}

static struct contents empty_of(struct run *run, enum blob_kind kind)
{
    struct contents contents = { .kind = kind, .made = rule_next_write(run) };

    if (kind == KIND_PAGES)
        contents_resize(&contents, 0, run->commits);
    return contents;
}

/* On another server: its type is "text/plain". */
static void remote_source(struct run *run, struct contents *contents, struct source *ret_source)
{
    const struct ask *ask = run->ask;

    *contents = empty_of(run, ask->kind);
    if (ask->kind == KIND_PAGES) {
        contents_resize(contents, ask->content.length, run->commits);
        if (ask->content.length > 0)
            contents_write(contents, 0, ask->content.length, &ask->content, rule_next_write(run),
                           run->commits);
    } else {
        contents->segments[0] = ask->content;
        contents->segment_count = 1;
    }
    *ret_source = (struct source){ NULL, contents, 0, 1, false };
}

/* The destination as it will be. */
static void take(struct run *run, const struct pending_state *from)
{
    struct blob_state *b = &run->out->blob;

    b->contents = from->contents;
    b->contents.made = rule_next_write(run);
    b->metadata = from->metadata;
    b->type = from->type;
    b->tag = from->tag;
    b->tier = AT_INFERRED;
    b->comes_back = AT_INFERRED;
    b->shield = from->shield;
}

/* What is there stays, or there is nothing yet. */
static void begin_pending(struct run *run, const struct pending_state *target)
{
    struct blob_state *b = &run->out->blob;
    bool is_place = !b->exists, keeps = false;

    if (is_place ? !rule_make_way(run, target->contents.kind)
                 : !rule_begin_version(run, target->contents.kind, &keeps))
        return;
    b->is_place = is_place;
    if (keeps)
        b->shield = rule_default_shield(run);
    if (is_place) {
        rule_set_created(run, target->contents.kind);
        take(run, target);
        b->contents = empty_of(run, target->contents.kind);
    }
    rule_change_blob(run, 202);
    b->copy = COPIES_STILL;
    b->pending = *target;
}

void rule_end_copy(struct run *run, enum copy_state how)
{
    struct blob_state *b = &run->out->blob;

    if (!b->is_place)
        rule_replace_by_copy(run);
    b->is_place = false;
    if (how != COPIED)
        b->pending.shield = (struct shield){ .mode = NOT_RETAINED };
    if (how != COPIED)
        b->pending.contents = empty_of(run, b->pending.contents.kind);
    take(run, &b->pending);
    rule_new_version(run);
    b->staged_count = 0;
    b->copy = how;
}

void rule_copy(struct run *run)
{
    const struct ask *ask = run->ask;
    struct blob_state *b = &run->out->blob;
    struct contents contents;
    struct source source;
    struct pending_state target;
    struct shield shield;

    if (ask->is_remote && ask->fate == FATE_LIES_AT_ONCE) {
        rule_refuse(run, 500, "CannotVerifyCopySource");
        return;
    }
    if (ask->is_remote)
        remote_source(run, &contents, &source);
    else if (!find_source(run, &source))
        return;
    if (ask->is_sync && source.contents->kind != KIND_BLOCKS) { /* decision: 99 */
        rule_refuse(run, 409, "CannotVerifyCopySource");
        return;
    }
    if (!rule_check_protection(run) || !check_lease(run))
        return;
    if (b->exists && b->contents.kind != source.contents->kind) {
        rule_refuse(run, 409, "InvalidBlobType");
        return;
    }
    if (!rule_check_archived(run, b) || !rule_give_shield(run, &shield))
        return;
    target = (struct pending_state){ .fate = ask->fate,
                                     .metadata = ask->metadata ? ask->metadata : source.metadata,
                                     .type = source.type,
                                     .tag = ask->tag,
                                     .shield = shield,
                                     .contents = *source.contents };
    if (ask->is_remote && !ask->is_sync) {
        begin_pending(run, &target);
        return;
    }
    if (!rule_make_way(run, target.contents.kind))
        return;
    rule_set_created(run, target.contents.kind);
    rule_change_blob(run, 202);
    take(run, &target);
    b->staged_count = 0;
    b->copy = COPIED;
    if (source.is_archived) {
        b->tier = AT_ARCHIVE;
        rule_bring_back(run, AT_HOT);
    }
}

void rule_abort_copy(struct run *run)
{
    const struct blob_state *b = &run->out->blob;

    run->out->stamp = NULL;
    if (b->copy != COPIES_STILL) {
        rule_refuse(run, 409, "NoPendingCopyOperation");
    } else if (memcmp(&b->pending.id, &run->ask->copy_id, sizeof b->pending.id) != 0) {
        rule_refuse(run, 409, "CopyIdMismatch");
    } else {
        rule_end_copy(run, COPY_WAS_ABORTED);
        run->out->stamp = NULL; /* the answer has no ETag */
        rule_succeed(run, 204, true);
    }
}
