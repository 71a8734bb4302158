#include "file/share_usage.h"

#include "base/log.h"
#include "file/file.h"
#include "file/file_record.h"
#include "service/restore.h"
#include "service/usage.h"
#include "service/names.h"
#include "service/small_record.h"

#include <assert.h>

#define FILES_MAX 2

static const struct bytes sum_key = BYTES("b");

/* ---- the counters ---- */

struct partition share_usage_partition(struct arena *arena, struct guid space, unsigned part)
{
    return (struct partition){ .space = space, .key = arena_printf(arena, "u%u", part) };
}

/* Hashes the entire id, because ids in one directory have the same upper bits and increasing lower
 * bits. */
unsigned share_usage_part(uint64_t file)
{
    return (unsigned)((file * UINT64_C(0x9E3779B97F4A7C15)) >> 61);
}
_Static_assert(SHARE_USAGE_PARTS == 8, "the highest three bits select one");

enum store_result share_usage_sum(struct read_view *before, struct arena *arena,
                                  uint64_t *ret_bytes)
{
    enum store_result result =
        small_record_read(before, arena, sum_key, "the bytes of a share", ret_bytes, 1);

    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

void share_usage_put(struct changes *changes, struct arena *arena, uint64_t bytes)
{
    small_record_write(changes, arena, sum_key, &bytes, 1);
}

/* ---- changes ---- */

/* The counters of one decision. */
struct sums {
    struct decision *d;
    struct guid space;
    /* parts that the decision changes or depends on */
    struct decision_part *parts[SHARE_USAGE_PARTS];
    uint64_t bytes[SHARE_USAGE_PARTS];
};

static enum error read_part(struct sums *sums, unsigned i, struct changes *changes)
{
    struct decision *d = sums->d;
    enum store_result result;

    if (sums->parts[i])
        return OK;
    sums->parts[i] = decision_open(d, share_usage_partition(d->arena, sums->space, i), changes);
    result = share_usage_sum(sums->parts[i]->before, d->arena, &sums->bytes[i]);
    return result ? decision_fail_store(d, result) : OK;
}

/* Fails because a counter is lower than the lengths to subtract from it. The counter was read
 * after the files, so this is corruption only if no file was deleted or truncated in between. */
static enum error fail_less(struct decision *d)
{
    enum store_result confirmed = decision_confirm(d);

    if (confirmed)
        return decision_fail_store(d, confirmed);
    log_line(LOG_ERROR, "the byte counter of a share is lower than the length of its files");
    return decision_fail_store(d, STORE_CORRUPT);
}

/* Changes the counters of the files. */
static enum error change_own(struct sums *sums, const struct length_change *files, size_t count)
{
    struct decision *d = sums->d;

    for (size_t i = 0; i < count; i++) {
        unsigned part = share_usage_part(files[i].file);
        enum error e = OK;

        if (files[i].was == files[i].is)
            continue;
        e = read_part(sums, part, changes_new(d->arena));
        if (e)
            return e;
        if (sums->bytes[part] + files[i].is < files[i].was)
            return fail_less(d);
        sums->bytes[part] += files[i].is - files[i].was;
    }
    return OK;
}

/* Reads the other counters. kept: whether they become guards of the commit */
static enum error read_others(struct sums *sums, bool kept, uint64_t *ret_total)
{
    *ret_total = 0;
    for (unsigned i = 0; i < SHARE_USAGE_PARTS; i++) {
        bool is_own = sums->parts[i] != NULL;
        enum error e = read_part(sums, i, NULL);

        if (e)
            return e;
        *ret_total += sums->bytes[i];
        if (!is_own && !kept) {
            decision_leave(sums->d, sums->parts[i]);
            sums->parts[i] = NULL;
        }
    }
    return OK;
}

/* Fails because the quota is exceeded, once the counters are confirmed to be consistent. They
 * are read one after the other, so bytes freed and allocated in between may count twice, and a
 * refusal has no commit that would detect it. */
static enum error fail_full(struct decision *d)
{
    enum store_result confirmed = decision_confirm(d);

    if (confirmed)
        return decision_fail_store(d, confirmed);
    return decision_take_back(d, E_ShareSizeLimitReached);
}

/* Makes the share's partition a guard of the commit, so that the quota cannot change before it. */
static enum error keep_share(struct decision *d, const struct share *share)
{
    struct share now;
    enum store_result result;

    if (decision_find_part(d, share->at))
        return OK;
    result = share_read(decision_open(d, share->at, NULL)->before, d->arena, share_itself, &now);
    if (result == STORE_NOT_FOUND || (!result && now.quota_gib != share->quota_gib))
        result = STORE_CONFLICT;
    return result ? decision_fail_store(d, result) : OK;
}

static enum error check_quota(struct sums *sums, const struct share *share)
{
    const uint64_t quota = (uint64_t)share->quota_gib << 30;
    uint64_t total;
    enum error e = read_others(sums, false, &total);

    if (!e && total > quota / 2)
        e = read_others(sums, true, &total);
    if (!e && total > quota / 2)
        e = keep_share(sums->d, share);
    if (!e && total > quota)
        e = fail_full(sums->d);
    return e;
}

enum error share_usage_change(struct decision *d, const struct share *share,
                              const struct length_change *files, size_t count)
{
    struct sums sums = { .d = d, .space = share->space };
    uint64_t was = 0, is = 0;
    enum error e = change_own(&sums, files, count);

    assert(count <= FILES_MAX);
    for (size_t i = 0; i < count; i++) {
        was += files[i].was;
        is += files[i].is;
    }
    if (!e && is > was)
        e = check_quota(&sums, share);
    for (unsigned i = 0; i < SHARE_USAGE_PARTS && !e; i++) {
        if (sums.parts[i] && sums.parts[i]->changes)
            share_usage_put(sums.parts[i]->changes, d->arena, sums.bytes[i]);
    }
    return e;
}

enum error share_usage_read(struct decision *d, struct guid space, uint64_t *ret_bytes)
{
    struct sums sums = { .d = d, .space = space };

    return read_others(&sums, false, ret_bytes);
}

/* ---- Storage usage of a share, for operators: service/usage.h ---- */

#define GIB_SHIFT 30

static bool is_share(const struct space_record *record, struct guid *ret_space,
                     uint64_t *ret_quota_bytes)
{
    struct share_key key;
    struct share share;

    if (!bytes_is(record->record_key, "s") ||
        !share_decode(record->record_key, record->value, &share, &key))
        return false;
    *ret_space = share.space;
    *ret_quota_bytes = (uint64_t)share.quota_gib << GIB_SHIFT;
    return true;
}

/* Returns true for the record of a soft-deleted share. Its snapshots are in the same space and not
 * counted separately. */
static bool is_kept_share(const struct space_record *record, struct guid *ret_space)
{
    struct share_key key;
    struct share share;

    if (!share_decode(record->record_key, record->value, &share, &key) || key.deleted == 0 ||
        key.snapshot != 0)
        return false;
    *ret_space = share.space;
    return true;
}

/* Counts a file by its node record (tree/record.h). Nodes that exist only in snapshots have other
 * record keys. */
static void count_file(const struct space_record *record, struct usage *usage)
{
    if (bytes_is(record->record_key, "n") && record->value.len > 1)
        usage->objects += record->value.ptr[1] == TREE_FILE;
}

/* Adds the share's own byte counters. */
static enum store_result sum_bytes(struct store *store, struct arena *arena, struct guid space,
                                   struct usage *usage)
{
    enum store_result result = STORE_OK;

    for (unsigned i = 0; i < SHARE_USAGE_PARTS && !result; i++) {
        struct read_view *before =
            read_view_open(store, share_usage_partition(arena, space, i), STORE_MAY_BLOCK);
        uint64_t sum = 0;

        result = share_usage_sum(before, arena, &sum);
        usage->bytes += sum;
        read_view_close(before);
    }
    return result;
}

const struct usage_functions file_usage = {
    .container = is_share, .kept = is_kept_share, .record = count_file, .sum = sum_bytes
};

/* ---- Restore of shares with their snapshots from a backup: service/restore.h ---- */

static const struct lease no_lease;

/* Returns true for keys of shares and snapshots that are not soft-deleted. */
static bool is_owner(struct bytes key)
{
    struct share_key read;

    return share_key_read(key, &read) && read.deleted == 0;
}

static bool put_owner(struct decision *d, const struct record *record, struct bytes name,
                      struct guid space)
{
    struct share_key key;
    struct share share;

    (void)name;
    if (!share_decode(record->key, record->value, &share, &key))
        return false;
    share.space = space;
    share.lease = no_lease;
    share_write(d->changes, d->arena, key, &share);
    return true;
}

static struct bytes without_lease(struct arena *arena, enum record_family family,
                                  const struct record *record)
{
    struct file file;

    if (family != RECORD_INNER || !bytes_is(record->key, "f") ||
        !file_decode(record->value, &file) || file.lease.kind == no_lease.kind)
        return record->value;
    file.lease = no_lease;
    return file_encode(arena, &file);
}

const struct restore_functions file_restore = { .check_name = name_check,
                                                .is_owner = is_owner,
                                                .put_owner = put_owner,
                                                .without_lease = without_lease };
