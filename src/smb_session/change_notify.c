/* CHANGE_NOTIFY. The first request on an open sets the filter and starts recording changes until
 * the open is closed. Recorded changes complete one request at a time. ms-smb2: 2.2.35, 2.2.36,
 * 3.3.5.19; MS-FSA 2.1.5.11 */
#include "smb_session/message.h"
#include "smb_session/opens.h"
#include "smb_session/service.h"

#include <assert.h>
#include <stdlib.h>

#include "base/lock.h"
#include "handles/handle_info.h"
#include "opens/change_notification.h"

#define WATCH_TREE    0x0001u
#define KEPT_AT_FIRST ((size_t)1 << 10) /* initial space for changes, then doubled */
#define ENTRY_FIXED   12u

/* A pending CHANGE_NOTIFY. */
struct notify {
    struct smb_request *request;
    struct notify *next;
    uint32_t size;             /* OutputBufferLength */
    struct handle_query query; /* first request only: checks the directory */
    struct bytes output;
};

/* A recorded change, followed by its path. */
struct stored_change {
    uint32_t action, size;
};

struct smb_watch {
    struct watcher watcher; /* must be first: changed() is called with it */
    struct smb_connection *connection;
    struct smb_watch *next; /* in the connection's list */
    struct notify *waiting; /* pending requests, oldest first */
    /* OutputBufferLength of the first request, which limits later ones. smb2.notify.valid-req */
    uint32_t room;
    struct lock lock;       /* RANK_SMB; protects the following fields */
    char *changes;          /* struct stored_change, each with its path; NULL if empty */
    size_t size, room_size; /* used and allocated size of changes */
    bool has_overflowed;
    bool is_gone; /* the directory was deleted */
};

/* ---- recording changes: any thread ---- */

/* Grows the space for changes. Returns false at the limit of the watch or of the connection. */
static bool make_room(struct smb_watch *watch, size_t size)
{
    size_t had = watch->room_size, room = had > 0 ? had : KEPT_AT_FIRST;
    atomic_size_t *all = &watch->connection->changes_bytes;

    while (room < size)
        room *= 2;
    if (room > SMB_CHANGES_MAX)
        return false;
    if (room == had)
        return true;
    if (atomic_fetch_add(all, room - had) + (room - had) > SMB_CHANGES_OF_ALL_MAX) {
        atomic_fetch_sub(all, room - had);
        return false;
    }
    watch->changes = xrealloc(watch->changes, room);
    watch->room_size = room;
    return true;
}

static void forget(struct smb_watch *watch)
{
    atomic_fetch_sub(&watch->connection->changes_bytes, watch->room_size);
    free(watch->changes);
    watch->changes = NULL;
    watch->size = watch->room_size = 0;
}

static void store_change(struct smb_watch *watch, uint32_t action, struct bytes path)
{
    struct stored_change stored = { .action = action, .size = (uint32_t)path.len };
    size_t more = sizeof stored + path.len;

    lock_assert_held(&watch->lock);
    if (watch->has_overflowed || !make_room(watch, watch->size + more)) {
        watch->has_overflowed = true; /* the recorded changes are dropped */
        forget(watch);
        return;
    }
    memcpy(watch->changes + watch->size, &stored, sizeof stored);
    memcpy(watch->changes + watch->size + sizeof stored, path.ptr, path.len);
    watch->size += more;
}

static void changed(struct watcher *watcher, const struct change_notification *notification)
{
    struct smb_watch *watch = (struct smb_watch *)(void *)watcher;
    struct smb_connection *connection = watch->connection;

    lock_acquire(&watch->lock);
    if (notification->action == CHANGE_WATCHED_GONE)
        watch->is_gone = true;
    else
        store_change(watch, notification->action, notification->path);
    if (notification->action == CHANGE_RENAMED_OLD && notification->new_path.ptr)
        store_change(watch, CHANGE_RENAMED_NEW, notification->new_path);
    lock_release(&watch->lock);
    atomic_store(&connection->has_posted_changes, true);
    smb_post_news(connection);
}

/* ---- building the output ---- */

/* Appends an entry to the output. Returns false if it does not fit. ms-fscc: 2.7.1 */
static bool put_entry(struct text *text, size_t *last, const struct stored_change *stored,
                      struct bytes path, uint32_t size)
{
    size_t units = bytes_utf16_units(path) * 2;
    struct wire_writer w = { .out = text, .start = 0 };
    char *name = arena_bytes(text->arena, path.len);

    if (text->len + 4 + ENTRY_FIXED + units > size)
        return false;
    for (size_t i = 0; i < path.len; i++)
        name[i] = path.ptr[i] == '/' ? '\\' : path.ptr[i];
    if (text->len > 0) {
        wire_put_padding(&w, 4);
        wire_set_u32(&w, *last, (uint32_t)(text->len - *last));
    }
    *last = text->len;
    wire_put_u32(&w, 0);
    wire_put_u32(&w, stored->action);
    wire_put_u32(&w, (uint32_t)units);
    wire_put_utf16(&w, bytes_of(name, path.len));
    return true;
}

/* Removes and returns the recorded changes. Returns STATUS_NOTIFY_ENUM_DIR if they do not fit.
 * Caller holds the lock. */
static enum nt_status take(struct smb_watch *watch, struct notify *notify)
{
    struct arena *arena = notify->request->message->arena;
    bool fits = !watch->has_overflowed;
    struct text text;
    size_t last = 0;

    lock_assert_held(&watch->lock);
    text_init(&text, arena, 256);
    for (size_t at = 0; fits && at < watch->size;) {
        struct stored_change stored;

        memcpy(&stored, watch->changes + at, sizeof stored);
        at += sizeof stored;
        fits = put_entry(&text, &last, &stored, bytes_of(watch->changes + at, stored.size),
                         notify->size);
        at += stored.size;
    }
    forget(watch);
    watch->has_overflowed = false;
    notify->output = fits ? text_bytes(&text) : bytes_of("", 0);
    return fits ? STATUS_SUCCESS : STATUS_NOTIFY_ENUM_DIR;
}

static bool has_something(struct smb_watch *watch)
{
    bool has;

    lock_acquire(&watch->lock);
    has = watch->size > 0 || watch->has_overflowed || watch->is_gone;
    lock_release(&watch->lock);
    return has;
}

static void set_gone(struct smb_watch *watch)
{
    lock_acquire(&watch->lock);
    watch->is_gone = true;
    lock_release(&watch->lock);
}

static enum smb_step answer(struct smb_watch *watch, struct notify *notify)
{
    enum nt_status status;

    lock_acquire(&watch->lock);
    status = watch->is_gone && watch->size == 0 ? STATUS_DELETE_PENDING : take(watch, notify);
    lock_release(&watch->lock);
    return smb_refuse(notify->request, status);
}

/* ---- the command ---- */

/* Returns false if the account has SMB_WATCHES_OF_ACCOUNT_MAX watches. */
static bool begin_watch(struct smb_open *open, uint32_t room, uint32_t filter, bool is_recursive)
{
    struct smb_connection *connection = open->tree->session->connection;
    struct smb_watch *watch;

    if (!account_use_begin(connection->service->uses, open->tree->tree_connect.account,
                           USES_WATCHES))
        return false;
    watch = xcalloc(1, sizeof *watch);
    watch->connection = connection;
    watch->room = room;
    lock_init(&watch->lock, RANK_SMB);
    watch->watcher = (struct watcher){
        .space = open->tree->tree_connect.space,
        .directory = open->handle.node,
        .filter = filter,
        .is_recursive = is_recursive,
        .changed = changed,
    };
    watch->next = connection->watches;
    connection->watches = watch;
    open->watch = watch;
    watcher_add(&watch->watcher);
    return true;
}

static enum smb_step answer_or_hold(struct smb_watch *watch, struct notify *notify)
{
    struct notify **at;

    if (!watch->waiting && has_something(watch))
        return answer(watch, notify);
    for (at = &watch->waiting; *at; at = &(*at)->next)
        ;
    *at = notify;
    return STEP_HOLD;
}

enum smb_step smb_change_notify_begin(struct smb_request *request, struct wire_reader *r)
{
    struct notify *notify = arena_alloc(request->message->arena, sizeof *notify);
    struct smb_open *open = request->open;
    uint16_t flags = wire_u16(r);
    struct smb_watch *watch = open->watch;
    uint32_t filter;

    notify->request = request;
    notify->size = wire_u32(r);
    wire_skip(r, 16); /* FileId */
    filter = wire_u32(r);
    if (!wire_ok(r) || notify->size > SMB_IO_MAX || open->handle.kind != TREE_DIRECTORY)
        return smb_refuse(request, STATUS_INVALID_PARAMETER);
    if (!(open->handle.granted & MAY_READ_DATA))
        return smb_refuse(request, STATUS_ACCESS_DENIED);
    request->parameters = notify;
    if (watch) {
        notify->size = notify->size < watch->room ? notify->size : watch->room;
        return answer_or_hold(watch, notify);
    }
    if (!begin_watch(open, notify->size, filter, flags & WATCH_TREE))
        return smb_refuse(request, STATUS_INSUFFICIENT_RESOURCES);
    notify->query.tree_connect = &request->tree->tree_connect;
    notify->query.handle = &open->handle;
    return smb_decide(request, handle_query_attempt, &notify->query);
}

/* Checks whether the directory is pending deletion, in which case no changes are reported. MS-FSA
 * 2.1.5.11 */
enum smb_step smb_change_notify_decided(struct smb_request *request)
{
    struct notify *notify = request->parameters;
    struct smb_watch *watch = request->open->watch;

    if (request->error)
        return smb_refuse(request, nt_status_of_handle(request->error));
    if (!watch)
        return smb_refuse(request, STATUS_NOTIFY_CLEANUP);
    if (notify->query.info.is_delete_pending)
        set_gone(watch);
    return answer_or_hold(watch, notify);
}

static void leave(struct smb_watch *watch, struct notify *notify)
{
    struct notify **at = &watch->waiting;

    while (*at && *at != notify)
        at = &(*at)->next;
    if (*at)
        *at = notify->next;
}

/* Continues after a change, a cancellation, or the close of the open. */
enum smb_step smb_change_notify_go_on(struct smb_request *request)
{
    struct notify *notify = request->parameters;
    struct smb_watch *watch = request->open->watch;

    if (watch)
        leave(watch, notify);
    if (request->is_cancelled)
        return smb_refuse(request, request->cancelled_with == STATUS_CANCELLED
                                       ? STATUS_CANCELLED
                                       : STATUS_NOTIFY_CLEANUP);
    return watch ? answer(watch, notify) : smb_refuse(request, STATUS_NOTIFY_CLEANUP);
}

/* Removes a request that could not be parked. */
void smb_change_notify_over(struct smb_request *request)
{
    if (request->open->watch)
        leave(request->open->watch, request->parameters);
}

void smb_change_notify_answer(struct smb_request *request, struct wire_writer *w)
{
    const struct notify *notify = request->parameters;

    wire_put_u16(w, 9); /* StructureSize */
    wire_put_u16(w, SMB_HEADER_SIZE + 8);
    wire_put_u32(w, (uint32_t)notify->output.len);
    wire_put(w, notify->output);
    if (notify->output.len == 0)
        wire_put_u8(w, 0);
}

/* ---- calls from the connection ---- */

/* Completes the oldest request of each watch that has changes; other requests wait for further
 * changes. */
void watches_answer(struct smb_connection *connection)
{
    if (!atomic_exchange(&connection->has_posted_changes, false))
        return;
    for (struct smb_watch *watch = connection->watches; watch; watch = watch->next)
        if (watch->waiting && has_something(watch))
            request_wake(watch->waiting->request);
}

void watch_end(struct smb_open *open)
{
    struct smb_watch *watch = open->watch, **at;

    if (!watch)
        return;
    open->watch = NULL;
    watcher_remove(&watch->watcher);
    for (at = &watch->connection->watches; *at != watch; at = &(*at)->next)
        ;
    *at = watch->next;
    for (struct notify *notify = watch->waiting; notify; notify = notify->next)
        request_cancel(notify->request, STATUS_NOTIFY_CLEANUP);
    forget(watch);
    account_use_end(watch->connection->service->uses, open->tree->tree_connect.account,
                    USES_WATCHES);
    lock_destroy(&watch->lock);
    free(watch);
}
