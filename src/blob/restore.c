/* Restores containers from a backup: service/restore.h. */
#include "blob/restore.h"

#include "blob/blob.h"
#include "service/names.h"

/* blob/blob.h */
#define KEY_OF_BASE "\xFF"

static const struct lease no_lease;

static bool is_owner(struct bytes key)
{
    return bytes_is(key, "c");
}

static bool put_owner(struct decision *d, const struct record *record, struct bytes name,
                      struct guid space)
{
    struct container container;

    (void)name;
    if (!container_decode(record->value, &container))
        return false;
    container.space = space;
    container.lease = no_lease;
    container_write(d->changes, d->arena, &container);
    return true;
}

static struct bytes without_lease(struct arena *arena, enum record_family family,
                                  const struct record *record)
{
    struct blob blob;
    struct text out;

    if (family != RECORD_LISTED || !bytes_is(record->key, KEY_OF_BASE) ||
        !blob_decode(record->value, &blob) || blob.lease.kind == no_lease.kind)
        return record->value;
    blob.lease = no_lease;
    text_init(&out, arena, record->value.len);
    blob_encode(&out, &blob);
    return text_bytes(&out);
}

const struct restore_functions blob_restore = { .check_name = name_check,
                                                .is_owner = is_owner,
                                                .put_owner = put_owner,
                                                .without_lease = without_lease };
