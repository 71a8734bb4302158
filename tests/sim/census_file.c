/* Of shares: each directory and file has one entry, in the directory that it names; what lies in a
 * partition is of a node that is there, and bytes are of the contents that its file has. See census.h. */
#include "census_part.h"

#include "base/endian.h"
#include "file/file.h"

#define NODES_MAX 256u
#define ARENA_MAX (1u << 20)

static struct node {
    struct guid space;
    uint64_t id, parent, content;
    enum tree_kind kind;
    unsigned entries;
} nodes[NODES_MAX];
static unsigned node_count;
static bool has_snapshots; /* that nobody could delete, since nobody was told of them */

static bool read_share(struct bytes value, struct guid *ret_space)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct share share;
    struct share_key key;
    bool makes_sense = share_decode(share_record_key(arena, share_itself), value, &share, &key);

    if (makes_sense) {
        *ret_space = share.space;
        has_snapshots = has_snapshots || share.snapshots > 0;
    }
    arena_free(arena);
    return makes_sense;
}

/* The partition of a node. */
static bool node_id(const struct record_place *place, uint64_t *ret_id)
{
    if (place->partition_key.len != sizeof *ret_id)
        return false;
    *ret_id = be64_get(place->partition_key.ptr);
    return true;
}

static struct node *find_node(const struct guid *space, uint64_t id)
{
    for (unsigned i = 0; i < node_count; i++) {
        if (nodes[i].id == id && memcmp(&nodes[i].space, space, sizeof *space) == 0)
            return &nodes[i];
    }
    return NULL;
}

static void note_node(struct store *store, const struct record_place *place,
                      const struct record *record)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct partition partition = { place->space, place->partition_key };
    struct snapshot *snapshot = snapshot_open(store, partition, STORE_MAY_BLOCK);
    const struct tree now = { .space = place->space };
    struct tree_node node;
    struct file file;
    uint64_t id;

    if (node_id(place, &id) && bytes_is(place->record_key, "n") && node_count < NODES_MAX &&
        tree_node_decode(arena, TREE_CASE_IGNORED, record->value, &node))
        nodes[node_count++] = (struct node){
            .space = place->space,
            .id = id,
            .parent = node.parent,
            .kind = node.kind,
            .content = file_read(&now, snapshot, arena, &file) ? 0 : file.content.id,
        };
    snapshot_close(snapshot);
    arena_free(arena);
}

static const char *judge_entry(const struct record_place *place, const struct record *record,
                               uint64_t directory)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct tree_entry entry;
    struct node *node = NULL;
    const char *why = NULL;

    if (tree_entry_decode(arena, TREE_CASE_IGNORED, bytes_from(place->record_key, 1), record->value,
                          &entry))
        node = find_node(&place->space, entry.id);
    if (!node)
        why = "an entry without its node";
    else if (node->parent != directory || node->kind != entry.kind)
        why = "an entry of a node that says otherwise";
    else if (++node->entries > 1)
        why = "a second entry of a node";
    arena_free(arena);
    return why;
}

static const char *judge_record(const struct record_place *place, const struct record *record)
{
    const struct node *node;
    char kind = place->record_key.len > 0 ? place->record_key.ptr[0] : '\0';
    uint64_t id;

    if (!node_id(place, &id))
        return place->family == RECORD_INNER ? NULL : "a listed record that is of no node";
    if (place->family == RECORD_INNER && kind == 'e')
        return judge_entry(place, record, id);
    node = find_node(&place->space, id);
    if (!node)
        return id == TREE_ROOT || has_snapshots ? NULL : "of a node that is gone";
    if (place->family == RECORD_INNER && (kind == 'p' || kind == 'x') &&
        place->record_key.len > sizeof id && be64_get(place->record_key.ptr + 1) != node->content)
        return "bytes of contents that nothing has";
    return place->family == RECORD_INNER && kind == 'Y' ? "a copy that goes on for ever" : NULL;
}

/* What a process that was killed had open stays in the index until its file is opened or written again, or goes. */
static bool judge_row(const struct guid *space, struct bytes key, const char **ret_why)
{
    uint64_t id = key.len >= 1 + sizeof id ? be64_get(key.ptr + 1) : 0;
    char kind = key.len > 0 ? key.ptr[0] : '\0';

    if (kind != 'h' && kind != 'p' && kind != 'r')
        return false;
    if (kind != 'r' && id != TREE_ROOT && !find_node(space, id))
        *ret_why = "a handle of a file that is gone";
    return true;
}

static const char *end_share(struct store *store, const struct guid *space, unsigned index_rows)
{
    (void)store;
    if (index_rows > 0 && !has_snapshots)
        return "versions of a share that has no snapshots";
    for (unsigned i = 0; i < node_count; i++) {
        if (memcmp(&nodes[i].space, space, sizeof *space) == 0 && nodes[i].entries != 1)
            return "a directory or file that no entry names";
    }
    return NULL;
}

const struct census_part census_file = { .service = "file",
                                         .is_key = share_key_is_whole,
                                         .read = read_share,
                                         .note = note_node,
                                         .judge = judge_record,
                                         .judge_row = judge_row,
                                         .end = end_share };
