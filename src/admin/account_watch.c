/* See account_watch.h. */
#include "admin/account_watch.h"

#include <stdlib.h>

#include "admin/stored_accounts.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"

#define ARENA_MAX ((size_t)64 << 20)

struct account_watch {
    struct store *store;
    struct accounts *accounts;
    struct thread thread;
    struct lock lock;
    pthread_cond_t stop;
    bool is_stopping; /* under lock */

    /* The thread's. */
    instant newest; /* of all changes that are in force */
    bool has_failed;
};

static void put(struct account_watch *watch, const struct account_record *record)
{
    enum account_put put = stored_account_put(watch->accounts, record);

    if (put == ACCOUNT_PUT)
        log_line(LOG_INFO, "account %.*s is as another server has made it: %s, keys: %zu",
                 BYTES_ARG(record->name), record->disabled ? "disabled" : "enabled",
                 record->key_count);
    else
        log_line(LOG_WARN,
                 "account %.*s was changed by another server, and stays as it is here: %s",
                 BYTES_ARG(record->name),
                 put == ACCOUNT_ELSEWHERE ? "a list names it" : "it cannot be understood");
}

/* Each change is one of the same partition, so it is newer than all before it. */
static void look(struct account_watch *watch)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct account_record *records;
    instant newest = watch->newest;
    size_t count = 0;
    bool has_failed = stored_accounts_list(watch->store, arena, &records, &count) != OK;

    if (has_failed && !watch->has_failed)
        log_line(LOG_WARN, "accounts stay as they are here: those of the store cannot be read");
    watch->has_failed = has_failed;
    for (size_t i = 0; !has_failed && i < count; i++) {
        if (records[i].changed <= watch->newest)
            continue;
        if (!accounts_has_stored(watch->accounts, records[i].name, records[i].changed))
            put(watch, &records[i]);
        if (records[i].changed > newest)
            newest = records[i].changed;
    }
    watch->newest = newest;
    arena_free(arena);
}

static void *run(void *argument)
{
    struct account_watch *watch = argument;

    pthread_setname_np(pthread_self(), "accounts");
    thread_give_way();
    lock_take(&watch->lock);
    while (!watch->is_stopping) {
        lock_give(&watch->lock);
        look(watch);
        lock_take(&watch->lock);
        if (!watch->is_stopping)
            lock_wait(&watch->lock, &watch->stop, ACCOUNT_WATCH_MS);
    }
    lock_give(&watch->lock);
    return NULL;
}

static void release(struct account_watch *watch)
{
    pthread_cond_destroy(&watch->stop);
    lock_release(&watch->lock);
    free(watch);
}

struct account_watch *account_watch_start(struct store *store, struct accounts *accounts)
{
    struct account_watch *watch = xcalloc(1, sizeof *watch);

    watch->store = store;
    watch->accounts = accounts;
    lock_init(&watch->lock, RANK_ACCOUNTS);
    lock_condition_init(&watch->stop);
    if (thread_start(&watch->thread, run, watch))
        return watch;
    release(watch);
    return NULL;
}

void account_watch_stop(struct account_watch *watch)
{
    if (!watch)
        return;
    lock_take(&watch->lock);
    watch->is_stopping = true;
    pthread_cond_signal(&watch->stop);
    lock_give(&watch->lock);
    thread_join(&watch->thread);
    release(watch);
}
