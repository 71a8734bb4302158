/* CHANGE_NOTIFY at the level of messages. What is a change is tested in tests/unit/handles. ms-smb2: 3.3.5.19 */
#include "asking.h"

#include "base/endian.h"

static uint64_t send_notify(struct client *c, const struct open_file *directory)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_CHANGE_NOTIFY, 0);
    put_notify(&w, directory, 1000, 0xFFF);
    return client_send(c, &s);
}

/* Of a directory that is to be deleted nobody tells any more, whichever comes first. MS-FSA 2.1.5.11 */
static void tells_of_no_directory_that_goes(void **state)
{
    const struct creating directory = { .options = 1, .access = 0x00100081 };
    const struct creating goes = { .options = 0x1001, .access = 0x00010080 };

    for (int is_first = 0; is_first < 2; is_first++) {
        struct client *c = client_begin(*state, SMB_311);
        struct open_file d, e;
        uint64_t watch = 0;

        assert_int_equal(client_create(c, "goes", &directory, &d), 0);
        assert_int_equal(client_create(c, "goes", &goes, &e), 0);
        if (is_first)
            watch = send_notify(c, &d);
        assert_int_equal(client_close(c, &e), 0);
        if (!is_first)
            watch = send_notify(c, &d);
        assert_status(client_receive(c, watch), STATUS_DELETE_PENDING);
        assert_int_equal(client_close(c, &d), 0);
        client_free(c);
    }
}

/* A change in a watched directory answers; a close ends the watch. ms-smb2: 3.3.5.19 */
static void tells_changes(void **state)
{
    struct client *c = client_begin(*state, SMB_311);
    const struct creating directory = { .options = 1, .access = 0x00100081 };
    struct open_file d, f;
    struct reply reply;
    uint64_t watch;

    assert_int_equal(client_create(c, "dir", &directory, &d), 0);
    for (int i = 0; i < 2; i++) {
        watch = send_notify(c, &d);
        assert_status(client_next(c), STATUS_PENDING);
        if (i == 1)
            break;
        client_open(c, "dir\\new", &f);
        reply = client_receive(c, watch);
        assert_status(reply, STATUS_SUCCESS);
        assert_int_equal(le32_get(reply.bytes.ptr + SMB_HEADER_SIZE + 8 + 4), 1);
        assert_int_equal(le32_get(reply.bytes.ptr + SMB_HEADER_SIZE + 8 + 8), 6);
        assert_memory_equal(reply.bytes.ptr + SMB_HEADER_SIZE + 8 + 12, "n\0e\0w", 6);
    }
    assert_int_equal(client_close(c, &d), 0);
    assert_status(client_receive(c, watch), STATUS_NOTIFY_CLEANUP);
    client_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_changes),
        cmocka_unit_test(tells_of_no_directory_that_goes),
    };

    return cmocka_run_group_tests(tests, world_setup, world_teardown);
}
