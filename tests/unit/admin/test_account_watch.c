/* Accounts that another server of the same store has changed. admin/account_watch.h; decision: 648 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "admin/account_watch.h"
#include "admin/stored_accounts.h"
#include "base/clock.h"
#include "base/log.h"

#define KEY_A      "a2V5LWE="
#define KEY_B      "a2V5LWI="
#define PATIENCE_S 60u

static struct store *store;
static struct accounts *accounts, *others; /* of two servers */
static struct account_watch *watch;
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    if (!log_open(LOG_ERROR, "/dev/null"))
        return -1;
    store = store_open_memory();
    accounts = accounts_new();
    others = accounts_new();
    arena = arena_new((size_t)64 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    account_watch_stop(watch);
    watch = NULL;
    accounts_free(accounts);
    accounts_free(others);
    arena_free(arena);
    store_close(store);
    return 0;
}

static void set_key(struct account_record *record, void *context)
{
    record->keys[0] = bytes_from_string(context);
    record->key_count = 1;
}

static void disable(struct account_record *record, void *context)
{
    (void)context;
    record->disabled = true;
}

static void change(const char *name, enum account_change how, account_change_fn *make,
                   const char *key)
{
    struct account_record record;

    assert_int_equal(stored_account_change(store, accounts, arena, bytes_from_string(name), how,
                                           make, (char *)(uintptr_t)key, &record),
                     OK);
}

static const struct account *find(const char *name)
{
    return accounts_find(others, bytes_from_string(name));
}

static bool is_disabled(const char *name)
{
    return find(name) && account_is_disabled(find(name));
}

static bool is_there(const char *name)
{
    return find(name);
}

static void wait_until(bool (*is_so)(const char *name), const char *name)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    uint64_t end = clock_monotonic_ms() + PATIENCE_S * 1000;

    while (!is_so(name) && clock_monotonic_ms() < end)
        nanosleep(&pause, NULL);
    assert_true(is_so(name));
}

/* Rule: what one server makes of an account is in force in the others soon. */
static void changes_reach_others(void **state)
{
    (void)state;
    change("before", ACCOUNT_ADD, set_key, KEY_A);
    watch = account_watch_start(store, others);
    wait_until(is_there, "before");
    assert_null(find("one"));
    change("one", ACCOUNT_ADD, set_key, KEY_A);
    wait_until(is_there, "one");
    assert_false(is_disabled("one"));
    change("one", ACCOUNT_CHANGE, disable, NULL);
    wait_until(is_disabled, "one");
    assert_false(is_disabled("before"));
}

/* Rule: an account that a list of this server names stays as the list has it; the others are changed all the same. */
static void lists_win(void **state)
{
    const char *problem;

    (void)state;
    assert_true(accounts_add_list(others, "listed:" KEY_B, &problem));
    watch = account_watch_start(store, others);
    change("listed", ACCOUNT_ADD, set_key, KEY_A);
    change("listed", ACCOUNT_CHANGE, disable, NULL);
    change("one", ACCOUNT_ADD, set_key, KEY_A);
    wait_until(is_there, "one");
    assert_false(is_disabled("listed"));
    assert_int_equal(account_source(find("listed")), ACCOUNT_CONFIGURED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(changes_reach_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_win, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
