/* Reads all records twice. The first pass collects the names of containers and compares the index
 * of pieces with the records; the second reads all content. */
#include "check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "admin/stored_accounts.h"
#include "auth/auth.h"
#include "base/url.h"
#include "blob/blob.h"
#include "blob/snapshot_marks.h"
#include "opens/open_epoch.h"
#include "check/names.h"
#include "check/records.h"
#include "check/report.h"
#include "service/names.h"
#include "service/task_retry.h"
#include "store/inspect.h"

#define KEY_OF_BASE      '\xFF'
#define KEYS_UNCOMMITTED "uv" /* prefixes of uncommitted blocks' keys: blob/uncommitted.h */

static void finding(void *context, const char *sentence)
{
    struct check *check = context;

    check->findings++;
    check_report_name(bytes_from_string(sentence));
    check_report(FINDING_DAMAGED, "%s", "");
}

static void say_damaged(struct check *check, const struct record_place *place, const char *what)
{
    check->findings++;
    check_report_blob(check, &place->space, place->partition_key);
    if (place->family == RECORD_LISTED && bytes_has_prefix(place->record_key, blob_snapshot_prefix))
        check_report_part(" (a snapshot)");
    check_report(FINDING_DAMAGED, ": %s", what);
}

/* ---- the first pass ---- */

static bool is_blob(const struct record_place *place, const struct record *record)
{
    struct blob blob;

    return place->record_key.len > 0 &&
           (place->record_key.ptr[0] == KEY_OF_BASE ||
            bytes_has_prefix(place->record_key, blob_snapshot_prefix)) &&
           blob_decode(record->value, &blob);
}

/* Returns true if the key may be that of a container's, queue's or table's record. The key of an
 * entity may look the same. */
static bool is_named(const struct record_place *place, enum kind *ret_kind)
{
    enum kind kind = CONTAINER;

    while (kind < KINDS && !check_kinds[kind].is_key(place->record_key))
        kind++;
    *ret_kind = kind;
    return kind < KINDS && place->family == RECORD_LISTED && place->partition_key.len > 0;
}

/* Reads from the record of a container where its paths are. */
static void describe(struct known_container *known, const struct record_place *place,
                     const struct record *record)
{
    struct container container;

    if (known->kind != CONTAINER || !container_decode(record->value, &container))
        return;
    known->hierarchical = container.hierarchical;
    known->is_retained = container.expires > 0;
    known->has_part = check_part_of_container(place, record, &known->part);
}

/* Adds a space unless it was the last one added, because the records of a space are adjacent. */
static void add_space(struct guid **spaces, size_t *count, const struct guid *space)
{
    if (*count > 0 && guid_equal(&(*spaces)[*count - 1], space))
        return;
    *spaces = xrealloc(*spaces, (*count + 1) * sizeof **spaces);
    (*spaces)[(*count)++] = *space;
}

static void learn(void *context, const struct record_place *place, const struct record *record)
{
    struct check *check = context;
    struct known_container known = { .account = place->space };

    check_report_record();
    if (check->salvages)
        check_record_leftover(&check->leftovers, check->store, place);
    if (place->family != RECORD_LISTED)
        return;
    if (is_named(place, &known.kind) && check_kinds[known.kind].read(record->value, &known.space)) {
        known.name = check_copy_text(place->partition_key);
        describe(&known, place, record);
        check_add_container(check, known);
        check->kinds[known.kind]++;
    } else if (check_is_of_tree(place, record->value)) {
        add_space(&check->trees, &check->tree_count, &place->space);
    } else if (is_blob(place, record)) {
        add_space(&check->spaces, &check->space_count, &place->space);
    }
}

/* Removes entities that looked like the record of a queue. */
static void forget_entities(struct check *check)
{
    size_t kept = 0;

    for (size_t i = 0; i < check->container_count; i++) {
        struct known_container *known = &check->containers[i];
        const struct known_container *owner = check_find_container(check, &known->account);

        if (owner && owner->kind == TABLE) {
            check->kinds[known->kind]--;
            free(known->name);
        } else {
            check->containers[kept++] = *known;
        }
    }
    check->container_count = kept;
}

/* ---- the second pass ---- */

/* Reports a blob that no request can reach, because a URL with its name refers to another blob.
 * Old versions of the program stored such names (decision 39). This is not damage. */
static void check_blob_name(struct check *check, const struct record_place *place)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct bytes reached = url_normalize_path(arena, place->partition_key);

    if (!bytes_equal(reached, place->partition_key)) {
        check_report_blob(check, &place->space, place->partition_key);
        check_report_part(": URLs with this name refer to \"");
        check_report_name(reached);
        check_report(FINDING_UNREACHABLE, "\"");
    }
    arena_free(arena);
}

/* Returns true for the record of a blob in a node's partition, and false for a record of the tree.
 */
static bool is_of_node(const struct record_place *place)
{
    return place->record_key.len > 0 && (place->record_key.ptr[0] == KEY_OF_BASE ||
                                         (unsigned char)place->record_key.ptr[0] <= 1);
}

/* Reports a blob without a container, unless it is yet to be deleted like its container. */
static void say_lost(struct check *check, const struct record_place *place)
{
    if (!check_is_deleted_path(check, &place->space, place->partition_key))
        say_damaged(check, place, "its container is lost");
}

/* Checks a base blob, a snapshot, or the marks of snapshots. */
static void check_blob(struct check *check, const struct known_container *container,
                       const struct record_place *place, const struct record *record)
{
    bool is_base = place->record_key.len > 0 && place->record_key.ptr[0] == KEY_OF_BASE;
    struct snapshot_marks marks;
    struct blob blob;

    if (bytes_equal(place->record_key, snapshot_marks_key)) {
        if (!snapshot_marks_decode(record->value, &marks))
            say_damaged(check, place, "the marks of its snapshots are corrupt");
        return;
    }
    if (container->hierarchical && !is_of_node(place))
        return;
    check->counts[CONTAINER] += is_base;
    if (is_base && !container->hierarchical)
        check_blob_name(check, place);
    if (!blob_decode(record->value, &blob))
        say_damaged(check, place, "its record is corrupt");
    else if (blob.content.length > 0 &&
             check_content(check->store, place, &blob.content, check->buffer))
        say_damaged(check, place, "some of its bytes cannot be read");
}

static void check_uncommitted(struct check *check, const struct record_place *place,
                              const struct record *record)
{
    for (size_t i = 0; i < record->piece_count; i++) {
        const struct piece *piece = &record->pieces[i];

        for (uint32_t at = 0; at < piece->length;) {
            uint32_t left = piece->length - at;
            uint32_t size = left < CHECK_READ_BYTES ? left : CHECK_READ_BYTES;

            if (piece_read(check->store, piece, at, size, check->buffer, NULL)) {
                say_damaged(check, place, "an uncommitted block cannot be read");
                return;
            }
            check_report_bytes(size);
            at += size;
        }
    }
}

/* Checks a record in the space of a queue, a table or a share. */
static void check_part(struct check *check, struct known_container *of,
                       const struct record_place *place, const struct record *record)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    enum kind kind = of->kind;
    uint64_t bytes = 0;
    bool counts;
    const char *wrong;

    if (kind == SHARE)
        wrong = check_file(check->store, arena, check->buffer, place, record, &counts, &bytes);
    else
        wrong = (kind == QUEUE ? check_message : check_entity)(check->store, arena, place, record,
                                                               &counts);

    check->counts[kind] += counts;
    of->bytes += bytes;
    if (wrong)
        say_damaged(check, place, wrong);
    arena_free(arena);
}

/* Checks a record of the tree of a hierarchical container. */
static void check_path(struct check *check, const struct known_container *container,
                       const struct record_place *place, const struct record *record)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    const char *wrong = check_path_record(check->store, arena, place, record, container->has_part);

    if (wrong)
        say_damaged(check, place, wrong);
    arena_free(arena);
}

/* Checks the record of a container, queue or table. */
static void check_named(struct check *check, enum kind kind, const struct record_place *place,
                        const struct record *record)
{
    struct guid space;

    if (!check_find_account(&place->space, kind).ptr ||
        check_kinds[kind].read(record->value, &space))
        return;
    check->findings++;
    check_report_account(&place->space, kind);
    check_report_name(place->partition_key);
    check_report(FINDING_DAMAGED, ": the record of the %s is corrupt", check_kinds[kind].name);
}

/* Checks the record of a stored account (lagra account). Returns false for any other record. */
static bool check_account(struct check *check, const struct record_place *place,
                          const struct record *record)
{
    const struct partition at = { place->space, place->partition_key };
    enum account_record_kind kind = stored_account_inspect(&at, place->record_key, record->value);

    if (kind == ACCOUNT_RECORD_DAMAGED) {
        check->findings++;
        check_report(FINDING_DAMAGED, "the record of a stored account is corrupt");
    }
    return kind != NO_ACCOUNT_RECORD;
}

/* Checks the record of the server's starts. Returns false for any other record. */
static bool check_starts(struct check *check, const struct record_place *place,
                         const struct record *record)
{
    const struct partition at = { place->space, place->partition_key };
    enum start_record_kind kind = start_record_inspect(&at, place->record_key, record->value);

    if (kind == START_RECORD_DAMAGED) {
        check->findings++;
        check_report(FINDING_DAMAGED, "the record of the server's starts is corrupt");
    }
    return kind != NO_START_RECORD;
}

static void check_record(void *context, const struct record_place *place,
                         const struct record *record)
{
    struct check *check = context;
    struct known_container *container = check_find_container(check, &place->space);
    enum kind kind;

    check_report_record();
    if (container && container->hierarchical)
        check_path(check, container, place, record);
    if (container && container->kind != CONTAINER) {
        check_part(check, container, place, record);
    } else if (!container &&
               (check_account(check, place, record) || check_starts(check, place, record))) {
        return;
    } else if (!container && is_named(place, &kind)) {
        check_named(check, kind, place, record);
    } else if (!container) {
        if (place->family == RECORD_LISTED && is_blob(place, record))
            say_lost(check, place);
    } else if (place->family == RECORD_LISTED) {
        if (container->has_part && is_of_node(place) &&
            !check_find_owner(check, &place->space, place->partition_key))
            say_lost(check, place);
        check_blob(check, container, place, record);
    } else if (place->record_key.len > 0 && strchr(KEYS_UNCOMMITTED, place->record_key.ptr[0])) {
        check_uncommitted(check, place, record);
    }
}

/* Checks the byte totals of all shares, which quotas depend on. */
static void check_totals(struct check *check)
{
    for (size_t i = 0; i < check->container_count; i++) {
        const struct known_container *share = &check->containers[i];

        if (share->kind != SHARE || check_usage(check->store, share->space, share->bytes))
            continue;
        check->findings++;
        check_report_account(&share->account, SHARE);
        check_report_name(bytes_from_string(share->name));
        check_report(FINDING_DAMAGED,
                     ": its byte total differs from the total length of its files");
    }
}

static void ignore(void *context, const char *sentence)
{
    (void)context;
    (void)sentence;
}

static void release(struct check *check)
{
    for (size_t i = 0; i < check->container_count; i++)
        free(check->containers[i].name);
    for (size_t i = 0; i < check->lost_count; i++) {
        free(check->lost[i].after.partition);
        free(check->lost[i].to.partition);
    }
    free(check->containers);
    free(check->spaces);
    free(check->trees);
    free(check->lost);
    free(check->leftovers.items);
    free(check->buffer);
}

/* ---- deferred tasks ---- */

static void say_put_off(struct check *check, const struct task_try *try)
{
    check_report_part("a task of ");
    check_report_blob(check, &try->task.partition.space, try->task.partition.key);
    check_report(FINDING_TASK, ": kind 0x%" PRIx32 ", has failed %u time%s", try->task.kind,
                 try->failures, try->failures == 1 ? "" : "s");
}

/* Lists deferred tasks that have failed and will be retried. They do not count as damage. decision:
 * 246 */
static enum store_result list_put_off(struct check *check)
{
    struct arena *arena = arena_new(CHECK_ARENA_MAX);
    struct arena_mark empty = arena_mark(arena);
    struct deferred_task task, last;
    const struct deferred_task *after = NULL;
    enum store_result result;
    instant due;

    while (!(result = store_task_next(check->store, INSTANT_MAX, after, arena, &task, &due))) {
        struct task_try try;

        if (!task_try_read(&task, &try))
            finding(check, "a postponed deferred task is corrupt");
        else if (try.failures > 0)
            say_put_off(check, &try);
        last = task; /* used only as a position in the list */
        after = &last;
        arena_rewind(arena, empty);
    }
    arena_free(arena);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

/* ---- all passes ---- */

/* Opens the store and verifies its structure. ret_bytes: total size of all content */
static bool open_checked(struct check *check, const char *location, const struct master_keys *keys,
                         uint64_t *ret_bytes)
{
    const struct store_options options = {
        .location = location, .must_exist = true, .sync = true, .master_keys = keys
    };
    struct store_usage usage;
    const char *problem = "";

    if (store_open_embedded(&options, &check->store, &problem)) {
        fprintf(stderr, "lagra: cannot open the data directory %s: %s\n", location, problem);
        return false;
    }
    store_collect_now(check->store, &usage); /* deletes the data of deleted containers */
    *ret_bytes = usage.piece_bytes;
    return true;
}

static bool look_at_all(struct check *check, const char *location, const struct master_keys *keys)
{
    enum store_result result;
    uint64_t bytes;

    if (!open_checked(check, location, keys, &bytes))
        return false;
    check->buffer = xmalloc(CHECK_READ_BYTES);
    result = store_inspect(check->store, learn, finding, check);
    forget_entities(check);
    if (check->salvages)
        check_adopt_all(check);
    check_report_lost(check);
    check_report_second_pass(bytes);
    if (!result)
        result = store_inspect(check->store, check_record, ignore, check);
    if (!result)
        check_roots(check);
    if (!result)
        check_totals(check);
    if (!result)
        result = list_put_off(check);
    store_close(check->store);
    if (result)
        fprintf(stderr, "lagra: some records could not be read: %s\n", store_result_text(result));
    return !result;
}

static void say_totals(const struct check *check)
{
    static const char *const in[KINDS] = { "containers", "queues", "tables", "shares" };
    static const char *const what[KINDS] = { "blobs", "messages", "entities", "files" };
    struct check_total totals[KINDS];

    for (enum kind kind = CONTAINER; kind < KINDS; kind++)
        totals[kind] =
            (struct check_total){ what[kind], in[kind], check->counts[kind], check->kinds[kind] };
    check_report_totals(totals, KINDS, check->findings);
}

int check_run(const char *location, const char *salvage_to, const struct master_keys *keys,
              bool json)
{
    struct check check = { .salvages = salvage_to != NULL };
    const struct salvage_listener listener = { finding, check_record_lost, &check };
    const char *problem = "";
    bool done = true;

    check_report_begin(json);
    if (salvage_to && store_salvage(location, salvage_to, keys, &listener, &problem)) {
        fprintf(stderr, "lagra: cannot salvage %s to %s: %s\n", location, salvage_to, problem);
        done = false;
    }
    if (done)
        done = look_at_all(&check, salvage_to ? salvage_to : location, keys);
    if (done)
        say_totals(&check);
    release(&check);
    return done && check.findings == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
