/* Copy Blob and Copy Blob From URL, of sources on this server that are copied before the answer.
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
                               ask->source_snapshot);
        if (!s)
            return refuse_source(run, 404, "BlobNotFound");
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
    if (!s && b.comes_back && rule_came_back(run, &b.back))
        b.tier = b.comes_back;
    ret_source->is_archived = !s && b.tier == AT_ARCHIVE;
    if (ret_source->is_archived && ask->is_sync)
        return refuse_source(run, 409, b.comes_back ? "BlobBeingRehydrated" : "BlobArchived");
    return true;
}

/* A lease that ends would end while a long copy goes on. */
static bool check_lease(struct run *run)
{
    const struct lease_state *lease = &run->out->blob.lease;

    if (run->ask->is_sync || lease->duration_s < 0 ||
        model_lease_now(lease, run->doubt, run->from_ns, run->to_ns) != NOW_LEASED)
        return true;
    rule_refuse(run, 412, "InfiniteLeaseDurationRequired");
    return false;
}

void rule_copy(struct run *run)
{
    const struct ask *ask = run->ask;
    struct blob_state *b = &run->out->blob;
    struct source source;

    if (!find_source(run, &source))
        return;
    if (ask->is_sync && source.contents->kind != KIND_BLOCKS) {
        rule_refuse(run, 409, "InvalidBlobType");
        return;
    }
    if (!check_lease(run))
        return;
    if (b->exists && b->contents.kind != source.contents->kind) {
        rule_refuse(run, 409, "InvalidBlobType");
        return;
    }
    if (!rule_check_archived(run, b))
        return;
    rule_change_blob(run, 202);
    b->contents = *source.contents;
    b->contents.made = rule_next_write(run);
    b->metadata = ask->metadata ? ask->metadata : source.metadata;
    b->type = source.type;
    b->tag = ask->tag;
    b->tier = AT_INFERRED;
    b->comes_back = AT_INFERRED;
    b->staged_count = 0;
    b->is_copy = true;
    if (source.is_archived) {
        b->tier = AT_ARCHIVE;
        rule_bring_back(run, AT_HOT);
    }
}

/* No copy of the simulated server is pending when it is answered. */
void rule_abort_copy(struct run *run)
{
    run->out->stamp = NULL;
    rule_refuse(run, 409, "NoPendingCopyOperation");
}
