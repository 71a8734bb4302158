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
/* Maximum sleep, as the system clock may be changed. */
#define SLEEP_MAX_MS 60000
/* Delay until a failed close is retried. */
#define AGAIN_TICKS  (60 * TICKS_PER_SECOND)
/* Delay for abandoned handles, which block other clients. */
#define SOON_TICKS   TICKS_PER_SECOND

struct kept {
    struct kept *next; /* in the bucket by id, or in the list of expired handles */
    struct kept *next_create;
    struct scavenger_create by;
    struct tree_connect tree_connect;
    struct held_handle handle;
    instant until;
    bool is_abandoned; /* closed by its client, but not in the store */
};

struct durable_scavenger {
    struct store *store;
    struct account_uses *uses;
    struct thread thread;
    struct lock lock; /* RANK_SMB */
    /* Protected by the lock. */
    pthread_cond_t changed;
    bool stops;
    struct kept *buckets[BUCKETS];
    struct kept *creates[BUCKETS]; /* handles with a CreateGuid */
    unsigned count;                /* reserved slots */
    instant next;                  /* no handle expires before this; 0 if none exists */
};

struct durable_scavenger *scavenger_new(struct store *store, struct account_uses *uses)
{
    struct durable_scavenger *kept = xcalloc(1, sizeof *kept);

    kept->store = store;
    kept->uses = uses;
    lock_init(&kept->lock, RANK_SMB);
    lock_condition_init(&kept->changed);
    return kept;
}

static struct bytes copy(struct bytes from)
{
    return bytes_of(memcpy(xmalloc(from.len + 1), from.ptr, from.len), from.len);
}

static void free_one(struct kept *one)
{
    free((char *)(uintptr_t)one->tree_connect.account.ptr);
    free((char *)(uintptr_t)one->tree_connect.share.ptr);
    free(one);
}

static void free_all(struct kept *first)
{
    while (first) {
        struct kept *next = first->next;

        free_one(first);
        first = next;
    }
}

void scavenger_free(struct durable_scavenger *kept)
{
    assert(!kept->thread.running);
    for (unsigned i = 0; i < BUCKETS; i++)
        free_all(kept->buckets[i]);
    pthread_cond_destroy(&kept->changed);
    lock_destroy(&kept->lock);
    free(kept);
}

/* ---- slots ---- */

bool scavenger_reserve(struct durable_scavenger *kept, struct bytes account)
{
    bool has_room;

    lock_acquire(&kept->lock);
    has_room = kept->count < SMB_KEPT_MAX && account_use_begin(kept->uses, account, USES_KEPT);
    kept->count += has_room;
    lock_release(&kept->lock);
    return has_room;
}

static void give_place(struct durable_scavenger *kept, struct bytes account)
{
    assert(kept->count > 0);
    kept->count--;
    account_use_end(kept->uses, account, USES_KEPT);
}

void scavenger_release(struct durable_scavenger *kept, struct bytes account)
{
    lock_acquire(&kept->lock);
    give_place(kept, account);
    lock_release(&kept->lock);
}

/* ---- disconnected handles ---- */

static const struct guid no_create;

static struct kept **creates_of(struct durable_scavenger *kept, const struct scavenger_create *by)
{
    return &kept->creates[guid_hash(&by->create) % BUCKETS];
}

static void forget_create(struct durable_scavenger *kept, struct kept *one)
{
    struct kept **at = creates_of(kept, &one->by);

    lock_assert_held(&kept->lock);
    if (guid_equal(&one->by.create, &no_create))
        return;
    while (*at != one)
        at = &(*at)->next_create;
    *at = one->next_create;
}

uint64_t scavenger_find(struct durable_scavenger *kept, const struct guid *space,
                        const struct scavenger_create *by)
{
    uint64_t id = 0;

    lock_acquire(&kept->lock);
    for (const struct kept *one = *creates_of(kept, by); one && id == 0; one = one->next_create)
        if (guid_equal(&one->by.create, &by->create) && guid_equal(&one->by.client, &by->client) &&
            guid_equal(&one->tree_connect.space, space))
            id = one->handle.id;
    lock_release(&kept->lock);
    return id;
}

static void put(struct durable_scavenger *kept, struct kept *one)
{
    struct kept **at = &kept->buckets[one->handle.id % BUCKETS];

    lock_assert_held(&kept->lock);
    one->next = *at;
    *at = one;
    if (kept->next == 0 || one->until < kept->next)
        kept->next = one->until;
}

static struct kept *new_one(const struct tree_connect *tree_connect,
                            const struct held_handle *handle, instant until)
{
    struct kept *one = xcalloc(1, sizeof *one);

    one->tree_connect = (struct tree_connect){ .account = copy(tree_connect->account),
                                               .share = copy(tree_connect->share),
                                               .space = tree_connect->space };
    one->handle = *handle;
    one->until = until;
    return one;
}

void scavenger_close_later(struct durable_scavenger *kept, const struct tree_connect *tree_connect,
                           const struct held_handle *handle)
{
    struct kept *one = new_one(tree_connect, handle, clock_now() + SOON_TICKS);

    one->is_abandoned = true;
    lock_acquire(&kept->lock);
    account_use_add(kept->uses, one->tree_connect.account, USES_KEPT);
    kept->count++;
    put(kept, one);
    pthread_cond_signal(&kept->changed);
    lock_release(&kept->lock);
}

void scavenger_add(struct durable_scavenger *kept, const struct tree_connect *tree_connect,
                   const struct held_handle *handle, const struct scavenger_create *by,
                   instant until)
{
    struct kept *one = new_one(tree_connect, handle, until);

    one->by = *by;
    lock_acquire(&kept->lock);
    put(kept, one);
    if (!guid_equal(&by->create, &no_create)) {
        one->next_create = *creates_of(kept, by);
        *creates_of(kept, by) = one;
    }
    pthread_cond_signal(&kept->changed);
    lock_release(&kept->lock);
}

void scavenger_remove(struct durable_scavenger *kept, uint64_t id)
{
    struct kept **at = &kept->buckets[id % BUCKETS];
    struct kept *one;

    lock_acquire(&kept->lock);
    while (*at && (*at)->handle.id != id)
        at = &(*at)->next;
    one = *at;
    if (one) {
        *at = one->next;
        forget_create(kept, one);
        give_place(kept, one->tree_connect.account);
        free_one(one);
    }
    lock_release(&kept->lock);
}

instant scavenger_next(struct durable_scavenger *kept)
{
    instant next;

    lock_acquire(&kept->lock);
    next = kept->next;
    lock_release(&kept->lock);
    return next;
}

unsigned scavenger_count(struct durable_scavenger *kept)
{
    unsigned count;

    lock_acquire(&kept->lock);
    count = kept->count;
    lock_release(&kept->lock);
    return count;
}

/* ---- expired handles ---- */

/* Removes the expired handles, without releasing their slots, and updates `next`. */
static struct kept *take_overdue(struct durable_scavenger *kept, instant now)
{
    struct kept *overdue = NULL;

    lock_acquire(&kept->lock);
    if (kept->next == 0 || now < kept->next) {
        lock_release(&kept->lock);
        return NULL;
    }
    kept->next = 0;
    for (unsigned i = 0; i < BUCKETS; i++)
        for (struct kept **at = &kept->buckets[i]; *at;) {
            struct kept *one = *at;

            if (one->until <= now) {
                *at = one->next;
                forget_create(kept, one);
                one->next = overdue;
                overdue = one;
                continue;
            }
            if (kept->next == 0 || one->until < kept->next)
                kept->next = one->until;
            at = &one->next;
        }
    lock_release(&kept->lock);
    return overdue;
}

/* Closes a handle. Returns false if the store cannot do it now. */
static bool close_one(struct store *store, const struct kept *one)
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

static void end_or_try_again(struct durable_scavenger *kept, struct kept *one, instant now)
{
    bool is_closed = close_one(kept->store, one);

    lock_acquire(&kept->lock);
    if (is_closed) {
        give_place(kept, one->tree_connect.account);
    } else {
        one->by.create = no_create;
        one->until = now + (one->is_abandoned ? SOON_TICKS : AGAIN_TICKS);
        put(kept, one);
    }
    lock_release(&kept->lock);
    if (is_closed)
        free_one(one);
}

void scavenger_close_expired(struct durable_scavenger *kept, instant now)
{
    struct kept *overdue = take_overdue(kept, now);

    while (overdue) {
        struct kept *one = overdue;

        overdue = one->next;
        end_or_try_again(kept, one, now);
    }
}

/* ---- thread ---- */

static void sleep_until_next(struct durable_scavenger *kept)
{
    instant now = clock_now();
    int timeout_ms = -1;

    if (kept->next > 0) {
        uint64_t ms = kept->next > now ? (kept->next - now) / (TICKS_PER_SECOND / 1000) + 1 : 0;

        timeout_ms = ms < SLEEP_MAX_MS ? (int)ms : SLEEP_MAX_MS;
    }
    lock_wait(&kept->lock, &kept->changed, timeout_ms);
}

static void *run(void *argument)
{
    struct durable_scavenger *kept = argument;

    thread_give_way();
    lock_acquire(&kept->lock);
    while (!kept->stops) {
        sleep_until_next(kept);
        lock_release(&kept->lock);
        scavenger_close_expired(kept, clock_now());
        lock_acquire(&kept->lock);
    }
    lock_release(&kept->lock);
    return NULL;
}

bool scavenger_start(struct durable_scavenger *kept)
{
    return thread_start(&kept->thread, run, kept);
}

void scavenger_stop(struct durable_scavenger *kept)
{
    lock_acquire(&kept->lock);
    kept->stops = true;
    pthread_cond_signal(&kept->changed);
    lock_release(&kept->lock);
    thread_join(&kept->thread);
}
