/* Rule: an account keeps its kind, flat or hierarchical, for ever. admin/account_kinds.h; decision: 1240 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "admin/account_kinds.h"
#include "admin/stored_accounts.h"
#include "base/log.h"
#include "service/names.h"

#define ARENA_MAX ((size_t)64 << 20)

struct fixture {
    struct store *store;
    struct accounts *accounts;
    struct arena *arena;
};

static int setup(void **state)
{
    static struct fixture f;
    const char *problem;

    if (!log_open(LOG_ERROR, "/dev/null"))
        return -1;
    f = (struct fixture){ store_open_memory(), accounts_new(), arena_new(ARENA_MAX) };
    *state = &f;
    return accounts_add_list(f.accounts, "listed:a2V5", &problem) ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    arena_free(f->arena);
    accounts_free(f->accounts);
    store_close(f->store);
    return 0;
}

static bool is_hierarchical(const struct accounts *accounts, const char *name)
{
    const struct account *account = accounts_find(accounts, bytes_from_string(name));

    assert_non_null(account);
    return account_is_hierarchical(account);
}

static void put(struct fixture *f, struct guid space, enum record_family family, const char *key,
                struct bytes value)
{
    const struct partition at = { .space = space, .key = BYTES("box") };
    struct read_view *before = read_view_open(f->store, at, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);
    struct commit_part part = { before, changes };
    uint64_t sequence;

    changes_put(changes, family, bytes_from_string(key), value, NULL, 0);
    assert_int_equal(store_commit(f->store, &part, 1, clock_now() + 1, STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(before);
}

/* The first start with the option decides; later starts do as it did. */
static void the_first_start_decides(void **state)
{
    struct fixture *f = *state;

    assert_true(account_kinds_load(f->store, f->accounts, false, true));
    assert_false(is_hierarchical(f->accounts, "listed"));
    assert_true(account_kinds_load(f->store, f->accounts, true, true));
    assert_true(is_hierarchical(f->accounts, "listed"));
    account_set_hierarchical(accounts_find(f->accounts, bytes_from_string("listed")), false);
    assert_true(account_kinds_load(f->store, f->accounts, false, true));
    assert_true(is_hierarchical(f->accounts, "listed"));
}

/* In other cells than the root nothing is recorded. */
static void others_do_not_record(void **state)
{
    struct fixture *f = *state;

    assert_true(account_kinds_load(f->store, f->accounts, true, false));
    assert_true(is_hierarchical(f->accounts, "listed"));
    assert_true(account_kinds_load(f->store, f->accounts, false, false));
    assert_false(is_hierarchical(f->accounts, "listed"));
}

/* An account with a container, also a soft-deleted one, remains flat, and that is recorded. */
static void accounts_with_containers_remain_flat(void **state)
{
    struct fixture *f = *state;
    struct guid space = account_space("blob", bytes_from_string("listed"));

    assert_false(account_has_containers(f->store, bytes_from_string("listed")));
    put(f, space, RECORD_LISTED, "D", bytes_from_string("any"));
    assert_true(account_has_containers(f->store, bytes_from_string("listed")));
    assert_false(account_has_containers(f->store, bytes_from_string("other")));
    assert_true(account_kinds_load(f->store, f->accounts, true, true));
    assert_false(is_hierarchical(f->accounts, "listed"));
}

static void hierarchical(struct account_record *record, void *context)
{
    record->keys[0] = bytes_from_string("a2V5LWE=");
    record->key_count = 1;
    record->hierarchical = context != NULL;
}

static enum error add(struct fixture *f, struct accounts *accounts, const char *name, bool kind)
{
    struct account_record record;

    return stored_account_change(f->store, accounts, f->arena, bytes_from_string(name), ACCOUNT_ADD,
                                 hierarchical, kind ? f : NULL, &record);
}

/* A stored account is of the kind that its name had before. */
static void a_name_keeps_its_kind(void **state)
{
    struct fixture *f = *state;
    struct accounts *others = accounts_new();
    const char *problem;
    size_t count;

    assert_true(account_kinds_load(f->store, f->accounts, true, true));
    put(f, account_space("blob", bytes_from_string("used")), RECORD_LISTED, "c",
        bytes_from_string("any"));
    assert_int_equal(add(f, others, "listed", false), E_ResourceAlreadyExists);
    assert_null(accounts_find(others, bytes_from_string("listed")));
    assert_int_equal(add(f, others, "listed", true), OK);
    assert_int_equal(add(f, others, "used", true), E_ResourceAlreadyExists);
    assert_int_equal(add(f, others, "used", false), OK);
    assert_int_equal(add(f, others, "tree", true), OK);
    assert_true(is_hierarchical(others, "listed") && is_hierarchical(others, "tree"));
    assert_false(is_hierarchical(others, "used"));
    accounts_free(others);

    others = accounts_new();
    assert_true(stored_accounts_load(f->store, others, &count, &problem));
    assert_int_equal(count, 3);
    assert_true(is_hierarchical(others, "listed") && is_hierarchical(others, "tree"));
    assert_false(is_hierarchical(others, "used"));
    accounts_free(others);
}

/* Records of the root cell are applied, and recognized by `lagra check`. cell_accounts.h */
static void records_of_the_root_are_followed(void **state)
{
    const struct bytes key = BYTES("klisted"), one = BYTES("\x01\x01"), zero = BYTES("\x01\x00");
    const struct partition at = { .space = stored_accounts_space(), .key = BYTES("") };
    struct fixture *f = *state;

    assert_true(stored_account_follow(f->accounts, key, one));
    assert_true(is_hierarchical(f->accounts, "listed"));
    assert_true(stored_account_follow(f->accounts, key, zero));
    assert_false(is_hierarchical(f->accounts, "listed"));
    assert_true(stored_account_follow(f->accounts, bytes_from_string("kunknown"), one));
    assert_false(stored_account_follow(f->accounts, key, bytes_from_string("\x02\x01")));
    assert_false(stored_account_follow(f->accounts, key, bytes_from_string("\x01")));
    assert_int_equal(stored_account_inspect(&at, key, one), ACCOUNT_RECORD);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(the_first_start_decides),
        TEST(others_do_not_record),
        TEST(accounts_with_containers_remain_flat),
        TEST(a_name_keeps_its_kind),
        TEST(records_of_the_root_are_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
