/* IOCTL at the level of messages: snapshots of the share as previous versions, copies of chunks. (The negotiation is
 * validated in test_session.) ms-smb2: 3.3.5.15 */
#include "asking.h"

#include "base/endian.h"
#include "file/file.h"

#define ENUMERATE_SNAPSHOTS 0x00144064u
#define REQUEST_RESUME_KEY  0x00140078u
#define COPY_CHUNK          0x001440F2u
#define RESUME_KEY_BYTES    24u
#define ARENA_MAX           ((size_t)1 << 20)
#define NAME_BYTES          50u /* "@GMT-2026.01.31-23.59.59" and a zero, in UTF-16 */
#define FIXED_BYTES         12u
/* 2026-01-31T23:59:59.1234567Z, and a second later. */
#define FIRST               UINT64_C(639055007991234567)
#define SECOND              (FIRST + TICKS_PER_SECOND)

/* Writes the record of a snapshot of the share of account "one", as it is now. */
static void add_snapshot(struct world *world, instant at)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct changes *changes = changes_new(arena);
    struct partition partition = { .space = file_account_space(bytes_from_string("one")),
                                   .key = BYTES("share") };
    struct commit_part part = { read_view_open(world->store, partition, STORE_MAY_BLOCK), changes };
    struct share share;
    uint64_t sequence;

    assert_int_equal(share_read(part.snapshot, arena, share_itself, &share), STORE_OK);
    share_write(changes, arena, (struct share_key){ .snapshot = at }, &share);
    assert_int_equal(store_commit(world->store, &part, 1,
                                  clock_above(read_view_instant(part.snapshot)), STORE_MAY_BLOCK,
                                  &sequence),
                     STORE_OK);
    read_view_close(part.snapshot);
    arena_free(arena);
}

static struct reply ask(struct client *c, const struct open_file *file, uint32_t code,
                        struct bytes input, uint32_t output_max)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_IOCTL, 0);
    put_control(&w, file, code, input, output_max);
    return client_ask(c, &s);
}

static struct reply ask_snapshots(struct client *c, const struct open_file *file,
                                  uint32_t output_max)
{
    return ask(c, file, ENUMERATE_SNAPSHOTS, bytes_of("", 0), output_max);
}

/* The output of an answer. ms-smb2: 2.2.32 */
static struct bytes output_of(const struct reply *reply)
{
    const char *body = reply->bytes.ptr + SMB_HEADER_SIZE;
    uint32_t offset = le32_get(body + 32), size = le32_get(body + 36);

    assert_true(offset + size <= reply->bytes.len);
    return bytes_of(reply->bytes.ptr + offset, size);
}

/* SRV_SNAPSHOT_ARRAY: how many there are, how many are named, bytes of all names. ms-smb2: 2.2.32.2 */
static void assert_array(struct bytes output, uint32_t count, uint32_t named, uint32_t size)
{
    assert_true(output.len >= FIXED_BYTES);
    assert_int_equal(le32_get(output.ptr), count);
    assert_int_equal(le32_get(output.ptr + 4), named);
    assert_int_equal(le32_get(output.ptr + 8), size);
}

static void assert_name(struct bytes output, unsigned at, const char *name)
{
    const char *units = output.ptr + FIXED_BYTES + (size_t)at * NAME_BYTES;

    assert_true(FIXED_BYTES + (at + 1) * NAME_BYTES <= output.len);
    for (size_t i = 0; i <= strlen(name); i++)
        assert_int_equal(le16_get(units + 2 * i), name[i]);
}

/* Rule: the newest first, and a zero behind all. */
static void snapshots_are_named(void **state)
{
    struct client *c = client_begin(*state, SMB_311);
    struct open_file f;
    struct reply reply;
    struct bytes output;

    client_open(c, "a", &f);
    reply = ask_snapshots(c, &f, 4096);
    assert_status(reply, STATUS_SUCCESS);
    assert_array(output_of(&reply), 0, 0, 2);

    add_snapshot(*state, FIRST);
    add_snapshot(*state, SECOND);
    reply = ask_snapshots(c, &f, 4096);
    assert_status(reply, STATUS_SUCCESS);
    output = output_of(&reply);
    assert_array(output, 2, 2, 2 * NAME_BYTES + 2);
    assert_int_equal(output.len, FIXED_BYTES + 2 * NAME_BYTES + 2);
    assert_name(output, 0, "@GMT-2026.02.01-00.00.00");
    assert_name(output, 1, "@GMT-2026.01.31-23.59.59");
    assert_int_equal(le16_get(output.ptr + output.len - 2), 0);
    assert_int_equal(client_close(c, &f), 0);
    client_free(c);
}

/* Rule: where not all have room, none is named, and the size says how much they need. */
static void says_how_much_room_they_need(void **state)
{
    struct client *c = client_begin(*state, SMB_311);
    uint32_t needed = FIXED_BYTES + NAME_BYTES + 2;
    struct open_file f;
    struct reply reply;

    client_open(c, "a", &f);
    add_snapshot(*state, FIRST);
    reply = ask_snapshots(c, &f, needed - 1);
    assert_status(reply, STATUS_SUCCESS);
    assert_array(output_of(&reply), 1, 0, NAME_BYTES + 2);
    assert_int_equal(output_of(&reply).len, FIXED_BYTES + 4);
    reply = ask_snapshots(c, &f, needed);
    assert_array(output_of(&reply), 1, 1, NAME_BYTES + 2);
    assert_status(ask_snapshots(c, &f, FIXED_BYTES + 3), STATUS_INVALID_PARAMETER);
    assert_int_equal(client_close(c, &f), 0);
    client_free(c);
}

/* ---- chunks ---- */

struct chunk {
    uint64_t from, to;
    uint32_t size;
};

static struct reply copy_chunks(struct client *c, const struct open_file *to, struct bytes key,
                                const struct chunk *chunks, uint32_t count)
{
    struct wire_writer w;
    struct text input;

    text_init(&input, client_arena(c), 256);
    wire_writer_init(&w, &input);
    wire_put(&w, key);
    wire_put_u32(&w, count);
    wire_put_u32(&w, 0);
    for (uint32_t i = 0; i < count; i++) {
        wire_put_u64(&w, chunks[i].from);
        wire_put_u64(&w, chunks[i].to);
        wire_put_u32(&w, chunks[i].size);
        wire_put_u32(&w, 0);
    }
    return ask(c, to, COPY_CHUNK, text_bytes(&input), 12);
}

/* SRV_COPYCHUNK_RESPONSE: chunks written, bytes of the one that was not, bytes in all; or the limits. */
static void assert_copied(const struct reply *reply, uint32_t chunks, uint32_t bytes,
                          uint32_t total)
{
    struct bytes output = output_of(reply);

    assert_int_equal(output.len, 12);
    assert_int_equal(le32_get(output.ptr), chunks);
    assert_int_equal(le32_get(output.ptr + 4), bytes);
    assert_int_equal(le32_get(output.ptr + 8), total);
}

/* Rule: chunks of one open file go into another, and the answer says how many; where one is beyond the limits the
 * client learns them. ms-smb2: 3.3.5.15.6, 2.2.32.1 */
static void chunks_are_copied(void **state)
{
    static const struct chunk chunks[] = { { 6, 0, 5 }, { 0, 5, 6 } };
    static const struct chunk wrong[] = { { 0, 0, 0 }, { 0, 0, (1 << 20) + 1 } };
    struct client *c = client_begin(*state, SMB_311);
    struct open_file a, b;
    struct bytes key, copied;
    struct reply reply;

    client_charge(c, 1, 8);
    client_open(c, "a", &a);
    client_open(c, "b", &b);
    assert_int_equal(client_write(c, &a, 0, "hello world"), 0);
    reply = ask(c, &a, REQUEST_RESUME_KEY, bytes_of("", 0), 32);
    assert_status(reply, STATUS_SUCCESS);
    key = arena_copy(client_arena(c), bytes_of(output_of(&reply).ptr, RESUME_KEY_BYTES));
    reply = copy_chunks(c, &b, key, chunks, 2);
    assert_status(reply, STATUS_SUCCESS);
    assert_copied(&reply, 2, 0, 11);
    assert_int_equal(client_read(c, &b, 0, 100, &copied), 0);
    assert_int_equal(copied.len, 11);
    assert_memory_equal(copied.ptr, "worldhello ", 11);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        reply = copy_chunks(c, &b, key, &wrong[i], 1);
        assert_status(reply, STATUS_INVALID_PARAMETER);
        assert_copied(&reply, 256, 1 << 20, 16 << 20);
    }
    assert_status(
        copy_chunks(c, &b, bytes_of("no key of this session..", RESUME_KEY_BYTES), chunks, 1),
        STATUS_OBJECT_NAME_NOT_FOUND);
    assert_int_equal(client_close(c, &a), 0);
    assert_int_equal(client_close(c, &b), 0);
    client_free(c);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(snapshots_are_named),
        TEST(says_how_much_room_they_need),
        TEST(chunks_are_copied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
