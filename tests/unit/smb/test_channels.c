/* Sessions of several connections. ms-smb2: 3.3.5.5, 3.3.5.5.2, 3.3.7.1 */

#include "client.h"

#include "base/endian.h"
#include "smb_session/durable_scavenger.h"
#include "smb_protocol/limits.h"

static struct client *begin(struct world *world, enum smb_dialect dialect)
{
    struct client *c = client_begin(world, dialect);

    client_sign(c, true);
    return c;
}

/* One that has negotiated, and no more. */
static struct client *stranger(struct world *world, enum smb_dialect dialect)
{
    struct client *c = client_new(world);

    client_speak(c, dialect);
    client_charge(c, 1, 8);
    return c;
}

/* Rule: over a channel, by either key of the account, all of the session is there; the connection that it began on
 * may end, and then the channel. */
static void bind(void **state)
{
    static const enum smb_dialect dialects[] = { SMB_300, SMB_302, SMB_311 };
    struct world *world = *state;

    for (size_t i = 0; i < 3; i++) {
        struct client *home = begin(world, dialects[i]), *channel = stranger(world, dialects[i]);
        struct open_file file, other;
        struct bytes bytes;

        client_open(home, "x", &file);
        assert_int_equal(client_bind(channel, home, "one", i ? TEST_KEY_1 : TEST_KEY_2), 0);
        assert_int_equal(client_write(channel, &file, 0, "abc"), 0);
        assert_int_equal(client_read(home, &file, 0, 3, &bytes), 0);
        client_open(channel, "y", &other);
        assert_int_equal(client_close(home, &other), 0);
        client_cut(home);
        assert_int_equal(client_read(channel, &file, 0, 3, &bytes), 0);
        assert_memory_equal(bytes.ptr, "abc", 3);
        client_open(channel, "y", &other);
        assert_int_equal(client_close(channel, &file), 0);
        client_free(channel); /* the last one: y is closed */
        client_free(home);
    }
}

/* Rule: a channel that ends leaves the session as it is. */
static void unbinds(void **state)
{
    struct world *world = *state;
    struct client *home = begin(world, SMB_311), *channel = stranger(world, SMB_311);
    struct open_file file;

    assert_int_equal(client_bind(channel, home, "one", TEST_KEY_1), 0);
    client_open(channel, "x", &file);
    client_free(channel);
    assert_int_equal(client_close(home, &file), 0);
    client_free(home);
}

/* Rule: what does not fit the session is refused, and so is who is another; the session goes on. */
static void refuses(void **state)
{
    struct world *world = *state;
    struct client *home = begin(world, SMB_311), *channel = stranger(world, SMB_302);
    struct open_file file;

    assert_int_equal(client_bind(channel, home, "one", TEST_KEY_1),
                     nt_status_value(STATUS_INVALID_PARAMETER));
    client_free(channel);
    channel = stranger(world, SMB_210);
    assert_int_equal(client_bind(channel, home, "one", TEST_KEY_1),
                     nt_status_value(STATUS_REQUEST_NOT_ACCEPTED));
    client_free(channel);
    channel = stranger(world, SMB_311);
    assert_int_equal(client_bind(channel, home, "two", TEST_KEY_1),
                     nt_status_value(STATUS_ACCESS_DENIED));
    assert_int_equal(client_bind(channel, home, "one", "d3Jvbmc="),
                     nt_status_value(STATUS_LOGON_FAILURE));
    client_use_session(home, client_session(home) + 1);
    assert_int_equal(client_bind(channel, home, "one", TEST_KEY_1),
                     nt_status_value(STATUS_USER_SESSION_DELETED));
    client_use_session(home, client_session(home) - 1);
    assert_int_equal(client_bind(channel, home, "one", TEST_KEY_1), 0);
    client_open(home, "x", &file);
    client_free(channel);
    client_free(home);
}

/* Rule: an account that was disabled since its session began is told so by a new channel, too. decision: 380 */
static void refuses_a_disabled_account(void **state)
{
    struct world *world = *state;
    struct stored_account account = {
        .name = BYTES("three"), .keys = { BYTES(TEST_KEY_1) }, .key_count = 1, .version = 1
    };
    struct client *home = client_new(world), *channel = stranger(world, SMB_311);

    assert_int_equal(accounts_put_stored(world->accounts, &account), ACCOUNT_PUT);
    client_speak(home, SMB_311);
    assert_int_equal(client_log_on(home, "three", TEST_KEY_1), 0);
    account.disabled = true;
    account.version++;
    assert_int_equal(accounts_put_stored(world->accounts, &account), ACCOUNT_PUT);
    assert_int_equal(client_bind(channel, home, "three", TEST_KEY_1),
                     nt_status_value(STATUS_ACCOUNT_DISABLED));
    client_free(channel);
    client_free(home);
}

/* Rule: a session has so many connections, and one more is refused. */
static void has_a_bound(void **state)
{
    struct world *world = *state;
    struct client *home = begin(world, SMB_311), *channels[SMB_CHANNELS_MAX];

    for (unsigned i = 1; i < SMB_CHANNELS_MAX; i++) {
        channels[i] = stranger(world, SMB_311);
        assert_int_equal(client_bind(channels[i], home, "one", TEST_KEY_1), 0);
    }
    channels[0] = stranger(world, SMB_311);
    assert_int_equal(client_bind(channels[0], home, "one", TEST_KEY_1),
                     nt_status_value(STATUS_INSUFFICIENT_RESOURCES));
    client_free(channels[1]);
    assert_int_equal(client_bind(channels[0], home, "one", TEST_KEY_1), 0);
    channels[1] = channels[0];
    client_cut(home);
    for (unsigned i = 1; i < SMB_CHANNELS_MAX; i++)
        client_free(channels[i]);
    client_free(home);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(bind), TEST(unbinds), TEST(refuses),
                                        TEST(refuses_a_disabled_account), TEST(has_a_bound) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
