/* Accounts of the store: their records, and that what is read is in force. admin/stored_accounts.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "admin/stored_accounts.h"
#include "base/encode.h"
#include "base/log.h"
#include "service/names.h"

#define ARENA_MAX ((size_t)64 << 20)
#define KEY_A     "a2V5LWE="
#define KEY_B     "a2V5LWI="

struct fixture {
    struct store *store;
    struct accounts *accounts;
    struct arena *arena;
};

static int setup(void **state)
{
    static struct fixture f;

    if (!log_open(LOG_ERROR, "/dev/null"))
        return -1;
    f = (struct fixture){ store_open_memory(), accounts_new(), arena_new(ARENA_MAX) };
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    arena_free(f->arena);
    accounts_free(f->accounts);
    store_close(f->store);
    return 0;
}

static void set_key(struct account_record *record, void *context)
{
    record->keys[0] = bytes_from_string(context);
    record->key_count = 1;
}

static void set_second_key(struct account_record *record, void *context)
{
    record->keys[1] = bytes_from_string(context);
    record->key_count = 2;
}

static void disable(struct account_record *record, void *context)
{
    (void)context;
    record->disabled = true;
}

static enum error change(struct fixture *f, const char *name, enum account_change how,
                         account_change_fn *make, const char *context,
                         struct account_record *ret_record)
{
    return stored_account_change(f->store, f->accounts, f->arena, bytes_from_string(name), how,
                                 make, (char *)(uintptr_t)context, ret_record);
}

/* The keys of an account in force, by what SMB's clients prove: one hash a key. */
static size_t count_keys(const struct accounts *accounts, const char *name)
{
    const struct account *account = accounts_find(accounts, bytes_from_string(name));

    return account ? account_key_count(account) : 0;
}

/* Rule: a change is in force when it returns, and in a set that is loaded anew. */
static void changes_take_effect(void **state)
{
    struct fixture *f = *state;
    struct accounts *others = accounts_new();
    struct account_record record;
    const char *problem = NULL;
    size_t count;

    assert_int_equal(change(f, "one", ACCOUNT_CHANGE, set_key, KEY_A, &record), E_ResourceNotFound);
    assert_int_equal(change(f, "one", ACCOUNT_ADD, set_key, KEY_A, &record), OK);
    assert_int_equal(change(f, "one", ACCOUNT_ADD, set_key, KEY_A, &record),
                     E_AccountAlreadyExists);
    assert_int_equal(count_keys(f->accounts, "one"), 1);
    assert_int_equal(change(f, "one", ACCOUNT_CHANGE, set_second_key, KEY_B, &record), OK);
    assert_int_equal(count_keys(f->accounts, "one"), 2);
    assert_true(record.changed > record.created);
    assert_false(account_is_disabled(accounts_find(f->accounts, bytes_from_string("one"))));
    assert_int_equal(change(f, "one", ACCOUNT_CHANGE, disable, NULL, &record), OK);
    assert_true(account_is_disabled(accounts_find(f->accounts, bytes_from_string("one"))));

    assert_int_equal(change(f, "two", ACCOUNT_ADD, set_key, KEY_B, &record), OK);
    assert_true(stored_accounts_load(f->store, others, &count, &problem));
    assert_int_equal(count, 2);
    assert_int_equal(count_keys(others, "one"), 2);
    assert_int_equal(count_keys(others, "two"), 1);
    assert_true(account_is_disabled(accounts_find(others, bytes_from_string("one"))));
    accounts_free(others);
}

/* Rule: what was decided earlier is not put in force after what was decided later. */
static void older_record_versions_are_ignored(void **state)
{
    struct fixture *f = *state;
    struct stored_account account = {
        .name = BYTES("one"), .keys = { BYTES(KEY_A), BYTES(KEY_B) }, .key_count = 2, .version = 7
    };

    assert_int_equal(accounts_put_stored(f->accounts, &account), ACCOUNT_PUT);
    account.version = 6;
    account.disabled = true;
    assert_int_equal(accounts_put_stored(f->accounts, &account), ACCOUNT_PUT);
    assert_false(account_is_disabled(accounts_find(f->accounts, bytes_from_string("one"))));
    account.version = 8;
    assert_int_equal(accounts_put_stored(f->accounts, &account), ACCOUNT_PUT);
    assert_true(account_is_disabled(accounts_find(f->accounts, bytes_from_string("one"))));
}

/* Rule: an account that a list names is changed there, and a list cannot take over one of the store. */
static void stored_and_configured_accounts_are_separate(void **state)
{
    struct fixture *f = *state;
    struct account_record record;
    const char *problem = NULL;
    size_t count;

    assert_int_equal(change(f, "stored", ACCOUNT_ADD, set_key, KEY_A, &record), OK);
    assert_false(accounts_add_list(f->accounts, "other:a2V5;stored:a2V5", &problem));
    assert_non_null(strstr(problem, "already exists in the store"));
    assert_null(accounts_find(f->accounts, bytes_from_string("other")));
    assert_true(accounts_add_list(f->accounts, "listed:a2V5", &problem));
    assert_int_equal(change(f, "listed", ACCOUNT_ADD, set_key, KEY_A, &record),
                     E_ResourceTypeMismatch);
    assert_int_equal(account_source(accounts_find(f->accounts, bytes_from_string("listed"))),
                     ACCOUNT_CONFIGURED);
    /* Nothing was made of it, or no later start would be possible. */
    assert_true(stored_accounts_load(f->store, f->accounts, &count, &problem));
    assert_int_equal(count, 1);
}

struct meanwhile {
    struct fixture *f;
    const char *list;
    bool is_taken; /* the list */
};

static void set_key_beside_a_list(struct account_record *record, void *context)
{
    struct meanwhile *meanwhile = context;
    const char *problem;

    set_key(record, (char *)(uintptr_t)KEY_A);
    meanwhile->is_taken = accounts_replace(meanwhile->f->accounts, meanwhile->list, &problem);
}

static enum error add_beside_a_list(struct meanwhile *meanwhile, const char *name)
{
    struct account_record record;

    return stored_account_change(meanwhile->f->store, meanwhile->f->accounts, meanwhile->f->arena,
                                 bytes_from_string(name), ACCOUNT_ADD, set_key_beside_a_list,
                                 meanwhile, &record);
}

/* Rule: a list that names an account while it is being added to the store is refused; of one that could not be
 * added the name is free again. */
static void a_list_cannot_come_between(void **state)
{
    struct fixture *f = *state;
    struct meanwhile meanwhile = { .f = f, .list = "between:a2V5" };
    struct accounts *others = accounts_new();
    struct account_record record;
    const char *problem = NULL;
    size_t count;

    assert_int_equal(add_beside_a_list(&meanwhile, "between"), OK);
    assert_false(meanwhile.is_taken);
    assert_int_equal(account_source(accounts_find(f->accounts, bytes_from_string("between"))),
                     ACCOUNT_STORED);
    meanwhile.list = "other:a2V5";
    assert_int_equal(add_beside_a_list(&meanwhile, "another"), OK);
    assert_true(meanwhile.is_taken);

    assert_true(accounts_add_list(others, "listed:a2V5", &problem));
    assert_true(stored_accounts_load(f->store, others, &count, &problem));
    assert_int_equal(count, 2);
    assert_int_equal(stored_account_change(f->store, others, f->arena, bytes_from_string("listed"),
                                           ACCOUNT_ADD, set_key, (char *)(uintptr_t)KEY_A, &record),
                     E_ResourceTypeMismatch);
    accounts_free(others);

    others = accounts_new();
    assert_int_equal(stored_account_change(f->store, others, f->arena, bytes_from_string("between"),
                                           ACCOUNT_ADD, set_key, (char *)(uintptr_t)KEY_A, &record),
                     E_AccountAlreadyExists);
    assert_true(accounts_add_list(others, "between:a2V5", &problem));
    accounts_free(others);
}

static void put_raw(struct fixture *f, struct bytes key, struct bytes value)
{
    const struct partition at = { .space = account_space("accounts", bytes_from_string("")),
                                  .key = BYTES("") };
    struct read_view *before = read_view_open(f->store, at, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(f->arena);
    struct commit_part part = { before, changes };
    uint64_t sequence;

    changes_put(changes, RECORD_INNER, key, value, NULL, 0);
    assert_int_equal(store_commit(f->store, &part, 1, clock_now() + 1, STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(before);
}

static enum account_record_kind inspect(const char *service, const char *key, struct bytes value)
{
    const struct partition at = { .space = account_space(service, bytes_from_string("")),
                                  .key = BYTES("") };

    return stored_account_inspect(&at, bytes_from_string(key), value);
}

/* Rule: the bytes of a record of version 1 stay readable; what makes no sense is damage, never an account. */
static void records_round_trip(void **state)
{
    static const struct bytes wrong[] = {
        BYTES(""),
        BYTES("\x02\x00\x01\x02\x01\x09"
              "a2V5LWE="),
        BYTES("\x01\x20\x01\x02\x01\x09"
              "a2V5LWE="),
        BYTES("\x01\x00\x01\x02\x00"),
        BYTES("\x01\x00\x01\x02\x03\x09"
              "a2V5LWE=\x09"
              "a2V5LWE=\x09"
              "a2V5LWE="),
        BYTES("\x01\x00\x01\x02\x01\x09"
              "a2V5LW"),
        BYTES("\x01\x00\x01\x02\x01\x09"
              "a2V5LWE=x"),
    };
    struct fixture *f = *state;
    struct account_record record;

    put_raw(f, bytes_from_string("aold"),
            (struct bytes)BYTES("\x01\x01\x05\x06\x02\x09"
                                "a2V5LWE=\x09"
                                "a2V5LWI="));
    assert_int_equal(stored_account_read(f->store, f->arena, bytes_from_string("old"), &record),
                     OK);
    assert_int_equal(inspect("accounts", "aold",
                             (struct bytes)BYTES("\x01\x01\x05\x06\x01\x09"
                                                 "a2V5LWE=")),
                     ACCOUNT_RECORD);
    assert_true(record.disabled);
    assert_int_equal(record.created, 5);
    assert_int_equal(record.changed, 6);
    assert_int_equal(record.key_count, 2);
    assert_true(bytes_is(record.keys[0], KEY_A) && bytes_is(record.keys[1], KEY_B));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(inspect("accounts", "abad", wrong[i]), ACCOUNT_RECORD_DAMAGED);
        assert_int_equal(inspect("blob", "abad", wrong[i]), NO_ACCOUNT_RECORD);
        put_raw(f, bytes_from_string("abad"), wrong[i]);
        assert_int_equal(stored_account_read(f->store, f->arena, bytes_from_string("bad"), &record),
                         E_InternalError);
    }
}

static void limit(struct account_record *record, void *context)
{
    record->limits = *(const struct account_limits *)context;
}

/* Rule: limits are kept, and in force where the store is loaded anew; an account without any is written as before, so
 * that older servers read it. */
static void limits_are_stored(void **state)
{
    struct fixture *f = *state;
    struct account_limits some = { { [LIMIT_REQUESTS] = LIMIT_NONE, [LIMIT_BYTES] = LIMIT_MAX } };
    struct account_limits none = { { 0 } };
    struct accounts *others = accounts_new();
    struct account_record record;
    const struct account *account;
    const char *problem = NULL;
    size_t count;

    assert_int_equal(change(f, "one", ACCOUNT_ADD, set_key, KEY_A, &record), OK);
    assert_int_equal(change(f, "one", ACCOUNT_CHANGE, limit, (const char *)&some, &record), OK);
    assert_int_equal(stored_account_read(f->store, f->arena, bytes_from_string("one"), &record),
                     OK);
    assert_memory_equal(&record.limits, &some, sizeof some);
    assert_true(stored_accounts_load(f->store, others, &count, &problem));
    account = accounts_find(others, bytes_from_string("one"));
    assert_int_equal(account_limit(account, LIMIT_BYTES), LIMIT_MAX);
    assert_int_equal(account_limit(account, LIMIT_REQUESTS), 0);
    assert_int_equal(change(f, "one", ACCOUNT_CHANGE, limit, (const char *)&none, &record), OK);
    assert_int_equal(account_hindrances(accounts_find(f->accounts, bytes_from_string("one"))), 0);
    accounts_free(others);
}

/* Rule: there is a most, and it is refused without anything made. */
static void number_of_accounts_is_limited(void **state)
{
    struct fixture *f = *state;
    struct account_record record, *all;
    char name[16];
    size_t count;

    for (unsigned i = 0; i < STORED_ACCOUNTS_MAX; i++) {
        snprintf(name, sizeof name, "a%05u", i);
        assert_int_equal(change(f, name, ACCOUNT_ADD, set_key, KEY_A, &record), OK);
    }
    assert_int_equal(change(f, "onemore", ACCOUNT_ADD, set_key, KEY_A, &record), E_OutOfRangeInput);
    assert_int_equal(change(f, "a00007", ACCOUNT_CHANGE, set_key, KEY_B, &record), OK);
    assert_int_equal(stored_accounts_list(f->store, f->arena, &all, &count), OK);
    assert_int_equal(count, STORED_ACCOUNTS_MAX);
    assert_true(bytes_is(all[0].name, "a00000") && bytes_is(all[999].name, "a00999"));
    assert_null(accounts_find(f->accounts, bytes_from_string("onemore")));
}

/* Rule: however many accounts lists have named, there is room for those of the store. */
static void lists_leave_room(void **state)
{
    struct fixture *f = *state;
    struct account_record record;
    const char *problem;
    char name[32];
    unsigned named = 0;

    do
        snprintf(name, sizeof name, "listed%u:a2V5", named);
    while (accounts_add_list(f->accounts, name, &problem) && ++named < ACCOUNTS_MAX);
    assert_int_equal(named, ACCOUNTS_MAX - STORED_ACCOUNTS_MAX);
    for (unsigned i = 0; i < STORED_ACCOUNTS_MAX; i++) {
        snprintf(name, sizeof name, "a%05u", i);
        assert_int_equal(change(f, name, ACCOUNT_ADD, set_key, KEY_A, &record), OK);
    }
    assert_int_equal(change(f, "onemore", ACCOUNT_ADD, set_key, KEY_A, &record), E_OutOfRangeInput);
}

/* Rule: 3 to 24 lower-case letters and digits. */
static void field_names_match_the_service(void **state)
{
    static const char *const right[] = { "abc", "a1b2", "0123456789", "abcdefghijklmnopqrstuvwx" };
    static const char *const wrong[] = { "",          "ab",  "abcdefghijklmnopqrstuvwxy",
                                         "Abc",       "a-b", "a_b",
                                         "a\xc3\xa4", "a b" };

    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_true(stored_account_name_is_valid(bytes_from_string(right[i])));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(stored_account_name_is_valid(bytes_from_string(wrong[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(changes_take_effect, setup, teardown),
        cmocka_unit_test_setup_teardown(older_record_versions_are_ignored, setup, teardown),
        cmocka_unit_test_setup_teardown(stored_and_configured_accounts_are_separate, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(records_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(limits_are_stored, setup, teardown),
        cmocka_unit_test_setup_teardown(a_list_cannot_come_between, setup, teardown),
        cmocka_unit_test_setup_teardown(number_of_accounts_is_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_leave_room, setup, teardown),
        cmocka_unit_test(field_names_match_the_service),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
