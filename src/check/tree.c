/* Checks records in the tree of a share or of hierarchical containers; see records.h. Verifies that
 * the records that belong together agree (tree invariants 1, 3 and 4, tree/tree.h). */
#include "base/endian.h"
#include "file/pending_file.h"
#include "check/records.h"
#include "tree/versions.h"

struct node {
    struct store *store;
    struct arena *arena;
    char *buffer;
    const struct record_place *place;
    struct read_view *snapshot;
    enum tree_case rule;
    bool is_shared; /* the first name is that of a container's root directory */
    uint64_t id;
};

static struct read_view *open_id(const struct node *node, uint64_t id)
{
    return read_view_open(node->store, tree_partition(node->arena, node->place->space, id),
                          STORE_MAY_BLOCK);
}

/* ---- names ---- */

/* Returns a message with the node's path and the defect. In the path, a directory without a record
 * appears as "?". */
static const char *about(const struct node *node, const char *what)
{
    struct bytes path = BYTES("");
    uint64_t id = node->id;

    for (unsigned depth = 0; id != TREE_ROOT && depth < TREE_DEPTH_MAX; depth++) {
        struct read_view *snapshot = open_id(node, id);
        struct tree_node at;
        bool found = !tree_node_read(snapshot, node->arena, node->rule, &at);

        read_view_close(snapshot);
        if (found && node->is_shared && at.parent == TREE_ROOT)
            break;
        path = arena_printf(node->arena, "/%.*s%.*s", found ? (int)at.name.given.len : 1,
                            found ? at.name.given.ptr : "?", BYTES_ARG(path));
        id = found ? at.parent : TREE_ROOT;
    }
    return arena_string(node->arena, arena_printf(node->arena, "%s%.*s: %s",
                                                  path.len > 0 ? "" : "/", BYTES_ARG(path), what));
}

/* ---- nodes and their entries ---- */

static const char *check_count(const struct node *node)
{
    struct bytes prefix = BYTES("e");
    struct scan *scan = scan_open(node->snapshot, RECORD_INNER, prefix, prefix);
    struct record record;
    uint64_t count = 0, counted = 0;

    while (scan_next(scan, NULL, &record) == STORE_OK)
        count++;
    scan_close(scan);
    return tree_count_read(node->snapshot, node->arena, &counted) || counted != count
               ? about(node, "its number of entries is wrong")
               : NULL;
}

/* Checks that the directory of a node has an entry for it. */
static const char *check_location(const struct node *node, struct tree_node *ret_at)
{
    struct tree_entry entry;
    struct read_view *parent;
    enum store_result named;

    if (tree_node_read(node->snapshot, node->arena, node->rule, ret_at))
        return about(node, "the record of its location is corrupt");
    parent = open_id(node, ret_at->parent);
    named = tree_entry_read(parent, node->arena, node->rule, &ret_at->name, &entry);
    read_view_close(parent);
    return named || entry.id != node->id || entry.kind != ret_at->kind
               ? about(node, "its parent directory has no entry for it")
               : NULL;
}

static const char *check_node(const struct node *node, bool *ret_is_file, uint64_t *ret_bytes)
{
    const struct tree tree = { .rule = node->rule };
    struct tree_node at = { .kind = TREE_DIRECTORY };
    struct file file;
    const char *wrong = check_location(node, &at);

    *ret_is_file = at.kind == TREE_FILE;
    if (wrong)
        return wrong;
    if (file_read(&tree, node->snapshot, node->arena, &file) || file.kind != at.kind)
        return about(node, "its record is missing or corrupt");
    *ret_bytes = file.content.length;
    return at.kind == TREE_DIRECTORY ? check_count(node) : NULL;
}

static const char *check_entry(const struct node *node, const struct record *record)
{
    struct tree_entry entry;
    struct read_view *snapshot;
    struct tree_node at;
    enum store_result found;

    if (!tree_entry_decode(node->arena, node->rule, bytes_from(record->key, 1), record->value,
                           &entry))
        return about(node, "an entry is corrupt");
    snapshot = open_id(node, entry.id);
    found = tree_node_read(snapshot, node->arena, node->rule, &at);
    read_view_close(snapshot);
    return found || at.parent != node->id || !bytes_equal(at.name.key, entry.name.key)
               ? about(node, "it has an entry for a file or directory that does not exist")
               : NULL;
}

/* ---- records and contents ---- */

/* Reads the data of a file. at: generation of a snapshot, or 0 for the current state */
static const char *check_contents(const struct node *node, uint64_t at)
{
    const struct tree tree = { .rule = TREE_CASE_IGNORED, .at = at };
    struct file file;

    if (file_read(&tree, node->snapshot, node->arena, &file))
        return about(node, at ? "its record in a snapshot is corrupt" : "its record is corrupt");
    if (file.kind == TREE_FILE && file.content.length > 0 &&
        check_content(node->store, node->place, &file.content, node->buffer))
        return about(node, at ? "some of its bytes in a snapshot cannot be read"
                              : "some of its bytes cannot be read");
    return NULL;
}

/* Checks the data that a pending copy has copied so far; it becomes the file's content when the
 * copy ends. */
static const char *check_pending(const struct node *node)
{
    struct pending_file pending;

    if (pending_file_read(node->snapshot, node->arena, &pending))
        return about(node, "the record of its pending copy is corrupt");
    return check_content(node->store, node->place, &pending.target.content, node->buffer)
               ? about(node, "some of the bytes of its pending copy cannot be read")
               : NULL;
}

/* Checks an old version of a record, retained for a snapshot. Only directory entries and the File
 * service's own records have old versions. */
static const char *check_version(const struct node *node, const struct record *record)
{
    struct tree_record version;
    struct tree_entry entry;
    struct bytes key;
    uint64_t until;

    if (!version_key_parse(record->key, &key, &until) || !version_split(record->value, &version) ||
        version.written > until)
        return about(node, "its state in a snapshot is corrupt");
    if (key.ptr[0] != TREE_ENTRY_PREFIX)
        return check_contents(node, until);
    return tree_entry_decode(node->arena, TREE_CASE_IGNORED, bytes_from(key, 1), record->value,
                             &entry)
               ? NULL
               : about(node, "an entry in a snapshot is corrupt");
}

/* ---- records of the tree ---- */

static const char *check_state(const struct node *node)
{
    struct tree_state state;
    struct retained_generations retained;
    enum store_result result = tree_state_read(node->snapshot, node->arena, &state);

    if (!result)
        result = retained_generations_read(node->snapshot, node->arena, &retained);
    if (!result &&
        state.last_retained != (retained.count > 0 ? retained.generations[retained.count - 1] : 0))
        result = STORE_CORRUPT;
    return result ? "the record of its snapshots is corrupt" : NULL;
}

static const char *check_record(const struct node *node, const struct record *record,
                                bool *ret_counts, uint64_t *ret_bytes)
{
    struct bytes key = record->key;

    if (node->place->family == RECORD_LISTED)
        return bytes_is(key, "n") ? check_node(node, ret_counts, ret_bytes) : NULL;
    if (bytes_is(key, "f"))
        return check_contents(node, 0);
    if (bytes_equal(key, pending_record_key))
        return check_pending(node);
    /* entries of other directories are counted when their node record is checked */
    if (bytes_is(key, "E"))
        return node->id == TREE_ROOT ? check_count(node) : NULL;
    if (key.len > 1 && key.ptr[0] == TREE_ENTRY_PREFIX)
        return check_entry(node, record);
    return key.len > 0 && key.ptr[0] == 'V' ? check_version(node, record) : NULL;
}

const char *check_file(struct store *store, struct arena *arena, char *buffer,
                       const struct record_place *place, const struct record *record,
                       bool *ret_counts, uint64_t *ret_bytes)
{
    struct partition partition = { place->space, place->partition_key };
    struct node node = {
        .store = store, .arena = arena, .buffer = buffer, .place = place, .rule = TREE_CASE_IGNORED
    };
    const char *wrong = NULL;

    *ret_counts = false;
    *ret_bytes = 0;
    if (partition.key.len != 0 && partition.key.len != sizeof node.id)
        return NULL;
    node.snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);
    if (partition.key.len == 0) {
        wrong = check_state(&node);
    } else {
        node.id = be64_get(partition.key.ptr);
        wrong = check_record(&node, record, ret_counts, ret_bytes);
    }
    read_view_close(node.snapshot);
    return wrong;
}

/* ---- hierarchical containers ---- */

const char *check_path_record(struct store *store, struct arena *arena,
                              const struct record_place *place, const struct record *record,
                              bool is_shared)
{
    struct node node = { .store = store,
                         .arena = arena,
                         .place = place,
                         .rule = TREE_CASE_EXACT,
                         .is_shared = is_shared };
    bool is_node = place->family == RECORD_LISTED && bytes_is(record->key, TREE_NODE_KEY);
    bool is_inner = place->family == RECORD_INNER && record->key.len > 0;
    const char *wrong = NULL;
    struct tree_node at;

    if (place->partition_key.len != sizeof node.id || (!is_node && !is_inner))
        return NULL;
    node.id = be64_get(place->partition_key.ptr);
    node.snapshot = read_view_open(store, (struct partition){ place->space, place->partition_key },
                                   STORE_MAY_BLOCK);
    if (is_node)
        wrong = check_location(&node, &at);
    if (is_node && !wrong && at.kind == TREE_DIRECTORY)
        wrong = check_count(&node);
    if (is_inner && record->key.ptr[0] == TREE_ENTRY_PREFIX)
        wrong = check_entry(&node, record);
    if (is_inner && bytes_is(record->key, TREE_COUNT_KEY) && node.id == TREE_ROOT)
        wrong = check_count(&node);
    read_view_close(node.snapshot);
    return wrong;
}
