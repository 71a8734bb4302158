/* Querying and setting by SMB: times, attributes, length, descriptors. MS-FSA 2.1.5.12, 2.1.5.15 */
#include "handles.h"

#include "base/clock.h"
#include "acl/permission_store.h"

static struct handle_set_basic setting(const struct held_handle *handle)
{
    return (struct handle_set_basic){ .tree_connect = the_mount(), .handle = handle };
}

static void sets(struct fixture *f, struct held_handle *handle, struct handle_set_basic *set)
{
    set->handle = handle;
    assert_int_equal(run(f, handle_set_basic_attempt, set), OK);
    handle->times = set->times;
}

/* Rule: 0 keeps, a time is set, and what is set moves the change time. MS-FSA 2.1.5.15.2 */
static void given(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct handle_info before = shown(f, &handle), after;
    struct handle_set_basic set = setting(&handle);

    sets(f, &handle, &set);
    assert_false(set.lasts);
    assert_int_equal(shown(f, &handle).changed, before.changed);
    set.created = (struct basic_time_given){ BASIC_TIME_GIVEN, 1000 };
    set.written = (struct basic_time_given){ BASIC_TIME_GIVEN, 2000 };
    sets(f, &handle, &set);
    assert_true(set.lasts);
    after = shown(f, &handle);
    assert_int_equal(after.created, 1000);
    assert_int_equal(after.written, 2000);
    assert_int_equal(after.accessed, before.accessed);
    assert_true(after.changed > before.changed);
    set = setting(&handle);
    set.changed = (struct basic_time_given){ BASIC_TIME_GIVEN, 3000 };
    sets(f, &handle, &set);
    assert_int_equal(shown(f, &handle).changed, 3000);
}

/* Rule: -1 keeps the handle's writes from moving a time, as setting it does; -2 lets them again. Other handles
 * move it as ever. */
static void frozen(void **state)
{
    static const enum basic_time kinds[] = { BASIC_TIME_FROZEN, BASIC_TIME_GIVEN };
    struct fixture *f = *state;

    for (size_t i = 0; i < 2; i++) {
        struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_OR_NEW);
        struct held_handle other = opened(f, "x", MAY_RWD, OPEN_OR_NEW);
        struct held_handle reader = opened(f, "x", MAY_READ_DATA, OPEN_OR_NEW);
        struct handle_set_basic set = setting(&handle);
        instant before;

        set.written = set.changed = (struct basic_time_given){ kinds[i], 5000 };
        sets(f, &handle, &set);
        before = shown(f, &handle).written;
        assert_true(i == 0 || before == 5000);
        assert_int_equal(writes(f, &handle, 0, "a"), OK);
        assert_int_equal(shown(f, &reader).written, before);
        assert_int_equal(writes(f, &other, 0, "b"), OK);
        assert_true(shown(f, &handle).written > before);
        assert_true(shown(f, &handle).changed > before);
        set.written = set.changed = (struct basic_time_given){ BASIC_TIME_THAWED, 0 };
        sets(f, &handle, &set);
        before = shown(f, &handle).written;
        assert_int_equal(writes(f, &handle, 0, "c"), OK);
        assert_true(shown(f, &reader).written > before);
        closed(f, &handle);
        closed(f, &other);
        closed(f, &reader);
    }
}

/* Rule: setting anything, even nothing, shows the time of what was written. decision: 357 */
static void set_shows(void **state)
{
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct handle_set_basic set = setting(&handle);
    struct handle_set_length length = { .tree_connect = the_mount(),
                                        .handle = &handle,
                                        .length = 1 };
    instant written;

    assert_int_equal(writes(f, &handle, 0, "a"), OK);
    written = decided_at();
    assert_true(shown(f, &handle).written < written);
    sets(f, &handle, &set);
    assert_int_equal(shown(f, &handle).written, written);
    assert_int_equal(run(f, handle_set_length_attempt, &length), OK);
    handle.times = length.times;
    assert_true(shown(f, &handle).written > written);
}

/* Rule: attributes are as given; a file is no directory. */
static void attributes(void **state)
{
    struct fixture *f = *state;
    struct held_handle file = opened(f, "x", MAY_RWD, OPEN_NEW);
    struct held_handle directory = opened_directory(f, "dir", MAY_RWD);
    struct handle_set_basic set = setting(&file);

    set.has_attributes = true;
    set.attributes = ATTRIBUTE_HIDDEN | ATTRIBUTE_READ_ONLY | UINT32_C(0x80);
    sets(f, &file, &set);
    assert_int_equal(shown(f, &file).attributes, ATTRIBUTE_HIDDEN | ATTRIBUTE_READ_ONLY);
    assert_int_equal(sets_pending(f, &file, true), E_ReadOnlyAttribute);
    set.attributes = UINT32_C(0x80);
    sets(f, &file, &set);
    assert_int_equal(shown(f, &file).attributes, 0);
    set.attributes = ATTRIBUTE_DIRECTORY;
    assert_int_equal(run(f, handle_set_basic_attempt, &set), E_InvalidInput);
    set = setting(&directory);
    set.has_attributes = true;
    set.attributes = ATTRIBUTE_TEMPORARY;
    assert_int_equal(run(f, handle_set_basic_attempt, &set), E_InvalidInput);
    set.attributes = ATTRIBUTE_HIDDEN;
    sets(f, &directory, &set);
    assert_int_equal(shown(f, &directory).attributes, ATTRIBUTE_HIDDEN | ATTRIBUTE_DIRECTORY);
}

/* Rule: the end of a file is set either way, its allocation only cuts. MS-FSA 2.1.5.15.1, 2.1.5.15.5 */
static void lengths(void **state)
{
    static const struct {
        uint64_t length;
        bool is_allocation;
        enum error error;
        uint64_t becomes;
    } steps[] = {
        { 10, false, OK, 10 },
        { 4, false, OK, 4 },
        { 100, true, OK, 4 },
        { 2, true, OK, 2 },
        { FILE_LENGTH_MAX + 1, false, E_InvalidRange, 2 },
        { UINT64_MAX, true, OK, 2 },
        { 0, false, OK, 0 },
    };
    struct fixture *f = *state;
    struct held_handle handle = opened(f, "x", MAY_RWD, OPEN_NEW);

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct handle_set_length set = { .tree_connect = the_mount(),
                                         .handle = &handle,
                                         .length = steps[i].length,
                                         .is_allocation = steps[i].is_allocation };

        assert_int_equal(run(f, handle_set_length_attempt, &set), steps[i].error);
        assert_int_equal(shown(f, &handle).length, steps[i].becomes);
    }
}

/* Rule: the path is that of now, whatever it was opened by. */
static void path(void **state)
{
    struct fixture *f = *state;
    struct held_handle directory = opened_directory(f, "dir", MAY_RWD);
    struct held_handle handle = opened(f, "dir\\x", MAY_RWD, OPEN_NEW);
    struct handle_query query = { .tree_connect = the_mount(),
                                  .handle = &handle,
                                  .wants_path = true };

    assert_int_equal(run(f, handle_query_attempt, &query), OK);
    assert_bytes(query.path, "dir/x");
    assert_int_equal(query.info.parent, directory.node);
    closed(f, &directory);
    assert_ok(ask(f, "PUT /sha/to?restype=directory&comp=rename",
                  "x-ms-file-rename-source: http://localhost/devstoreaccount1/sha/dir", NULL),
              200);
    assert_int_equal(run(f, handle_query_attempt, &query), OK);
    assert_bytes(query.path, "to/x");
}

/* ---- security descriptors ---- */

static struct bytes sddl_of(struct fixture *f, struct handle_query *query)
{
    struct security_descriptor descriptor;

    query->wants_descriptor = DESCRIPTOR_OWNER | DESCRIPTOR_GROUP | DESCRIPTOR_DACL;
    assert_int_equal(run(f, handle_query_attempt, query), OK);
    assert_true(security_descriptor_decode(handles_arena(), query->descriptor, &descriptor));
    return sddl_write(handles_arena(), &descriptor);
}

static struct bytes binary_of(const char *sddl)
{
    return permission_parse(handles_arena(), bytes_from_string(sddl), false);
}

/* Rule: a file made with a descriptor has it; parts are read and set by themselves; REST shows the same. */
static void descriptors(void **state)
{
    struct handle_open open = asked("x", MAY_ALL, OPEN_NEW);
    struct fixture *f = *state;
    struct handle_query query = { .tree_connect = the_mount() };
    struct handle_set_descriptor set = { .tree_connect = the_mount() };
    struct security_descriptor descriptor;

    open.descriptor = binary_of("O:BAG:BAD:(A;;FA;;;BA)");
    assert_int_equal(run(f, handle_open_attempt, &open), OK);
    query.handle = set.handle = &open.handle;
    assert_bytes(sddl_of(f, &query), "O:BAG:BAD:(A;;FA;;;BA)S:NO_ACCESS_CONTROL");
    set.parts = DESCRIPTOR_DACL;
    set.descriptor = binary_of("O:SYG:SYD:(A;;FR;;;BU)");
    assert_int_equal(run(f, handle_set_descriptor_attempt, &set), OK);
    assert_true(set.lasts);
    assert_bytes(sddl_of(f, &query), "O:BAG:BAD:(A;;FR;;;BU)S:NO_ACCESS_CONTROL");
    query.wants_descriptor = DESCRIPTOR_DACL;
    assert_int_equal(run(f, handle_query_attempt, &query), OK);
    assert_true(security_descriptor_decode_parts(handles_arena(), query.descriptor, &descriptor));
    assert_null(descriptor.owner.ptr);
    assert_null(descriptor.group.ptr);
    assert_int_equal(descriptor.dacl.count, 1);
    assert_int_equal(descriptor.control, CONTROL_SELF_RELATIVE | CONTROL_DACL_PRESENT);
    set.descriptor = bytes_from_string("nonsense");
    assert_int_equal(run(f, handle_set_descriptor_attempt, &set), E_FileInvalidPermission);
    set.parts = DESCRIPTOR_OWNER;
    set.descriptor = query.descriptor; /* which has none */
    assert_int_equal(run(f, handle_set_descriptor_attempt, &set), E_FileInvalidPermission);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, handles_setup, handles_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(given),   TEST(frozen), TEST(set_shows),   TEST(attributes),
        TEST(lengths), TEST(path),   TEST(descriptors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
