/* FSCTL_DFS_GET_REFERRALS at the level of messages: who gets a referral, and that a server which refers nobody says
 * nothing of it. ms-smb2: 3.3.5.15.2 */
#include "asking.h"

#include "base/endian.h"

#define GET_REFERRALS    0x00060194u
#define GET_REFERRALS_EX 0x000601B0u
#define CAP_DFS          1u
#define OUTPUT_MAX       4096u

/* Knows of shares "away", "lost" and "here" of the account "one". */
struct world_of_cells {
    struct smb_referrer referrer;
    bool refers;
};

static bool refers(struct smb_referrer *referrer)
{
    return ((struct world_of_cells *)(void *)referrer)->refers;
}

static enum smb_referred find(struct smb_referrer *referrer, struct bytes account,
                              struct bytes share, struct arena *arena, struct bytes *ret_host)
{
    (void)referrer;
    (void)arena;
    assert_true(bytes_is(account, "one"));
    *ret_host = bytes_from_string("other.example");
    if (bytes_is(share, "away"))
        return SMB_REFERRED;
    return bytes_is(share, "lost") ? SMB_REFERRAL_UNKNOWN : SMB_NOT_REFERRED;
}

static struct world_of_cells cells = { .referrer = { .refers = refers, .find = find },
                                       .refers = true };

static const struct open_file no_file = { .persistent = UINT64_MAX, .volatile_id = UINT64_MAX };

static struct reply ask_for(struct client *c, uint32_t code, struct bytes input,
                            uint32_t output_max, const struct open_file *file)
{
    struct sending s;
    struct wire_writer w;

    sending_begin(c, &s);
    w = sending_add(c, &s, SMB_IOCTL, 0);
    put_control(&w, file, code, input, output_max);
    return client_ask(c, &s);
}

static struct bytes request_for(struct client *c, const char *path)
{
    struct wire_writer w;
    struct text text;

    text_init(&text, client_arena(c), 64);
    wire_writer_init(&w, &text);
    wire_put_u16(&w, 4);
    wire_put_utf16(&w, bytes_from_string(path));
    wire_put_u16(&w, 0);
    return text_bytes(&text);
}

static struct reply ask(struct client *c, const char *path)
{
    return ask_for(c, GET_REFERRALS, request_for(c, path), OUTPUT_MAX, &no_file);
}

static uint32_t capabilities_of(struct world *world)
{
    struct client *c = client_new(world);
    const struct negotiating negotiating = { .dialects = { SMB_311 },
                                             .dialect_count = 1,
                                             .cipher = CIPHER_AES_128_GCM,
                                             .signing = SIGNING_AES_CMAC };
    struct reply reply = client_negotiate(c, &negotiating);
    uint32_t capabilities = le32_get(reply.bytes.ptr + SMB_HEADER_SIZE + 24);

    client_free(c);
    return capabilities;
}

static struct client *begin(struct world *world)
{
    struct client *c = client_begin(world, SMB_311);

    assert_int_equal(client_mount(c, "IPC$"), 0);
    return c;
}

static struct world *world_of(struct smb_referrer *referrer)
{
    return world_new_with(&(struct smb_options){ .allow_unencrypted = true, .referrer = referrer });
}

static void shares_of_other_cells(void **state)
{
    struct world *world = world_of(&cells.referrer);
    struct client *c;
    struct reply reply;
    uint32_t size;

    (void)state;
    assert_true(capabilities_of(world) & CAP_DFS);
    c = begin(world);
    reply = ask(c, "\\server\\Away\\folder");
    assert_status(reply, STATUS_SUCCESS);
    size = le32_get(reply.bytes.ptr + SMB_HEADER_SIZE + 36);
    assert_int_equal(le16_get(reply.bytes.ptr + SMB_HEADER_SIZE + 48),
                     2 * strlen("\\server\\Away"));
    assert_int_equal(le64_get(reply.bytes.ptr + SMB_HEADER_SIZE + 8), UINT64_MAX);
    assert_status(ask(c, "\\server\\here"), STATUS_NOT_FOUND);
    assert_status(ask(c, "\\server\\IPC$"), STATUS_NOT_FOUND);
    assert_status(ask(c, "\\server\\lost"), STATUS_INSUFF_SERVER_RESOURCES);
    assert_status(ask(c, "\\server"), STATUS_NOT_FOUND);
    reply = ask_for(c, GET_REFERRALS, request_for(c, "\\server\\away"), size - 1, &no_file);
    assert_status(reply, STATUS_BUFFER_OVERFLOW);
    assert_int_equal(le32_get(reply.bytes.ptr + SMB_HEADER_SIZE + 36), 0);
    assert_status(ask_for(c, GET_REFERRALS, request_for(c, "\\server\\away"), size, &no_file),
                  STATUS_SUCCESS);
    client_free(c);
    world_free(world);
}

static void requests_of_every_length(void **state)
{
    struct world *world = world_of(&cells.referrer);
    const struct open_file file = { .persistent = 1, .volatile_id = 1 };
    struct client *c = begin(world);
    struct bytes whole = request_for(c, "\\server\\away");

    (void)state;
    for (size_t size = 0; size < whole.len; size++)
        for (unsigned is_extended = 0; is_extended < 2; is_extended++)
            assert_status(ask_for(c, is_extended ? GET_REFERRALS_EX : GET_REFERRALS,
                                  bytes_of(whole.ptr, size), OUTPUT_MAX, &no_file),
                          STATUS_INVALID_PARAMETER);
    assert_status(ask_for(c, GET_REFERRALS, whole, OUTPUT_MAX, &file), STATUS_INVALID_PARAMETER);
    client_free(c);
    world_free(world);
}

/* Without cells, and while there is only one, nothing on the wire is other than before. */
static void nobody_is_referred(void **state)
{
    struct world_of_cells one = { .referrer = cells.referrer, .refers = false };
    struct smb_referrer *const referrers[] = { NULL, &one.referrer };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world *world = world_of(referrers[i]);
        struct client *c = begin(world);

        assert_false(capabilities_of(world) & CAP_DFS);
        assert_status(ask(c, "\\server\\away"), STATUS_FS_DRIVER_REQUIRED);
        client_free(c);
        world_free(world);
    }
}

/* A front end that stands by has no store: it has IPC$ and refers. */
static void without_a_store(void **state)
{
    const struct smb_options options = { .allow_unencrypted = true, .referrer = &cells.referrer };
    struct world *world = world_of(&cells.referrer);
    struct smb_service *service = world->service;
    struct open_file file;
    struct client *c;

    (void)state;
    cells.referrer.pool = world->pool;
    world->service = smb_service_new(&options, NULL, world->accounts, NULL);
    assert_true(smb_service_start(world->service));
    c = client_new(world);
    client_speak(c, SMB_311);
    assert_int_equal(client_log_on(c, "one", TEST_KEY_1), 0);
    assert_int_equal(client_mount(c, "share"), nt_status_value(STATUS_BAD_NETWORK_NAME));
    assert_int_equal(client_mount(c, "none"), nt_status_value(STATUS_BAD_NETWORK_NAME));
    assert_int_equal(client_mount(c, "IPC$"), 0);
    assert_status(ask(c, "\\server\\away"), STATUS_SUCCESS);
    assert_int_equal(client_create(c, "srvsvc", &(struct creating){ .access = 1 }, &file),
                     nt_status_value(STATUS_OBJECT_NAME_NOT_FOUND));
    client_free(c);
    smb_service_free(world->service);
    world->service = service;
    cells.referrer.pool = NULL;
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_of_other_cells),
        cmocka_unit_test(requests_of_every_length),
        cmocka_unit_test(nobody_is_referred),
        cmocka_unit_test(without_a_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
