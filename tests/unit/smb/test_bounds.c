/* What one client may make a connection hold, each with its answer beyond. smb_protocol/limits.h; smb/README.md, invariant 6 */
#include <stdio.h>
#include <stdlib.h>

#include "asking.h"

#include "base/memory_budget.h"
#include "smb_session/caching.h"
#include "smb_protocol/limits.h"

/* Credits of a command with so many bytes. ms-smb2: 3.3.5.2.5 */
#define BYTES_A_CREDIT 65536u

/* A client with credits for `count` more. */
static struct client *client_with_credits(struct world *world, unsigned count)
{
    struct client *c = client_begin(world, SMB_311);
    struct sending s;
    struct wire_writer w;

    for (unsigned had = 0; had < count; had += 512) {
        client_charge(c, 1, 512);
        sending_begin(c, &s);
        w = sending_add(c, &s, SMB_ECHO, 0);
        wire_put_u16(&w, 4);
        wire_put_u16(&w, 0);
        client_ask(c, &s);
    }
    client_charge(c, 1, 1);
    return c;
}

/* One more handle than SMB_OPENS_MAX, and one once another is closed. */
static void bounds_opens(void **state)
{
    struct client *c = client_begin(*state, SMB_311);
    const struct creating creating = { .level = 0 };
    struct open_file first, file;

    client_open(c, "handle-0", &first);
    for (unsigned i = 1; i < SMB_OPENS_MAX; i++) {
        char name[32];

        snprintf(name, sizeof name, "handle-%u", i / 64);
        client_open(c, name, &file);
    }
    assert_int_equal(client_create(c, "handle-0", &creating, &file),
                     nt_status_value(STATUS_INSUFFICIENT_RESOURCES));
    assert_int_equal(client_close(c, &first), 0);
    client_open(c, "handle-0", &file);
    client_free(c);
}

/* A connection that ends closes its handles in slices, so that other clients wait little. */
static void bounds_handles_closed_at_once(void **state)
{
    const struct creating plain = { .level = 0 }, alone = { .shares_nothing = true };
    struct client *c = client_begin(*state, SMB_311), *other = client_begin(*state, SMB_311);
    struct open_file file;
    char name[32];

    for (unsigned i = 0; i < 3 * SMB_CLOSED_AT_ONCE; i++) {
        snprintf(name, sizeof name, "closed-%u", i);
        assert_int_equal(client_create(c, name, &plain, &file), 0);
    }
    client_cut(c);
    snprintf(name, sizeof name, "closed-%u", SMB_CLOSED_AT_ONCE - 1);
    assert_int_equal(client_create(other, name, &alone, &file), 0);
    snprintf(name, sizeof name, "closed-%u", SMB_CLOSED_AT_ONCE);
    assert_int_equal(client_create(other, name, &alone, &file),
                     nt_status_value(STATUS_SHARING_VIOLATION));
    client_free(c);
    for (unsigned i = SMB_CLOSED_AT_ONCE; i < 3 * SMB_CLOSED_AT_ONCE; i++) {
        snprintf(name, sizeof name, "closed-%u", i);
        assert_int_equal(client_create(other, name, &alone, &file), 0);
    }
    client_free(other);
}

/* So many contexts of a create, of no meaning. */
static struct bytes contexts(struct client *c, unsigned count)
{
    struct text text;
    struct wire_writer w;

    text_init(&text, client_arena(c), 1024);
    wire_writer_init(&w, &text);
    for (unsigned i = 1; i <= count; i++) {
        wire_put_u32(&w, i < count ? 24 : 0);
        wire_put_u16(&w, 16);
        wire_put_u16(&w, 4);
        wire_put_zeros(&w, 2 + 2 + 4);
        wire_put(&w, bytes_from_string("none"));
        wire_put_zeros(&w, 4);
    }
    return text_bytes(&text);
}

/* A create has SMB_CONTEXTS_MAX contexts at most. */
static void bounds_contexts(void **state)
{
    struct client *c = client_begin(*state, SMB_311);
    struct open_file file;

    for (unsigned count = SMB_CONTEXTS_MAX; count <= SMB_CONTEXTS_MAX + 1; count++) {
        const struct creating creating = { .contexts = contexts(c, count) };
        enum nt_status wanted =
            count <= SMB_CONTEXTS_MAX ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;

        assert_int_equal(client_create(c, "contexts", &creating, &file), nt_status_value(wanted));
    }
    client_free(c);
}

/* Adds a WRITE of so many zeros. */
static void put_write(struct wire_writer *w, const struct open_file *file, uint32_t size)
{
    wire_put_u16(w, 49);
    wire_put_u16(w, SMB_HEADER_SIZE + 48);
    wire_put_u32(w, size);
    wire_put_u64(w, 0);
    put_file(w, file);
    wire_put_zeros(w, 16);
    wire_put_zeros(w, size);
}

/* READ and WRITE of more than MaxReadSize and MaxWriteSize. ms-smb2: 3.3.5.12, 3.3.5.13 */
static void bounds_bytes_of_a_command(void **state)
{
    struct client *c = client_with_credits(*state, 64);
    struct open_file file;
    struct sending s;
    struct wire_writer w;

    client_open(c, "bytes", &file);
    for (uint32_t size = SMB_IO_MAX; size <= SMB_IO_MAX + 1; size++) {
        enum nt_status wanted = size <= SMB_IO_MAX ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;

        client_charge(c, (uint16_t)((size - 1) / BYTES_A_CREDIT + 1), 40);
        sending_begin(c, &s);
        w = sending_add(c, &s, SMB_WRITE, 0);
        put_write(&w, &file, size);
        assert_status(client_ask(c, &s), wanted);
        sending_begin(c, &s);
        w = sending_add(c, &s, SMB_READ, 0);
        put_read(&w, &file, 0, size);
        assert_status(client_ask(c, &s), wanted);
    }
    client_free(c);
}

/* Of a compound those reads are refused that go beyond SMB_COMPOUND_BYTES_MAX. */
static void bounds_bytes_of_a_compound(void **state)
{
    const unsigned fits = SMB_COMPOUND_BYTES_MAX / SMB_IO_MAX;
    struct client *c = client_with_credits(*state, 600);
    struct open_file file;
    struct sending s;
    struct wire_writer w;
    uint64_t last;

    client_open(c, "compound", &file);
    assert_int_equal(client_write(c, &file, 0, "few bytes"), 0);
    client_charge(c, SMB_IO_MAX / BYTES_A_CREDIT, 16);
    sending_begin(c, &s);
    for (unsigned i = 0; i <= fits; i++) {
        w = sending_add(c, &s, SMB_READ, 0);
        put_read(&w, &file, 0, SMB_IO_MAX);
    }
    last = client_send(c, &s);
    for (unsigned i = 0; i <= fits; i++)
        assert_status(client_receive(c, last - (fits - i) * (SMB_IO_MAX / BYTES_A_CREDIT)),
                      i < fits ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES);
    client_free(c);
}

/* Answers count in the memory budget of the process: a read that it does not cover is refused, and the file can be closed
 * all the same. */
static void bounds_memory_of_all(void **state)
{
    const size_t taken = MEMORY_BUDGET_BYTES - SMB_IO_MAX / 2;
    const struct memory_holder nobody = { .account = NULL };
    struct client *c = client_with_credits(*state, 600);
    struct open_file file;
    struct sending s;
    struct wire_writer w;

    client_open(c, "budget", &file);
    client_charge(c, SMB_IO_MAX / BYTES_A_CREDIT, 16);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_WRITE, 0);
    put_write(&w, &file, SMB_IO_MAX);
    assert_status(client_ask(c, &s), STATUS_SUCCESS);
    assert_true(memory_budget_charge(nobody, MEMORY_REQUEST, taken));
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_READ, 0);
    put_read(&w, &file, 0, SMB_IO_MAX);
    assert_status(client_ask(c, &s), STATUS_INSUFF_SERVER_RESOURCES);
    memory_budget_release(nobody, MEMORY_REQUEST, taken);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_READ, 0);
    put_read(&w, &file, 0, SMB_IO_MAX);
    assert_status(client_ask(c, &s), STATUS_SUCCESS);
    assert_true(memory_budget_charge(nobody, MEMORY_REQUEST, MEMORY_BUDGET_BYTES));
    client_charge(c, 1, 1);
    assert_int_equal(client_close(c, &file), 0);
    memory_budget_release(nobody, MEMORY_REQUEST, MEMORY_BUDGET_BYTES);
    client_free(c);
}

/* While SMB_UNSENT_BYTES_MAX of answers are not taken, no message is: smb/server.c looks before it reads. */
static void bounds_bytes_unsent(void **state)
{
    const unsigned fits = SMB_UNSENT_BYTES_MAX / SMB_IO_MAX;
    struct client *c = client_with_credits(*state, 600);
    struct open_file file;
    struct sending s;
    struct wire_writer w;

    client_open(c, "unsent", &file);
    client_charge(c, SMB_IO_MAX / BYTES_A_CREDIT, 16);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_WRITE, 0);
    put_write(&w, &file, SMB_IO_MAX);
    assert_status(client_ask(c, &s), STATUS_SUCCESS);
    client_stall(c, true);
    for (unsigned i = 0; i < fits; i++) {
        assert_true(client_has_room(c));
        sending_begin(c, &s);
        w = sending_add(c, &s, SMB_READ, 0);
        put_read(&w, &file, 0, SMB_IO_MAX);
        assert_status(client_ask(c, &s), STATUS_SUCCESS);
    }
    assert_false(client_has_room(c));
    client_stall(c, false);
    assert_true(client_has_room(c));
    client_free(c);
}

/* While messages of SMB_WORK_BYTES_MAX wait, here for another client's oplock, no further one is taken. */
static void bounds_bytes_in_work(void **state)
{
    const unsigned fits = SMB_WORK_BYTES_MAX / SMB_IO_MAX, charge = SMB_IO_MAX / BYTES_A_CREDIT;
    const struct creating cached = { .level = OPLOCK_BATCH }, plain = { .level = 0 };
    const struct open_file related = { .persistent = UINT64_MAX, .volatile_id = UINT64_MAX };
    struct client *holder = client_begin(*state, SMB_311), *c = client_with_credits(*state, 600);
    struct open_file held;
    struct sending s;
    struct wire_writer w;
    uint64_t last = 0;

    assert_int_equal(client_create(holder, "in work", &cached, &held), 0);
    for (unsigned i = 0; i < fits; i++) {
        assert_true(client_has_room(c));
        client_charge(c, 1, 1);
        sending_begin(c, &s);
        w = sending_add(c, &s, SMB_CREATE, 0);
        put_create(&w, "in work", &plain);
        client_charge(c, (uint16_t)charge, (uint16_t)charge);
        w = sending_add(c, &s, SMB_WRITE, SMB_FLAG_RELATED);
        put_write(&w, &related, SMB_IO_MAX);
        last = client_send(c, &s);
    }
    assert_false(client_has_room(c));
    assert_int_equal(client_close(holder, &held), 0);
    for (unsigned i = 0; i < fits; i++)
        assert_status(client_receive(c, last - (fits - 1 - i) * (charge + 1)), STATUS_SUCCESS);
    assert_true(client_has_room(c));
    client_free(c);
    client_free(holder);
}

/* ---- what a short request makes the server hold ---- */

/* Requests of a compound cost only their bytes before their turn. Here they follow an open that waits for another client's
 * oplock. */
static void bounds_memory_of_what_waits_its_turn(void **state)
{
    const unsigned count = SMB_MESSAGE_MAX / 80;
    const size_t costs = 4 * SMB_MESSAGE_MAX;
    const struct creating cached = { .level = OPLOCK_BATCH }, plain = { .level = 0 };
    struct client *holder = client_begin(*state, SMB_311), *c = client_with_credits(*state, 600);
    struct open_file held;
    struct sending s;
    struct wire_writer w;
    uint64_t last;

    assert_int_equal(client_create(holder, "behind", &cached, &held), 0);
    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CREATE, 0);
    put_create(&w, "behind", &plain);
    for (unsigned i = 0; i < count; i++) {
        w = sending_add(c, &s, SMB_CANCEL, 0);
        wire_put_u32(&w, 4);
    }
    last = client_send(c, &s);
    client_unsend(c, count);
    assert_true(memory_budget_covers((struct memory_holder){ .account = NULL },
                                     MEMORY_BUDGET_BYTES - costs));
    assert_int_equal(client_close(holder, &held), 0);
    assert_status(client_receive(c, last - count), STATUS_SUCCESS);
    client_free(c);
    client_free(holder);
}

/* FSCTL_SRV_REQUEST_RESUME_KEY; ms-smb2: 2.2.32.3 */
static struct bytes resume_key(struct client *c, const struct open_file *file)
{
    struct sending s;
    struct wire_writer w;
    struct reply reply;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_IOCTL, 0);
    put_control(&w, file, 0x00140078, bytes_of("", 0), 65536);
    reply = client_ask(c, &s);
    assert_status(reply, STATUS_SUCCESS);
    return bytes_of(reply.bytes.ptr + SMB_HEADER_SIZE + 48, 24);
}

/* FSCTL_SRV_COPYCHUNK of one byte; ms-smb2: 2.2.31.1 */
static void put_copy(struct client *c, struct wire_writer *w, const struct open_file *file,
                     struct bytes key)
{
    struct wire_writer chunk;
    struct text input;

    text_init(&input, client_arena(c), 56);
    wire_writer_init(&chunk, &input);
    wire_put(&chunk, key);
    wire_put_u32(&chunk, 1);
    wire_put_u32(&chunk, 0);
    wire_put_u64(&chunk, 0);
    wire_put_u64(&chunk, 8);
    wire_put_u32(&chunk, 1);
    wire_put_u32(&chunk, 0);
    put_control(w, file, 0x001440F2, text_bytes(&input), 65536);
}

/* Reads, listings and copies count with what they hold, though they are short themselves. All wait, for the pool. */
static void bounds_bytes_of_short_requests(void **state)
{
    const unsigned fits = SMB_WORK_BYTES_MAX / SMB_IO_MAX, charge = SMB_IO_MAX / BYTES_A_CREDIT;
    const struct smb_options options = { .allow_unencrypted = true, .always_wait = true };
    const struct creating directory = { .options = 1 };
    struct world *world = world_new_with(&options);
    struct client *c = client_with_credits(world, 600);
    struct open_file file, folder;
    struct bytes key;

    (void)state;
    client_open(c, "short", &file);
    assert_int_equal(client_write(c, &file, 0, "few bytes"), 0);
    assert_int_equal(client_create(c, "folder", &directory, &folder), 0);
    key = resume_key(c, &file);
    client_charge(c, (uint16_t)charge, (uint16_t)charge);
    for (int kind = 0; kind < 3; kind++) {
        uint64_t last = 0;

        for (unsigned i = 0; i < fits; i++) {
            struct sending s;
            struct wire_writer w;

            assert_true(client_has_room(c));
            sending_begin(c, &s);
            w = sending_add(c, &s,
                            kind == 0   ? SMB_READ
                            : kind == 1 ? SMB_QUERY_DIRECTORY
                                        : SMB_IOCTL,
                            0);
            if (kind == 0)
                put_read(&w, &file, 0, SMB_IO_MAX);
            else if (kind == 1)
                put_query(&w, &folder, 12, 1, "*", SMB_IO_MAX); /* names, from the start */
            else
                put_copy(c, &w, &file, key);
            last = client_send(c, &s);
        }
        assert_false(client_has_room(c));
        for (unsigned i = 0; i < fits; i++)
            assert_status(client_receive(c, last - (fits - 1 - i) * charge), STATUS_SUCCESS);
        assert_true(client_has_room(c));
    }
    client_free(c);
    world_free(world);
}

/* ---- changes that nobody asks for ---- */

#define WATCHES    300u
#define NOTIFY_MAX (4u * BYTES_A_CREDIT)

static uint64_t send_notify(struct client *c, const struct open_file *directory)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CHANGE_NOTIFY, 0);
    put_notify(&w, directory, NOTIFY_MAX, 1); /* FILE_NOTIFY_CHANGE_FILE_NAME */
    return client_send(c, &s);
}

/* Makes files in the directory; returns how many of the watches were then told to list it. */
static unsigned overflowed(struct client *c, struct client *other,
                           const struct open_file watched[WATCHES], unsigned round, unsigned files)
{
    unsigned count = 0;

    for (unsigned i = 0; i < files; i++) {
        char name[256];
        struct open_file file;

        snprintf(name, sizeof name, "changes\\%0200u-%u", i, round);
        client_open(other, name, &file);
        assert_int_equal(client_close(other, &file), 0);
    }
    for (unsigned i = 0; i < WATCHES; i++) {
        struct reply reply = client_receive(c, send_notify(c, &watched[i]));
        bool lists = reply.header.status == nt_status_value(STATUS_NOTIFY_ENUM_DIR);

        assert_true(lists || reply.header.status == 0);
        count += lists;
    }
    return count;
}

/* What is kept of changes for all watches is no more than SMB_CHANGES_OF_ALL_MAX; who is left out lists anew. What is
 * asked for is kept no longer. */
static void bounds_bytes_of_changes(void **state)
{
    const struct creating creating = { .options = 1, .access = 0x00100081 };
    struct client *c = client_with_credits(*state, 8000), *other = client_begin(*state, SMB_311);
    struct open_file *watched = xcalloc(WATCHES, sizeof *watched), file;
    uint64_t first[WATCHES];

    for (unsigned i = 0; i < WATCHES; i++)
        assert_int_equal(client_create(c, "changes", &creating, &watched[i]), 0);
    client_charge(c, NOTIFY_MAX / BYTES_A_CREDIT, NOTIFY_MAX / BYTES_A_CREDIT);
    for (unsigned i = 0; i < WATCHES; i++)
        first[i] = send_notify(c, &watched[i]);
    client_open(other, "changes\\first", &file);
    for (unsigned i = 0; i < WATCHES; i++)
        assert_status(client_receive(c, first[i]), STATUS_SUCCESS);
    for (unsigned round = 0; round < 3; round++) {
        unsigned left_out = overflowed(c, other, watched, round, 200);

        assert_true(left_out > 0 && left_out < WATCHES);
        assert_int_equal(overflowed(c, other, watched, round + 3, 1), 0);
    }
    free(watched);
    client_free(c);
    client_free(other);
}

/* ---- what an account uses on all connections ---- */

/* Connections that reach the limit together. */
#define PARKING  (SMB_PARKED_OF_ACCOUNT_MAX / SMB_PARKED_MAX)
#define WATCHING (SMB_WATCHES_OF_ACCOUNT_MAX / SMB_PARKED_MAX)

static struct open_file open_directory(struct client *c, unsigned number)
{
    const struct creating directory = { .options = 1, .access = 0x00100081 };
    struct open_file file;
    char name[32];

    snprintf(name, sizeof name, "watched-%u", number);
    assert_int_equal(client_create(c, name, &directory, &file), 0);
    return file;
}

/* Returns the status of the first response to a CHANGE_NOTIFY. */
static uint32_t notify(struct client *c, const struct open_file *directory)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CHANGE_NOTIFY, 0);
    put_notify(&w, directory, 1000, 0xFFF);
    client_send(c, &s);
    return client_next(c).header.status;
}

#define PENDING  nt_status_value(STATUS_PENDING)
#define TOO_MANY nt_status_value(STATUS_INSUFFICIENT_RESOURCES)

/* One more waiting request than SMB_PARKED_OF_ACCOUNT_MAX, and one once a connection has ended. */
static void bounds_waiting_of_an_account(void **state)
{
    struct client *many[PARKING], *last = client_begin(*state, SMB_311);
    struct open_file file = open_directory(last, PARKING);

    for (unsigned i = 0; i < PARKING; i++) {
        struct open_file directory;

        many[i] = client_begin(*state, SMB_311);
        directory = open_directory(many[i], i);
        for (unsigned k = 0; k < SMB_PARKED_MAX; k++)
            assert_int_equal(notify(many[i], &directory), PENDING);
    }
    assert_int_equal(notify(last, &file), TOO_MANY);
    client_free(many[0]);
    assert_int_equal(notify(last, &file), PENDING);
    for (unsigned i = 1; i < PARKING; i++)
        client_free(many[i]);
    client_free(last);
}

/* One more watch than SMB_WATCHES_OF_ACCOUNT_MAX, though few requests wait, and one once another handle is closed. */
static void bounds_watches_of_an_account(void **state)
{
    struct client *many[WATCHING], *last = client_begin(*state, SMB_311);
    struct open_file file = open_directory(last, WATCHING), first = { .level = 0 }, other;

    for (unsigned i = 0; i < WATCHING; i++) {
        char name[32];

        many[i] = client_begin(*state, SMB_311);
        for (unsigned k = 0; k < SMB_PARKED_MAX; k++) {
            struct open_file directory = open_directory(many[i], i);

            assert_int_equal(notify(many[i], &directory), PENDING);
            first = i == 0 && k == 0 ? directory : first;
        }
        snprintf(name, sizeof name, "watched-%u\\new", i);
        client_open(last, name, &other); /* answers all requests */
        for (unsigned k = 0; k < SMB_PARKED_MAX; k++)
            assert_status(client_next(many[i]), STATUS_SUCCESS);
    }
    assert_int_equal(notify(last, &file), TOO_MANY);
    assert_int_equal(notify(many[0], &first), PENDING);
    assert_int_equal(client_close(many[0], &first), 0);
    assert_int_equal(notify(last, &file), PENDING);
    for (unsigned i = 0; i < WATCHING; i++)
        client_free(many[i]);
    client_free(last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_opens),
        cmocka_unit_test(bounds_handles_closed_at_once),
        cmocka_unit_test(bounds_contexts),
        cmocka_unit_test(bounds_bytes_of_a_command),
        cmocka_unit_test(bounds_bytes_of_a_compound),
        cmocka_unit_test(bounds_memory_of_all),
        cmocka_unit_test(bounds_bytes_unsent),
        cmocka_unit_test(bounds_bytes_in_work),
        cmocka_unit_test(bounds_memory_of_what_waits_its_turn),
        cmocka_unit_test(bounds_bytes_of_short_requests),
        cmocka_unit_test(bounds_bytes_of_changes),
        cmocka_unit_test(bounds_waiting_of_an_account),
        cmocka_unit_test(bounds_watches_of_an_account),
    };

    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
