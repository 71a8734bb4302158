/* Lists of accounts, as AZURITE_ACCOUNTS holds them. */
#include "auth_test.h"

#include <pthread.h>
#include <stdatomic.h>

#include <nettle/hmac.h>

#include "base/encode.h"

/* Rule: "name:key1[:key2];..." with one or two keys, a semicolon at the end or not. */
static void lists_are_read(void **state)
{
    struct accounts *accounts = accounts_new();
    const char *problem = NULL;

    (void)state;
    assert_true(
        accounts_add_list(accounts, "one:a2V5;two:a2V5:b3RoZXI=; three-3_x:a2V5;", &problem));
    assert_non_null(accounts_find(accounts, bytes_from_string("one")));
    assert_non_null(accounts_find(accounts, bytes_from_string("two")));
    assert_non_null(accounts_find(accounts, bytes_from_string("three-3_x")));
    assert_null(accounts_find(accounts, bytes_from_string("One")));
    assert_null(accounts_find(accounts, bytes_from_string("on")));
    assert_null(accounts_find(accounts, bytes_from_string("")));
    assert_null(accounts_find(accounts, bytes_from_string(DEVELOPMENT_ACCOUNT)));
    assert_true(bytes_is(account_name(accounts_find(accounts, bytes_from_string("two"))), "two"));

    accounts_add_development(accounts);
    assert_non_null(accounts_find(accounts, bytes_from_string(DEVELOPMENT_ACCOUNT)));
    accounts_free(accounts);
}

/* Rule: a key is decoded as Node.js decodes it, so that what clients of Azurite sign with works:
 * without padding, of the alphabet of URLs, with characters that are no digits. decision: 34 */
static void keys_are_decoded_leniently(void **state)
{
    static const struct {
        const char *list, *same;
    } keys[] = {
        { "one:testing_key", "one:testing/key=" },
        { "one:a2V5", "one:a 2V5" },
        { "one:-_-_", "one:+/+/" },
        { "one:a2V5cw", "one:a2V5cw==" },
        { "one:a2V5cw==", "one:a2V5cw=ignored" },
        { "one:testing_key", "one:testing_ke.y" },
    };
    static const struct bytes text = BYTES("text");

    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct accounts *a = accounts_new(), *b = accounts_new();
        struct hmac_sha256_ctx hmac;
        uint8_t digest[SHA256_DIGEST_SIZE];
        struct arena *arena = arena_new(TEST_ARENA_CAP);
        struct bytes key = base64_decode_lenient(
            arena, bytes_from(bytes_from_string(keys[i].list), sizeof "one:" - 1));
        const char *problem = NULL;

        assert_true(accounts_add_list(a, keys[i].list, &problem));
        assert_true(accounts_add_list(b, keys[i].same, &problem));
        hmac_sha256_set_key(&hmac, key.len, (const uint8_t *)key.ptr);
        hmac_sha256_update(&hmac, text.len, (const uint8_t *)text.ptr);
        hmac_sha256_digest(&hmac, sizeof digest, digest);
        assert_true(account_signed(accounts_find(a, bytes_from_string("one")), text,
                                   bytes_of(digest, sizeof digest)));
        assert_true(account_signed(accounts_find(b, bytes_from_string("one")), text,
                                   bytes_of(digest, sizeof digest)));
        accounts_free(a);
        accounts_free(b);
        arena_free(arena);
    }
}

/* Rule: the name of a host has no case; the exact account is preferred. */
static void hosts_have_no_case(void **state)
{
    struct accounts *accounts = accounts_new();
    const char *problem = NULL;

    (void)state;
    assert_true(accounts_add_list(accounts, "one:a2V5;Two:a2V5;two:a2V5", &problem));
    assert_true(
        bytes_is(account_name(accounts_find_host(accounts, bytes_from_string("ONE"))), "one"));
    assert_true(
        bytes_is(account_name(accounts_find_host(accounts, bytes_from_string("two"))), "two"));
    assert_null(accounts_find_host(accounts, bytes_from_string("three")));
    accounts_free(accounts);
}

/* Rule: of a malformed list nothing is added, and the problem tells no key. auth invariant 2 */
static void malformed_lists_add_nothing(void **state)
{
    static const char *const lists[] = {
        "",
        ";",
        "one",
        ":a2V5",
        "one:",
        "one:a2V5:",
        "one:c2VjcmV0:c2VjcmV0:c2VjcmV0",
        "one:!!!!",
        "one:=c2VjcmV0",
        "one:c2VjcmV0;one:c2VjcmV0",
        "first:c2VjcmV0;a/b:c2VjcmV0",
        "first:c2VjcmV0;one-secondary:c2VjcmV0",
        "a123456789012345678901234567890123456789012345678901234567890123x:c2VjcmV0",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct accounts *accounts = accounts_new();
        const char *problem = NULL;

        if (accounts_add_list(accounts, lists[i], &problem))
            fail_msg("%s was read", lists[i]);
        assert_non_null(problem);
        assert_null(strstr(problem, "c2Vj"));
        assert_null(accounts_find(accounts, bytes_from_string("one")));
        assert_null(accounts_find(accounts, bytes_from_string("first")));
        accounts_free(accounts);
    }
}

/* Rule: a list that takes the place of another counts at once; what it names no longer is not found, and whoever
 * had found it goes on. auth/account.h (1), (3) */
static void lists_are_replaced(void **state)
{
    struct accounts *accounts = accounts_new();
    const char *problem = NULL;
    const struct account *gone, *stays;

    (void)state;
    assert_true(accounts_add_list(accounts, "gone:a2V5;stays:a2V5", &problem));
    gone = accounts_find(accounts, bytes_from_string("gone"));
    stays = accounts_find(accounts, bytes_from_string("stays"));
    assert_true(accounts_replace(accounts, "stays:a2V5:b3RoZXI=\nnew:a2V5", &problem));
    assert_null(accounts_find(accounts, bytes_from_string("gone")));
    assert_null(accounts_find_host(accounts, bytes_from_string("GONE")));
    assert_int_equal(account_key_count(gone), 1);
    assert_ptr_equal(accounts_find(accounts, bytes_from_string("stays")), stays);
    assert_int_equal(account_key_count(stays), 2);
    assert_non_null(accounts_find(accounts, bytes_from_string("new")));
    assert_false(accounts_replace(accounts, "stays:a2V5;stays:a2V5", &problem));
    assert_int_equal(account_key_count(stays), 2);
    assert_true(accounts_replace(accounts, "gone:a2V5:b3RoZXI=", &problem));
    assert_ptr_equal(accounts_find(accounts, bytes_from_string("gone")), gone);
    assert_int_equal(account_key_count(gone), 2);
    accounts_free(accounts);
}

#define CHANGES 200000
static const struct bytes pairs[2][2] = { { BYTES("a2V5IG9uZQ=="), BYTES("a2V5IG9uZQ==") },
                                          { BYTES("a2V5IHR3bw=="), BYTES("a2V5IHR3bw==") } };

static atomic_bool exchanged;

static void *exchange_keys(void *argument)
{
    for (uint64_t i = 1; i <= CHANGES; i++)
        (void)accounts_put_stored(
            argument, &(struct stored_account){ .name = BYTES("one"),
                                                .keys = { pairs[i & 1][0], pairs[i & 1][1] },
                                                .key_count = 2,
                                                .version = i });
    atomic_store(&exchanged, true);
    return NULL;
}

/* Rule: a reader sees the keys of one change, however many are made meanwhile. auth/account.h (2) */
static void readers_see_one_change(void **state)
{
    uint8_t hashes[ACCOUNT_KEYS_MAX][NT_HASH_SIZE], first[NT_HASH_SIZE] = { 0 };
    struct accounts *accounts = accounts_new();
    const struct account *account = NULL;
    unsigned seen = 0;
    pthread_t writer;

    (void)state;
    assert_int_equal(pthread_create(&writer, NULL, exchange_keys, accounts), 0);
    while (!account)
        account = accounts_find(accounts, bytes_from_string("one"));
    while (!atomic_load(&exchanged)) {
        assert_int_equal(account_nt_hashes(account, hashes), 2);
        assert_memory_equal(hashes[0], hashes[1], NT_HASH_SIZE);
        seen += memcmp(first, hashes[0], NT_HASH_SIZE) != 0;
        memcpy(first, hashes[0], NT_HASH_SIZE);
    }
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_true(seen > 0);
    accounts_free(accounts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_read),     cmocka_unit_test(keys_are_decoded_leniently),
        cmocka_unit_test(hosts_have_no_case), cmocka_unit_test(malformed_lists_add_nothing),
        cmocka_unit_test(lists_are_replaced), cmocka_unit_test(readers_see_one_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
