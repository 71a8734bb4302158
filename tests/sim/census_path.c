/* Of hierarchical containers: each file and directory has one entry, in the directory that it names, and the record of a
 * blob; each partition is that of a node that exists; nothing is left of deleted directories. See census.h. */
#include "census_part.h"

#include "base/clock.h"
#include "base/endian.h"
#include "blob/blob.h"
#include "blob/namespace.h"
#include "tree/record.h"
#include "world.h"

#define NODES_MAX 256u
#define ARENA_MAX (1u << 20)

static struct node {
    uint64_t id, parent;
    enum tree_kind kind;
    bool is_hidden;                 /* the directory of deleted directories */
    unsigned entries, names, blobs; /* that name it; in it; records of its base */
} nodes[NODES_MAX];
static unsigned node_count, root_names;

static bool read_container(struct bytes value, struct guid *ret_space)
{
    struct container container;
    bool makes_sense = container_decode(value, &container);

    if (makes_sense && !container.hierarchical)
        world_fail("census: a flat container in a hierarchical account");
    if (makes_sense)
        *ret_space = container.space;
    return makes_sense;
}

static bool node_id(const struct record_place *place, uint64_t *ret_id)
{
    if (place->partition_key.len != sizeof *ret_id)
        return false;
    *ret_id = be64_get(place->partition_key.ptr);
    return true;
}

static struct node *find_node(uint64_t id)
{
    for (unsigned i = 0; i < node_count; i++) {
        if (nodes[i].id == id)
            return &nodes[i];
    }
    return NULL;
}

static void note_node(struct store *store, const struct record_place *place,
                      const struct record *record)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct tree_node node;
    uint64_t id;

    (void)store;
    if (node_count == NODES_MAX)
        world_fail("census: there are more than %u files and directories", NODES_MAX);
    if (node_id(place, &id) && bytes_is(place->record_key, "n") &&
        tree_node_decode(arena, TREE_CASE_EXACT, record->value, &node))
        nodes[node_count++] = (struct node){
            .id = id,
            .parent = node.parent,
            .kind = node.kind,
            .is_hidden = namespace_is_hidden(node.name.given),
        };
    arena_free(arena);
}

static const char *judge_entry(const struct record_place *place, const struct record *record,
                               uint64_t directory)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct tree_entry entry;
    struct node *node = NULL;
    const char *why = NULL;

    if (tree_entry_decode(arena, TREE_CASE_EXACT, bytes_from(place->record_key, 1), record->value,
                          &entry))
        node = find_node(entry.id);
    if (!node)
        why = "an entry without its node";
    else if (node->parent != directory || node->kind != entry.kind)
        why = "an entry of a node that says otherwise";
    else if (++node->entries > 1)
        why = "a second entry of a node";
    if (!why && directory == TREE_ROOT)
        root_names++;
    else if (!why && find_node(directory))
        find_node(directory)->names++;
    arena_free(arena);
    return why;
}

/* Days have passed. */
static const char *judge_blob(const struct record *record)
{
    struct blob blob;

    if (!blob_decode(record->value, &blob))
        return "the record of a blob makes no sense";
    if (blob_has_expired(&blob, clock_now()))
        return "a file that has expired is not collected";
    return blob.deletion.at > 0 && blob.deletion.expires <= clock_now()
               ? "a deleted path whose retention has ended"
               : NULL;
}

static const char *judge_record(const struct record_place *place, const struct record *record)
{
    char kind = place->record_key.len > 0 ? place->record_key.ptr[0] : '\0';
    struct node *node;
    uint64_t id;

    if (!node_id(place, &id))
        return place->family == RECORD_INNER ? NULL : "a listed record that is of no node";
    if (place->family == RECORD_INNER && kind == 'e')
        return judge_entry(place, record, id);
    node = find_node(id);
    if (!node)
        return id == TREE_ROOT ? NULL : "of a node that is gone";
    if (place->family == RECORD_LISTED && (unsigned char)kind == 0xFF) {
        node->blobs++;
        return judge_blob(record);
    }
    return NULL;
}

/* The number that a directory's record has. */
static bool counts_its_names(struct store *store, const struct guid *space, uint64_t id,
                             unsigned names)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct read_view *before =
        read_view_open(store, tree_partition(arena, *space, id), STORE_MAY_BLOCK);
    uint64_t count = 0;
    bool is_right = !tree_count_read(before, arena, &count) && count == names;

    read_view_close(before);
    arena_free(arena);
    return is_right;
}

static const char *end_container(struct store *store, const struct guid *space, unsigned index_rows)
{
    if (index_rows > 0)
        return "rows in the index of a container without tags";
    if (!counts_its_names(store, space, TREE_ROOT, root_names))
        return "a root that counts other entries than it has";
    for (unsigned i = 0; i < node_count; i++) {
        if (nodes[i].entries != 1)
            return "a directory or file that no entry names";
        if (nodes[i].is_hidden && nodes[i].parent == TREE_ROOT && nodes[i].blobs > 0)
            return "a deleted container that is not collected";
        if (nodes[i].is_hidden ? nodes[i].names > 0 : nodes[i].blobs != 1)
            return nodes[i].is_hidden ? "a deleted directory that is not collected"
                                      : "a directory or file without the record of a blob";
        if (nodes[i].kind == TREE_DIRECTORY &&
            !counts_its_names(store, space, nodes[i].id, nodes[i].names))
            return "a directory that counts other entries than it has";
    }
    return NULL;
}

const struct census_part census_path = { .service = "blob",
                                         .record_key = "c",
                                         .read = read_container,
                                         .note = note_node,
                                         .judge = judge_record,
                                         .end = end_container,
                                         .shares_spaces = true };
