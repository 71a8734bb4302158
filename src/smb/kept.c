/* See kept.h. */
#include "smb/kept.h"

#include <assert.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "opens/handle_index.h"
#include "service/driver.h"
#include "smb/limits.h"

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
    struct kept_create by;
    struct mount mount;
    struct held_handle handle;
    instant until;
    bool is_abandoned; /* closed by its client, but not in the store */
};

struct kept_handles {
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
    instant next;                  /* no handle expires before this; 0 if there is none */
};

struct kept_handles *kept_new(struct store *store, struct account_uses *uses)
{
    struct kept_handles *kept = xcalloc(1, sizeof *kept);

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
    free((char *)(uintptr_t)one->mount.account.ptr);
    free((char *)(uintptr_t)one->mount.share.ptr);
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

void kept_free(struct kept_handles *kept)
{
    assert(!kept->thread.running);
    for (unsigned i = 0; i < BUCKETS; i++)
        free_all(kept->buckets[i]);
    pthread_cond_destroy(&kept->changed);
    lock_release(&kept->lock);
    free(kept);
}

/* ---- slots ---- */

bool kept_reserve(struct kept_handles *kept, struct bytes account)
{
    bool has_room;

    lock_take(&kept->lock);
    has_room = kept->count < SMB_KEPT_MAX && account_use_begin(kept->uses, account, USES_KEPT);
    kept->count += has_room;
    lock_give(&kept->lock);
    return has_room;
}

static void give_place(struct kept_handles *kept, struct bytes account)
{
    assert(kept->count > 0);
    kept->count--;
    account_use_end(kept->uses, account, USES_KEPT);
}

void kept_release(struct kept_handles *kept, struct bytes account)
{
    lock_take(&kept->lock);
    give_place(kept, account);
    lock_give(&kept->lock);
}

/* ---- disconnected handles ---- */

static const struct guid no_create;

static struct kept **creates_of(struct kept_handles *kept, const struct kept_create *by)
{
    return &kept->creates[guid_hash(&by->create) % BUCKETS];
}

static void forget_create(struct kept_handles *kept, struct kept *one)
{
    struct kept **at = creates_of(kept, &one->by);

    lock_assert_held(&kept->lock);
    if (guid_equal(&one->by.create, &no_create))
        return;
    while (*at != one)
        at = &(*at)->next_create;
    *at = one->next_create;
}

uint64_t kept_find(struct kept_handles *kept, const struct guid *space,
                   const struct kept_create *by)
{
    uint64_t id = 0;

    lock_take(&kept->lock);
    for (const struct kept *one = *creates_of(kept, by); one && id == 0; one = one->next_create)
        if (guid_equal(&one->by.create, &by->create) && guid_equal(&one->by.client, &by->client) &&
            guid_equal(&one->mount.space, space))
            id = one->handle.id;
    lock_give(&kept->lock);
    return id;
}

static void put(struct kept_handles *kept, struct kept *one)
{
    struct kept **at = &kept->buckets[one->handle.id % BUCKETS];

    lock_assert_held(&kept->lock);
    one->next = *at;
    *at = one;
    if (kept->next == 0 || one->until < kept->next)
        kept->next = one->until;
}

static struct kept *new_one(const struct mount *mount, const struct held_handle *handle,
                            instant until)
{
    struct kept *one = xcalloc(1, sizeof *one);

    one->mount = (struct mount){ .account = copy(mount->account),
                                 .share = copy(mount->share),
                                 .space = mount->space };
    one->handle = *handle;
    one->until = until;
    return one;
}

void kept_close_later(struct kept_handles *kept, const struct mount *mount,
                      const struct held_handle *handle)
{
    struct kept *one = new_one(mount, handle, clock_now() + SOON_TICKS);

    one->is_abandoned = true;
    lock_take(&kept->lock);
    account_use_add(kept->uses, one->mount.account, USES_KEPT);
    kept->count++;
    put(kept, one);
    pthread_cond_signal(&kept->changed);
    lock_give(&kept->lock);
}

void kept_add(struct kept_handles *kept, const struct mount *mount,
              const struct held_handle *handle, const struct kept_create *by, instant until)
{
    struct kept *one = new_one(mount, handle, until);

    one->by = *by;
    lock_take(&kept->lock);
    put(kept, one);
    if (!guid_equal(&by->create, &no_create)) {
        one->next_create = *creates_of(kept, by);
        *creates_of(kept, by) = one;
    }
    pthread_cond_signal(&kept->changed);
    lock_give(&kept->lock);
}

void kept_remove(struct kept_handles *kept, uint64_t id)
{
    struct kept **at = &kept->buckets[id % BUCKETS];
    struct kept *one;

    lock_take(&kept->lock);
    while (*at && (*at)->handle.id != id)
        at = &(*at)->next;
    one = *at;
    if (one) {
        *at = one->next;
        forget_create(kept, one);
        give_place(kept, one->mount.account);
        free_one(one);
    }
    lock_give(&kept->lock);
}

instant kept_next(struct kept_handles *kept)
{
    instant next;

    lock_take(&kept->lock);
    next = kept->next;
    lock_give(&kept->lock);
    return next;
}

unsigned kept_count(struct kept_handles *kept)
{
    unsigned count;

    lock_take(&kept->lock);
    count = kept->count;
    lock_give(&kept->lock);
    return count;
}

/* ---- expired handles ---- */

/* Removes the expired handles, without releasing their slots, and updates `next`. */
static struct kept *take_overdue(struct kept_handles *kept, instant now)
{
    struct kept *overdue = NULL;

    lock_take(&kept->lock);
    if (kept->next == 0 || now < kept->next) {
        lock_give(&kept->lock);
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
    lock_give(&kept->lock);
    return overdue;
}

/* Closes a handle. Returns false if the store cannot do it now. */
static bool close_one(struct store *store, const struct kept *one)
{
    struct arena *arena = arena_new_background(HANDLE_ARENA_MAX);
    struct handle_overdue overdue = { .close = { .mount = &one->mount, .handle = &one->handle } };
    struct input input = { .account = one->mount.account,
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

static void end_or_try_again(struct kept_handles *kept, struct kept *one, instant now)
{
    bool is_closed = close_one(kept->store, one);

    lock_take(&kept->lock);
    if (is_closed) {
        give_place(kept, one->mount.account);
    } else {
        one->by.create = no_create;
        one->until = now + (one->is_abandoned ? SOON_TICKS : AGAIN_TICKS);
        put(kept, one);
    }
    lock_give(&kept->lock);
    if (is_closed)
        free_one(one);
}

void kept_close_overdue(struct kept_handles *kept, instant now)
{
    struct kept *overdue = take_overdue(kept, now);

    while (overdue) {
        struct kept *one = overdue;

        overdue = one->next;
        end_or_try_again(kept, one, now);
    }
}

/* ---- thread ---- */

static void sleep_until_next(struct kept_handles *kept)
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
    struct kept_handles *kept = argument;

    thread_give_way();
    lock_take(&kept->lock);
    while (!kept->stops) {
        sleep_until_next(kept);
        lock_give(&kept->lock);
        kept_close_overdue(kept, clock_now());
        lock_take(&kept->lock);
    }
    lock_give(&kept->lock);
    return NULL;
}

bool kept_start(struct kept_handles *kept)
{
    return thread_start(&kept->thread, run, kept);
}

void kept_stop(struct kept_handles *kept)
{
    lock_take(&kept->lock);
    kept->stops = true;
    pthread_cond_signal(&kept->changed);
    lock_give(&kept->lock);
    thread_join(&kept->thread);
}
