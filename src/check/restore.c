/* Rebuilds the tree of a share, or of hierarchical containers, from salvaged records; see
 * records.h. Some partitions may be lost, and others may have been salvaged in states from
 * different times.
 *
 * (1) A node exists if its node record, which contains its name and directory, exists. A file also
 *     needs its file record or blob record, without which its content is unknown. A directory whose
 *     record is lost gets a new one. A blob of a hierarchical container whose node record is lost
 *     gets a new one from the entry of its directory.
 * (2) Directory entries are derived from the nodes: entries without a node are deleted, and missing
 *     ones are created.
 * (3) A node is moved to the directory "lost+found" in the root (of the first container, if several
 *     share the tree) if its directory is lost, if it would be in its own subtree, or if its name
 *     is already in use. Its new name is its id followed by its old name.
 * (4) The number of entries of each directory, and the totals and snapshots of a share, are
 *     recounted. */
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "base/visible.h"
#include "file/file.h"
#include "acl/permission_store.h"
#include "check/records.h"
#include "check/report.h"
#include "check/restore.h"
#include "service/driver.h"
#include "tree/versions.h"

#define LOST_AND_FOUND "lost+found"
#define FOUND_TRIES    100u
#define ID_DIGITS      16u
#define BASE_KEY       "\xFF" /* of a blob's record: blob/blob.h */

bool check_is_of_tree(const struct record_place *place, struct bytes value)
{
    struct arena *arena;
    struct tree_node node;
    bool is_node;

    if (place->partition_key.len != sizeof(uint64_t) || !bytes_is(place->record_key, "n"))
        return false;
    arena = arena_new(CHECK_ARENA_MAX);
    is_node = tree_node_decode(arena, TREE_CASE_IGNORED, value, &node) ||
              tree_node_decode(arena, TREE_CASE_EXACT, value, &node);
    arena_free(arena);
    return is_node;
}

/* ---- the nodes ---- */

/* Reads the record of a share's file or directory. */
static void read_file_record(struct restore *r, const struct restore_part *part,
                             struct restore_node *node)
{
    const struct tree tree = { .rule = TREE_CASE_IGNORED };
    struct file file;

    node->has_record =
        !file_read(&tree, part->before, part->arena, &file) && file.kind == node->at.kind;
    if (node->has_record && file.kind == TREE_FILE)
        node->length = file.content.length;
    if (node->has_record && file.stored.written > r->newest)
        r->newest = file.stored.written;
}

static void push_node(struct restore *r, const struct restore_node *node)
{
    r->nodes = xrealloc(r->nodes, (r->count + 1) * sizeof r->nodes[0]);
    r->nodes[r->count++] = *node;
}

static void add_node(struct restore *r, const struct space_record *record)
{
    struct restore_node node = { .id = be64_get(record->partition_key.ptr) };
    struct restore_part part = restore_open(r, node.id);

    if (tree_node_decode(r->arena, r->rule, arena_copy(r->arena, record->value), &node.at)) {
        if (r->rule == TREE_CASE_EXACT)
            node.has_record = restore_has_path_record(r, &part, &node.at);
        else
            read_file_record(r, &part, &node);
        node.is_unreadable = !node.has_record && node.at.kind == TREE_FILE;
        push_node(r, &node);
    }
    restore_close(r, &part);
}

/* Adds a file or directory of a hierarchical container whose node record is lost. Until an entry
 * names it, its directory is unknown. */
static void add_nameless(struct restore *r, struct bytes key)
{
    struct restore_node node = { .id = be64_get(key.ptr), .is_nameless = true, .has_record = true };
    struct restore_part part = restore_open(r, node.id);

    node.at.parent = UINT64_MAX;
    (void)tree_name_parse(r->arena, r->rule,
                          arena_printf(r->arena, "%016llx", (unsigned long long)node.id),
                          &node.at.name);
    if (restore_read_nameless(&part, &node.at.kind))
        push_node(r, &node);
    restore_close(r, &part);
}

static void read_nodes(struct restore *r)
{
    struct space_iterator *iterator =
        space_iterator_open(r->store, r->space, bytes_of("", 0), bytes_of("", 0), STORE_MAY_BLOCK);
    struct space_record record;

    while (space_iterator_next(iterator, &record) == STORE_OK) {
        if (record.partition_key.len != sizeof(uint64_t) || record.record_key.len != 1)
            continue;
        if (bytes_is(record.record_key, "n"))
            add_node(r, &record);
        else if (r->rule == TREE_CASE_EXACT && bytes_is(record.record_key, BASE_KEY))
            add_nameless(r, record.partition_key);
    }
    space_iterator_close(iterator);
}

/* ---- locations of nodes ---- */

static const struct restore_node *directory_of(const struct restore *r,
                                               const struct restore_node *node)
{
    const struct restore_node *directory = restore_find(r, node->at.parent);

    return directory && directory->at.kind == TREE_DIRECTORY ? directory : NULL;
}

/* Returns true if the node is in its own subtree. */
static bool is_in_circle(const struct restore *r, const struct restore_node *node)
{
    const struct restore_node *at = directory_of(r, node);

    for (size_t steps = 0; at && at != node && !at->is_lost && steps < r->count; steps++)
        at = directory_of(r, at);
    return at == node;
}

/* Finds the nodes to move to "lost+found": the topmost node of each lost subtree, and one node of
 * each cycle. */
static void find_lost(struct restore *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct restore_node *node = &r->nodes[i];

        if (node->is_unreadable || node->at.parent == TREE_ROOT)
            continue;
        node->is_lost = !directory_of(r, node) || is_in_circle(r, node);
        if (node->is_lost)
            restore_report(r, node, "its directory is lost");
    }
}

/* ---- records of directories, and "lost+found" ---- */

static struct file new_directory(instant now)
{
    return (struct file){
        .kind = TREE_DIRECTORY,
        .etag = etag_after((struct etag){ .v = 0 }, now),
        .modified = now,
        .attributes = ATTRIBUTE_DIRECTORY,
        .created = now,
        .accessed = now,
        .written = now,
        .changed = now,
        .permission = permission_default(PERMISSION_OF_DIRECTORIES),
    };
}

struct making {
    struct restore *restore;
    uint64_t id;      /* id of the directory, or TREE_ROOT */
    const char *name; /* name of the directory in the root */
    uint64_t made;    /* id, or TREE_ROOT if a file has the name */
};

static enum error attempt_directory(struct decision *d, void *of)
{
    struct making *making = of;
    struct file_state *state = arena_alloc(d->arena, sizeof *state);
    struct decision_part *part = NULL;
    struct tree_path path;
    struct tree_node node;
    struct file file;
    enum tree_result result;

    d->state = &state->base;
    result = tree_open(&state->tree, d, making->restore->space, TREE_CASE_IGNORED);
    if (!result && making->id != TREE_ROOT) {
        result = tree_open_id(&state->tree, making->id, &part, &node);
    } else if (!result) {
        (void)tree_path_parse(d->arena, TREE_CASE_IGNORED, bytes_from_string(making->name), &path);
        result = tree_find(&state->tree, &path, TREE_TO_CHANGE, &state->place);
        if (!result && !state->place.exists)
            result = tree_create(&state->tree, &state->place, TREE_DIRECTORY, &part);
        making->made =
            state->place.entry.kind == TREE_DIRECTORY ? state->place.entry.id : TREE_ROOT;
    }
    if (result)
        return decision_fail_store(d, state->tree.failed ? state->tree.failed : STORE_CORRUPT);
    decision_read_clock(d);
    file = new_directory(d->now);
    if (part)
        file_write(d, part, &file);
    return OK;
}

static bool make_share_directory(struct making *making)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct problem problem = { .detail = NULL };
    struct decision d = { .arena = arena,
                          .store = making->restore->store,
                          .access = STORE_MAY_BLOCK,
                          .problem = &problem,
                          .attempt = arena_mark(arena) };
    bool is_made = deciding_run_unawaited(&d, attempt_directory, making) == OK;

    deciding_end(&d);
    arena_free(arena);
    return is_made;
}

static bool make_directory(struct making *making)
{
    const struct restore *r = making->restore;

    if (r->rule == TREE_CASE_IGNORED)
        return make_share_directory(making);
    if (making->id == TREE_ROOT)
        return restore_make_path_directory(r, making->name, &making->made);
    restore_put_path_record(r, making->id);
    return true;
}

/* Creates the records of directories that lack one. */
static void restore_records(struct restore *r)
{
    for (size_t i = 0; i < r->count; i++) {
        struct restore_node *node = &r->nodes[i];
        struct restore_part part;

        if (node->has_record)
            continue;
        restore_report(r, node,
                       node->is_unreadable ? "its record, and with it the file's contents"
                                           : "its properties");
        if (!node->is_unreadable) {
            (void)make_directory(&(struct making){ .restore = r, .id = node->id });
            continue;
        }
        part = restore_open(r, node->id);
        tree_node_delete(part.changes);
        restore_close(r, &part);
    }
}

static bool find_place(struct restore *r)
{
    char name[32];

    for (unsigned number = 0; !r->has_lost_found && number < FOUND_TRIES; number++) {
        struct making making = { .restore = r, .name = name };

        snprintf(name, sizeof name, number == 0 ? LOST_AND_FOUND : LOST_AND_FOUND "-%u", number);
        r->has_lost_found = make_directory(&making) && making.made != TREE_ROOT;
        r->place = making.made;
    }
    return r->has_lost_found;
}

/* Moves a node to "lost+found". Its new name is its id, followed by its old name if that fits. */
static void move_to_place(struct restore *r, struct restore_node *node, struct restore_part *place)
{
    struct bytes name = arena_printf(r->arena, "%016llx-%.*s", (unsigned long long)node->id,
                                     BYTES_ARG(node->at.name.given));
    struct restore_part part = restore_open(r, node->id);

    if (tree_name_parse(r->arena, r->rule, name, &node->at.name))
        (void)tree_name_parse(r->arena, r->rule, bytes_of(name.ptr, ID_DIGITS), &node->at.name);
    node->at.parent = r->place;
    tree_node_put(part.changes, &node->at);
    restore_put_entry(place->changes, r, node);
    restore_close(r, &part);
    check_report_part("%s: %s/", r->share, LOST_AND_FOUND);
    check_report_name(node->at.name.given);
    check_report(FINDING_ADOPTED, "%s", "");
}

static void restore_lost(struct restore *r)
{
    struct restore_part place;
    uint64_t entries = 0;
    size_t i = 0;

    while (i < r->count && !r->nodes[i].is_lost)
        i++;
    if (i == r->count || !find_place(r))
        return;
    place = restore_open(r, r->place);
    (void)tree_count_read(place.before, place.arena, &entries);
    for (; i < r->count; i++) {
        if (!r->nodes[i].is_lost)
            continue;
        move_to_place(r, &r->nodes[i], &place);
        entries++;
    }
    tree_count_put(place.changes, entries);
    restore_close(r, &place);
}

static void begin(struct restore *r, const char *name)
{
    r->arena = arena_new(CHECK_ARENA_MAX);
    r->share = arena_string(r->arena, visible_text(r->arena, bytes_from_string(name)));
    read_nodes(r);
}

static uint64_t end(struct restore *r)
{
    free(r->nodes);
    arena_free(r->arena);
    return r->findings;
}

static void restore_names(struct restore *r)
{
    if (r->rule == TREE_CASE_EXACT)
        restore_find_names(r);
    restore_records(r);
    find_lost(r);
    restore_entries(r);
    restore_lost(r);
}

uint64_t check_restore_tree(struct store *store, struct guid account, const char *share,
                            struct guid space)
{
    struct restore r = { .store = store, .space = space, .rule = TREE_CASE_IGNORED };

    begin(&r, share);
    check_restore_snapshots(store, account, share, space, r.newest);
    restore_names(&r);
    restore_totals(&r);
    check_restore_snapshots(store, account, share, space, r.newest);
    return end(&r);
}

uint64_t check_restore_paths(struct store *store, const char *name, struct guid space,
                             bool is_shared)
{
    struct restore r = {
        .store = store, .space = space, .rule = TREE_CASE_EXACT, .is_shared = is_shared
    };

    begin(&r, name);
    restore_names(&r);
    return end(&r);
}
