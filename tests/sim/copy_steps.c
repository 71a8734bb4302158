/* See copy_steps.h. */
#include "copy_steps.h"

#include <string.h>

#include "blob/create_blob.h"
#include "blob/pending_copy.h"
#include "commits.h"
#include "moves.h"
#include "scheduler.h"
#include "world.h"

#define SECOND_NS UINT64_C(1000000000)

void __real_copy_defer(struct decision *d, const struct pending_copy *pending);
void __wrap_copy_defer(struct decision *d, const struct pending_copy *pending);
void __wrap_copy_defer(struct decision *d, const struct pending_copy *pending)
{
    memcpy(copy_steps()->begun, pending->source.id.b, COPY_ID_SIZE);
    __real_copy_defer(d, pending);
}

enum error __real_create_blob_commit(struct decision *d, struct blob *blob,
                                     const struct named_blocks *blocks);
enum error __wrap_create_blob_commit(struct decision *d, struct blob *blob,
                                     const struct named_blocks *blocks);
enum error __wrap_create_blob_commit(struct decision *d, struct blob *blob,
                                     const struct named_blocks *blocks)
{
    copy_steps()->etag = blob->etag.v;
    copy_steps()->modified_s = (int64_t)((blob->modified - INSTANT_UNIX_EPOCH) / TICKS_PER_SECOND);
    return __real_create_blob_commit(d, blob, blocks);
}

enum error __real_copy_find(struct decision *d, const struct guid *id,
                            struct pending_copy *ret_pending);
enum error __wrap_copy_find(struct decision *d, const struct guid *id,
                            struct pending_copy *ret_pending);
/* Each attempt of a job begins with it: first when it is known what the crash has left. */
enum error __wrap_copy_find(struct decision *d, const struct guid *id,
                            struct pending_copy *ret_pending)
{
    while (!commits_here()->has_started)
        sched_sleep(SECOND_NS / 10);
    copy_steps()->ends = false;
    if (moves_hide(&d->parts[0].partition.space))
        return E_NoPendingCopyOperation; /* the job of the task's next attempt will find it */
    return __real_copy_find(d, id, ret_pending);
}

static enum error note_ending(enum error e, const struct pending_copy *pending, bool succeeds)
{
    copy_steps()->ends = !e;
    copy_steps()->succeeds = succeeds;
    memcpy(copy_steps()->ended, pending->source.id.b, COPY_ID_SIZE);
    return e;
}

enum error __real_copy_complete(struct decision *d, const struct pending_copy *pending,
                                const struct body *body, const struct copied_bytes *bytes);
enum error __wrap_copy_complete(struct decision *d, const struct pending_copy *pending,
                                const struct body *body, const struct copied_bytes *bytes);
enum error __wrap_copy_complete(struct decision *d, const struct pending_copy *pending,
                                const struct body *body, const struct copied_bytes *bytes)
{
    return note_ending(__real_copy_complete(d, pending, body, bytes), pending, true);
}

enum error __real_copy_end(struct decision *d, const struct pending_copy *pending,
                           enum copy_status status, struct bytes description);
enum error __wrap_copy_end(struct decision *d, const struct pending_copy *pending,
                           enum copy_status status, struct bytes description);
enum error __wrap_copy_end(struct decision *d, const struct pending_copy *pending,
                           enum copy_status status, struct bytes description)
{
    return note_ending(__real_copy_end(d, pending, status, description), pending, false);
}
