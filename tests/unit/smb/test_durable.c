/* Durable handles. Which contexts exclude each other, what is granted, what is kept, who may come back: exhaustive.
 * And by the machine of a connection: a client goes and comes back, others are in its way, its time is over.
 * ms-smb2: 3.3.5.9.6, 3.3.5.9.7, 3.3.5.9.10, 3.3.5.9.12, 3.3.7.1 */
#include "smb_session/opens.h"
#include "smb_session/service.h"

#include "durable_client.h"

#include "base/clock.h"
#include "base/endian.h"
#include "opens/open_record.h"
#include "smb_session/durable.h"
#include "smb_session/durable_scavenger.h"
#include "smb_protocol/limits.h"

/* ---- pure rules ---- */

/* Contexts of version 2 stand alone; those of version 1 go together. */
static void contexts(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 16; bits++) {
        const struct durable_request asked = {
            .wants_1 = bits & 1, .returns_1 = bits & 2, .wants_2 = bits & 4, .returns_2 = bits & 8
        };
        bool excludes = (bits & 12) == 12 || ((bits & 12) && (bits & 3));

        assert_int_equal(durable_check(&asked),
                         excludes ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS);
    }
}

/* Every question in every situation. */
static void grants(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 64; bits++) {
        const struct durable_request asked = { .wants_1 = bits & 1,
                                               .wants_2 = bits & 2,
                                               .is_persistent = bits & 4 };
        const struct durable_open open = { .is_available = bits & 8,
                                           .is_file = bits & 16,
                                           .caches_handle = bits & 32 };
        enum durable_kind wanted = DURABLE_NONE;

        if (asked.wants_2 && asked.is_persistent && open.is_available)
            wanted = DURABLE_PERSISTENT;
        else if (open.caches_handle)
            wanted = asked.wants_2 ? DURABLE_2 : asked.wants_1 ? DURABLE_1 : DURABLE_NONE;
        assert_int_equal(durable_granted(&asked, &open), open.is_file ? wanted : DURABLE_NONE);
    }
}

static void timeouts(void **state)
{
    struct durable_request asked = { .wants_1 = true, .timeout_ms = 5 };

    (void)state;
    assert_int_equal(durable_timeout_ms(&asked), 60000);
    asked = (struct durable_request){ .wants_2 = true };
    assert_int_equal(durable_timeout_ms(&asked), 60000);
    asked.timeout_ms = 1;
    assert_int_equal(durable_timeout_ms(&asked), 1);
    asked.timeout_ms = UINT32_MAX;
    assert_int_equal(durable_timeout_ms(&asked), 300000);
}

static const struct guid guids[] = { { { 0 } }, { { 1 } }, { { 2 } } };

/* One of them comes back: `true` where it may. */
static bool may(const struct durable_state *kept, unsigned bits, unsigned create, unsigned client,
                unsigned lease)
{
    const struct durable_request asked = { .returns_1 = !(bits & 1),
                                           .returns_2 = bits & 1,
                                           .is_persistent = bits & 2,
                                           .create = guids[create] };
    const struct durable_return by = {
        .request = &asked, .client = guids[client], .is_lease = bits & 4, .lease_key = guids[lease]
    };
    enum nt_status status = durable_may_return(kept, &by);

    assert_true(status == STATUS_SUCCESS || status == STATUS_OBJECT_NAME_NOT_FOUND);
    return status == STATUS_SUCCESS;
}

/* Every kind that is kept, with and without a lease, against all who say they come back. */
static void who_may_return(void **state)
{
    (void)state;
    for (unsigned kind = DURABLE_1; kind <= DURABLE_PERSISTENT; kind++)
        for (unsigned all = 0; all < 2 * 8 * 27; all++) {
            unsigned has_lease = all % 2, bits = all / 2 % 8, rest = all / 16;
            unsigned create = rest % 3, client = rest / 3 % 3, lease = rest / 9;
            unsigned own = kind == DURABLE_1 ? 0 : 1; /* DHnQ has no GUID */
            const struct durable_state kept = { .kind = (enum durable_kind)kind,
                                                .create = guids[own],
                                                .client = guids[1],
                                                .is_lease = has_lease,
                                                .lease_key = guids[1] };
            bool is_meant = bits & 1 ? create == own && !(bits & 2) == (kind != DURABLE_PERSISTENT)
                                     : kind != DURABLE_PERSISTENT;
            bool has_same = has_lease ? client == 1 && lease == 1 : true;

            assert_int_equal(may(&kept, bits, create, client, lease),
                             is_meant && !(bits & 4) == !has_lease && has_same);
        }
}

#define ONE_OF_16(n) n "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

/* Rule: what is kept is written as version 1 was, byte by byte. decision: 290 */
static const char version_1[] =
    "\1\3" ONE_OF_16("\1") ONE_OF_16("\2") "\1" ONE_OF_16("\3") "\1" ONE_OF_16(
        "\4") "\xE0\xA7\x12\xBE\x20\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\1\0\x80\x80\x40";

static void keeps_all(void **state)
{
    struct arena *arena = arena_new(64 << 10);
    const struct durable_state kept = { .kind = DURABLE_PERSISTENT,
                                        .create = { { 1 } },
                                        .client = { { 2 } },
                                        .is_lease = true,
                                        .lease_key = { { 3 } },
                                        .has_caching = true,
                                        .caching_key = { { 4 } },
                                        .timeout_ms = DURABLE_MAX_MS,
                                        .mode = 0x103E,
                                        .position = UINT64_MAX,
                                        .allocated = 1 << 20 };
    struct bytes bytes = durable_encode(arena, &kept);
    struct durable_state read;

    (void)state;
    assert_true(bytes_equal(bytes, bytes_of(version_1, sizeof version_1 - 1)));
    assert_true(durable_decode(bytes, &read));
    assert_memory_equal(durable_encode(arena, &read).ptr, bytes.ptr, bytes.len);
    assert_int_equal(read.allocated, 1 << 20);
    for (size_t cut = 0; cut < bytes.len; cut++)
        assert_false(durable_decode(bytes_of(bytes.ptr, cut), &read));
    arena_free(arena);
}

/* Rule: each field that is kept is read as it was written, and as no other one. */
static void keeps_each(void **state)
{
    struct arena *arena = arena_new(64 << 10);
    char locks[LOCK_SEQUENCES];
    struct durable_state kept = { .kind = DURABLE_2,
                                  .create = guid_new(),
                                  .client = guid_new(),
                                  .lease_key = guid_new(),
                                  .caching_key = guid_new(),
                                  .timeout_ms = 1234,
                                  .mode = 5678,
                                  .position = 91011,
                                  .allocated = 121314,
                                  .locks = bytes_of(locks, sizeof locks) };
    struct durable_state read;

    (void)state;
    for (size_t i = 0; i < sizeof locks; i++)
        locks[i] = (char)(i + 1);
    for (int is_lease = 0; is_lease < 2; is_lease++) {
        kept.is_lease = is_lease;
        kept.has_caching = !is_lease;
        assert_true(durable_decode(durable_encode(arena, &kept), &read));
        assert_int_equal(read.kind, kept.kind);
        assert_memory_equal(&read.create, &kept.create, sizeof read.create);
        assert_memory_equal(&read.client, &kept.client, sizeof read.client);
        assert_int_equal(read.is_lease, kept.is_lease);
        assert_memory_equal(&read.lease_key, &kept.lease_key, sizeof read.lease_key);
        assert_int_equal(read.has_caching, kept.has_caching);
        assert_memory_equal(&read.caching_key, &kept.caching_key, sizeof read.caching_key);
        assert_int_equal(read.timeout_ms, 1234);
        assert_int_equal(read.mode, 5678);
        assert_int_equal(read.position, 91011);
        assert_int_equal(read.allocated, 121314);
        assert_true(bytes_equal(read.locks, kept.locks));
    }
    arena_free(arena);
}

/* ---- by the machine ---- */

/* A client that has lost its last connection before its create was answered sends it once more, and gets what the first one
 * has opened, again and again until it has used it. decision: 628 */
static void is_sent_once_more(void **state)
{
    struct world *world = *state;

    for (uint32_t flags = 0; flags <= 2; flags += 2) {
        struct client *c = client_begin(world, SMB_311);
        struct open_file file, alone;
        uint64_t again;

        assert_int_equal(durable_open(c, 0, flags, BATCH, &file), 0);
        for (int i = 0; i < 2; i++) {
            client_free(c);
            c = client_begin(world, SMB_311);
            assert_int_equal(durable_replay(c, flags, BATCH, &again), 0);
            assert_int_equal(again, file.persistent);
            assert_int_equal(durable_replay(c, flags, BATCH, &again), 0);
            assert_int_equal(again, file.persistent);
            assert_int_equal(scavenger_count(world->service->scavenger), 0);
        }
        client_free(c);
        c = client_begin(world, SMB_311);
        assert_int_equal(durable_return(c, &file, flags, &file), 0);
        assert_int_equal(client_write(c, &file, 0, "abc"), 0); /* used */
        client_free(c);
        c = client_begin(world, SMB_311);
        assert_int_equal(durable_replay(c, flags, 0, &again), 0);
        assert_int_not_equal(again, file.persistent);
        client_free(c);
        scavenger_close_expired(world->service->scavenger, clock_now() + 400 * TICKS_PER_SECOND);
        c = client_begin(world, SMB_311);
        client_open(c, "x", &alone);
        assert_int_equal(client_close(c, &alone), 0);
        client_free(c);
    }
}

/* What it has opened was ended by somebody else: it is opened anew. */
static void is_sent_once_more_in_vain(void **state)
{
    struct world *world = *state;
    struct client *c = client_begin(world, SMB_311);
    struct open_file file, other;
    uint64_t again;

    assert_int_equal(durable_open(c, 0, 0, BATCH, &file), 0);
    client_free(c);
    c = client_begin(world, SMB_311);
    client_open(c, "x", &other);
    assert_int_equal(client_close(c, &other), 0);
    assert_int_equal(durable_replay(c, 0, BATCH, &again), 0);
    assert_int_not_equal(again, file.persistent);
    client_free(c);
}

/* A client that is cut off finds what it had open, and what it wrote; not twice, and not what it closed. */
static void comes_back(void **state)
{
    struct world *world = *state;
    struct client *c = client_begin(world, SMB_311);
    struct open_file file, again, other;
    struct bytes bytes;

    assert_int_equal(durable_open(c, 0, 0, BATCH, &file), 0);
    assert_int_equal(durable_return(c, &file, 0, &again),
                     nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    assert_int_equal(client_write(c, &file, 0, "abc"), 0);
    client_free(c);
    assert_int_equal(scavenger_count(world->service->scavenger), 1);
    c = client_begin(world, SMB_311);
    assert_int_equal(client_read(c, &file, 0, 3, &bytes), nt_status_value(STATUS_FILE_CLOSED));
    assert_int_equal(durable_return(c, &file, 2, &again),
                     nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    assert_int_equal(durable_return(c, &file, 0, &again), 0);
    assert_int_equal(scavenger_count(world->service->scavenger), 0);
    assert_int_equal(again.persistent, file.persistent);
    assert_int_equal(again.level, BATCH);
    assert_int_equal(client_read(c, &again, 0, 3, &bytes), 0);
    assert_memory_equal(bytes.ptr, "abc", 3);
    assert_int_equal(durable_return(c, &file, 0, &other),
                     nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    assert_int_equal(client_close(c, &again), 0);
    client_free(c);
    c = client_begin(world, SMB_311);
    assert_int_equal(durable_return(c, &file, 0, &again),
                     nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    client_free(c);
}

/* Another client opens the file meanwhile: there is nothing to come back to. */
static void is_in_the_way(void **state)
{
    struct world *world = *state;
    struct client *c = client_begin(world, SMB_311);
    struct open_file file, other;

    assert_int_equal(durable_open(c, 0, 0, BATCH, &file), 0);
    client_free(c);
    c = client_begin(world, SMB_311);
    client_open(c, "x", &other);
    assert_int_equal(durable_return(c, &file, 0, &file),
                     nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    client_free(c);
}

/* A persistent one needs no oplock, and outlives the process. */
static void persists(void **state)
{
    struct world *world = *state;
    struct client *c = client_begin(world, SMB_311);
    struct open_file file, again;

    assert_int_equal(durable_open(c, 0, 2, 0, &file), 0);
    open_epoch_begin(); /* as a new process: nothing was left by the old one */
    client_free(c);
    c = client_begin(world, SMB_311);
    assert_int_equal(durable_return(c, &file, 0, &again),
                     nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    assert_int_equal(durable_return(c, &file, 2, &again), 0);
    assert_int_equal(client_close(c, &again), 0);
    client_free(c);
}

static struct smb_open *open_of(const struct world *world, const struct client *c,
                                const struct open_file *file)
{
    uint64_t id = client_session(c);
    const struct smb_session *session = world->service->buckets[id % SMB_SESSION_BUCKETS];

    while (session->id != id)
        session = session->next_id;
    return open_find(session, NULL, file->persistent, file->volatile_id);
}

/* Gives each field of the open that is kept a value of its own. */
static void give_values(struct smb_open *open)
{
    uint8_t *locks = open_lock_sequences(open);

    for (unsigned i = 0; i < LOCK_SEQUENCES; i++)
        locks[i] = (uint8_t)(i + 1);
    open->mode = 0x1012;
    open->position = 3456;
    open->allocated = 7 << 20;
    open->handle.times = (struct handle_times){
        .keeps_accessed = true, .keeps_changed = true, .shown_written = 11, .shown_until = 13
    };
}

static void assert_same_times(const struct handle_times *times, const struct handle_times *as)
{
    assert_int_equal(times->keeps_accessed, as->keeps_accessed);
    assert_int_equal(times->keeps_written, as->keeps_written);
    assert_int_equal(times->keeps_changed, as->keeps_changed);
    assert_int_equal(times->has_written, as->has_written);
    assert_int_equal(times->shown_written, as->shown_written);
    assert_int_equal(times->shown_until, as->shown_until);
}

static void assert_same(const struct smb_open *open, const struct smb_open *as,
                        const uint8_t locks[LOCK_SEQUENCES])
{
    assert_int_equal(open->mode, as->mode);
    assert_int_equal(open->position, as->position);
    assert_int_equal(open->allocated, as->allocated);
    assert_memory_equal(open->locks, locks, LOCK_SEQUENCES);
    assert_int_equal(open->durable.kind, as->durable.kind);
    assert_int_equal(open->durable.timeout_ms, as->durable.timeout_ms);
    assert_true(open->has_create && guid_equal(&open->create, &as->create));
    assert_int_equal(open->handle.node, as->handle.node);
    assert_int_equal(open->handle.id, as->handle.id);
    assert_int_equal(open->handle.parent, as->handle.parent);
    assert_int_equal(open->handle.kind, as->handle.kind);
    assert_int_equal(open->handle.granted, as->handle.granted);
    assert_same_times(&open->handle.times, &as->handle.times);
    assert_int_equal(!open->caching, !as->caching);
}

/* Rule: a client finds each field of its open again: after its connection ended, and of a persistent one also after a
 * restart. What it wrote before has not become durable by that, so its CLOSE has to wait for it (invariant 7). */
static void returns_each(void **state)
{
    struct world *world = *state;

    for (int restarts = 0; restarts < 2; restarts++)
        for (int sets_others = 0; sets_others < 2; sets_others++) {
            uint32_t flags = restarts ? PERSISTENT : 0;
            struct client *c = client_begin(world, SMB_311);
            uint8_t locks[LOCK_SEQUENCES];
            struct open_file file, again;
            struct smb_open was, *open;

            assert_int_equal(durable_open(c, 12345, flags, BATCH, &file), 0);
            assert_int_equal(client_write(c, &file, 0, "abc"), 0);
            open = open_of(world, c, &file);
            give_values(open);
            if (sets_others)
                open->handle.times =
                    (struct handle_times){ .keeps_written = true, .has_written = true };
            was = *open;
            memcpy(locks, open->locks, sizeof locks);
            client_free(c);
            if (restarts)
                open_epoch_begin();
            c = client_begin(world, SMB_311);
            assert_int_equal(durable_return(c, &file, flags, &again), 0);
            assert_int_equal(again.level, BATCH);
            open = open_of(world, c, &again);
            assert_same(open, &was, locks);
            assert_true(open->has_written);
            assert_int_equal(client_close(c, &again), 0);
            client_free(c);
        }
}

/* However often a client goes and comes back, only what it has left is kept; and a create that is sent once more is one
 * handle. */
static void goes_often(void **state)
{
    struct world *world = *state;
    struct durable_scavenger *kept = world->service->scavenger;
    struct client *c = client_begin(world, SMB_311);
    struct open_file file;

    assert_int_equal(durable_open(c, 0, 0, BATCH, &file), 0);
    assert_int_equal(durable_open(c, 0, 0, BATCH, &file),
                     nt_status_value(STATUS_DUPLICATE_OBJECTID));
    for (unsigned i = 0; i < 300; i++) {
        client_free(c);
        assert_int_equal(scavenger_count(kept), 1);
        c = client_begin(world, SMB_311);
        assert_int_equal(durable_return(c, &file, 0, &file), 0);
        assert_int_equal(scavenger_count(kept), 0);
    }
    assert_int_equal(client_close(c, &file), 0);
    client_free(c);
    assert_int_equal(scavenger_count(kept), 0);
}

/* Handles that a connection does not close at once (SMB_CLOSED_AT_ONCE). */
#define MANY 200u

/* A client that has lost its connection logs on by another one, and says which session it had: the response comes once that
 * session's handles are closed or disconnected, so that a reconnect finds its handle, and an open that shares nothing
 * does not meet them. ms-smb2: 3.3.5.5.3 */
static void is_there_after_the_previous_session(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *again = client_new(*state);
    const struct creating alone = { .shares_nothing = true };
    struct open_file file, other;

    client_charge(c, 1, 2 * MANY);
    for (unsigned i = 0; i < MANY; i++)
        client_open(c, "y", &other);
    assert_int_equal(durable_open(c, 0, 0, BATCH, &file), 0);
    client_speak(again, SMB_311);
    client_previous(again, client_session(c));
    client_waits_with(again, c);
    assert_int_equal(client_log_on(again, "one", TEST_KEY_1), 0);
    client_waits_with(again, NULL);
    assert_int_equal(client_mount(again, "share"), 0);
    assert_int_equal(client_create(again, "y", &alone, &other), 0);
    assert_int_equal(durable_return(again, &file, 0, &file), 0);
    client_free(c);
    client_free(again);
}

/* The same where the previous session ends already, with its connection. */
static void is_there_after_the_previous_connection(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *again = client_new(*state);
    const struct creating alone = { .shares_nothing = true };
    uint64_t previous = client_session(c);
    struct open_file other;

    client_charge(c, 1, 2 * MANY);
    for (unsigned i = 0; i < MANY; i++)
        client_open(c, "y", &other);
    client_cut(c);
    client_speak(again, SMB_311);
    client_previous(again, previous);
    client_waits_with(again, c);
    assert_int_equal(client_log_on(again, "one", TEST_KEY_1), 0);
    client_waits_with(again, NULL);
    assert_int_equal(client_mount(again, "share"), 0);
    assert_int_equal(client_create(again, "y", &alone, &other), 0);
    client_free(c);
    client_free(again);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts),
        cmocka_unit_test(grants),
        cmocka_unit_test(timeouts),
        cmocka_unit_test(who_may_return),
        cmocka_unit_test(keeps_all),
        cmocka_unit_test(keeps_each),
        TEST(returns_each),
        TEST(comes_back),
        TEST(is_sent_once_more),
        TEST(is_sent_once_more_in_vain),
        TEST(is_in_the_way),
        TEST(persists),
        TEST(goes_often),
        TEST(is_there_after_the_previous_session),
        TEST(is_there_after_the_previous_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
