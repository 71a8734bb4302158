/* See caching.h. */
#include "smb_session/caching.h"
#include "smb_session/channels.h"
#include "smb_session/clients.h"

#include <assert.h>
#include <stdlib.h>

#include <nettle/sha2.h>

#define NOTIFY_ACK 1u /* SMB2_NOTIFY_BREAK_LEASE_FLAG_ACK_REQUIRED */

uint8_t caching_of_level(uint8_t level)
{
    switch (level) {
    case OPLOCK_II:
        return CACHING_READ;
    case OPLOCK_EXCLUSIVE:
        return CACHING_READ | CACHING_WRITE;
    case OPLOCK_BATCH:
        return CACHING_ALL;
    default:
        return 0;
    }
}

uint8_t level_of_caching(uint8_t caching)
{
    if (caching & CACHING_WRITE)
        return caching & CACHING_HANDLE ? OPLOCK_BATCH : OPLOCK_EXCLUSIVE;
    return caching & CACHING_READ ? OPLOCK_II : OPLOCK_NONE;
}

/* Returns the oldest open with this caching that is not pending or closing, or NULL. */
static struct smb_open *caching_open(const struct smb_caching *caching)
{
    struct smb_open *open = caching->opens;

    while (open && !open->is_open)
        open = open->next_of_caching;
    return open;
}

/* ---- reporting breaks: any thread ---- */

/* Schedules caching_send_breaks() for this lease or oplock on its connection. */
static void queue(struct smb_caching *caching)
{
    struct smb_connection *connection = caching->connection;
    struct smb_caching *first = atomic_load(&connection->posted_breaks);

    if (!atomic_exchange(&caching->is_queued, true)) {
        do
            caching->next_queued = first;
        while (!atomic_compare_exchange_weak(&connection->posted_breaks, &first, caching));
    }
    atomic_store(&connection->has_posted_breaks, true);
    smb_post_news(connection);
}

/* Merges two breaks into the newer one, which then leaves only caching that both allow. */
static void combine(struct pending_break *pending, const struct pending_break *other)
{
    uint8_t to = pending->to & other->to;
    bool sends = pending->sends || other->sends;

    if (other->at > pending->at)
        *pending = *other;
    pending->to = to;
    pending->sends = sends;
}

/* Records a break and schedules caching_send_breaks(). Called by the thread that committed it,
 * possibly after a newer one was reported. Merges it with an unsent break, even if more caching was
 * granted between the two. */
static void on_break(struct break_listener *listener, const struct break_notification *notification,
                     bool is_first)
{
    struct smb_caching *caching = (struct smb_caching *)(void *)listener;
    struct pending_break pending = { .holds = notification->holds,
                                     .to = notification->to,
                                     .epoch = notification->epoch,
                                     .at = notification->at,
                                     .sends = is_first };

    lock_acquire(&caching->lock);
    if (caching->is_pending)
        combine(&pending, &caching->pending);
    caching->pending = pending;
    caching->is_pending = true;
    lock_release(&caching->lock);
    queue(caching);
}

/* ---- leases and their opens ---- */

struct guid caching_key(const struct smb_connection *connection, const struct guid *lease_key)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx hash;
    struct guid key;

    sha256_init(&hash);
    sha256_update(&hash, sizeof connection->agreed.client_guid.b, connection->agreed.client_guid.b);
    sha256_update(&hash, sizeof lease_key->b, lease_key->b);
    sha256_digest(&hash, sizeof digest, digest);
    memcpy(key.b, digest, sizeof key.b);
    return key;
}

static struct smb_caching **lease_bucket(struct smb_connection *connection, const struct guid *key)
{
    return &connection->leases[guid_hash(key) % LEASE_BUCKETS];
}

struct smb_caching *caching_find(struct smb_connection *connection, const struct guid *lease_key)
{
    struct smb_caching *caching = *lease_bucket(connection, lease_key);

    while (caching && !guid_equal(&caching->lease.key, lease_key))
        caching = caching->next_lease;
    return caching;
}

static void list_lease(struct smb_caching *caching)
{
    struct smb_caching **bucket = lease_bucket(caching->connection, &caching->lease.key);

    caching->next_lease = *bucket;
    *bucket = caching;
}

static void unlist_lease(struct smb_caching *caching)
{
    struct smb_caching **at = lease_bucket(caching->connection, &caching->lease.key);

    while (*at != caching)
        at = &(*at)->next_lease;
    *at = caching->next_lease;
}

static void add_open(struct smb_caching *caching, struct smb_open *open)
{
    open->before_of_caching = caching->newest;
    *(caching->newest ? &caching->newest->next_of_caching : &caching->opens) = open;
    caching->newest = open;
}

static void remove_open(struct smb_caching *caching, const struct smb_open *open)
{
    struct smb_open *before = open->before_of_caching, *next = open->next_of_caching;

    *(before ? &before->next_of_caching : &caching->opens) = next;
    *(next ? &next->before_of_caching : &caching->newest) = before;
}

/* ---- queue of breaks: owner's thread ---- */

static void add_due(struct smb_connection *connection, struct smb_caching *caching)
{
    caching->next_queued = connection->due;
    caching->queue_link = &connection->due;
    if (caching->next_queued)
        caching->next_queued->queue_link = &caching->next_queued;
    connection->due = caching;
}

static void remove_due(struct smb_caching *caching)
{
    *caching->queue_link = caching->next_queued;
    if (caching->next_queued)
        caching->next_queued->queue_link = caching->queue_link;
    caching->queue_link = NULL;
}

/* Moves the queue to the front of connection->due, oldest first. */
static void take_posted(struct smb_connection *connection)
{
    struct smb_caching *caching = atomic_exchange(&connection->posted_breaks, NULL);

    while (caching) {
        struct smb_caching *next = caching->next_queued;

        add_due(connection, caching);
        caching = next;
    }
}

/* Removes the lease or oplock from the queue. Its listener must be removed already, so that no
 * thread adds it again. */
static void unqueue(struct smb_caching *caching)
{
    if (!atomic_load(&caching->is_queued))
        return;
    take_posted(caching->connection);
    remove_due(caching);
}

/* Passes the unsent break to another connection with the lease. The listener must be removed
 * already. */
static void pass_on_pending(const struct smb_caching *caching)
{
    const struct pending_break *pending = &caching->pending;

    if (caching->is_pending && pending->sends)
        break_notification_forward(&(struct break_notification){ .space = caching->listener.space,
                                                                 .node = caching->node,
                                                                 .key = caching->listener.key,
                                                                 .holds = pending->holds,
                                                                 .to = pending->to,
                                                                 .epoch = pending->epoch,
                                                                 .at = pending->at });
}

void caching_leave(struct smb_open *open)
{
    struct smb_caching *caching = open->caching;
    struct smb_open *other;

    remove_open(caching, open);
    open->caching = NULL;
    if (caching->overdue && caching->overdue->open == open)
        break_await_end(caching);
    if (caching->opens) {
        other = caching->is_breaking && !caching->overdue ? caching_open(caching) : NULL;
        if (other)
            break_await(other);
        return;
    }
    break_listener_remove(&caching->listener);
    pass_on_pending(caching);
    unqueue(caching);
    if (caching->lease.is_lease)
        unlist_lease(caching);
    lock_destroy(&caching->lock);
    free(caching);
}

void caching_join_again(struct smb_open *open, const struct lease_context *lease,
                        const struct guid *key)
{
    struct smb_connection *connection = open->tree->session->connection;
    struct smb_caching *caching = lease->is_lease ? caching_find(connection, &lease->key) : NULL;

    if (!caching) {
        caching = xcalloc(1, sizeof *caching);
        caching->connection = connection;
        caching->lease = *lease;
        caching->listener = (struct break_listener){
            .space = open->tree->tree_connect.space,
            .key = *key,
            .on_break = on_break,
        };
        lock_init(&caching->lock, RANK_BREAK);
        if (lease->is_lease)
            list_lease(caching);
        break_listener_add(&caching->listener);
    }
    add_open(caching, open);
    open->caching = caching;
}

void caching_join(struct smb_open *open, const struct lease_context *lease)
{
    struct guid key =
        lease->is_lease ? caching_key(open->tree->session->connection, &lease->key) : guid_new();

    caching_join_again(open, lease, &key);
}

bool caching_granted(struct smb_open *open)
{
    struct smb_caching *caching = open->caching;

    if (caching->node != 0 && caching->node != open->handle.node)
        return false;
    caching->node = open->handle.node;
    break_listener_has(&caching->listener, caching->node);
    return true;
}

/* Removes from a grant what a newer break, already sent, has revoked. */
static void apply_sent_break(const struct smb_caching *caching, struct caching_given *given)
{
    if (caching->broken <= given->at)
        return;
    if ((int16_t)(caching->epoch - given->epoch) > 0)
        given->epoch = caching->epoch;
    given->breaks |= caching->is_breaking;
    if (!caching->is_breaking)
        given->holds &= caching->left;
}

void caching_answer(struct smb_caching *caching, struct smb_message *message,
                    struct caching_given *given)
{
    bool is_pending;

    apply_sent_break(caching, given);
    caching->is_known = true;
    message_holds_breaks(message);
    lock_acquire(&caching->lock);
    is_pending = caching->is_pending;
    lock_release(&caching->lock);
    if (is_pending)
        queue(caching);
}

/* ---- sending breaks ---- */

static void put_lease_break(const struct smb_caching *caching, const struct pending_break *pending,
                            bool is_answered, struct wire_writer *w)
{
    wire_put_u16(w, 44); /* StructureSize */
    wire_put_u16(w, caching->lease.version == 2 ? pending->epoch : 0);
    wire_put_u32(w, is_answered ? NOTIFY_ACK : 0);
    wire_put_guid(w, &caching->lease.key);
    wire_put_u32(w, pending->holds);
    wire_put_u32(w, pending->to);
    wire_put_zeros(w, 4 + 4 + 4); /* BreakReason, AccessMaskHint, ShareMaskHint */
}

static void put_oplock_break(const struct smb_open *open, uint8_t to, struct wire_writer *w)
{
    wire_put_u16(w, 24); /* StructureSize */
    wire_put_u8(w, level_of_caching(to));
    wire_put_zeros(w, 1 + 4);
    wire_put_u64(w, open_persistent_id(open));
    wire_put_u64(w, open->volatile_id);
}

static void send_break(const struct smb_caching *caching, const struct smb_open *open,
                       const struct pending_break *pending, bool is_answered)
{
    struct smb_session *session = open->tree->session;
    struct arena *arena = arena_new(4096);
    struct wire_writer w;
    struct text text;

    text_init(&text, arena, 64);
    wire_writer_init(&w, &text);
    if (caching->lease.is_lease) {
        put_lease_break(caching, pending, is_answered, &w);
        assert(text.len == LEASE_BREAK_SIZE);
        client_break_lease(session, (const uint8_t *)text.ptr);
    } else {
        put_oplock_break(open, pending->to, &w);
        smb_tell(session_way(session), session, SMB_OPLOCK_BREAK, text_bytes(&text));
    }
    arena_free(arena);
}

/* Removes and returns the pending break. Returns false if none is pending, or if the client knows
 * no open with this caching yet; the break is then sent after the next response to an open. */
static bool take_pending(struct smb_caching *caching, struct pending_break *ret_pending)
{
    bool is_taken;

    if (!caching->is_known || !caching_open(caching))
        return false;
    lock_acquire(&caching->lock);
    is_taken = caching->is_pending;
    *ret_pending = caching->pending;
    caching->is_pending = false;
    lock_release(&caching->lock);
    return is_taken;
}

/* Sends a break. Requires an acknowledgement unless only read caching is lost. */
static void begin_break(struct smb_caching *caching, const struct pending_break *pending)
{
    bool is_answered = pending->holds & (CACHING_WRITE | CACHING_HANDLE);
    struct smb_open *open = caching_open(caching);

    if (pending->at < caching->broken) { /* a newer break was sent after another grant */
        if (pending->sends && !is_answered)
            send_break(caching, open, pending, is_answered);
        return;
    }
    break_await_end(caching);
    caching->breaks++;
    caching->is_breaking = is_answered;
    caching->epoch = pending->epoch;
    caching->left = pending->to;
    caching->broken = pending->at;
    if (pending->sends)
        send_break(caching, open, pending, is_answered);
    if (is_answered)
        break_await(open);
}

void caching_acknowledged(struct smb_caching *caching, unsigned number, uint8_t keeps)
{
    if (!caching->is_breaking || caching->breaks != number)
        return;
    break_await_end(caching);
    caching->is_breaking = false;
    caching->left = keeps;
}

/* Sends the pending break. A break reported after `is_queued` has been cleared queues the caching
 * again. */
static void send_due(struct smb_caching *caching)
{
    struct pending_break pending;

    remove_due(caching);
    atomic_store(&caching->is_queued, false);
    if (take_pending(caching, &pending))
        begin_break(caching, &pending);
}

unsigned caching_send_breaks(struct smb_connection *connection)
{
    unsigned count = 0;

    take_posted(connection);
    while (connection->due) {
        send_due(connection->due);
        count++;
    }
    return count;
}
