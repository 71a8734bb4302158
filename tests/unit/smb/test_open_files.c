/* Files by SMB, at the level of messages: what a client opens, writes and reads, what waits, what is cancelled, what
 * is broken and told. What is decided of files is tested in tests/unit/handles. ms-smb2: 3.3.5.9 to 3.3.5.22 */
#include "client.h"

#include <semaphore.h>
#include <stdlib.h>

#include "base/endian.h"
#include "opens/open_record.h"
#include "smb_protocol/limits.h"

static uint64_t send_file_command(struct client *c, uint16_t command, uint16_t size, size_t file_at,
                                  const struct open_file *file)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, command, 0);
    wire_put_u16(&w, size);
    wire_put_zeros(&w, file_at - 2);
    put_file(&w, file);
    wire_put_zeros(&w, (size & ~1u) - file_at - 16);
    return client_send(c, &s);
}

static void cancel(struct client *c, uint64_t message_id)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CANCEL, 0);
    wire_put_u32(&w, 4);
    le64_put(s.text.ptr + s.last_at + 24, message_id);
    client_send(c, &s);
    client_unsend(c, 1); /* it takes no id */
}

/* What is written is read, by the handle and by another one; behind the end there is nothing. */
static void reads_what_was_written(void **state)
{
    struct client *c = client_begin(*state, SMB_311);
    struct open_file f, g;
    struct bytes bytes;

    client_open(c, "a", &f);
    assert_int_equal(f.action, 2);
    assert_int_equal(client_write(c, &f, 0, "hello"), 0);
    client_open(c, "A", &g);
    assert_int_equal(g.action, 1);
    assert_int_equal(client_read(c, &g, 1, 100, &bytes), 0);
    assert_int_equal(bytes.len, 4);
    assert_memory_equal(bytes.ptr, "ello", 4);
    assert_int_equal(client_read(c, &g, 5, 1, &bytes), nt_status_value(STATUS_END_OF_FILE));
    assert_int_equal(client_close(c, &f), 0);
    assert_int_equal(client_close(c, &f), nt_status_value(STATUS_FILE_CLOSED));
    assert_int_equal(client_close(c, &g), 0);
    client_free(c);
}

/* One create context. ms-smb2: 2.2.13.2 */
#define CONTEXT(name, length, data)                                                                \
    BYTES("\0\0\0\0\x10\0\4\0\0\0\x18\0" length "\0\0\0" name "\0\0\0\0" data)

/* Names that cannot be, and what is asked wrongly. ms-smb2: 3.3.5.9 */
static void refuses_wrong_creates(void **state)
{
    static const struct {
        const char *name;
        struct creating creating;
        enum nt_status status;
    } cases[] = {
        { "\\a", { .level = 0 }, STATUS_INVALID_PARAMETER },
        { "a:b", { .level = 0 }, STATUS_OBJECT_NAME_INVALID },
        { "a\\\\b", { .level = 0 }, STATUS_OBJECT_NAME_INVALID },
        { "a//b", { .level = 0 }, STATUS_OBJECT_NAME_INVALID },
        { "/a", { .level = 0 }, STATUS_INVALID_PARAMETER },
        { "none\\b", { .level = 0 }, STATUS_OBJECT_PATH_NOT_FOUND },
        { "none/b", { .level = 0 }, STATUS_OBJECT_PATH_NOT_FOUND }, /* decision: 444 */
        { "none", { .disposition = 1 }, STATUS_OBJECT_NAME_NOT_FOUND },
        { "a", { .disposition = 6 }, STATUS_INVALID_PARAMETER },
        { "a", { .options = 0x41 }, STATUS_INVALID_PARAMETER },
        { "a", { .options = 0x2000 }, STATUS_NOT_SUPPORTED },
        { "a", { .options = 0x1000, .access = 1 }, STATUS_INVALID_PARAMETER },
        { "a", { .access = 0x0CE0FE00 }, STATUS_ACCESS_DENIED },
        { "a", { .share = 8 }, STATUS_INVALID_PARAMETER },
        { "a", { .contexts = BYTES("123") }, STATUS_INVALID_PARAMETER },
        { "a", { .contexts = CONTEXT("TWrp", "\7", "1234567") }, STATUS_INVALID_PARAMETER },
        { "a", { .contexts = CONTEXT("TWrp", "\x9", "123456789") }, STATUS_INVALID_PARAMETER },
        { "a", { .contexts = CONTEXT("AlSi", "\7", "1234567") }, STATUS_INVALID_PARAMETER },
        { "a", { .contexts = CONTEXT("AlSi", "\x9", "123456789") }, STATUS_INVALID_PARAMETER },
        { "a", { .contexts = CONTEXT("MxAc", "\1", "1") }, STATUS_INVALID_PARAMETER },
        { "a", { .contexts = CONTEXT("MxAc", "\x9", "123456789") }, STATUS_INVALID_PARAMETER },
        { "a", { .contexts = CONTEXT("QFid", "\1", "1") }, STATUS_INVALID_PARAMETER },
    };
    struct client *c = client_begin(*state, SMB_311);
    struct open_file f;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(client_create(c, cases[i].name, &cases[i].creating, &f),
                         nt_status_value(cases[i].status));
    client_free(c);
}

/* What an open was not granted is refused, whatever the file would permit; who may only append writes at the end.
 * ms-smb2: 3.3.5.12, 3.3.5.13; MS-FSA 2.1.5.4 */
static void opens_do_what_they_were_granted(void **state)
{
    static const struct creating reads = { .access = 0x1 }, writes = { .access = 0x2 },
                                 appends = { .access = 0x4 };
    struct client *c = client_begin(*state, SMB_311);
    struct open_file f, r, w, a;
    struct bytes bytes;

    client_open(c, "granted", &f);
    assert_int_equal(client_write(c, &f, 0, "abc"), 0);
    assert_int_equal(client_create(c, "granted", &reads, &r), 0);
    assert_int_equal(client_create(c, "granted", &writes, &w), 0);
    assert_int_equal(client_create(c, "granted", &appends, &a), 0);
    assert_int_equal(client_write(c, &r, 0, "x"), nt_status_value(STATUS_ACCESS_DENIED));
    assert_int_equal(client_read(c, &w, 0, 1, &bytes), nt_status_value(STATUS_ACCESS_DENIED));
    assert_int_equal(client_read(c, &a, 0, 1, &bytes), nt_status_value(STATUS_ACCESS_DENIED));
    assert_int_equal(client_write(c, &w, 1, "B"), 0);
    assert_int_equal(client_write(c, &a, 0, "d"), 0);
    assert_int_equal(client_read(c, &r, 0, 100, &bytes), 0);
    assert_int_equal(bytes.len, 4);
    assert_memory_equal(bytes.ptr, "aBcd", 4);
    assert_int_equal(client_close(c, &f), 0);
    assert_int_equal(client_close(c, &r), 0);
    assert_int_equal(client_close(c, &w), 0);
    assert_int_equal(client_close(c, &a), 0);
    client_free(c);
}

/* Create, write, read and close in one compound, related by the file that the first one opens: signed, and sealed.
 * ms-smb2: 3.3.5.2.7.2 */
static void compounds_by_the_file(void **state)
{
    const struct open_file same = { .persistent = UINT64_MAX, .volatile_id = UINT64_MAX };
    const struct creating creating = { .level = 0 };
    struct client *c = client_begin(*state, SMB_311);

    for (int sealed = 0; sealed < 2; sealed++) {
        struct sending s;
        struct wire_writer w;
        uint64_t last;

        client_seal(c, sealed);
        client_sign(c, !sealed);
        sending_begin(c, &s);
        w = sending_add(c, &s, SMB_CREATE, 0);
        put_create(&w, "compound", &creating);
        w = sending_add(c, &s, SMB_WRITE, SMB_FLAG_RELATED);
        wire_put_u16(&w, 49);
        wire_put_u16(&w, SMB_HEADER_SIZE + 48);
        wire_put_u32(&w, 3);
        wire_put_u64(&w, 0);
        put_file(&w, &same);
        wire_put_zeros(&w, 16);
        wire_put(&w, bytes_from_string("abc"));
        w = sending_add(c, &s, SMB_CLOSE, SMB_FLAG_RELATED);
        wire_put_u16(&w, 24);
        wire_put_zeros(&w, 6);
        put_file(&w, &same);
        w = sending_add(c, &s, SMB_CLOSE, SMB_FLAG_RELATED);
        wire_put_u16(&w, 24);
        wire_put_zeros(&w, 6);
        put_file(&w, &same);
        last = client_send(c, &s);
        assert_status(client_receive(c, last - 3), STATUS_SUCCESS);
        assert_status(client_receive(c, last - 2), STATUS_SUCCESS);
        assert_status(client_receive(c, last - 1), STATUS_SUCCESS);
        assert_status(client_receive(c, last), STATUS_FILE_CLOSED);
    }
    client_free(c);
}

/* What follows a create that failed fails with it. */
static void fails_with_the_create(void **state)
{
    const struct open_file same = { .persistent = UINT64_MAX, .volatile_id = UINT64_MAX };
    const struct creating creating = { .disposition = 1 };
    struct client *c = client_begin(*state, SMB_311);
    struct sending s;
    struct wire_writer w;
    uint64_t last;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CREATE, 0);
    put_create(&w, "missing", &creating);
    w = sending_add(c, &s, SMB_CLOSE, SMB_FLAG_RELATED);
    wire_put_u16(&w, 24);
    wire_put_zeros(&w, 6);
    put_file(&w, &same);
    last = client_send(c, &s);
    assert_status(client_receive(c, last - 1), STATUS_OBJECT_NAME_NOT_FOUND);
    assert_status(client_receive(c, last), STATUS_OBJECT_NAME_NOT_FOUND);
    client_free(c);
}

static uint64_t send_lock(struct client *c, const struct open_file *file, uint32_t flags)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_LOCK, 0);
    wire_put_u16(&w, 48);
    wire_put_u16(&w, 1);
    wire_put_u32(&w, 0);
    put_file(&w, file);
    wire_put_u64(&w, 0);
    wire_put_u64(&w, 10);
    wire_put_u32(&w, flags);
    wire_put_u32(&w, 0);
    return client_send(c, &s);
}

/* A lock that cannot be had is refused, or waits: with an interim answer, until it is released or cancelled.
 * ms-smb2: 3.3.5.14, 3.3.4.2, 3.3.5.16 */
static void locks_wait_and_are_cancelled(void **state)
{
    enum { EXCLUSIVE = 2, UNLOCK = 4, AT_ONCE = 16 };
    struct client *c = client_begin(*state, SMB_311);
    struct open_file f, g;
    struct reply reply;
    uint64_t waits;

    client_open(c, "locked", &f);
    client_open(c, "locked", &g);
    assert_status(client_receive(c, send_lock(c, &f, EXCLUSIVE | AT_ONCE)), STATUS_SUCCESS);
    assert_status(client_receive(c, send_lock(c, &g, EXCLUSIVE | AT_ONCE)),
                  STATUS_LOCK_NOT_GRANTED);
    waits = send_lock(c, &g, EXCLUSIVE);
    reply = client_next(c);
    assert_status(reply, STATUS_PENDING);
    assert_int_equal(reply.header.message_id, waits);
    assert_true(reply.header.flags & SMB_FLAG_ASYNC && reply.header.async_id > 0);
    assert_false(reply.header.flags & SMB_FLAG_SIGNED);
    cancel(c, waits);
    reply = client_next(c);
    assert_status(reply, STATUS_CANCELLED);
    assert_int_equal(reply.header.message_id, waits);
    assert_true(reply.header.flags & SMB_FLAG_ASYNC);
    waits = send_lock(c, &g, EXCLUSIVE);
    assert_status(client_next(c), STATUS_PENDING);
    assert_status(client_receive(c, send_lock(c, &f, UNLOCK)), STATUS_SUCCESS);
    assert_status(client_receive(c, waits), STATUS_SUCCESS);
    assert_status(client_receive(c, send_lock(c, &f, UNLOCK)), STATUS_RANGE_NOT_LOCKED);
    client_free(c);
}

/* Adds an element of 10 bytes. */
static void put_lock(struct wire_writer *w, uint64_t offset, uint32_t flags)
{
    wire_put_u64(w, offset);
    wire_put_u64(w, 10);
    wire_put_u32(w, flags);
    wire_put_u32(w, 0);
}

static enum nt_status lock_two(struct client *c, const struct open_file *file, uint32_t first,
                               uint32_t second)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_LOCK, 0);
    wire_put_u16(&w, 48);
    wire_put_u16(&w, 2);
    wire_put_u32(&w, 0);
    put_file(&w, file);
    put_lock(&w, 0, first);
    put_lock(&w, 20, second);
    return client_ask(c, &s).header.status;
}

/* Of a list that takes, one wrong element refuses all; one that releases is carried out up to it.
 * ms-smb2: 3.3.5.14.1, 3.3.5.14.2 */
static void lists_of_locks(void **state)
{
    enum { SHARED = 1, EXCLUSIVE = 2, UNLOCK = 4, AT_ONCE = 16, TAKES = EXCLUSIVE | AT_ONCE };
    struct client *c = client_begin(*state, SMB_311);
    struct open_file f;

    client_open(c, "locked", &f);
    assert_int_equal(lock_two(c, &f, TAKES, UNLOCK), nt_status_value(STATUS_INVALID_PARAMETER));
    assert_int_equal(lock_two(c, &f, TAKES, EXCLUSIVE), nt_status_value(STATUS_INVALID_PARAMETER));
    assert_int_equal(lock_two(c, &f, UNLOCK | SHARED, UNLOCK),
                     nt_status_value(STATUS_INVALID_PARAMETER));
    assert_int_equal(lock_two(c, &f, UNLOCK, TAKES), nt_status_value(STATUS_RANGE_NOT_LOCKED));
    assert_int_equal(lock_two(c, &f, TAKES, TAKES), 0);
    assert_int_equal(lock_two(c, &f, UNLOCK, TAKES), nt_status_value(STATUS_INVALID_PARAMETER));
    assert_status(client_receive(c, send_lock(c, &f, UNLOCK)), STATUS_RANGE_NOT_LOCKED);
    assert_status(client_receive(c, send_lock(c, &f, TAKES)), STATUS_SUCCESS);
    assert_int_equal(lock_two(c, &f, UNLOCK, UNLOCK), 0);
    client_free(c);
}

/* A lock that waits when its logon or its tree ends is answered as had. decision: 376 */
static void locks_end_with_session_and_tree(void **state)
{
    static const uint16_t ends[] = { SMB_LOGOFF, SMB_TREE_DISCONNECT };

    for (size_t i = 0; i < 2; i++) {
        struct client *c = client_begin(*state, SMB_311);
        struct open_file f, g;
        struct sending s;
        struct wire_writer w;
        uint64_t waits, end;

        client_open(c, "locked", &f);
        client_open(c, "locked", &g);
        assert_status(client_receive(c, send_lock(c, &f, 2)), STATUS_SUCCESS);
        waits = send_lock(c, &g, 2);
        assert_status(client_next(c), STATUS_PENDING);
        sending_begin(c, &s);
        w = sending_add(c, &s, ends[i], 0);
        wire_put_u32(&w, 4);
        end = client_send(c, &s);
        assert_status(client_receive(c, waits), STATUS_SUCCESS);
        assert_status(client_receive(c, end), STATUS_SUCCESS);
        client_free(c);
    }
}

/* A connection that goes away takes its handles with it, and what waits. README invariant 8 */
static void ends_with_the_connection(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *other = client_begin(*state, SMB_311);
    const struct creating alone = { .shares_nothing = true };
    struct open_file f, g;

    assert_int_equal(client_create(c, "mine", &alone, &f), 0);
    assert_int_equal(client_create(other, "mine", &alone, &g),
                     nt_status_value(STATUS_SHARING_VIOLATION));
    send_lock(c, &f, 2);
    send_lock(c, &f, 2);
    client_free(c);
    assert_int_equal(client_create(other, "mine", &alone, &g), 0);
    client_free(other);
}

/* So does a session, before its LOGOFF is answered, and a tree. */
static void ends_with_session_and_tree(void **state)
{
    static const uint16_t ends[] = { SMB_LOGOFF, SMB_TREE_DISCONNECT };
    const struct creating alone = { .shares_nothing = true };

    for (size_t i = 0; i < 2; i++) {
        struct client *c = client_begin(*state, SMB_311), *other = client_begin(*state, SMB_311);
        struct open_file f;
        struct sending s;
        struct wire_writer w;

        assert_int_equal(client_create(c, "mine", &alone, &f), 0);
        sending_begin(c, &s);
        w = sending_add(c, &s, ends[i], 0);
        wire_put_u32(&w, 4);
        assert_status(client_ask(c, &s), STATUS_SUCCESS);
        assert_int_equal(client_create(other, "mine", &alone, &f), 0);
        client_free(other);
        client_free(c);
    }
}

/* An oplock is broken for whoever comes, who waits until it was acknowledged. ms-smb2: 3.3.4.6, 3.3.5.22.1 */
static void breaks_an_oplock(void **state)
{
    struct client *c = client_begin(*state, SMB_311), *other = client_begin(*state, SMB_311);
    const struct creating batch = { .level = 9 };
    const struct creating plain = { .level = 0 };
    struct open_file f;
    struct sending s;
    struct wire_writer w;
    struct reply reply;
    uint64_t waits;

    assert_int_equal(client_create(c, "cached", &batch, &f), 0);
    assert_int_equal(f.level, 9);
    sending_begin(other, &s);
    w = sending_add(other, &s, SMB_CREATE, 0);
    put_create(&w, "cached", &plain);
    waits = client_send(other, &s);
    assert_status(client_next(other), STATUS_PENDING);
    reply = client_next(c);
    assert_int_equal(reply.header.command, SMB_OPLOCK_BREAK);
    assert_true(reply.header.message_id == UINT64_MAX);
    assert_int_equal(reply.bytes.ptr[SMB_HEADER_SIZE + 2], 1); /* to level II */
    assert_true(client_has_none(other));
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_OPLOCK_BREAK, 0);
    wire_put_u16(&w, 24);
    wire_put_u8(&w, 1);
    wire_put_zeros(&w, 5);
    put_file(&w, &f);
    reply = client_ask(c, &s);
    assert_status(reply, STATUS_SUCCESS);
    assert_status(client_receive(other, waits), STATUS_SUCCESS);
    client_free(other);
    client_free(c);
}

/* Requests that wait have a bound. README invariant 6 */
static void bounds_what_waits(void **state)
{
    struct open_file f, g;
    uint64_t last = 0;
    struct client *c;

    c = client_begin(*state, SMB_311);
    client_charge(c, 1, 600);
    client_open(c, "bound", &f);
    client_charge(c, 1, 1);
    client_open(c, "bound", &g);
    assert_status(client_receive(c, send_lock(c, &f, 2)), STATUS_SUCCESS);
    for (unsigned i = 0; i <= SMB_PARKED_MAX; i++)
        last = send_lock(c, &g, 2);
    assert_status(client_receive(c, last), STATUS_INSUFFICIENT_RESOURCES);
    client_free(c);
}

static sem_t may_end;

static void hold_thread(struct pool_job *job)
{
    (void)job;
    while (sem_wait(&may_end) != 0)
        continue;
}

/* What the store fetches is waited for without a thread: those of the pool are all taken. store.h */
static void fetching_takes_no_thread(void **state)
{
    static struct pool_job jobs[2 * WORLD_POOL_THREADS]; /* until the world ends */
    struct client *c = client_begin(*state, SMB_311);
    const size_t count = sizeof jobs / sizeof jobs[0];
    struct world *world = *state;
    struct open_file f;

    sem_init(&may_end, 0, 0);
    for (size_t i = 0; i < count; i++) {
        jobs[i] = (struct pool_job){ .run = hold_thread };
        decision_pool_submit(world->pool, &jobs[i]);
    }
    for (unsigned i = 0; i < 20; i++) {
        client_open(c, "fetched", &f);
        assert_int_equal(client_close(c, &f), 0);
    }
    for (size_t i = 0; i < count; i++)
        sem_post(&may_end);
    client_free(c);
}

/* A flush needs a handle that may write. ms-smb2: 3.3.5.11 */
static void flushes(void **state)
{
    struct client *c = client_begin(*state, SMB_311);
    const struct creating reads = { .access = 0x00120089 };
    struct open_file f, g;

    client_open(c, "flushed", &f);
    assert_int_equal(client_write(c, &f, 0, "x"), 0);
    assert_status(client_receive(c, send_file_command(c, SMB_FLUSH, 24, 8, &f)), STATUS_SUCCESS);
    assert_int_equal(client_create(c, "flushed", &reads, &g), 0);
    assert_status(client_receive(c, send_file_command(c, SMB_FLUSH, 24, 8, &g)),
                  STATUS_ACCESS_DENIED);
    client_free(c);
}

/* Several reads in a compound: each has its own bytes in the one frame, also behind one that is refused and behind
 * answers of odd length. */
static void reads_in_a_compound(void **state)
{
    static const struct {
        uint64_t offset;
        uint32_t size, got;
    } reads[] = { { 0, 3, 3 }, { 9, 100, 0 }, { 1, 100, 8 }, { 8, 1, 1 }, { 2, 5, 5 } };
    struct client *c = client_begin(*state, SMB_311);
    struct open_file f;
    struct sending s;
    struct wire_writer w;
    uint64_t last;

    client_open(c, "several", &f);
    assert_int_equal(client_write(c, &f, 0, "123456789"), 0);
    sending_begin(c, &s);
    for (size_t i = 0; i < 5; i++) {
        w = sending_add(c, &s, SMB_READ, 0);
        put_read(&w, &f, reads[i].offset, reads[i].size);
    }
    last = client_send(c, &s);
    for (size_t i = 0; i < 5; i++) {
        struct reply reply = client_receive(c, last - 4 + i);
        struct wire_reader r = reply_body(&reply);
        struct bytes data;

        if (reads[i].got == 0) {
            assert_status(reply, STATUS_END_OF_FILE);
            continue;
        }
        assert_status(reply, STATUS_SUCCESS);
        wire_skip(&r, 4);
        data = wire_buffer(&r, SMB_HEADER_SIZE + 16, wire_u32(&r), SMB_HEADER_SIZE + 16);
        assert_int_equal(data.len, reads[i].got);
        assert_memory_equal(data.ptr, &"123456789"[reads[i].offset], data.len);
    }
    client_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(refuses_wrong_creates),
        cmocka_unit_test(compounds_by_the_file),
        cmocka_unit_test(fails_with_the_create),
        cmocka_unit_test(locks_wait_and_are_cancelled),
        cmocka_unit_test(lists_of_locks),
        cmocka_unit_test(locks_end_with_session_and_tree),
        cmocka_unit_test(ends_with_the_connection),
        cmocka_unit_test(ends_with_session_and_tree),
        cmocka_unit_test(breaks_an_oplock),
        cmocka_unit_test(bounds_what_waits),
        cmocka_unit_test(fetching_takes_no_thread),
        cmocka_unit_test(opens_do_what_they_were_granted),
        cmocka_unit_test(flushes),
        cmocka_unit_test(reads_in_a_compound),
    };

    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
