/* Records that make no sense are an error, never followed; races are not taken for them.
 * tree/record.h */
#include "fixture.h"

#include <stdlib.h>

#include "base/endian.h"

static struct arena *arena;

/* ---- decoding ---- */

static struct bytes entry_value(const char *name)
{
    struct tree_entry entry = { .id = 7, .written = 5, .kind = TREE_FILE };
    struct bytes value;
    char *room;

    assert_int_equal(
        tree_name_parse(arena, TREE_CASE_IGNORED, bytes_from_string(name), &entry.name), 0);
    room = arena_bytes(arena, 300);
    room[0] = 5; /* generation */
    room[1] = 1;
    room[2] = TREE_FILE;
    be64_put(room + 3, 7);
    room[11] = (char)(strlen(name) + 1);
    memcpy(room + 12, name, strlen(name));
    value = bytes_of(room, 12 + strlen(name));
    assert_true(bytes_equal(value, tree_entry_encode(arena, &entry)));
    return value;
}

static bool decodes(struct bytes key, struct bytes value)
{
    struct tree_entry entry;

    return tree_entry_decode(arena, TREE_CASE_IGNORED, key, value, &entry);
}

static void entries_are_not_trusted(void **state)
{
    struct bytes key = bytes_from_string("NAME"), value = entry_value("Name");
    struct tree_node node;
    char *damaged = arena_bytes(arena, value.len + 1);

    (void)state;
    assert_true(decodes(key, value));
    assert_false(decodes(bytes_from_string("OTHER"), value));
    assert_false(decodes(bytes_from_string("Name"), value));
    assert_false(decodes(bytes_of("", 0), value));
    assert_true(tree_node_decode(arena, TREE_CASE_IGNORED, bytes_from(value, 1), &node));
    for (size_t length = 0; length < value.len; length++) {
        assert_false(decodes(key, bytes_of(value.ptr, length)));
        assert_false(
            tree_node_decode(arena, TREE_CASE_IGNORED, bytes_of(value.ptr, length), &node));
    }
    assert_false(tree_node_decode(arena, TREE_CASE_IGNORED, value, &node));
    for (size_t i = 0; i < value.len * 8; i++) {
        memcpy(damaged, value.ptr, value.len);
        damaged[i / 8] = (char)(damaged[i / 8] ^ 1 << i % 8);
        /* Another generation or id and the name in other letters can be no more than what they say. */
        if (i / 8 >= 1 && !(i / 8 >= 3 && i / 8 < 11) && i / 8 < 12)
            assert_false(decodes(key, bytes_of(damaged, value.len)));
        else
            decodes(key, bytes_of(damaged, value.len));
    }
    memcpy(damaged, value.ptr, value.len);
    be64_put(damaged + 3, TREE_ROOT);
    assert_false(decodes(key, bytes_of(damaged, value.len)));
    memcpy(damaged, value.ptr, value.len);
    damaged[0] = 0; /* no generation */
    assert_false(decodes(key, bytes_of(damaged, value.len)));
}

/* ---- in a store ---- */

struct place_of {
    uint64_t id;
    const char *key; /* INNER; NULL: LISTED "n" */
    const char *value;
    size_t length; /* 0: deleted */
};

static void put(struct fixture *f, const struct place_of *at)
{
    struct changes *changes = changes_new(arena);
    struct commit_part part = {
        read_view_open(f->store, tree_partition(arena, f->space, at->id), STORE_MAY_BLOCK), changes
    };
    enum record_family family = at->key ? RECORD_INNER : RECORD_LISTED;
    struct bytes key = bytes_from_string(at->key ? at->key : "n");
    uint64_t sequence;

    if (at->length == 0)
        changes_delete(changes, family, key);
    else
        changes_put(changes, family, key, bytes_of(at->value, at->length), NULL, 0);
    assert_int_equal(store_commit(f->store, &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(part.snapshot);
}

static uint64_t id_of(struct fixture *f, uint64_t directory, const char *name)
{
    struct read_view *snapshot =
        read_view_open(f->store, tree_partition(arena, f->space, directory), STORE_MAY_BLOCK);
    struct tree_entry entry;

    assert_int_equal(tree_entry_read(snapshot, arena, f->rule,
                                     &(struct tree_name){ .key = bytes_from_string(name) }, &entry),
                     STORE_OK);
    read_view_close(snapshot);
    return entry.id;
}

static void expect(struct fixture *f, enum op_kind kind, const char *path, const char *to,
                   bool damaged)
{
    struct outcome outcome = fixture_run(f, &(struct op){ kind, path, to, 'x', 0 });

    assert_int_equal(outcome.result == TREE_FAILED, damaged);
    assert_int_equal(outcome.error, damaged ? E_InternalError : OK);
}

/* Rule: what is damaged is E_InternalError at once: neither "not found" nor decided again and again. What only reads
 * a node does not look at the record of its place, unless its directory changes meanwhile. */
static void damage_is_reported(void **state)
{
    struct fixture *f = *state;
    uint64_t directory, file;

    fixture_do(f, OP_MAKE_DIRECTORY, "d", NULL);
    fixture_do(f, OP_MAKE_FILE, "d/f", NULL);
    fixture_do(f, OP_MAKE_FILE, "d/g", NULL);
    directory = id_of(f, TREE_ROOT, "d");
    file = id_of(f, directory, "f");

    put(f, &(struct place_of){ .id = file }); /* a name without its file */
    expect(f, OP_DELETE, "d/f", NULL, true);
    expect(f, OP_RENAME, "d/f", "h", true);
    expect(f, OP_FIND, "d/g", NULL, false);
    put(f, &(struct place_of){ file, NULL, "\1\1\0\0\0\0\0\0\0\0\2f", 12 }); /* elsewhere */
    expect(f, OP_DELETE, "d/f", NULL, true);
    put(f, &(struct place_of){ file, NULL, "?", 1 });
    expect(f, OP_RENAME, "d/f", "h", true);
    put(f, &(struct place_of){ directory, "ef", "?", 1 });
    expect(f, OP_FIND, "d/f", NULL, true);
    expect(f, OP_LIST, "d", NULL, true);
    put(f, &(struct place_of){ directory, "E", "\1\0", 2 }); /* none, but there are */
    expect(f, OP_DELETE, "d/g", NULL, true);
    put(f, &(struct place_of){ directory, "E", "?", 1 });
    expect(f, OP_MAKE_FILE, "d/n", NULL, true);
    put(f, &(struct place_of){ .id = directory });
    expect(f, OP_FIND, "d/n", NULL, true);
    expect(f, OP_FIND, "d/n/n", NULL, true);
}

static void nothing_is_left_of_a_dropped_space(void **state)
{
    struct fixture *f = *state;
    struct changes *changes = changes_new(arena);
    struct partition other = { guid_new(), BYTES("share") };
    struct commit_part part = { read_view_open(f->store, other, STORE_MAY_BLOCK), changes };
    uint64_t sequence;

    fixture_do(f, OP_MAKE_FILE, "f", NULL);
    changes_drop_space(changes, f->space);
    assert_int_equal(store_commit(f->store, &part, 1, clock_now(), STORE_MAY_BLOCK, &sequence),
                     STORE_OK);
    read_view_close(part.snapshot);
    /* Decided again: who looks for the tree from above finds it gone. The fixture does not. */
    assert_int_equal(fixture_run(f, &(struct op){ OP_FIND, "f", NULL, 0, 0 }).error, E_ServerBusy);
    assert_int_equal(fixture_run(f, &(struct op){ OP_MAKE_FILE, "g", NULL, 'x', 0 }).error,
                     E_ServerBusy);
}

static int set_up(void **state)
{
    arena = arena_new(1u << 24);
    return fixture_set_up(state);
}

static int tear_down(void **state)
{
    arena_free(arena);
    return fixture_tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(entries_are_not_trusted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damage_is_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_left_of_a_dropped_space, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
