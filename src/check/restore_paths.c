/* Restores records of files and directories of hierarchical containers; see restore.h. */
#include "blob/blob.h"
#include "blob/namespace.h"
#include "check/names.h"
#include "check/restore.h"
#include "service/driver.h"

bool restore_has_path_record(const struct restore *r, const struct restore_part *part,
                             const struct tree_node *at)
{
    bool is_root = r->is_shared && at->parent == TREE_ROOT;
    struct blob blob;

    if (at->kind == TREE_DIRECTORY && (is_root || namespace_is_hidden(at->name.given)))
        return true;
    return !blob_read_kept(part->before, part->arena, blob_base, &blob) &&
           blob.is_directory == (at->kind == TREE_DIRECTORY);
}

/* ---- nodes without a node record ---- */

bool restore_read_nameless(const struct restore_part *part, enum tree_kind *ret_kind)
{
    struct tree_node node;
    struct blob blob;

    if (tree_node_read(part->before, part->arena, TREE_CASE_EXACT, &node) != STORE_NOT_FOUND ||
        blob_read_kept(part->before, part->arena, blob_base, &blob))
        return false;
    *ret_kind = blob.is_directory ? TREE_DIRECTORY : TREE_FILE;
    return true;
}

static void put_node(const struct restore *r, const struct restore_node *node)
{
    struct restore_part part = restore_open(r, node->id);

    tree_node_put(part.changes, &node->at);
    restore_close(r, &part);
}

/* Names the nodes that a directory has entries for. */
static void name_children(struct restore *r, uint64_t directory)
{
    struct bytes prefix = BYTES("e");
    struct restore_part part = restore_open(r, directory);
    struct scan *scan = scan_open(part.before, RECORD_INNER, prefix, prefix);
    struct record record;

    while (scan_next(scan, part.arena, &record) == STORE_OK) {
        struct bytes key = bytes_from(record.key, 1);
        struct restore_node *node;
        struct tree_entry entry;

        if (!tree_entry_decode(part.arena, TREE_CASE_EXACT, key, record.value, &entry))
            continue;
        node = restore_find(r, entry.id);
        if (!node || !node->is_nameless || node->at.kind != entry.kind)
            continue;
        node->is_nameless = false;
        node->at.parent = directory;
        (void)tree_name_parse(r->arena, TREE_CASE_EXACT, arena_copy(r->arena, entry.name.given),
                              &node->at.name);
        restore_report(r, node, "the record of its location, which was restored");
        put_node(r, node);
    }
    scan_close(scan);
    restore_close(r, &part);
}

void restore_find_names(struct restore *r)
{
    size_t i = 0;

    while (i < r->count && !r->nodes[i].is_nameless)
        i++;
    if (i == r->count)
        return;
    name_children(r, TREE_ROOT);
    for (i = 0; i < r->count; i++)
        if (r->nodes[i].at.kind == TREE_DIRECTORY)
            name_children(r, r->nodes[i].id);
}

/* ---- directories ---- */

struct making {
    const struct restore *restore;
    struct bytes path;
    uint64_t made;
};

/* Creates the directory unless it exists. */
static enum tree_result make_new(struct tree *tree, struct making *making,
                                 struct decision_part **ret_part)
{
    struct tree_path path;
    struct tree_place place;
    enum tree_result result;

    *ret_part = NULL;
    if (tree_path_parse(making->restore->arena, TREE_CASE_EXACT, making->path, &path))
        return TREE_NO_PARENT;
    result = tree_find(tree, &path, TREE_TO_CHANGE, &place);
    if (!result && !place.exists)
        result = tree_create(tree, &place, TREE_DIRECTORY, ret_part);
    if (!result && place.entry.kind == TREE_DIRECTORY)
        making->made = place.entry.id;
    return result;
}

static enum error attempt(struct decision *d, void *of)
{
    struct making *making = of;
    struct decision_part *part;
    struct blob directory;
    struct tree tree;
    enum tree_result result = tree_open(&tree, d, making->restore->space, TREE_CASE_EXACT);

    if (!result)
        result = make_new(&tree, making, &part);
    if (result)
        return decision_fail_store(d, tree.failed ? tree.failed : STORE_CORRUPT);
    decision_read_clock(d);
    directory = namespace_new_directory(d->now);
    if (part)
        blob_write(part->changes, d->arena, &directory);
    return OK;
}

/* Returns the path of a new directory in the root directory of a container; ptr NULL if there is
 * no such directory. */
static struct bytes path_in_root(const struct restore *r, const char *name)
{
    struct check check = { .store = r->store };
    struct bytes at = BYTES("e");
    bool is_deleted = true;
    char root[GUID_TEXT_SIZE];
    struct guid part;

    if (!r->is_shared)
        return bytes_from_string(name);
    while (check_next_root(&check, &r->space, &at, r->arena, &part, &is_deleted) && is_deleted)
        continue;
    if (is_deleted)
        return (struct bytes){ NULL, 0 };
    guid_format(&part, root);
    return arena_printf(r->arena, "%s/%s", root, name);
}

bool restore_make_path_directory(const struct restore *r, const char *name, uint64_t *ret_id)
{
    struct making making = { .restore = r, .path = path_in_root(r, name), .made = TREE_ROOT };
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct problem problem = { .detail = NULL };
    struct decision d = { .arena = arena,
                          .store = r->store,
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(arena) };
    bool is_made = making.path.ptr && deciding_run_unawaited(&d, attempt, &making) == OK;

    deciding_end(&d);
    arena_free(arena);
    *ret_id = making.made;
    return is_made;
}

void restore_put_path_record(const struct restore *r, uint64_t id)
{
    struct restore_part part = restore_open(r, id);
    const struct blob directory = namespace_new_directory(clock_now());

    blob_write(part.changes, part.arena, &directory);
    restore_close(r, &part);
}
