/* See durable_scavenger.h. */
#include "smb_session/durable_scavenger.h"

#include <assert.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "opens/handle_index.h"
#include "service/driver.h"
#include "smb_protocol/limits.h"

#define BUCKETS      1024u
/* Maximum sleep, because the system clock may be changed */
#define SLEEP_MAX_MS 60000
/* Delay until a failed close is retried. */
#define AGAIN_TICKS  (60 * TICKS_PER_SECOND)
/* Delay for abandoned handles, which block other clients. */
#define SOON_TICKS   TICKS_PER_SECOND

struct disconnected {
    struct disconnected *next; /* in the bucket by id, or in the list of expired handles */
    struct disconnected *next_create;
    struct scavenger_create by;
    struct tree_connect tree_connect;
    struct held_handle handle;
    instant until;
    bool is_abandoned; /* closed by its client, but not yet in the store */
};

struct durable_scavenger {
    struct store *store;
    struct account_uses *uses;
    struct thread thread;
    struct lock lock; /* RANK_SMB */
    /* Protected by the lock. */
    pthread_cond_t changed;
    bool stops;
    struct disconnected *buckets[BUCKETS];
    struct disconnected *creates[BUCKETS]; /* handles with a CreateGuid */
    unsigned count;                        /* reserved slots */
    instant next;                          /* no handle expires before this; 0 if none exists */
};

struct durable_scavenger *scavenger_new(struct store *store, struct account_uses *uses)
{
    struct durable_scavenger *scavenger = xcalloc(1, sizeof *scavenger);

    scavenger->store = store;
    scavenger->uses = uses;
    lock_init(&scavenger->lock, RANK_SMB);
    lock_condition_init(&scavenger->changed);
    return scavenger;
}

static struct bytes copy(struct bytes from)
{
    return bytes_of(memcpy(xmalloc(from.len + 1), from.ptr, from.len), from.len);
}

static void free_one(struct disconnected *one)
{
    free((char *)(uintptr_t)one->tree_connect.account.ptr);
    free((char *)(uintptr_t)one->tree_connect.share.ptr);
    free(one);
}

static void free_all(struct disconnected *first)
{
    while (first) {
        struct disconnected *next = first->next;

        free_one(first);
        first = next;
    }
}

void scavenger_free(struct durable_scavenger *scavenger)
{
    assert(!scavenger->thread.running);
    for (unsigned i = 0; i < BUCKETS; i++)
        free_all(scavenger->buckets[i]);
    pthread_cond_destroy(&scavenger->changed);
    lock_destroy(&scavenger->lock);
    free(scavenger);
}

/* ---- slots ---- */

bool scavenger_reserve(struct durable_scavenger *scavenger, struct bytes account)
{
    bool is_reserved;

    lock_acquire(&scavenger->lock);
    is_reserved = scavenger->count < SMB_DURABLE_MAX &&
                  account_use_begin(scavenger->uses, account, USES_DURABLE);
    scavenger->count += is_reserved;
    lock_release(&scavenger->lock);
    return is_reserved;
}

static void release_slot(struct durable_scavenger *scavenger, struct bytes account)
{
    assert(scavenger->count > 0);
    scavenger->count--;
    account_use_end(scavenger->uses, account, USES_DURABLE);
}

void scavenger_release(struct durable_scavenger *scavenger, struct bytes account)
{
    lock_acquire(&scavenger->lock);
    release_slot(scavenger, account);
    lock_release(&scavenger->lock);
}

/* ---- disconnected handles ---- */

static const struct guid no_create;

static struct disconnected **creates_of(struct durable_scavenger *scavenger,
                                        const struct scavenger_create *by)
{
    return &scavenger->creates[guid_hash(&by->create) % BUCKETS];
}

static void forget_create(struct durable_scavenger *scavenger, struct disconnected *one)
{
    struct disconnected **at = creates_of(scavenger, &one->by);

    lock_assert_held(&scavenger->lock);
    if (guid_equal(&one->by.create, &no_create))
        return;
    while (*at != one)
        at = &(*at)->next_create;
    *at = one->next_create;
}

uint64_t scavenger_find(struct durable_scavenger *scavenger, const struct guid *space,
                        const struct scavenger_create *by)
{
    uint64_t id = 0;

    lock_acquire(&scavenger->lock);
    for (const struct disconnected *one = *creates_of(scavenger, by); one && id == 0;
         one = one->next_create)
        if (guid_equal(&one->by.create, &by->create) && guid_equal(&one->by.client, &by->client) &&
            guid_equal(&one->tree_connect.space, space))
            id = one->handle.id;
    lock_release(&scavenger->lock);
    return id;
}

static void put(struct durable_scavenger *scavenger, struct disconnected *one)
{
    struct disconnected **at = &scavenger->buckets[one->handle.id % BUCKETS];

    lock_assert_held(&scavenger->lock);
    one->next = *at;
    *at = one;
    if (scavenger->next == 0 || one->until < scavenger->next)
        scavenger->next = one->until;
}

static struct disconnected *new_one(const struct tree_connect *tree_connect,
                                    const struct held_handle *handle, instant until)
{
    struct disconnected *one = xcalloc(1, sizeof *one);

    one->tree_connect = (struct tree_connect){ .account = copy(tree_connect->account),
                                               .share = copy(tree_connect->share),
                                               .space = tree_connect->space };
    one->handle = *handle;
    one->until = until;
    return one;
}

void scavenger_close_later(struct durable_scavenger *scavenger,
                           const struct tree_connect *tree_connect,
                           const struct held_handle *handle)
{
    struct disconnected *one = new_one(tree_connect, handle, clock_now() + SOON_TICKS);

    one->is_abandoned = true;
    lock_acquire(&scavenger->lock);
    account_use_add(scavenger->uses, one->tree_connect.account, USES_DURABLE);
    scavenger->count++;
    put(scavenger, one);
    pthread_cond_signal(&scavenger->changed);
    lock_release(&scavenger->lock);
}

void scavenger_add(struct durable_scavenger *scavenger, const struct tree_connect *tree_connect,
                   const struct held_handle *handle, const struct scavenger_create *by,
                   instant until)
{
    struct disconnected *one = new_one(tree_connect, handle, until);

    one->by = *by;
    lock_acquire(&scavenger->lock);
    put(scavenger, one);
    if (!guid_equal(&by->create, &no_create)) {
        one->next_create = *creates_of(scavenger, by);
        *creates_of(scavenger, by) = one;
    }
    pthread_cond_signal(&scavenger->changed);
    lock_release(&scavenger->lock);
}

void scavenger_remove(struct durable_scavenger *scavenger, uint64_t id)
{
    struct disconnected **at = &scavenger->buckets[id % BUCKETS];
    struct disconnected *one;

    lock_acquire(&scavenger->lock);
    while (*at && (*at)->handle.id != id)
        at = &(*at)->next;
    one = *at;
    if (one) {
        *at = one->next;
        forget_create(scavenger, one);
        release_slot(scavenger, one->tree_connect.account);
        free_one(one);
    }
    lock_release(&scavenger->lock);
}

instant scavenger_next(struct durable_scavenger *scavenger)
{
    instant next;

    lock_acquire(&scavenger->lock);
    next = scavenger->next;
    lock_release(&scavenger->lock);
    return next;
}

unsigned scavenger_count(struct durable_scavenger *scavenger)
{
    unsigned count;

    lock_acquire(&scavenger->lock);
    count = scavenger->count;
    lock_release(&scavenger->lock);
    return count;
}

/* ---- expired handles ---- */

/* Removes the expired handles, without releasing their slots, and updates `next`. */
static struct disconnected *take_overdue(struct durable_scavenger *scavenger, instant now)
{
    struct disconnected *overdue = NULL;

    lock_acquire(&scavenger->lock);
    if (scavenger->next == 0 || now < scavenger->next) {
        lock_release(&scavenger->lock);
        return NULL;
    }
    scavenger->next = 0;
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct disconnected **at = &scavenger->buckets[i]; *at;) {
            struct disconnected *one = *at;

            if (one->until <= now) {
                *at = one->next;
                forget_create(scavenger, one);
                one->next = overdue;
                overdue = one;
                continue;
            }
            if (scavenger->next == 0 || one->until < scavenger->next)
                scavenger->next = one->until;
            at = &one->next;
        }
    lock_release(&scavenger->lock);
    return overdue;
}

/* Closes a handle. Returns false if the store cannot do it now. */
static bool close_one(struct store *store, const struct disconnected *one)
{
    struct arena *arena = arena_new_background(HANDLE_ARENA_MAX);
    struct handle_overdue overdue = { .close = { .tree_connect = &one->tree_connect,
                                                 .handle = &one->handle } };
    struct input input = { .account = one->tree_connect.account,
                           .identity = { .kind = IDENTITY_ACCOUNT_KEY, .at = clock_wall() } };
    struct problem problem;
    struct decision d = { .service = &file_service,
                          .input = &input,
                          .arena = arena,
                          .store = store,
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .now = clock_now(),
                          .attempt = arena_mark(arena) };
    enum error e = one->is_abandoned
                       ? deciding_run_unawaited(&d, handle_close_attempt, &overdue.close)
                       : deciding_run_unawaited(&d, handle_overdue_attempt, &overdue);
    bool is_gone = decision_is_unfinished(e) || e == E_ShareNotFound || e == E_ResourceNotFound;

    deciding_end(&d);
    if (e && !is_gone)
        log_line(LOG_WARN, "SMB: a handle without a client was not closed: %s", error_code(e));
    arena_free(arena);
    return !e || is_gone;
}

static void end_or_try_again(struct durable_scavenger *scavenger, struct disconnected *one,
                             instant now)
{
    bool is_closed = close_one(scavenger->store, one);

    lock_acquire(&scavenger->lock);
    if (is_closed) {
        release_slot(scavenger, one->tree_connect.account);
    } else {
        one->by.create = no_create;
        one->until = now + (one->is_abandoned ? SOON_TICKS : AGAIN_TICKS);
        put(scavenger, one);
    }
    lock_release(&scavenger->lock);
    if (is_closed)
        free_one(one);
}

void scavenger_close_expired(struct durable_scavenger *scavenger, instant now)
{
    struct disconnected *overdue = take_overdue(scavenger, now);

    while (overdue) {
        struct disconnected *one = overdue;

        overdue = one->next;
        end_or_try_again(scavenger, one, now);
    }
}

/* ---- thread ---- */

static void sleep_until_next(struct durable_scavenger *scavenger)
{
    instant now = clock_now();
    int timeout_ms = -1;

    if (scavenger->next > 0) {
        uint64_t ms =
            scavenger->next > now ? (scavenger->next - now) / (TICKS_PER_SECOND / 1000) + 1 : 0;

        timeout_ms = ms < SLEEP_MAX_MS ? (int)ms : SLEEP_MAX_MS;
    }
    lock_wait(&scavenger->lock, &scavenger->changed, timeout_ms);
}

static void *run(void *argument)
{
    struct durable_scavenger *scavenger = argument;

    thread_give_way();
    lock_acquire(&scavenger->lock);
    while (!scavenger->stops) {
        sleep_until_next(scavenger);
        lock_release(&scavenger->lock);
        scavenger_close_expired(scavenger, clock_now());
        lock_acquire(&scavenger->lock);
    }
    lock_release(&scavenger->lock);
    return NULL;
}

bool scavenger_start(struct durable_scavenger *scavenger)
{
    return thread_start(&scavenger->thread, run, scavenger);
}

void scavenger_stop(struct durable_scavenger *scavenger)
{
    lock_acquire(&scavenger->lock);
    scavenger->stops = true;
    pthread_cond_signal(&scavenger->changed);
    lock_release(&scavenger->lock);
    thread_join(&scavenger->thread);
}
