/* Durable handles. Which contexts exclude each other, what is granted, what is kept, who may come back: exhaustive.
 * And by the machine of a connection: a client goes and comes back, others are in its way, its time is over.
 * ms-smb2: 3.3.5.9.6, 3.3.5.9.7, 3.3.5.9.10, 3.3.5.9.12, 3.3.7.1 */
#include "smb/opens.h"
#include "smb/service.h"

#include "client.h"

#include "base/clock.h"
#include "base/endian.h"
#include "file/open_record.h"
#include "smb/durable.h"
#include "smb/kept.h"
#include "smb/limits.h"

/* ---- pure rules ---- */

/* Contexts of version 2 stand alone; those of version 1 go together. */
static void contexts(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 16; bits++) {
        const struct durable_asked asked = {
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
        const struct durable_asked asked = { .wants_1 = bits & 1,
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
    struct durable_asked asked = { .wants_1 = true, .timeout_ms = 5 };

    (void)state;
    assert_int_equal(durable_timeout_ms(&asked), 60000);
    asked = (struct durable_asked){ .wants_2 = true };
    assert_int_equal(durable_timeout_ms(&asked), 60000);
    asked.timeout_ms = 1;
    assert_int_equal(durable_timeout_ms(&asked), 1);
    asked.timeout_ms = UINT32_MAX;
    assert_int_equal(durable_timeout_ms(&asked), 300000);
}

static const struct guid guids[] = { { { 0 } }, { { 1 } }, { { 2 } } };

/* One of them comes back: `true` where it may. */
static bool may(const struct durable_kept *kept, unsigned bits, unsigned create, unsigned client,
                unsigned lease)
{
    const struct durable_asked asked = { .returns_1 = !(bits & 1),
                                         .returns_2 = bits & 1,
                                         .is_persistent = bits & 2,
                                         .create = guids[create] };
    const struct durable_return by = {
        .asked = &asked, .client = guids[client], .is_lease = bits & 4, .lease_key = guids[lease]
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
            const struct durable_kept kept = { .kind = (enum durable_kind)kind,
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
    const struct durable_kept kept = { .kind = DURABLE_PERSISTENT,
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
    struct durable_kept read;

    (void)state;
    assert_true(bytes_equal(bytes, bytes_of(version_1, sizeof version_1 - 1)));
    assert_true(durable_decode(bytes, &read));
    assert_memory_equal(durable_encode(arena, &read).ptr, bytes.ptr, bytes.len);
    assert_int_equal(read.allocated, 1 << 20);
    for (size_t cut = 0; cut < bytes.len; cut++)
        assert_false(durable_decode(bytes_of(bytes.ptr, cut), &read));
    arena_free(arena);
}

/* ---- by the machine ---- */

#define BATCH 9u

static struct bytes context(struct client *c, const char name[5], struct bytes data)
{
    struct text text;
    struct wire_writer w;

    text_init(&text, client_arena(c), 64);
    wire_writer_init(&w, &text);
    wire_put_u32(&w, 0);
    wire_put_u16(&w, 16);
    wire_put_u16(&w, 4);
    wire_put_u16(&w, 0);
    wire_put_u16(&w, 24);
    wire_put_u32(&w, (uint32_t)data.len);
    wire_put(&w, bytes_from_string(name));
    wire_put_u32(&w, 0);
    wire_put(&w, data);
    return text_bytes(&text);
}

/* DH2Q with GUID 1. */
static uint32_t opens(struct client *c, uint32_t timeout_ms, uint32_t flags, uint8_t level,
                      struct open_file *ret_file)
{
    char data[32] = { 0 };
    struct creating creating = { .level = level };

    le32_put(data, timeout_ms);
    le32_put(data + 4, flags);
    data[16] = 1;
    creating.contexts = context(c, "DH2Q", bytes_of(data, sizeof data));
    return client_create(c, "x", &creating, ret_file);
}

/* DH2C with GUID 1. */
static uint32_t returns(struct client *c, const struct open_file *file, uint32_t flags,
                        struct open_file *ret_file)
{
    char data[36] = { 0 };
    struct creating creating = { .level = 0 };

    le64_put(data, file->persistent);
    le64_put(data + 8, file->volatile_id);
    data[16] = 1;
    le32_put(data + 32, flags);
    creating.contexts = context(c, "DH2C", bytes_of(data, sizeof data));
    return client_create(c, "", &creating, ret_file);
}

/* The create of opens() once more. */
static uint32_t replays(struct client *c, uint32_t flags, uint8_t level, uint64_t *ret_persistent)
{
    char data[32] = { 0 };
    struct creating creating = { .level = level };
    struct sending s;
    struct wire_writer w;
    struct reply reply;

    le32_put(data + 4, flags);
    data[16] = 1;
    creating.contexts = context(c, "DH2Q", bytes_of(data, sizeof data));
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CREATE, SMB_FLAG_REPLAY);
    put_create(&w, "x", &creating);
    reply = client_ask(c, &s);
    *ret_persistent =
        reply.header.status == 0 ? le64_get(reply.bytes.ptr + SMB_HEADER_SIZE + 64) : 0;
    if (reply.header.status == 0 && level == BATCH)
        assert_non_null(memmem(reply.bytes.ptr, reply.bytes.len, "DH2Q", 4));
    return reply.header.status;
}

/* A client that has lost its last connection before its create was answered sends it once more, and gets what the first one
 * has opened, again and again until it has used it. decision: 628 */
static void is_sent_once_more(void **state)
{
    struct world *world = *state;

    for (uint32_t flags = 0; flags <= 2; flags += 2) {
        struct client *c = client_begin(world, SMB_311);
        struct open_file file, alone;
        uint64_t again;

        assert_int_equal(opens(c, 0, flags, BATCH, &file), 0);
        for (int i = 0; i < 2; i++) {
            client_free(c);
            c = client_begin(world, SMB_311);
            assert_int_equal(replays(c, flags, BATCH, &again), 0);
            assert_int_equal(again, file.persistent);
            assert_int_equal(replays(c, flags, BATCH, &again), 0);
            assert_int_equal(again, file.persistent);
            assert_int_equal(kept_count(world->service->kept), 0);
        }
        client_free(c);
        c = client_begin(world, SMB_311);
        assert_int_equal(returns(c, &file, flags, &file), 0);
        assert_int_equal(client_write(c, &file, 0, "abc"), 0); /* used */
        client_free(c);
        c = client_begin(world, SMB_311);
        assert_int_equal(replays(c, flags, 0, &again), 0);
        assert_int_not_equal(again, file.persistent);
        client_free(c);
        kept_close_overdue(world->service->kept, clock_now() + 400 * TICKS_PER_SECOND);
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

    assert_int_equal(opens(c, 0, 0, BATCH, &file), 0);
    client_free(c);
    c = client_begin(world, SMB_311);
    client_open(c, "x", &other);
    assert_int_equal(client_close(c, &other), 0);
    assert_int_equal(replays(c, 0, BATCH, &again), 0);
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

    assert_int_equal(opens(c, 0, 0, BATCH, &file), 0);
    assert_int_equal(returns(c, &file, 0, &again), nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    assert_int_equal(client_write(c, &file, 0, "abc"), 0);
    client_free(c);
    assert_int_equal(kept_count(world->service->kept), 1);
    c = client_begin(world, SMB_311);
    assert_int_equal(client_read(c, &file, 0, 3, &bytes), nt_status_value(STATUS_FILE_CLOSED));
    assert_int_equal(returns(c, &file, 2, &again), nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    assert_int_equal(returns(c, &file, 0, &again), 0);
    assert_int_equal(kept_count(world->service->kept), 0);
    assert_int_equal(again.persistent, file.persistent);
    assert_int_equal(again.level, BATCH);
    assert_int_equal(client_read(c, &again, 0, 3, &bytes), 0);
    assert_memory_equal(bytes.ptr, "abc", 3);
    assert_int_equal(returns(c, &file, 0, &other), nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    assert_int_equal(client_close(c, &again), 0);
    client_free(c);
    c = client_begin(world, SMB_311);
    assert_int_equal(returns(c, &file, 0, &again), nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    client_free(c);
}

/* Another client opens the file meanwhile: there is nothing to come back to. */
static void is_in_the_way(void **state)
{
    struct world *world = *state;
    struct client *c = client_begin(world, SMB_311);
    struct open_file file, other;

    assert_int_equal(opens(c, 0, 0, BATCH, &file), 0);
    client_free(c);
    c = client_begin(world, SMB_311);
    client_open(c, "x", &other);
    assert_int_equal(returns(c, &file, 0, &file), nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    client_free(c);
}

/* Nobody comes back in time: it is closed, by who is called then, and the place is free. */
static void is_overdue(void **state)
{
    struct world *world = *state;
    struct client *c = client_begin(world, SMB_311);
    struct kept_handles *kept = world->service->kept;
    struct open_file file;
    instant next;

    assert_int_equal(opens(c, 1, 2, BATCH, &file), 0);
    client_free(c);
    next = kept_next(kept);
    assert_true(next > 0);
    while (clock_now() <= next)
        ;
    kept_close_overdue(kept, next - 1);
    assert_int_equal(kept_count(kept), 1);
    kept_close_overdue(kept, clock_now());
    assert_int_equal(kept_count(kept), 0);
    assert_int_equal(kept_next(kept), 0);
    c = client_begin(world, SMB_311);
    assert_int_equal(returns(c, &file, 2, &file), nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
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
    struct kept_handles *kept = world->service->kept;
    struct open_file file;
    instant next;

    assert_int_equal(opens(c, 1, 2, BATCH, &file), 0);
    client_free(c);
    next = kept_next(kept);
    while (clock_now() <= next)
        ;
    refused = 1;
    kept_close_overdue(kept, clock_now());
    assert_int_equal(refused, 0);
    assert_int_equal(kept_count(kept), 1);
    next = kept_next(kept);
    assert_true(next > clock_now());
    refused = 1;
    kept_close_overdue(kept, next - 1);
    assert_int_equal(refused, 1); /* not before */
    refused = 0;
    kept_close_overdue(kept, next);
    assert_int_equal(kept_count(kept), 0);
    assert_int_equal(kept_next(kept), 0);
}

/* A persistent one needs no oplock, and outlives the process. */
static void persists(void **state)
{
    struct world *world = *state;
    struct client *c = client_begin(world, SMB_311);
    struct open_file file, again;

    assert_int_equal(opens(c, 0, 2, 0, &file), 0);
    open_epoch_begin(); /* as a new process: nothing was left by the old one */
    client_free(c);
    c = client_begin(world, SMB_311);
    assert_int_equal(returns(c, &file, 0, &again), nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    assert_int_equal(returns(c, &file, 2, &again), 0);
    assert_int_equal(client_close(c, &again), 0);
    client_free(c);
}

/* However often a client goes and comes back, only what it has left is kept; and a create that is sent once more is one
 * handle. */
static void goes_often(void **state)
{
    struct world *world = *state;
    struct kept_handles *kept = world->service->kept;
    struct client *c = client_begin(world, SMB_311);
    struct open_file file;

    assert_int_equal(opens(c, 0, 0, BATCH, &file), 0);
    assert_int_equal(opens(c, 0, 0, BATCH, &file), nt_status_value(STATUS_DUPLICATE_OBJECTID));
    for (unsigned i = 0; i < 300; i++) {
        client_free(c);
        assert_int_equal(kept_count(kept), 1);
        c = client_begin(world, SMB_311);
        assert_int_equal(returns(c, &file, 0, &file), 0);
        assert_int_equal(kept_count(kept), 0);
    }
    assert_int_equal(client_close(c, &file), 0);
    client_free(c);
    assert_int_equal(kept_count(kept), 0);
}

/* As many as an account may have are kept, and no more. */
static void has_a_bound(void **state)
{
    struct world *world = *state;
    struct kept_handles *kept = world->service->kept;
    struct bytes one = bytes_from_string("one"), two = bytes_from_string("two");
    struct client *c;
    struct open_file file;

    for (unsigned i = 0; i < SMB_KEPT_OF_ACCOUNT_MAX; i++)
        assert_true(kept_reserve(kept, one));
    assert_false(kept_reserve(kept, one));
    assert_true(kept_reserve(kept, two));
    kept_release(kept, two);
    c = client_begin(world, SMB_311);
    assert_int_equal(opens(c, 0, 0, BATCH, &file), 0);
    client_free(c); /* closed */
    assert_int_equal(kept_count(kept), SMB_KEPT_OF_ACCOUNT_MAX);
    c = client_begin(world, SMB_311);
    assert_int_equal(returns(c, &file, 0, &file), nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    client_free(c);
    for (unsigned i = 0; i < SMB_KEPT_OF_ACCOUNT_MAX; i++)
        kept_release(kept, one);
    assert_int_equal(kept_count(kept), 0);
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
    struct kept_handles *kept = world->service->kept;
    const unsigned accounts = SMB_KEPT_MAX / SMB_KEPT_OF_ACCOUNT_MAX;

    for (unsigned i = 0; i < SMB_KEPT_MAX; i++)
        assert_true(kept_reserve(kept, account_of(i % accounts)));
    assert_false(kept_reserve(kept, account_of(accounts)));
    kept_release(kept, account_of(0));
    assert_true(kept_reserve(kept, account_of(accounts)));
    kept_release(kept, account_of(accounts));
    for (unsigned i = 1; i < SMB_KEPT_MAX; i++)
        kept_release(kept, account_of(i % accounts));
    assert_int_equal(kept_count(kept), 0);
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
        TEST(comes_back),
        TEST(is_sent_once_more),
        TEST(is_sent_once_more_in_vain),
        TEST(is_in_the_way),
        TEST(is_overdue),
        TEST(is_closed_later),
        TEST(persists),
        TEST(goes_often),
        TEST(has_a_bound),
        TEST(has_a_bound_of_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
