/* Of shares: each directory and file has one entry, in the directory that it names; what lies in a
 * partition is of a node that is there, and bytes are of the contents that its file has. See census.h. */
#include "census_part.h"

#include "base/endian.h"
#include "file/file.h"
#include "opens/open_record.h"
#include "file/share_usage.h"
#include "tree/record.h"
#include "world.h"

#define NODES_MAX  256u
#define SHARES_MAX 16u
#define ARENA_MAX  (1u << 20)

static struct node {
    struct guid space;
    uint64_t id, parent, content;
    uint64_t length; /* bytes */
    enum tree_kind kind;
    unsigned entries; /* that name it */
    unsigned names;   /* entries in it */
    unsigned handles; /* in the index */
} nodes[NODES_MAX];
static unsigned node_count;
/* Snapshots that nobody could delete, since no client was told of them: as the share counts them, and as there are. */
static struct shares_snapshots {
    struct guid space;
    unsigned counted, found;
    unsigned names; /* entries in the root, which is no node */
} snapshots[SHARES_MAX];
static unsigned share_count;

static struct shares_snapshots *snapshots_of(const struct guid *space)
{
    unsigned i = 0;

    while (i < share_count && !guid_equal(&snapshots[i].space, space))
        i++;
    if (i == SHARES_MAX)
        world_fail("census: there are more than %u shares", SHARES_MAX);
    if (i == share_count)
        snapshots[share_count++].space = *space;
    return &snapshots[i];
}

static bool has_snapshots(const struct guid *space)
{
    return snapshots_of(space)->found > 0;
}

static bool read_share(struct bytes value, struct guid *ret_space)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct share share;
    struct share_key key;
    bool makes_sense = share_decode(share_record_key(arena, share_itself), value, &share, &key);

    if (makes_sense) {
        *ret_space = share.space;
        snapshots_of(&share.space)->counted += share.snapshots;
    }
    arena_free(arena);
    return makes_sense;
}

static void read_snapshot(const struct record_place *place, const struct record *record)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct share share;
    struct share_key key;

    if (!share_key_read(place->record_key, &key) || key.snapshot == 0)
        world_fail("census: %.*s has a listed record that is neither a share nor a snapshot",
                   BYTES_ARG(place->partition_key));
    if (!share_decode(place->record_key, record->value, &share, &key))
        world_fail("census: a snapshot of %.*s makes no sense", BYTES_ARG(place->partition_key));
    snapshots_of(&share.space)->found++;
    arena_free(arena);
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
    struct read_view *snapshot = read_view_open(store, partition, STORE_MAY_BLOCK);
    const struct tree now = { .space = place->space };
    struct tree_node node;
    struct file file;
    uint64_t id;

    if (node_count == NODES_MAX)
        world_fail("census: there are more than %u files and directories", NODES_MAX);
    if (node_id(place, &id) && bytes_is(place->record_key, "n") &&
        tree_node_decode(arena, TREE_CASE_IGNORED, record->value, &node)) {
        if (file_read(&now, snapshot, arena, &file))
            file.content = (struct content){ .length = 0 };
        nodes[node_count++] = (struct node){
            .space = place->space,
            .id = id,
            .parent = node.parent,
            .kind = node.kind,
            .content = file.content.id,
            .length = file.content.length,
        };
    }
    read_view_close(snapshot);
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
    if (!why && directory == TREE_ROOT)
        snapshots_of(&place->space)->names++;
    else if (!why && find_node(&place->space, directory))
        find_node(&place->space, directory)->names++;
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
        return id == TREE_ROOT || has_snapshots(&place->space) ? NULL : "of a node that is gone";
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
    struct node *node = find_node(space, id);

    if (kind != 'h' && kind != 'p' && kind != 'r')
        return false;
    if (kind != 'r' && id != TREE_ROOT && !node)
        *ret_why = "a handle of a file that is gone";
    if (kind == 'h' && node)
        node->handles++;
    return true;
}

/* The sums that its quota counts by. */
static bool counts_its_bytes(struct store *store, const struct guid *space)
{
    struct arena *arena = arena_new(ARENA_MAX);
    uint64_t bytes[SHARE_USAGE_PARTS] = { 0 };
    bool is_right = true;

    for (unsigned i = 0; i < node_count; i++)
        if (guid_equal(&nodes[i].space, space))
            bytes[share_usage_part(nodes[i].id)] += nodes[i].length;
    for (unsigned i = 0; i < SHARE_USAGE_PARTS; i++) {
        struct read_view *before =
            read_view_open(store, share_usage_partition(arena, *space, i), STORE_MAY_BLOCK);
        uint64_t sum = 0;

        is_right = is_right && !share_usage_sum(before, arena, &sum) && sum == bytes[i];
        read_view_close(before);
    }
    arena_free(arena);
    return is_right;
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

/* Locks of the file, of opens that count or not. */
static size_t locks_of(struct read_view *before, struct arena *arena)
{
    struct byte_lock *locks;
    struct record record;
    size_t count = 0;

    if (!read_view_get(before, RECORD_INNER, bytes_from_string("k"), arena, &record) &&
        !byte_locks_decode(arena, record.value, &locks, &count))
        world_fail("census: the record of the locks of a file makes no sense");
    return count;
}

/* The handles of its record are those of the index, and its locks as many as it says. */
static const char *judge_opens(struct store *store, const struct node *node)
{
    struct arena *arena = arena_new(ARENA_MAX);
    char key[sizeof node->id];
    struct partition partition = { node->space, bytes_of(key, sizeof key) };
    struct open_set set = { .open_count = 0 };
    struct read_view *before;
    struct bytes value;
    const char *why = NULL;

    be64_put(key, node->id);
    before = read_view_open(store, partition, STORE_MAY_BLOCK);
    if (!open_set_get(before, arena, &value) &&
        !open_set_decode(arena, value, 0, clock_now(), &set))
        world_fail("census: the record of what is open of a file makes no sense");
    if (set.open_count + set.stale_count != node->handles)
        why = "a file whose record has other handles than the index";
    else if ((set.open_count > 0 || set.stale_count == 0) &&
             set.lock_count != locks_of(before, arena))
        why = "a file that counts other locks than it has";
    read_view_close(before);
    arena_free(arena);
    return why;
}

/* The generations that its tree keeps for snapshots. */
static unsigned kept_generations(struct store *store, const struct guid *space)
{
    struct arena *arena = arena_new(ARENA_MAX);
    struct read_view *before = read_view_open(store, tree_stamp_partition(*space), STORE_MAY_BLOCK);
    struct retained_generations kept;
    enum store_result result = retained_generations_read(before, arena, &kept);

    if (result)
        world_fail("census: the generations that a tree keeps cannot be read");
    read_view_close(before);
    arena_free(arena);
    return (unsigned)kept.count;
}

static const char *end_share(struct store *store, const struct guid *space, unsigned index_rows)
{
    const struct shares_snapshots *of = snapshots_of(space);
    const char *why = NULL;

    if (!counts_its_bytes(store, space))
        return "a share that counts other bytes than its files have";
    if (kept_generations(store, space) != of->found)
        return "a tree that keeps other generations than its share has snapshots";
    if (of->counted != of->found)
        return "a share that counts other snapshots than it has";
    if (index_rows > 0 && of->found == 0)
        return "versions of a share that has no snapshots";
    if (!counts_its_names(store, space, TREE_ROOT, of->names))
        return "a root that counts other entries than it has";
    for (unsigned i = 0; i < node_count && !why; i++) {
        if (!guid_equal(&nodes[i].space, space))
            continue;
        if (nodes[i].entries != 1)
            return "a directory or file that no entry names";
        if (nodes[i].kind == TREE_DIRECTORY &&
            !counts_its_names(store, space, nodes[i].id, nodes[i].names))
            return "a directory that counts other entries than it has";
        why = judge_opens(store, &nodes[i]);
    }
    return why;
}

const struct census_part census_file = { .service = "file",
                                         .is_key = share_key_is_whole,
                                         .read = read_share,
                                         .read_other = read_snapshot,
                                         .note = note_node,
                                         .judge = judge_record,
                                         .judge_row = judge_row,
                                         .end = end_share };
