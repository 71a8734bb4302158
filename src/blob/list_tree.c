/* See list_tree.h. */
#include "blob/list_tree.h"

#include <assert.h>

#include "blob/access_control.h"
#include "blob/container_root.h"
#include "blob/namespace.h"

/* Entries of a directory read at once. */
#define ENTRIES_AT_ONCE 256u
/* Attempts at a page of a container that changes constantly. */
#define ATTEMPTS_MAX    4u

static const struct bytes base_key = BYTES("\xFF");

/* A directory on the path to the current name. */
struct level {
    struct level *above;
    uint64_t id;
    size_t path_len; /* of its path, with a slash */
    struct tree_page page;
    size_t at; /* next entry of the page */
    bool is_begun;
    const struct posix_acl *sticky; /* its list, if that has the sticky bit; or NULL */
};

/* A directory, as it was when some of its entries were read. */
struct reading {
    struct reading *earlier;
    struct partition partition;
    instant at;
};

struct tree_records {
    struct decision *d;
    const struct list_blobs_parameters *asked;
    struct tree tree;
    struct bytes from; /* first name of the walk; empty for the beginning */
    bool is_recursive;
    bool marks_directories; /* with a slash */
    bool has_bases_only;
    struct level *level;
    struct reading *readings;
    struct text name;        /* current name */
    bool descends;           /* continue with the names below it: */
    uint64_t below;          /* id of the directory */
    size_t below_len;        /* length of its path */
    struct read_view *of;    /* records of the current name, or NULL */
    struct bytes record_key; /* key of the record to continue at */
    struct scan *scan;
    bool is_begun; /* the root directory has been found */
    bool is_read;  /* the base has been read */
    bool has_lost; /* a name was deleted, or replaced, after its directory was read */
    struct acl_callers callers;
    bool is_ruled;     /* by lists, which must grant: */
    unsigned required; /* permissions on each directory */
};

struct tree_records *tree_records_open(struct decision *d,
                                       const struct list_blobs_parameters *asked, struct bytes from)
{
    struct tree_records *records = arena_alloc(d->arena, sizeof *records);

    if (from.len > 0 && from.ptr[from.len - 1] == '/')
        from.len--;
    records->d = d;
    records->asked = asked;
    records->from = from;
    records->marks_directories = asked->delimiter.ptr && bytes_is(asked->delimiter, "/");
    records->is_recursive = !records->marks_directories && !asked->one_level;
    records->has_bases_only = !asked->snapshots && !asked->versions;
    tree_open_to_read(&records->tree, d, blob_state(d)->container.space, TREE_CASE_EXACT);
    text_init(&records->name, d->arena, 1024);
    records->descends = true; /* to the root */
    if (decision_passes(d) & NEEDS_LIST)
        tree_records_rule(records, POSIX_LISTS);
    return records;
}

void tree_records_rule(struct tree_records *records, enum posix_operation operation)
{
    records->is_ruled = acl_callers_find(records->d, &records->callers);
    records->required = posix_requirements[operation].self;
}

/* ---- the walk ---- */

/* Returns true if `path` is below `directory`. */
static bool is_above(struct bytes directory, struct bytes path)
{
    return path.len > directory.len && path.ptr[directory.len] == '/' &&
           bytes_has_prefix(path, directory);
}

/* Returns the name of `path` in the directory of the level; empty if it is not below it. */
static struct bytes name_in(const struct tree_records *records, const struct level *level,
                            struct bytes path)
{
    struct bytes directory = bytes_of(records->name.ptr, level->path_len), name, rest;

    if (path.len <= level->path_len || !bytes_has_prefix(path, directory))
        return bytes_of("", 0);
    bytes_cut(bytes_from(path, level->path_len), '/', &name, &rest);
    return name;
}

static void enter_level(struct tree_records *records)
{
    struct level *level = arena_alloc(records->d->arena, sizeof *level);

    records->name.len = records->below_len;
    if (records->level)
        text_add_char(&records->name, '/');
    level->above = records->level;
    level->id = records->below;
    level->path_len = records->name.len;
    records->level = level;
    records->descends = false;
}

/* Records the state in which the directory is read, for tree_records_confirm(). */
static void note_reading(struct tree_records *records, const struct decision_part *part)
{
    struct reading *reading = arena_alloc(records->d->arena, sizeof *reading);

    reading->earlier = records->readings;
    reading->partition = part->partition;
    reading->at = read_view_instant(part->before);
    records->readings = reading;
}

/* Checks the callers' permissions on the directory, or to walk through it to the prefix. */
static enum store_result check_directory(struct tree_records *records, struct level *level,
                                         const struct decision_part *part)
{
    struct bytes rest = bytes_from(records->asked->listing.prefix, level->path_len);
    bool is_passed = rest.len > 0 && memchr(rest.ptr, '/', rest.len);
    struct posix_acl acl;
    enum store_result result;

    if (!records->is_ruled)
        return STORE_OK;
    result = access_control_read(records->d, level->id, part->before, &acl);
    if (result)
        return result;
    acl_callers_require(&records->callers, &acl, is_passed ? POSIX_EXECUTE : records->required);
    if (acl.is_sticky) {
        struct posix_acl *sticky = arena_alloc(records->d->arena, sizeof *sticky);

        *sticky = acl;
        level->sticky = sticky;
    }
    return STORE_OK;
}

enum store_result tree_records_unlink(struct tree_records *records, const struct blob *blob)
{
    const struct posix_acl *sticky = records->level->sticky;
    struct posix_acl acl;
    enum store_result result;

    if (!records->is_ruled || !sticky)
        return STORE_OK;
    result = access_control_of(records->d, blob, false, &acl);
    if (!result)
        acl_callers_require_unlink(&records->callers, sticky, &acl);
    return result;
}

bool tree_records_are_refused(const struct tree_records *records)
{
    return records->is_ruled && acl_callers_are_refused(&records->callers);
}

/* Reads the next entries of the directory; none if it was deleted in the meantime. */
static enum store_result read_entries(struct tree_records *records, struct level *level)
{
    struct bytes from = level->is_begun ? level->page.next : name_in(records, level, records->from);
    struct bytes prefix = name_in(records, level, records->asked->listing.prefix);
    const unsigned open = records->d->part_count;
    struct decision_part *part;
    struct tree_place place;
    enum tree_result result = tree_find_id(&records->tree, level->id, TREE_TO_READ, &place, &part);

    level->is_begun = true;
    level->at = 0;
    level->page = (struct tree_page){ .count = 0 };
    if (result == TREE_FAILED)
        return records->tree.failed;
    if (!level->above && (result || !container_is_root(&blob_state(records->d)->container, &place)))
        return STORE_CONFLICT; /* the container was deleted after its record was read */
    if (!result) {
        enum store_result checked = check_directory(records, level, part);

        if (checked)
            return checked;
        note_reading(records, part);
        result = tree_list(&records->tree, &place, prefix, from, ENTRIES_AT_ONCE, &level->page);
    }
    if (result == TREE_FAILED)
        return records->tree.failed;
    if (records->d->part_count > open)
        decision_leave(records->d, part);
    return STORE_OK;
}

/* Makes an entry the current name. Returns false if it is not in the walk. */
static bool take_entry(struct tree_records *records, const struct level *level,
                       const struct tree_entry *entry)
{
    const struct bytes prefix = records->asked->listing.prefix, from = records->from;
    struct bytes name;
    bool is_shown, is_later;

    if (namespace_is_hidden(entry->name.given))
        return false;
    records->name.len = level->path_len;
    text_add(&records->name, entry->name.given);
    name = text_bytes(&records->name);
    is_shown = bytes_has_prefix(name, prefix);
    is_later = namespace_compare(name, from) >= 0;
    records->below = entry->id;
    records->below_len = name.len;
    records->descends = entry->kind == TREE_DIRECTORY &&
                        (is_shown ? records->is_recursive : is_above(name, prefix)) &&
                        (is_later || is_above(name, from));
    if (records->marks_directories && entry->kind == TREE_DIRECTORY)
        text_add_char(&records->name, '/');
    return is_shown && is_later;
}

/* Finds the root directory, at which the walk begins. */
static enum store_result begin_walk(struct tree_records *records)
{
    records->is_begun = true;
    return container_find_root(&records->tree, &blob_state(records->d)->container, &records->below);
}

/* Moves to the next name, and opens its partition. Returns STORE_NOT_FOUND at the end. */
static enum store_result next_name(struct tree_records *records)
{
    const struct tree_entry *entry = NULL;
    enum store_result begun = records->is_begun ? STORE_OK : begin_walk(records);

    if (begun)
        return begun;
    while (!entry) {
        struct level *level;

        if (records->descends)
            enter_level(records);
        level = records->level;
        if (!level)
            return STORE_NOT_FOUND;
        if (level->at < level->page.count) {
            entry = &level->page.entries[level->at++];
            if (!take_entry(records, level, entry))
                entry = NULL;
        } else if (level->is_begun && !level->page.next.ptr) {
            records->level = level->above;
        } else {
            enum store_result result = read_entries(records, level);

            if (result)
                return result;
        }
    }
    records->of =
        decision_open(records->d, tree_partition(records->d->arena, records->tree.space, entry->id),
                      NULL)
            ->before;
    records->record_key = bytes_of("", 0);
    records->is_read = false;
    return STORE_OK;
}

static void end_scan(struct tree_records *records)
{
    if (records->scan)
        scan_close(records->scan);
    records->scan = NULL;
}

static void end_name(struct tree_records *records)
{
    struct decision *d = records->d;

    end_scan(records);
    if (records->of)
        decision_leave(d, &d->parts[d->part_count - 1]);
    records->of = NULL;
}

/* ---- records ---- */

/* Returns true for records of blobs, as opposed to those of the tree. */
static bool is_of_blob(struct bytes key)
{
    return key.len > 0 && (key.ptr[0] == '\xFF' || key.ptr[0] <= 1);
}

/* Reads the next record of the current name, in the arena. */
static enum store_result next_of_name(struct tree_records *records, struct record *ret_record)
{
    struct arena *arena = records->d->arena;
    bool is_first = !records->is_read;
    enum store_result result;

    if (records->has_bases_only && !is_first)
        return STORE_NOT_FOUND;
    records->is_read = true;
    if (records->has_bases_only) {
        result = read_view_get(records->of, RECORD_LISTED, base_key, arena, ret_record);
        records->has_lost |= result == STORE_NOT_FOUND;
        return result;
    }
    if (!records->scan)
        records->scan = scan_open(records->of, RECORD_LISTED, bytes_of("", 0), records->record_key);
    do
        result = scan_next(records->scan, arena, ret_record);
    while (!result && !is_of_blob(ret_record->key));
    records->has_lost |= is_first && result == STORE_NOT_FOUND;
    return result;
}

enum store_result tree_records_next(struct tree_records *records, struct space_record *ret_record)
{
    struct record record;

    for (;;) {
        enum store_result result = records->of ? STORE_OK : next_name(records);

        if (!result)
            result = next_of_name(records, &record);
        else
            return result;
        if (!result)
            break;
        if (result != STORE_NOT_FOUND) /* also if it was deleted in the meantime */
            return result;
        end_name(records);
    }
    *ret_record =
        (struct space_record){ .partition_key = text_bytes(&records->name),
                               .record_key = records->has_bases_only ? base_key : record.key,
                               .value = record.value };
    return STORE_OK;
}

void tree_records_seek(struct tree_records *records, struct bytes record_key)
{
    end_scan(records);
    records->record_key = record_key;
}

struct decision_part *tree_records_keep(struct tree_records *records)
{
    struct decision *d = records->d;

    assert(records->of && !records->scan);
    records->of = NULL;
    return &d->parts[d->part_count - 1];
}

void tree_records_skip(struct tree_records *records)
{
    end_name(records);
    records->descends = false;
}

enum store_result tree_records_confirm(const struct tree_records *records)
{
    struct decision *d = records->d;
    const struct reading *reading = records->readings;
    bool is_same = true;

    if (!reading || (!reading->earlier && !records->has_lost) || d->attempts >= ATTEMPTS_MAX)
        return STORE_OK;
    for (; reading && is_same; reading = reading->earlier) {
        struct decision_part *now = decision_open(d, reading->partition, NULL);

        is_same = read_view_instant(now->before) == reading->at;
        decision_leave(d, now);
    }
    return is_same ? STORE_OK : STORE_CONFLICT;
}

void tree_records_close(struct tree_records *records)
{
    end_name(records);
}
