/* Storage used by containers: service/usage.h. */
#include "blob/usage.h"

#include "blob/blob.h"

/* blob/blob.h */
#define KEY_OF_BASE "\xFF"

static bool is_container(const struct space_record *record, struct guid *ret_space,
                         uint64_t *ret_quota_bytes)
{
    struct container container;

    (void)ret_quota_bytes;
    if (!bytes_is(record->record_key, "c") || !container_decode(record->value, &container))
        return false;
    *ret_space = container.space;
    return true;
}

static bool is_kept_container(const struct space_record *record, struct guid *ret_space)
{
    struct container container;
    instant deleted;

    if (!container_key_read(record->record_key, &deleted) || deleted == 0 ||
        !container_decode(record->value, &container))
        return false;
    *ret_space = container.space;
    return true;
}

/* Counts the bytes of a blob. It is not an object if it is a snapshot, was never committed, or is
 * soft-deleted. */
static void count_blob(const struct space_record *record, struct usage *usage)
{
    struct blob blob;
    bool is_base = bytes_is(record->record_key, KEY_OF_BASE);

    if ((!is_base && !bytes_has_prefix(record->record_key, blob_snapshot_prefix)) ||
        !blob_decode(record->value, &blob))
        return;
    if (blob.uncommitted) {
        usage->uncommitted += !blob_is_anchor(&blob);
        return;
    }
    usage->objects += is_base && blob.deletion.at == 0;
    usage->bytes += blob.content.length;
}

const struct usage_functions blob_usage = { .container = is_container,
                                            .kept = is_kept_container,
                                            .record = count_blob };
