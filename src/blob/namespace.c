/* See namespace.h. */
#include "blob/namespace.h"

#include <inttypes.h>

#include "base/codec.h"
#include "base/endian.h"
#include "blob/access_control.h"
#include "blob/blob_operations.h"
#include "blob/container_root.h"
#include "service/metadata_run.h"

/* Parts that remain free for the decide function when parents are created. */
#define FREE_PARTS 4u

/* Returns true if the operation changes names, so the parent directory remains open. */
static bool changes_names(const struct decision *d)
{
    return (decision_passes(d) & (NEEDS_CREATE | NEEDS_DESTROY | NEEDS_NAME)) != 0;
}

/* ---- finding ---- */

struct partition namespace_locate(struct decision *d, struct bytes name)
{
    struct blob_state *state = blob_state(d);
    const struct guid space = state->container.space;

    state->node = arena_alloc(d->arena, sizeof *state->node);
    state->node->name = name;
    /* As for files: one name in the root of the tree needs no stamp (tree/README.md, "Lookups"). */
    if (decision_may_change(d) || !guid_is_zero(&state->container.root.name) ||
        (name.len > 0 && memchr(name.ptr, '/', name.len)))
        return tree_stamp_partition(space);
    return tree_partition(d->arena, space, TREE_ROOT);
}

struct bytes namespace_normal_name(struct arena *arena, struct bytes name)
{
    struct text out;

    text_init(&out, arena, name.len + 1);
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] != '/' || (out.len > 0 && out.ptr[out.len - 1] != '/'))
            text_add_char(&out, name.ptr[i]);
    if (out.len > 0 && out.ptr[out.len - 1] == '/')
        out.len--;
    return text_bytes(&out);
}

/* decision: 1271 */
enum error namespace_parse(struct arena *arena, struct bytes name, struct tree_path *ret_path)
{
    struct bytes normal = namespace_normal_name(arena, name);

    if ((name.len > 0 && normal.len == 0) ||
        tree_path_parse(arena, TREE_CASE_EXACT, normal, ret_path))
        return E_InvalidUri;
    return ret_path->count > NAMESPACE_DEPTH_MAX ? E_InvalidUri : OK;
}

static enum tree_result open_tree(struct decision *d, struct tree *tree)
{
    const struct guid space = blob_state(d)->container.space;

    if (decision_may_change(d))
        return tree_open(tree, d, space, TREE_CASE_EXACT);
    tree_open_to_read(tree, d, space, TREE_CASE_EXACT);
    return TREE_OK;
}

enum error namespace_find(struct decision *d, struct bytes name)
{
    struct blob_node *node = blob_state(d)->node;
    struct tree_path path;
    enum error e = namespace_parse(d->arena, name, &path);

    if (e)
        return e;
    node->found = open_tree(d, &node->tree);
    if (!node->found)
        node->found = container_find(&node->tree, &blob_state(d)->container, &path,
                                     changes_names(d) ? TREE_TO_CHANGE : TREE_TO_READ, &node->place,
                                     &node->part);
    if (node->found == TREE_FAILED)
        return decision_fail_store(d, node->tree.failed);
    node->place.path = path;
    if (node->part)
        decision_move_subject(d, node->part);
    decision_keep_above(d);
    return OK;
}

struct blob namespace_new_directory(instant created)
{
    return (struct blob){
        .is_directory = true,
        .nothing_staged = true,
        .without_snapshots = true,
        .http.content_type = BYTES("application/octet-stream"),
        .created = created,
        .etag = etag_after((struct etag){ .v = 0 }, created),
        .modified = created,
    };
}

enum error namespace_is_empty(struct decision *d, bool *ret_empty)
{
    struct blob_node *node = blob_state(d)->node;
    uint64_t count;

    if (tree_count(&node->tree, node->part, &count))
        return decision_fail_store(d, node->tree.failed);
    *ret_empty = count == 0;
    return OK;
}

int namespace_compare(struct bytes left, struct bytes right)
{
    size_t len = left.len < right.len ? left.len : right.len, i = 0;

    while (i < len && left.ptr[i] == right.ptr[i])
        i++;
    if (i == len)
        return left.len == right.len ? 0 : left.len < right.len ? -1 : 1;
    /* No name has a byte 0, so a slash sorts first. */
    if (left.ptr[i] == '/')
        return -1;
    if (right.ptr[i] == '/')
        return 1;
    return (unsigned char)left.ptr[i] < (unsigned char)right.ptr[i] ? -1 : 1;
}

/* ---- creating ---- */

/* Finds the first name of the path that does not exist, unless it is created in the meantime.
 * Returns TREE_OK, TREE_PARENT_IS_FILE, TREE_FAILED. */
static enum tree_result find_missing(struct decision *d, struct tree_place *ret_place)
{
    struct blob_state *state = blob_state(d);
    struct tree_path path = state->node->place.path;
    enum tree_result result = TREE_NO_PARENT;

    while (result == TREE_NO_PARENT && path.count > 1) {
        path.count--;
        result = container_find(&state->node->tree, &state->container, &path, TREE_TO_CHANGE,
                                ret_place, NULL);
    }
    return result;
}

/* Returns the same place with space for all directories of the path. */
static struct tree_place with_all_directories(struct decision *d, const struct tree_place *place,
                                              const struct tree_path *path)
{
    struct tree_place longer = *place;

    longer.path = (struct tree_path){ path->names, place->path.count };
    longer.directories = arena_array(d->arena, path->count, sizeof longer.directories[0]);
    memcpy(longer.directories, place->directories,
           place->path.count * sizeof longer.directories[0]);
    return longer;
}

static enum error create_chain(struct decision *d, struct tree_place *place, size_t names,
                               enum tree_kind kind)
{
    struct blob_node *node = blob_state(d)->node;
    struct posix_acl *parent = arena_alloc(d->arena, sizeof *parent);
    enum store_result read = access_control_read(
        d, tree_place_parent(place), tree_directory_part(&node->tree, place)->before, parent);

    if (read)
        return decision_fail_store(d, read);
    for (;;) {
        bool is_last = place->path.count == names;
        struct decision_part *part;
        struct blob directory;
        enum tree_result result =
            tree_create(&node->tree, place, is_last ? kind : TREE_DIRECTORY, &part);

        if (result)
            return decision_fail_store(d,
                                       result == TREE_FAILED ? node->tree.failed : STORE_CONFLICT);
        if (is_last) {
            node->part = part;
            node->parent_acl = parent;
            return OK;
        }
        directory = namespace_new_directory(d->now);
        access_control_inherit(d, parent, NULL, true, &directory);
        blob_write(part->changes, d->arena, &directory);
        read = access_control_of(d, &directory, false, parent);
        if (read)
            return decision_fail_store(d, read);
        if (d->part_count + FREE_PARTS >= DECISION_PARTS_MAX)
            return DECIDE_PREPARED;
        place->directories[place->path.count++] = place->entry.id;
        place->exists = false;
    }
}

enum error namespace_make(struct decision *d, enum tree_kind kind)
{
    struct blob_node *node = blob_state(d)->node;
    struct tree_path path = node->place.path;
    struct tree_place place = node->place;
    enum error e;

    if (node->found == TREE_NO_PARENT)
        node->found = find_missing(d, &place);
    if (node->found == TREE_PARENT_IS_FILE)
        return E_PathConflict;
    if (node->found)
        return decision_fail_store(d, node->tree.failed);
    place = with_all_directories(d, &place, &path);
    e = create_chain(d, &place, path.count, kind);
    if (e)
        return e;
    node->place = place;
    decision_move_subject(d, node->part);
    return OK;
}

/* ---- deleting ---- */

/* Converts the result for a name that must exist. */
static enum store_result store_result_of(const struct tree *tree, enum tree_result result)
{
    if (result == TREE_FAILED)
        return tree->failed;
    return result ? STORE_CORRUPT : STORE_OK;
}

/* Determines whether the partition of a task is that of a file or directory, and finds its name. */
static enum store_result find_in_task(struct decision *d, struct blob_node *node, bool *ret_found)
{
    enum tree_result opened;
    struct tree_node record;
    enum store_result result = tree_node_read(d->before, d->arena, TREE_CASE_EXACT, &record);

    *ret_found = result == STORE_OK;
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    opened = tree_open(&node->tree, d, d->partition.space, TREE_CASE_EXACT);
    if (!opened)
        opened = tree_find_id(&node->tree, be64_get(d->partition.key.ptr), TREE_TO_CHANGE,
                              &node->place, &node->part);
    return store_result_of(&node->tree, opened);
}

enum store_result namespace_remove(struct decision *d)
{
    struct blob_node of_task = { .part = NULL }, *node = &of_task;
    enum store_result result = STORE_OK;
    bool found;

    if (d->operation) {
        node = blob_state(d)->node;
        found = node != NULL;
    } else {
        result = find_in_task(d, node, &found);
    }
    if (result || !found)
        return result;
    return store_result_of(&node->tree, tree_delete(&node->tree, &node->place, &node->part));
}

/* ---- the hidden directory ---- */

static const struct tree_name hidden_name = { .given = BYTES("/"), .key = BYTES("/") };
static const struct tree_path hidden_path = { &hidden_name, 1 };

enum store_result namespace_find_hidden(struct decision *d, struct tree *tree,
                                        struct tree_place *ret_place)
{
    enum tree_result result = container_find(tree, &blob_state(d)->container, &hidden_path,
                                             TREE_TO_READ, ret_place, NULL);

    if (result)
        return result == TREE_FAILED ? tree->failed : STORE_CONFLICT;
    return ret_place->exists ? STORE_OK : STORE_NOT_FOUND;
}

/* Not together with a deletion in the root directory, whose entries a commit counts once. */
static enum error create_hidden(struct decision *d, struct tree *tree)
{
    struct tree_place place;
    struct decision_part *part;
    enum tree_result result =
        container_find(tree, &blob_state(d)->container, &hidden_path, TREE_TO_CHANGE, &place, NULL);

    if (!result)
        result = tree_create(tree, &place, TREE_DIRECTORY, &part);
    if (result)
        return decision_fail_store(d, result == TREE_FAILED ? tree->failed : STORE_CONFLICT);
    return DECIDE_PREPARED;
}

enum error namespace_hidden_place(struct decision *d, uint64_t id, struct tree_place *ret_place)
{
    struct tree *tree = &blob_state(d)->node->tree;
    struct tree_name *names = arena_array(d->arena, 2, sizeof *names);
    uint64_t *directories = arena_array(d->arena, 2, sizeof *directories);
    struct tree_place hidden;
    enum store_result result = namespace_find_hidden(d, tree, &hidden);

    if (result)
        return result == STORE_NOT_FOUND ? create_hidden(d, tree) : decision_fail_store(d, result);
    directories[0] = tree_place_parent(&hidden);
    directories[1] = hidden.entry.id;
    names[0] = hidden_name;
    names[1].given = names[1].key = arena_printf(d->arena, "%016" PRIx64, id);
    *ret_place = (struct tree_place){ .path = { names, 2 }, .directories = directories };
    return OK;
}

enum error namespace_hide(struct decision *d)
{
    struct blob_node *node = blob_state(d)->node;
    struct tree_renamed renamed;
    struct tree_place to;
    enum tree_result result;
    enum error e = namespace_hidden_place(d, node->place.entry.id, &to);

    if (e)
        return e;
    result = tree_rename(&node->tree, &node->place, &to, TREE_OVER_NOTHING, &renamed);
    if (result)
        return decision_fail_store(d, result == TREE_FAILED ? node->tree.failed : STORE_CORRUPT);
    return OK;
}

/* ---- directories as blobs ---- */

bool blob_metadata_is_directory(struct bytes metadata)
{
    struct bytes name, value;

    while (metadata_next(&metadata, &name, &value))
        if (bytes_is_nocase(name, BLOB_DIRECTORY_MARK))
            return bytes_is_nocase(value, "true");
    return false;
}

/* Recorded: test_directory.test_get_properties. Some clients also set it themselves. */
struct bytes blob_shown_metadata(struct arena *arena, const struct blob *blob)
{
    static const char name[] = BLOB_DIRECTORY_MARK;
    struct bytes rest = blob->metadata, key, value;
    struct text out;

    if (!blob->is_directory)
        return blob->metadata;
    text_init(&out, arena, blob->metadata.len + sizeof name + 8);
    encode_bytes(&out, bytes_from_string(name));
    encode_bytes(&out, bytes_from_string("true"));
    while (metadata_next(&rest, &key, &value)) {
        if (bytes_is_nocase(key, name))
            continue;
        encode_bytes(&out, key);
        encode_bytes(&out, value);
    }
    return text_bytes(&out);
}

bool put_blob_is_of_directory(struct decision *d, const struct put_blob_parameters *p)
{
    return blob_state(d)->node && d->input->body.length == 0 &&
           blob_metadata_is_directory(p->create.metadata);
}
