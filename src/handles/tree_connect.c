#include "handles/handle_private.h"
#include "file/share_usage.h"
#include "service/names.h"

enum error tree_connect_read_share(struct decision *d, const struct tree_connect *tree_connect,
                                   instant snapshot, struct share *ret_share)
{
    struct partition at = { file_account_space(tree_connect->account), tree_connect->share };
    struct decision_part *owner = decision_open(d, at, NULL);
    enum store_result result =
        share_read(owner->before, d->arena, share_snapshot_key(snapshot), ret_share);

    decision_leave(d, owner);
    if (result == STORE_NOT_FOUND)
        return E_ShareNotFound;
    if (result)
        return decision_fail_store(d, result);
    ret_share->at = at;
    return guid_equal(&ret_share->space, &tree_connect->space) ? OK : E_ShareNotFound;
}

enum error tree_connect_find_attempt(struct decision *d, void *of)
{
    struct tree_connect_find *find = of;
    struct partition at = { file_account_space(find->account), find->share };
    enum error e = name_check(find->share);
    struct decision_part *owner;
    struct share share;
    enum store_result result;

    if (e)
        return e;
    owner = decision_open(d, at, NULL);
    decision_read_clock(d);
    result = share_read(owner->before, d->arena, share_itself, &share);
    if (result)
        return result == STORE_NOT_FOUND ? E_ShareNotFound : decision_fail_store(d, result);
    find->space = share.space;
    return OK;
}

enum error tree_connect_size_attempt(struct decision *d, void *of)
{
    struct tree_connect_size *size = of;
    struct share share;
    enum error e = tree_connect_read_share(d, size->tree_connect, 0, &share);

    if (e)
        return e;
    size->quota_bytes = (uint64_t)share.quota_gib << 30;
    size->created = share.created;
    return share_usage_read(d, share.space, &size->used_bytes);
}

/* Reads the dates of the share's snapshots from the share's own partition. */
static enum store_result read_dates(struct decision *d, struct read_view *before,
                                    struct tree_connect_snapshots *snapshots)
{
    struct scan *scan = share_scan_snapshots(before, d->arena, 0);
    enum store_result result = STORE_OK;
    struct record record;

    snapshots->dates = arena_array(d->arena, SHARE_SNAPSHOTS_MAX, sizeof snapshots->dates[0]);
    snapshots->count = 0;
    while (snapshots->count < SHARE_SNAPSHOTS_MAX) {
        struct share_key key;
        struct share share;

        result = scan_next(scan, d->arena, &record);
        if (result)
            break;
        if (!share_decode(record.key, record.value, &share, &key)) {
            result = record_is_unknown("a share's record", record.value);
            break;
        }
        snapshots->dates[snapshots->count++] = key.snapshot;
    }
    scan_close(scan);
    return result == STORE_NOT_FOUND ? STORE_OK : result;
}

enum error tree_connect_snapshots_attempt(struct decision *d, void *of)
{
    struct tree_connect_snapshots *snapshots = of;
    const struct tree_connect *tree_connect = snapshots->tree_connect;
    struct partition at = { file_account_space(tree_connect->account), tree_connect->share };
    struct decision_part *owner = decision_open(d, at, NULL);
    struct share share;
    enum store_result result = share_read(owner->before, d->arena, share_itself, &share);

    if (!result && !guid_equal(&share.space, &tree_connect->space))
        result = STORE_NOT_FOUND;
    if (!result)
        result = read_dates(d, owner->before, snapshots);
    if (result)
        return result == STORE_NOT_FOUND ? E_ShareNotFound : decision_fail_store(d, result);
    return OK;
}
