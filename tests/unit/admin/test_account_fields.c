/* Every field of the record of an account survives, next to others with any value. stored_accounts.c */
#include "admin/stored_accounts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../record_fields.h"

static const struct field fields[] = {
    TEXT(account_record, name),
    VALUE(account_record, disabled),
    VALUE(account_record, hierarchical),
    VALUE(account_record, no_public_access),
    VALUE(account_record, no_shared_key),
    VALUE(account_record, tracks_access),
    SKIPPED(account_record, created), /* given by the decision; see below */
    SKIPPED(account_record, changed),
    VALUE(account_record, key_count),
    TEXT(account_record, keys[0]),
    TEXT(account_record, keys[1]),
    VALUE(account_record, limits.of[LIMIT_REQUESTS]),
    VALUE(account_record, limits.of[LIMIT_BYTES]),
    VALUE(account_record, limits.of[LIMIT_CAPACITY]),
    VALUE(account_record, limits.of[LIMIT_CONTAINERS]),
};

static void give(struct account_record *record, void *context)
{
    const struct account_record *sample = context;

    record->disabled = sample->disabled;
    record->hierarchical = sample->hierarchical;
    record->no_public_access = sample->no_public_access;
    record->no_shared_key = sample->no_shared_key;
    record->tracks_access = sample->tracks_access;
    record->key_count = sample->key_count;
    memcpy(record->keys, sample->keys, sizeof record->keys);
    record->limits = sample->limits;
}

/* The account is added and changed, so that its two times differ. */
static void trip(struct arena *arena, const void *from, void *to)
{
    struct store *store = store_open_memory();
    struct accounts *accounts = accounts_new();
    struct account_record sample, added, changed, *read = to;

    memcpy(&sample, from, sizeof sample);
    assert_int_equal(stored_account_change(store, accounts, arena, sample.name, ACCOUNT_ADD, give,
                                           &sample, &added),
                     OK);
    assert_int_equal(stored_account_change(store, accounts, arena, sample.name, ACCOUNT_CHANGE,
                                           give, &sample, &changed),
                     OK);
    assert_int_equal(stored_account_read(store, arena, sample.name, read), OK);
    assert_true(read->created == added.created && read->changed == changed.changed);
    assert_true(read->created < read->changed);
    accounts_free(accounts);
    store_close(store);
}

static void accounts_of_the_store(void **state)
{
    static const struct record_form form = RECORD_FORM(account_record, fields, trip);
    static const struct account_record samples[] = {
        { .name = BYTES("one"),
          .disabled = false,
          .key_count = 2,
          .keys = { BYTES("a2V5LWE="), BYTES("a2V5LWI=") },
          .limits = { { 1, 2, LIMIT_NONE, 4 } } },
        { .name = BYTES("other"),
          .disabled = true,
          .hierarchical = true,
          .no_public_access = true,
          .no_shared_key = true,
          .tracks_access = true,
          .key_count = 2,
          .keys = { BYTES("a2V5LWM="), BYTES("a2V5LWQ=") },
          .limits = { { 11, LIMIT_NONE, 13, 14 } } },
        /* number of keys; no limits */
        { .name = BYTES("third"), .key_count = 1, .keys = { BYTES("a2V5LWE=") } },
        { .name = BYTES("third"),
          .key_count = 2,
          .keys = { BYTES("a2V5LWE="), BYTES("a2V5LWI=") } },
    };

    (void)state;
    fields_survive(&form, &samples[0], &samples[1]);
    for (size_t i = 2; i < 4; i++)
        fields_survive(&form, &samples[i], &samples[i]);
    fields_all_differed(
        &form, (const void *const[]){ &samples[0], &samples[1], &samples[2], &samples[3] }, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(accounts_of_the_store) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
