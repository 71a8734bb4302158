/* Reports what a salvage has lost, and creates containers for blobs whose container is lost; see
 * names.h. */
#include <stdio.h>
#include <stdlib.h>

#include "check/names.h"
#include "check/records.h"
#include "check/report.h"
#include "service/names.h"

#define ADOPT_TRIES 1000u

static struct place_copy copy_place(const struct record_place *place)
{
    if (!place)
        return (struct place_copy){ .known = false };
    return (struct place_copy){ true, place->space, check_copy_text(place->partition_key) };
}

void check_record_lost(void *context, const struct record_place *after,
                       const struct record_place *to)
{
    struct check *check = context;

    check->findings++;
    check->lost = xrealloc(check->lost, (check->lost_count + 1) * sizeof check->lost[0]);
    check->lost[check->lost_count++] = (struct lost_range){ copy_place(after), copy_place(to) };
}

static void say_place(struct check *check, const struct place_copy *place, const char *unknown)
{
    if (!place->known)
        check_report_part("%s", unknown);
    else
        check_report_blob(check, &place->space, bytes_from_string(place->partition));
}

void check_report_lost(struct check *check)
{
    for (size_t i = 0; i < check->lost_count; i++) {
        check_report_part("records after ");
        say_place(check, &check->lost[i].after, "the beginning of a table");
        check_report_part(" and up to ");
        say_place(check, &check->lost[i].to, "its end");
        check_report(FINDING_LOST, "%s", "");
    }
}

/* Returns true if the records of a space include those of a tree. */
static bool is_tree(const struct check *check, const struct guid *space)
{
    for (size_t i = 0; i < check->tree_count; i++)
        if (guid_equal(&check->trees[i], space))
            return true;
    return false;
}

/* Creates a container for blobs whose container record is lost, so that they can be read. root: its
 * root directory in a shared tree, or zero */
static bool adopt(struct check *check, const struct guid *space, const struct guid *root,
                  const char *name)
{
    struct partition partition = { blob_account_space(check_first_account()),
                                   bytes_from_string(name) };
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct read_view *snapshot = read_view_open(check->store, partition, STORE_MAY_BLOCK);
    struct changes *changes = changes_new(arena);
    struct commit_part part = { snapshot, changes };
    instant now = clock_now();
    struct container container = {
        .space = *space,
        .created = now,
        .etag = etag_after((struct etag){ 0 }, now),
        .modified = now,
        .hierarchical = is_tree(check, space),
        .root = { .name = *root, .is_shared = !guid_is_zero(root) },
    };
    struct container found;
    uint64_t sequence;
    bool adopted = false;

    if (container_read(snapshot, arena, &found) == STORE_NOT_FOUND) {
        container_write(changes, arena, &container);
        adopted = !store_commit(check->store, &part, 1, now, STORE_MAY_BLOCK, &sequence);
    }
    if (adopted)
        check_add_container(check, (struct known_container){ .space = *space,
                                                             .account = partition.space,
                                                             .name = check_copy_text(partition.key),
                                                             .kind = CONTAINER,
                                                             .hierarchical = container.hierarchical,
                                                             .has_part = container.root.is_shared,
                                                             .part = *root });
    read_view_close(snapshot);
    arena_free(arena);
    return adopted;
}

static bool adopt_share(struct check *check, const struct guid *space, const struct guid *part,
                        const char *name)
{
    struct bytes account = check_first_account();
    bool adopted = check_adopt_share(check->store, account, name, *space);

    if (adopted)
        check_add_container(
            check, (struct known_container){ .space = *space,
                                             .account = account_space("file", account),
                                             .name = check_copy_text(bytes_from_string(name)),
                                             .kind = SHARE });
    (void)part;
    return adopted;
}

typedef bool adopt_fn(struct check *check, const struct guid *space, const struct guid *part,
                      const char *name);

/* Creates a container or share for the space, under the first free name. */
static void adopt_as_new(struct check *check, const struct guid *space, const struct guid *part,
                         adopt_fn *adopt_as, const char *what, const char *in)
{
    bool adopted = false;
    char name[32];

    check->findings++;
    for (unsigned number = 1; !adopted && number < ADOPT_TRIES; number++) {
        snprintf(name, sizeof name, "salvaged-%u", number);
        adopted = adopt_as(check, space, part, name);
    }
    if (adopted)
        check->kinds[check_find_container(check, space)->kind]++;
    check_report(FINDING_LOST, "the record of a %s: %s%s", what, adopted ? in : "out of reach",
                 adopted ? name : "");
}

static void adopt_lost(struct check *check, const struct guid *space, adopt_fn *adopt_as,
                       const char *what, const char *in)
{
    const struct guid none = { .b = { 0 } };

    if (!check_find_container(check, space))
        adopt_as_new(check, space, &none, adopt_as, what, in);
}

static bool is_known_part(const struct check *check, const struct guid *space,
                          const struct guid *part)
{
    for (size_t i = 0; i < check->container_count; i++)
        if (check->containers[i].has_part && guid_equal(&check->containers[i].part, part) &&
            guid_equal(&check->containers[i].space, space))
            return true;
    return false;
}

/* Creates the containers that a shared tree has lost. Returns false if the tree is not shared. */
static bool adopt_parts(struct check *check, const struct guid *space)
{
    const struct known_container *of = check_find_container(check, space);
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    bool may_be_shared = !of || of->has_part, is_shared = false, is_deleted;
    struct bytes at = BYTES("e");
    struct guid part;

    while (may_be_shared && check_next_root(check, space, &at, arena, &part, &is_deleted)) {
        is_shared = true;
        if (!is_deleted && !is_known_part(check, space, &part))
            adopt_as_new(check, space, &part, adopt, "container",
                         "its paths are in the container ");
    }
    arena_free(arena);
    return is_shared;
}

/* ---- trees ---- */

/* Returns true if the space is the tree of hierarchical containers, and not of a share. */
static bool is_path_space(const struct check *check, const struct guid *space)
{
    const struct known_container *of = check_find_container(check, space);

    for (size_t i = 0; i < check->space_count && !of; i++)
        if (guid_equal(&check->spaces[i], space))
            return true;
    return of && of->kind == CONTAINER && of->hierarchical;
}

/* Returns true if several containers share the tree. If all of their records are lost, a root
 * directory that has the id of a container as its name shows it. */
static bool has_parts(struct check *check, const struct guid *space)
{
    const struct known_container *of = check_find_container(check, space);
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct bytes at = BYTES("e");
    bool is_deleted;
    struct guid part;
    bool has = of ? of->has_part : check_next_root(check, space, &at, arena, &part, &is_deleted);

    arena_free(arena);
    return has;
}

/* Rebuilds the trees of hierarchical containers, so that their root directories have entries. */
static void restore_paths(struct check *check)
{
    for (size_t i = 0; i < check->tree_count; i++) {
        const struct guid *space = &check->trees[i];
        const struct known_container *of = check_find_container(check, space);
        bool is_shared;

        if (!is_path_space(check, space))
            continue;
        is_shared = has_parts(check, space);
        check->findings += check_restore_paths(
            check->store, of && !is_shared ? of->name : "hierarchical containers", *space,
            is_shared);
    }
}

/* Rebuilds the trees of shares. */
static void restore_shares(struct check *check)
{
    for (size_t i = 0; i < check->container_count; i++) {
        const struct known_container *share = &check->containers[i];

        if (share->kind == SHARE)
            check->findings +=
                check_restore_tree(check->store, share->account, share->name, share->space);
    }
}

/* Deletes the entries of lost directories of all trees. */
static void delete_leftovers(struct check *check)
{
    struct guid *spaces =
        xmalloc((check->container_count + check->tree_count + 1) * sizeof *spaces);
    size_t count = 0;

    for (size_t i = 0; i < check->container_count; i++)
        if (check->containers[i].kind == SHARE)
            spaces[count++] = check->containers[i].space;
    for (size_t i = 0; i < check->tree_count; i++)
        if (is_path_space(check, &check->trees[i]))
            spaces[count++] = check->trees[i];
    if (count > 0)
        check_delete_leftovers(&check->leftovers, check->store, spaces, count);
    free(spaces);
}

void check_adopt_all(struct check *check)
{
    restore_paths(check);
    for (size_t i = 0; i < check->space_count; i++)
        if (!adopt_parts(check, &check->spaces[i]))
            adopt_lost(check, &check->spaces[i], adopt, "container",
                       "its blobs are in the container ");
    for (size_t i = 0; i < check->tree_count; i++)
        if (!adopt_parts(check, &check->trees[i]))
            adopt_lost(check, &check->trees[i], adopt_share, "share",
                       "its files are in the share ");
    restore_shares(check);
    delete_leftovers(check);
}
