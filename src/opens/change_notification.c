/* Registry of watchers, and the notifications that are sent to them. */
#include "opens/change_notification.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/endian.h"
#include "base/lock.h"
#include "opens/handle_index.h"

#define STRIPES         64u
#define LISTS_OF_STRIPE 64u

/* Watchers, grouped by share. A commit reports its changes under the lock of its share's stripe. */
static struct stripe {
    struct lock lock;
    struct watcher *lists[LISTS_OF_STRIPE]; /* by directory */
    _Atomic unsigned count;                 /* number of watchers */
} stripes[STRIPES];

__attribute__((constructor)) static void stripes_init(void)
{
    for (size_t i = 0; i < STRIPES; i++)
        lock_init(&stripes[i].lock, RANK_NEWS);
}

/* Share spaces are random. */
static struct stripe *stripe_of(const struct guid *space)
{
    return &stripes[space->b[0] % STRIPES];
}

static struct watcher **list_of(const struct guid *space, uint64_t directory)
{
    return &stripe_of(space)->lists[(le64_get(space->b + 8) ^ directory) % LISTS_OF_STRIPE];
}

void watcher_add(struct watcher *watcher)
{
    struct stripe *stripe = stripe_of(&watcher->space);
    struct watcher **list = list_of(&watcher->space, watcher->directory);

    assert(watcher->changed);
    lock_acquire(&stripe->lock);
    watcher->next = *list;
    watcher->link = list;
    if (watcher->next)
        watcher->next->link = &watcher->next;
    *list = watcher;
    lock_release(&stripe->lock);
    atomic_fetch_add(&stripe->count, 1);
}

void watcher_remove(struct watcher *watcher)
{
    struct stripe *stripe = stripe_of(&watcher->space);

    atomic_fetch_sub(&stripe->count, 1);
    lock_acquire(&stripe->lock);
    *watcher->link = watcher->next;
    if (watcher->next)
        watcher->next->link = watcher->link;
    lock_release(&stripe->lock);
}

/* Returns true if the share, or another share in the same stripe, has watchers. The latter only
 * costs unnecessary work. */
static bool is_watched(const struct guid *space)
{
    return atomic_load(&stripe_of(space)->count) > 0;
}

/* ---- paths ---- */

/* A path and its directories, root first. path[starts[i]..] is relative to directories[i]. */
struct way {
    const uint64_t *directories;
    size_t *starts;
    size_t count;
    struct bytes path;
};

static void begin_way(struct arena *arena, size_t count, const uint64_t *directories,
                      struct way *way)
{
    way->count = count;
    way->directories = directories;
    way->starts = arena_array(arena, count, sizeof way->starts[0]);
}

/* Returns the name in its stored case, or as requested if the entry does not exist. */
static struct bytes name_of(const struct tree_place *place)
{
    struct bytes kept = place->entry.name.given;

    return kept.ptr ? kept : place->path.names[place->path.count - 1].given;
}

static struct way way_of_path(struct arena *arena, const struct tree_place *place)
{
    struct way way;
    struct text out;

    begin_way(arena, place->path.count, place->directories, &way);
    text_init(&out, arena, 64);
    for (size_t i = 0; i < way.count; i++) {
        if (i > 0)
            text_add_char(&out, '/');
        way.starts[i] = out.len;
        text_add(&out, i + 1 < way.count ? place->path.names[i].given : name_of(place));
    }
    way.path = text_bytes(&out);
    return way;
}

/* Reads the current parents of a directory one at a time, so not from one consistent snapshot. Sets
 * *ret_count to 0 if the directory is deleted or deeper than TREE_DEPTH_MAX. */
static enum error read_parents(struct tree *tree, uint64_t directory, struct bytes *names,
                               uint64_t *ids, size_t *ret_count)
{
    size_t count = 0;

    *ret_count = 0;
    for (uint64_t id = directory; id != TREE_ROOT;) {
        struct tree_node node;
        enum store_result result = handle_node_read(tree, tree->d->arena, id, &node);

        if (result == STORE_NOT_FOUND || count == TREE_DEPTH_MAX)
            return OK;
        if (result)
            return decision_fail_store(tree->d, result);
        ids[count] = id;
        names[count++] = node.name.given;
        id = node.parent;
    }
    *ret_count = count;
    return OK;
}

/* Reads the path of a node that was found by id. */
static enum error way_of_node(struct tree *tree, const struct tree_place *place,
                              struct way *ret_way)
{
    struct arena *arena = tree->d->arena;
    struct bytes *names = arena_array(arena, TREE_DEPTH_MAX, sizeof names[0]);
    uint64_t *ids = arena_array(arena, TREE_DEPTH_MAX, sizeof ids[0]);
    uint64_t *directories;
    struct text out;
    size_t count;
    enum error e = read_parents(tree, tree_place_parent(place), names, ids, &count);

    if (e)
        return e;
    directories = arena_array(arena, count + 1, sizeof directories[0]);
    begin_way(arena, count + 1, directories, ret_way);
    if (count == 0 && tree_place_parent(place) != TREE_ROOT)
        ret_way->count = 0;
    text_init(&out, arena, 64);
    directories[0] = TREE_ROOT;
    for (size_t i = 0; i < count; i++) {
        ret_way->starts[i] = out.len;
        text_add(&out, names[count - 1 - i]);
        text_add_char(&out, '/');
        directories[i + 1] = ids[count - 1 - i];
    }
    ret_way->starts[count] = out.len;
    text_add(&out, name_of(place));
    ret_way->path = text_bytes(&out);
    return OK;
}

static enum error find_way(struct tree *tree, const struct tree_place *place, struct way *ret_way)
{
    *ret_way = (struct way){ .count = 0 };
    if (tree_place_is_root(place))
        return OK;
    if (place->path.count == 1 && place->directories[0] != TREE_ROOT)
        return way_of_node(tree, place, ret_way);
    *ret_way = way_of_path(tree->d->arena, place);
    return OK;
}

/* ---- notification ---- */

struct change {
    struct commit_callback callback;
    struct guid space;
    struct way way, new_way; /* new_way: for CHANGE_RENAMED_OLD, within one directory */
    enum change_action action;
    uint32_t filter;
};

static bool watches(const struct watcher *watcher, const struct guid *space, uint64_t directory)
{
    return watcher->directory == directory && guid_equal(&watcher->space, space);
}

/* Returns the node's path relative to a directory; ptr NULL if the directory is not on its path. */
static struct bytes path_from(const struct way *way, uint64_t directory)
{
    for (size_t i = 0; i < way->count; i++)
        if (way->directories[i] == directory)
            return bytes_from(way->path, way->starts[i]);
    return (struct bytes){ 0 };
}

/* Notifies the watchers of the i-th directory on the path. Changes in its subdirectories are
 * reported only to recursive watchers. */
static void notify_watchers(const struct change *change, size_t i)
{
    const struct way *way = &change->way;
    uint64_t directory = way->directories[i];
    bool is_parent = i + 1 == way->count;

    for (struct watcher *at = *list_of(&change->space, directory); at; at = at->next) {
        struct change_notification notification = { .action = change->action,
                                                    .path = bytes_from(way->path, way->starts[i]) };

        if (!watches(at, &change->space, directory) || !(at->filter & change->filter) ||
            !(at->is_recursive || is_parent))
            continue;
        if (change->action == CHANGE_RENAMED_OLD)
            notification.new_path = path_from(&change->new_way, directory);
        at->changed(at, &notification);
    }
}

static void notify(struct commit_callback *callback)
{
    const struct change *change = (const struct change *)(const void *)callback;
    struct stripe *stripe = stripe_of(&change->space);

    lock_acquire(&stripe->lock);
    for (size_t i = 0; i < change->way.count; i++)
        notify_watchers(change, i);
    lock_release(&stripe->lock);
}

static struct change *add(struct tree *tree, enum change_action action, uint32_t filter)
{
    struct change *change = arena_alloc(tree->d->arena, sizeof *change);

    *change = (struct change){
        .callback.run = notify, .space = tree->space, .action = action, .filter = filter
    };
    decision_on_commit(tree->d, &change->callback);
    return change;
}

enum error notify_change(struct tree *tree, const struct tree_place *place,
                         enum change_action action, uint32_t filter)
{
    struct way way;
    enum error e;

    if (!is_watched(&tree->space))
        return OK;
    e = find_way(tree, place, &way);
    if (!e && way.count > 0)
        add(tree, action, filter)->way = way;
    return e;
}

static uint32_t name_filter(const struct tree_place *place)
{
    return place->entry.kind == TREE_DIRECTORY ? CHANGE_DIRECTORY_NAME : CHANGE_FILE_NAME;
}

enum error notify_name(struct tree *tree, const struct tree_place *place, enum change_action action)
{
    return notify_change(tree, place, action, name_filter(place));
}

enum error notify_rename(struct tree *tree, const struct tree_place *from,
                         const struct tree_place *to)
{
    bool same_directory = tree_place_parent(from) == tree_place_parent(to);
    struct change *change;
    struct way old, new;
    enum error e;

    if (!is_watched(&tree->space) || (same_directory && bytes_equal(name_of(from), name_of(to))))
        return OK;
    if (!same_directory) {
        e = notify_name(tree, from, CHANGE_REMOVED);
        return e ? e : notify_name(tree, to, CHANGE_ADDED);
    }
    e = find_way(tree, from, &old);
    if (!e)
        e = find_way(tree, to, &new);
    if (e || old.count == 0 || new.count == 0)
        return e;
    change = add(tree, CHANGE_RENAMED_OLD, name_filter(to));
    change->way = old;
    change->new_way = new;
    return OK;
}

/* ---- the watched directory itself ---- */

struct watch_end {
    struct commit_callback callback;
    struct guid space;
    uint64_t directory;
};

static void report_watch_end(struct commit_callback *callback)
{
    const struct watch_end *watch_end = (const struct watch_end *)(const void *)callback;
    const struct change_notification change = { .action = CHANGE_WATCHED_GONE };
    struct stripe *stripe = stripe_of(&watch_end->space);

    lock_acquire(&stripe->lock);
    for (struct watcher *at = *list_of(&watch_end->space, watch_end->directory); at; at = at->next)
        if (watches(at, &watch_end->space, watch_end->directory))
            at->changed(at, &change);
    lock_release(&stripe->lock);
}

void notify_gone(struct tree *tree, uint64_t directory)
{
    struct watch_end *watch_end;

    if (!is_watched(&tree->space))
        return;
    watch_end = arena_alloc(tree->d->arena, sizeof *watch_end);
    *watch_end = (struct watch_end){ .callback.run = report_watch_end,
                                     .space = tree->space,
                                     .directory = directory };
    decision_on_commit(tree->d, &watch_end->callback);
}
