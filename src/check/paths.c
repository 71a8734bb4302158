/* Trees that the hierarchical containers of an account share (blob/container_root.h): which record
 * belongs to which container. See names.h. */
#include "check/names.h"

#include "check/report.h"
#include "service/space_parts.h"
#include "tree/record.h"

/* The records of a space. */
struct reading {
    struct store *store;
    struct guid space;
};

static enum store_result read_node(void *context, struct bytes partition_key, struct arena *arena,
                                   struct bytes *ret_value)
{
    const struct reading *reading = context;
    struct read_view *view = read_view_open(
        reading->store, (struct partition){ reading->space, partition_key }, STORE_MAY_BLOCK);
    struct record record = { .piece_count = 0 };
    enum store_result result = read_view_get(
        view, RECORD_LISTED, bytes_from_string(blob_parts.record_key), arena, &record);

    read_view_close(view);
    *ret_value = record.value;
    return result;
}

bool check_find_part(struct store *store, const struct guid *space, struct bytes key,
                     struct guid *ret_part)
{
    struct reading reading = { store, *space };
    struct part_finder finder = { .functions = &blob_parts,
                                  .read = read_node,
                                  .context = &reading,
                                  .arena = arena_new(CHECK_ARENA_MAX) };
    enum store_result result = part_find(&finder, key, ret_part);

    arena_free(finder.arena);
    return !result && !guid_is_zero(ret_part);
}

bool check_part_of_container(const struct record_place *place, const struct record *record,
                             struct guid *ret_part)
{
    const struct space_record at = { .record_key = place->record_key, .value = record->value };

    return blob_parts.of_container(&at, ret_part);
}

const struct known_container *check_find_owner(struct check *check, const struct guid *space,
                                               struct bytes key)
{
    const struct known_container *container = check_find_container(check, space);
    struct guid part;

    if (!container || !container->has_part)
        return container;
    if (!check_find_part(check->store, space, key, &part))
        return NULL;
    for (size_t i = 0; i < check->container_count; i++)
        if (guid_equal(&check->containers[i].space, space) &&
            guid_equal(&check->containers[i].part, &part))
            return &check->containers[i];
    return NULL;
}

/* Returns true if the root of the tree has this entry. */
static bool has_entry(struct check *check, struct guid space, struct bytes name)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct read_view *root =
        read_view_open(check->store, tree_partition(arena, space, TREE_ROOT), STORE_MAY_BLOCK);
    const struct tree_name sought = { .given = name, .key = name };
    struct tree_entry entry;
    bool found = !tree_entry_read(root, arena, TREE_CASE_EXACT, &sought, &entry);

    read_view_close(root);
    arena_free(arena);
    return found;
}

/* A deleted container's root directory has a slash before its id. */
static bool has_root(struct check *check, struct guid space, const struct guid *part,
                     bool is_deleted)
{
    char name[1 + GUID_TEXT_SIZE] = "/";

    guid_format(part, name + 1);
    return has_entry(check, space, bytes_from(bytes_from_string(name), is_deleted ? 0 : 1));
}

bool check_is_deleted_path(struct check *check, const struct guid *space, struct bytes key)
{
    struct guid part;

    return check_find_part(check->store, space, key, &part) && has_root(check, *space, &part, true);
}

void check_roots(struct check *check)
{
    for (size_t i = 0; i < check->container_count; i++) {
        const struct known_container *container = &check->containers[i];

        if (!container->has_part ||
            has_root(check, container->space, &container->part, container->is_retained))
            continue;
        check->findings++;
        check_report_account(&container->account, CONTAINER);
        check_report_name(bytes_from_string(container->name));
        check_report(FINDING_DAMAGED, ": its root directory is missing");
    }
}

bool check_next_root(struct check *check, const struct guid *space, struct bytes *at,
                     struct arena *arena, struct guid *ret_part, bool *ret_is_deleted)
{
    const struct bytes prefix = BYTES("e");
    struct read_view *root =
        read_view_open(check->store, tree_partition(arena, *space, TREE_ROOT), STORE_MAY_BLOCK);
    struct scan *scan = scan_open(root, RECORD_INNER, prefix, *at);
    struct record record;
    bool found = false;

    while (!found && !scan_next(scan, arena, &record)) {
        struct bytes name = bytes_from(record.key, 1);

        *ret_is_deleted = name.len > 0 && name.ptr[0] == '/';
        found = guid_parse(bytes_from(name, *ret_is_deleted ? 1 : 0), ret_part);
        *at = arena_printf(arena, "%.*s\x01", BYTES_ARG(record.key));
    }
    scan_close(scan);
    read_view_close(root);
    return found;
}

/* ---- names in findings ---- */

static void report_in(const char *container, struct bytes name)
{
    check_report_name(bytes_from_string(container));
    check_report_part("%s", name.len > 0 ? "/" : "");
    check_report_name(name);
}

void check_report_blob(struct check *check, const struct guid *space, struct bytes name)
{
    const struct known_container *container = check_find_owner(check, space, name);

    if (container) {
        check_report_account(&container->account, container->kind);
        /* partitions have numbers instead of names */
        if (container->kind == SHARE || container->hierarchical)
            name = bytes_of("", 0);
        report_in(container->name, name);
    } else {
        report_in("(a container whose record is lost)", name);
    }
}
