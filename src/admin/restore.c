/* Restore of a single container, queue, table or share. The command reads the backup
 * (cli/restore.c), starts the restore, sends the records in batches, and ends it. Only one restore
 * runs at a time; a restore without contact for a minute is replaced by the next. */
#include <pthread.h>

#include "admin/admin_private.h"
#include "admin/restore_state.h"
#include "base/lock.h"
#include "base/log.h"
#include "observe/access_log.h"
#include "request/internal_request.h"

#define QUIET_MS 60000u

static struct {
    struct lock lock;
    struct restore *running; /* under lock; NULL if none exists, or a thread uses it */
    bool is_taken;           /* under lock: in use by a thread */
} held;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void)
{
    lock_init(&held.lock, RANK_BACKUP_HOLD);
}

/* Acquires the running restore with this id, or any restore if id is NULL. Returns NULL if there
 * is none, or it is in use. */
static struct restore *take(const struct bytes *id)
{
    char text[GUID_TEXT_SIZE];
    struct restore *r;

    pthread_once(&once, init);
    lock_acquire(&held.lock);
    r = held.is_taken ? NULL : held.running;
    if (r && id) {
        guid_format(&r->id, text);
        r = bytes_is(*id, text) ? r : NULL;
    }
    if (r)
        held.is_taken = true;
    lock_release(&held.lock);
    return r;
}

/* Releases the restore. r: NULL if the restore has ended */
static void give(struct restore *r)
{
    if (r)
        r->heard_ms = clock_monotonic_ms();
    lock_acquire(&held.lock);
    held.running = r;
    held.is_taken = false;
    lock_release(&held.lock);
}

/* Prepares for a new restore, replacing an abandoned one. Returns false after failing the call. */
static bool replace_abandoned(struct admin_call *call)
{
    struct restore *before = take(NULL);
    bool is_free = true;

    if (before && clock_monotonic_ms() - before->heard_ms < QUIET_MS) {
        give(before);
        is_free = false;
    } else if (before) {
        restore_free(before, false);
    } else {
        lock_acquire(&held.lock);
        is_free = !held.is_taken;
        held.is_taken = true;
        lock_release(&held.lock);
    }
    if (!is_free)
        admin_fail(call, 409, "RestoreRuns", "Another restore is running.");
    return is_free;
}

/* Arguments: kind, account, name, replace. */
enum { KIND, ACCOUNT, NAME, REPLACE };

static const struct endpoint *endpoint_of(struct admin_call *call)
{
    static const char *const kinds[][2] = {
        { "container", "blob" }, { "queue", "queue" }, { "table", "table" }, { "share", "file" }
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (bytes_is(call->given[KIND], kinds[i][0]))
            return endpoint_find(call->admin->endpoints, bytes_from_string(kinds[i][1]));
    admin_fail(call, 400, "InvalidArgument", "The kind must be container, queue, table or share.");
    return NULL;
}

void admin_restore_begin(struct admin_call *call)
{
    const struct endpoint *endpoint = endpoint_of(call);
    struct restore *r;
    char id[GUID_TEXT_SIZE];
    enum error e;

    if (!endpoint)
        return;
    if (!accounts_find(call->admin->accounts, call->given[ACCOUNT])) {
        admin_fail(call, 404, "AccountNotFound", "The account %.*s does not exist.",
                   BYTES_ARG(call->given[ACCOUNT]));
        return;
    }
    e = endpoint->service->restore->check_name(call->given[NAME]);
    if (e) {
        admin_fail_error(call, e);
        return;
    }
    if (!replace_abandoned(call))
        return;
    if (!restore_begin(endpoint, call->given[ACCOUNT], call->given[NAME],
                       call->given[REPLACE].ptr != NULL, &r)) {
        admin_fail(call, 500, "RestoreFailed", "Cannot start the restore: %s.", r->problem);
        restore_free(r, false);
        give(NULL);
        return;
    }
    guid_format(&r->id, id);
    json_write_member(&call->out, "id", bytes_from_string(id));
    give(r);
}

/* The body: the id, a zero byte, the batch. */
void admin_restore_put(struct admin_call *call)
{
    struct bytes id, batch;
    struct restore *r;

    pthread_once(&once, init);
    bytes_cut(text_bytes(&call->body), '\0', &id, &batch);
    r = batch.ptr ? take(&id) : NULL;
    if (!r) {
        admin_fail(call, 404, "NoSuchRestore", "No such restore is in progress.");
        return;
    }
    if (!restore_put(r, batch))
        admin_fail(call, 400, "RestoreFailed", "Cannot continue the restore: %s.", r->problem);
    give(r);
}

void admin_restore_end(struct admin_call *call)
{
    struct restore *r = take(&call->given[0]);
    enum error e;

    if (!r) {
        admin_fail(call, 404, "NoSuchRestore", "No such restore is in progress.");
        return;
    }
    e = restore_publish(r, call->admin->follows_root ? call->admin->cell : 0);
    if (!e)
        audit_note("a resource of this account was restored from a backup", r->account);
    if (e == E_ContainerAlreadyExists)
        admin_fail(call, 409, "AlreadyExists", "%.*s already exists; use --replace to replace it.",
                   BYTES_ARG(r->name));
    else if (e == E_MisdirectedRequest && r->where.cell > 0)
        admin_fail(call, 409, "AlreadyExists",
                   "%.*s is in cell %u; it can be restored there, or under another name (--as).",
                   BYTES_ARG(r->name), (unsigned)r->where.cell);
    else if (e)
        admin_fail_error(call, e);
    restore_free(r, !e);
    give(NULL);
}

void admin_restore_cancel(struct admin_call *call)
{
    struct restore *r = take(&call->given[0]);

    if (!r) {
        admin_fail(call, 404, "NoSuchRestore", "No such restore is in progress.");
        return;
    }
    restore_free(r, false);
    give(NULL);
}
