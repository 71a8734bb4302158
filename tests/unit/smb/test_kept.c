/* Handles that are kept when their client has gone, and what becomes of those that nobody comes back to. ms-smb2: 3.3.7.1 */
#include "smb_session/durable_scavenger.h"

#include "base/clock.h"
#include "base/endian.h"
#include "durable_client.h"
#include "smb_protocol/limits.h"
#include "smb_session/service.h"

#define KEPT_MS 10000u

/* Nobody comes back in time: it is closed, by who is called then, and the place is free. */
static void is_overdue(void **state)
{
    struct world *world = *state;
    struct client *c = client_begin(world, SMB_311);
    struct durable_scavenger *kept = world->service->scavenger;
    struct open_file file;
    instant next;

    assert_int_equal(durable_open(c, 1, 2, BATCH, &file), 0);
    client_free(c);
    next = scavenger_next(kept);
    assert_true(next > 0);
    while (clock_now() <= next)
        ;
    scavenger_close_expired(kept, next - 1);
    assert_int_equal(scavenger_count(kept), 1);
    scavenger_close_expired(kept, clock_now());
    assert_int_equal(scavenger_count(kept), 0);
    assert_int_equal(scavenger_next(kept), 0);
    c = client_begin(world, SMB_311);
    assert_int_equal(durable_return(c, &file, 2, &file),
                     nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    client_free(c);
}

static unsigned refused; /* closes that the store cannot do now */

__typeof__(handle_overdue_attempt) __real_handle_overdue_attempt, __wrap_handle_overdue_attempt;

enum error __wrap_handle_overdue_attempt(struct decision *d, void *of)
{
    if (refused == 0)
        return __real_handle_overdue_attempt(d, of);
    refused--;
    return E_ServerBusy;
}

/* One that could not be closed when its time was over is closed a minute later. decision: 671 */
static void is_closed_later(void **state)
{
    struct world *world = *state;
    struct client *c = client_begin(world, SMB_311);
    struct durable_scavenger *kept = world->service->scavenger;
    struct open_file file;
    instant next;

    assert_int_equal(durable_open(c, 1, 2, BATCH, &file), 0);
    client_free(c);
    next = scavenger_next(kept);
    while (clock_now() <= next)
        ;
    refused = 1;
    scavenger_close_expired(kept, clock_now());
    assert_int_equal(refused, 0);
    assert_int_equal(scavenger_count(kept), 1);
    next = scavenger_next(kept);
    assert_true(next > clock_now());
    refused = 1;
    scavenger_close_expired(kept, next - 1);
    assert_int_equal(refused, 1); /* not before */
    refused = 0;
    scavenger_close_expired(kept, next);
    assert_int_equal(scavenger_count(kept), 0);
    assert_int_equal(scavenger_next(kept), 0);
}

static unsigned refused_closes; /* by clients */
__typeof__(handle_close_attempt) __real_handle_close_attempt, __wrap_handle_close_attempt;

enum error __wrap_handle_close_attempt(struct decision *d, void *of)
{
    if (refused_closes == 0)
        return __real_handle_close_attempt(d, of);
    refused_closes--;
    return E_ServerBusy;
}

/* A handle whose close the store refused, whether its client asked or went away, is closed soon. */
static void closes_for_the_store(void **state)
{
    struct world *world = *state;
    struct client *c = client_begin(world, SMB_311);
    struct durable_scavenger *kept = world->service->scavenger;
    struct open_file asked, left;

    client_open(c, "x", &asked);
    client_open(c, "x", &left);
    refused_closes = 2;
    assert_int_not_equal(client_close(c, &asked), 0);
    client_free(c);
    assert_int_equal(refused_closes, 0);
    assert_int_equal(scavenger_count(kept), 2);
    refused_closes = 1;
    scavenger_close_expired(kept, scavenger_next(kept) - 1);
    assert_int_equal(refused_closes, 1); /* not before */
    scavenger_close_expired(kept, clock_now() + 10 * TICKS_PER_SECOND);
    assert_int_equal(scavenger_count(kept), 1); /* the other one is tried again */
    scavenger_close_expired(kept, clock_now() + 20 * TICKS_PER_SECOND);
    assert_int_equal(scavenger_count(kept), 0);
    c = client_begin(world, SMB_311);
    assert_int_equal(durable_open(c, 0, 0, BATCH, &asked), 0);
    assert_int_equal(asked.reply.bytes.ptr[SMB_HEADER_SIZE + 2],
                     BATCH); /* nobody else has it open */
    assert_int_equal(client_close(c, &asked), 0);
    client_free(c);
}

/* LastWriteTime, as a create answers it. */
static uint64_t written(const struct open_file *file)
{
    return le64_get(file->reply.bytes.ptr + SMB_HEADER_SIZE + 24);
}

static uint64_t when_written(struct world *world)
{
    struct client *c = client_begin(world, SMB_311);
    struct open_file file;
    uint64_t when;

    client_open(c, "x", &file);
    when = written(&file);
    assert_int_equal(client_close(c, &file), 0);
    client_free(c);
    return when;
}

/* It is closed as by its client: where it has written twice that is the last write. decisions: 357, 670 */
static void its_close_is_the_last_write(void **state)
{
    for (unsigned writes = 1; writes <= 2; writes++) {
        struct world *world = *state;
        struct client *c = client_begin(world, SMB_311);
        struct open_file file;
        uint64_t before;

        assert_int_equal(durable_open(c, KEPT_MS, PERSISTENT, 0, &file), 0);
        for (unsigned i = 0; i < writes; i++) {
            assert_int_equal(client_write(c, &file, 0, "abc"), 0);
            clock_advance(3 * TICKS_PER_SECOND);
        }
        client_free(c);
        before = when_written(world);
        clock_advance(2 * KEPT_MS * (TICKS_PER_SECOND / 1000));
        scavenger_close_expired(world->service->scavenger, clock_now());
        assert_int_equal(when_written(world) > before, writes == 2);
    }
}

/* The same of a file that another client has deleted meanwhile. MS-FSA 2.1.5.5; decision: 670 */
static void its_close_deletes(void **state)
{
    static const struct creating deletes = { .access = 0x00010080, .options = 0x1000 };
    struct world *world = *state;
    struct client *c = client_begin(world, SMB_311);
    struct open_file file;

    assert_int_equal(durable_open(c, KEPT_MS, PERSISTENT, 0, &file), 0);
    client_free(c);
    c = client_begin(world, SMB_311);
    assert_int_equal(client_create(c, "x", &deletes, &file), 0);
    assert_int_equal(client_close(c, &file), 0);
    assert_int_equal(client_create(c, "x", &deletes, &file),
                     nt_status_value(STATUS_DELETE_PENDING));
    clock_advance(2 * KEPT_MS * (TICKS_PER_SECOND / 1000));
    scavenger_close_expired(world->service->scavenger, clock_now());
    client_open(c, "x", &file);
    assert_int_equal(file.action, 2); /* FILE_CREATED */
    assert_int_equal(client_close(c, &file), 0);
    client_free(c);
}

/* As many as an account may have are kept, and no more. */
static void has_a_bound(void **state)
{
    struct world *world = *state;
    struct durable_scavenger *kept = world->service->scavenger;
    struct bytes one = bytes_from_string("one"), two = bytes_from_string("two");
    struct client *c;
    struct open_file file;

    for (unsigned i = 0; i < SMB_KEPT_OF_ACCOUNT_MAX; i++)
        assert_true(scavenger_reserve(kept, one));
    assert_false(scavenger_reserve(kept, one));
    assert_true(scavenger_reserve(kept, two));
    scavenger_release(kept, two);
    c = client_begin(world, SMB_311);
    assert_int_equal(durable_open(c, 0, 0, BATCH, &file), 0);
    client_free(c); /* closed */
    assert_int_equal(scavenger_count(kept), SMB_KEPT_OF_ACCOUNT_MAX);
    c = client_begin(world, SMB_311);
    assert_int_equal(durable_return(c, &file, 0, &file),
                     nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    client_free(c);
    for (unsigned i = 0; i < SMB_KEPT_OF_ACCOUNT_MAX; i++)
        scavenger_release(kept, one);
    assert_int_equal(scavenger_count(kept), 0);
}

static struct bytes account_of(unsigned number)
{
    static char name[2];

    name[0] = (char)('a' + number);
    return bytes_from_string(name);
}

/* As many as all accounts may have together are kept, and none of another account. */
static void has_a_bound_of_all(void **state)
{
    const struct world *world = *state;
    struct durable_scavenger *kept = world->service->scavenger;
    const unsigned accounts = SMB_DURABLE_MAX / SMB_KEPT_OF_ACCOUNT_MAX;

    for (unsigned i = 0; i < SMB_DURABLE_MAX; i++)
        assert_true(scavenger_reserve(kept, account_of(i % accounts)));
    assert_false(scavenger_reserve(kept, account_of(accounts)));
    scavenger_release(kept, account_of(0));
    assert_true(scavenger_reserve(kept, account_of(accounts)));
    scavenger_release(kept, account_of(accounts));
    for (unsigned i = 1; i < SMB_DURABLE_MAX; i++)
        scavenger_release(kept, account_of(i % accounts));
    assert_int_equal(scavenger_count(kept), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(is_overdue),           TEST(is_closed_later), TEST(its_close_is_the_last_write),
        TEST(its_close_deletes),    TEST(has_a_bound),     TEST(has_a_bound_of_all),
        TEST(closes_for_the_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
