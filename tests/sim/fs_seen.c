/* Around what decides (ld --wrap). */
#include "fs_seen.h"

#include <string.h>

#include "fs_copy_steps.h"
#include "request.h"
#include "scheduler.h"
#include "file/copy_file.h"
#include "file/share_operations.h"
#include "service/operation.h"

static struct fs_seen seen[CLIENTS_MAX];

struct fs_seen fs_seen(unsigned slot)
{
    return seen[slot];
}

void fs_seen_clear(unsigned slot)
{
    seen[slot] = (struct fs_seen){ 0 };
}

void fs_seen_put(unsigned slot, const struct fs_seen *of_commit)
{
    seen[slot] = *of_commit;
}

static void note_copy(const struct copy_file_parameters *p, struct fs_seen *to)
{
    memcpy(to->copy.bytes, p->id.b, sizeof to->copy.bytes);
    to->copy_is_pending = p->is_pending;
    to->copy_is_dense = !p->is_pending && !p->has_ranges;
}

enum error __real_operation_decide(struct decision *d, const struct parameters *parameters,
                                   struct result *result);
enum error __wrap_operation_decide(struct decision *d, const struct parameters *parameters,
                                   struct result *result);
/* A source on this server is found by a read that the request makes. */
enum error __wrap_operation_decide(struct decision *d, const struct parameters *parameters,
                                   struct result *result)
{
    enum error e = __real_operation_decide(d, parameters, result);
    int slot = request_slot();

    if (e == DECIDE_WAITS && slot < 0)
        fs_copy_waits_to_read();
    if ((e && e != DECIDE_WAITS) || slot < 0)
        return e;
    sched_hold();
    seen[slot].waits_to_write = e && d->operation->rights.effect == WRITES;
    if (e) {
        sched_release();
        return e;
    }
    if (strcmp(d->operation->name, "Copy File") == 0)
        note_copy((const struct copy_file_parameters *)(const void *)parameters, &seen[slot]);
    if (strcmp(d->operation->name, "Snapshot Share") == 0)
        seen[slot].snapshot =
            ((const struct snapshot_share_result *)(const void *)result)->snapshot;
    if (d->operation->rights.effect == WRITES)
        seen[slot].written = result->etag.v;
    else
        seen[slot].read = result->etag.v;
    sched_release();
    return e;
}
