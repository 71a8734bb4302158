/* Permissions of a share: Create Permission and Get Permission.
 * rest: Create-Permission, Get-Permission; decisions: 307, 308, 309 */
#include "fixture.h"

#include "base/encode.h"
#include "base/endian.h"
#include "file/file.h"
#include "acl/permission_store.h"
#include "acl/security_descriptor.h"

#define WORLD     "O:BAG:SYD:(A;;FA;;;WD)"
#define CANONICAL WORLD "S:NO_ACCESS_CONTROL"

static int setup(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    fixture_serve(*state, &file_service);
    assert_ok(ask(*state, "PUT /sha?restype=share", NULL, NULL), 201);
    return 0;
}

static int teardown(void **state)
{
    fixture_serve(*state, NULL);
    return fixture_teardown(state);
}

static struct reply create(struct fixture *f, const char *body)
{
    return ask(f, "PUT /sha?restype=share&comp=filepermission", NULL, body);
}

static struct reply get(struct fixture *f, const char *share, const char *key, const char *more)
{
    return askf(f, textf(f, "x-ms-file-permission-key: %s\n%s", key, more), NULL,
                "GET /%s?restype=share&comp=filepermission", share);
}

static const char *key_of(struct fixture *f, const char *sddl)
{
    struct reply made = create(f, textf(f, "{\"Permission\":\"%s\"}", sddl));

    assert_ok(made, 201);
    return header_of(f, &made, "x-ms-file-permission-key");
}

/* Rule: a descriptor has one key, however it is written; another has another. decision: 308 */
static void one_key(void **state)
{
    struct fixture *f = *state;
    struct reply binary = get(f, "sha", key_of(f, WORLD), "x-ms-file-permission-format: binary");
    struct reply made;

    assert_string_equal(key_of(f, WORLD), key_of(f, CANONICAL));
    assert_string_not_equal(key_of(f, WORLD), key_of(f, "O:BAG:SYD:(A;;FR;;;WD)"));
    assert_ok(binary, 200);
    made = create(f, textf(f, "%.*s", BYTES_ARG(binary.body)));
    assert_ok(made, 201);
    assert_header(f, made, "x-ms-file-permission-key", key_of(f, WORLD));
}

/* Rule: what was created is returned, in the format that is asked for; the format is said since it can
 * be asked for. */
static void returned(void **state)
{
    struct fixture *f = *state;
    const char *key = key_of(f, WORLD);
    struct reply got = get(f, "sha", key, "x-ms-version: 2019-02-02");

    assert_ok(got, 200);
    assert_body(got, "{\"permission\":\"" CANONICAL "\"}");
    got = get(f, "sha", key, "x-ms-file-permission-format: Sddl");
    assert_body(got, "{\"permission\":\"" CANONICAL "\",\"format\":\"sddl\"}");
    assert_no_header(f, got, "Content-Type");
}

/* Rule: each share has its own, and none of a deleted share. */
static void of_a_share(void **state)
{
    struct fixture *f = *state;
    const char *key = key_of(f, WORLD);

    assert_ok(ask(f, "PUT /shb?restype=share", NULL, NULL), 201);
    assert_answer(get(f, "shb", key, "x-ms-a: b"), 400, "FileInvalidPermissionKey");
    assert_answer(get(f, "shc", key, "x-ms-a: b"), 404, "ShareNotFound");
    assert_ok(get(f, "sha", key, "x-ms-a: b"), 200);
    assert_ok(ask(f, "DELETE /sha?restype=share", NULL, NULL), 202);
    assert_ok(ask(f, "PUT /sha?restype=share", NULL, NULL), 201);
    assert_answer(get(f, "sha", key, "x-ms-a: b"), 400, "FileInvalidPermissionKey");
}

/* Rule: what is no descriptor is refused, and so is a key that is none. */
static void refused(void **state)
{
    static const char *const inputs[] = { "",
                                          "x",
                                          "[]",
                                          "{\"permission\":1,\"permission\":2}",
                                          "{\"permission\":\"" WORLD "\",\"format\":\"x\"}",
                                          "{\"permission\":\"" WORLD "\",\"format\":1}" };
    static const char *const permissions[] = { "{}",
                                               "{\"permission\":null}",
                                               "{\"permission\":\"\"}",
                                               "{\"permission\":\"invalidPermission\"}",
                                               "{\"permission\":\"" WORLD
                                               "\",\"format\":\"binary\"}",
                                               "{\"permission\":\"AAAA\",\"format\":\"binary\"}",
                                               "{\"permission\":\"O:DAG:DAD:\"}" };
    static const char *const keys[] = { "x",    "invalidPermission",      "1",     "1*2", "*1",
                                        "01*1", "18446744073709551616*1", "1*1*1", "-1*1" };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        assert_answer(create(f, inputs[i]), 400, "InvalidInput");
    for (size_t i = 0; i < sizeof permissions / sizeof permissions[0]; i++)
        assert_answer(create(f, permissions[i]), 400, "FileInvalidPermission");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_answer(get(f, "sha", keys[i], "x-ms-a: b"), 400, "InvalidHeaderValue");
    assert_answer(get(f, "sha", "1*1", "x-ms-a: b"), 400, "FileInvalidPermissionKey");
    assert_answer(get(f, "sha", key_of(f, WORLD), "x-ms-file-permission-format: x"), 400,
                  "InvalidHeaderValue");
    assert_answer(ask(f, "GET /sha?restype=share&comp=filepermission", NULL, NULL), 400,
                  "MissingRequiredHeader");
    assert_answer(ask(f,
                      "PUT /sha?restype=share&comp=filepermission&sharesnapshot="
                      "2026-01-01T00:00:00.0000000Z",
                      NULL, "{}"),
                  400, "ShareSnapshotOperationNotSupported");
}

/* Rule: the defaults are what the root's permission and inheritance from it with marked entries make of them,
 * under the numbers that they would get if they were created. decision: 309 */
static void defaults(void **state)
{
    struct fixture *f = *state;
    struct security_descriptor descriptor;
    struct arena *arena = arena_new(1 << 16);
    const char *root =
        textf(f, "%llu*1", (unsigned long long)permission_default(PERMISSION_OF_ROOT));
    struct reply got = get(f, "sha", root, "x-ms-version: 2019-02-02");
    struct bytes sddl = bytes_of(got.body.ptr + 15, got.body.len - 17);

    assert_ok(got, 200);
    assert_string_equal(key_of(f, arena_string(arena, sddl)), root);
    for (int i = 0; i < 2; i++) {
        enum permission_default which = i ? PERMISSION_OF_FILES : PERMISSION_OF_DIRECTORIES;
        struct security_descriptor child;

        assert_true(sddl_read(arena, sddl, &descriptor));
        descriptor.control |= CONTROL_DACL_INHERITED;
        child = security_descriptor_inherit(arena, &descriptor, which == PERMISSION_OF_DIRECTORIES,
                                            &descriptor_of_system);
        assert_string_equal(key_of(f, arena_string(arena, sddl_write(arena, &child))),
                            textf(f, "%llu*1", (unsigned long long)permission_default(which)));
        assert_ok(get(f, "sha", textf(f, "%llu*1", (unsigned long long)permission_default(which)),
                      "x-ms-a: b"),
                  200);
    }
    arena_free(arena);
}

static void put(struct fixture *f, uint64_t number, const char *value, size_t len)
{
    char key[9] = "P";
    struct share share;
    struct arena *arena = arena_new(1 << 16);
    struct partition at = { file_account_space(bytes_from_string("devstoreaccount1")),
                            bytes_from_string("sha") };
    struct read_view *snapshot = read_view_open(store_of(f), at, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct commit_part part;
    uint64_t sequence;

    assert_int_equal(share_read(snapshot, arena, share_itself, &share), STORE_OK);
    read_view_close(snapshot);
    be64_put(key + 1, number);
    at = (struct partition){ share.space, bytes_of(key, sizeof key) };
    snapshot = read_view_open(store_of(f), at, STORE_MAY_BLOCK);
    part = (struct commit_part){ snapshot, changes };
    changes_put(changes, RECORD_INNER, bytes_from_string("p"), bytes_of(value, len), NULL, 0);
    assert_int_equal(store_commit(store_of(f), &part, 1, 1, STORE_MAY_BLOCK, &sequence), STORE_OK);
    read_view_close(snapshot);
    arena_free(arena);
}

/* Rule: no silent wrong answer (promise 5); and two descriptors of one hash are two permissions. */
static void damaged_and_equal_hashes(void **state)
{
    struct fixture *f = *state;
    struct arena *arena = arena_new(1 << 16);
    struct bytes other = permission_parse(arena, bytes_from_string(CANONICAL), false);
    const char *key = key_of(f, "O:BAG:SYD:(A;;FR;;;WD)");
    uint64_t number;
    struct text value;

    put(f, 5, "\x02?", 2);
    assert_answer(get(f, "sha", "5*1", "x-ms-a: b"), 500, "InternalError");
    put(f, 6, "\x01\x03zz", 4);
    assert_answer(get(f, "sha", "6*1", "x-ms-a: b"), 500, "InternalError");
    assert_true(permission_key_parse(bytes_from_string(key), &number));
    text_init(&value, arena, 256);
    text_add_char(&value, 1);
    text_add_char(&value, (char)(other.len + 1));
    text_add(&value, other);
    put(f, number, value.ptr, value.len);
    assert_string_equal(key_of(f, "O:BAG:SYD:(A;;FR;;;WD)"),
                        textf(f, "%llu*1", (unsigned long long)number + 1));
    assert_string_equal(key_of(f, "O:BAG:SYD:(A;;FR;;;WD)"),
                        textf(f, "%llu*1", (unsigned long long)number + 1));
    arena_free(arena);
}

/* Rule: a key has one form, so that what names one permission names no other. permission_store.h */
static void a_key_has_one_form(void **state)
{
    static const struct {
        const char *key;
        bool is_one;
        uint64_t number;
    } rows[] = {
        { "7*1", true, 7 },    { "0*1", true, 0 },
        { "10*1", true, 10 },  { "18446744073709551615*1", true, UINT64_MAX },
        { "01*1", false, 0 },  { "00*1", false, 0 },
        { "007*1", false, 0 }, { "18446744073709551616*1", false, 0 },
        { "*1", false, 0 },    { "7", false, 0 },
        { "7*2", false, 0 },   { "7*11", false, 0 },
        { "-7*1", false, 0 },  { "7 *1", false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t number = 0;

        assert_int_equal(permission_key_parse(bytes_from_string(rows[i].key), &number),
                         rows[i].is_one);
        assert_true(!rows[i].is_one || number == rows[i].number);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_one_form),
        TEST(one_key),
        TEST(returned),
        TEST(of_a_share),
        TEST(refused),
        TEST(defaults),
        TEST(damaged_and_equal_hashes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
