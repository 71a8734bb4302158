/* Restore of shares with their snapshots from a backup: service/restore.h. */
#include "file/restore.h"

#include "file/file.h"
#include "file/file_record.h"
#include "service/names.h"

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
