/* Restoring a container from a backup: see service/restore.h. */
#include "blob/container_contents.h"
#include "blob/uncommitted.h"
#include "service/names.h"
#include "service/restore.h"

/* blob/blob.h */
#define KEY_OF_BASE "\xFF"

static const struct lease no_lease;

static bool is_owner(struct bytes key)
{
    instant deleted;

    return container_key_read(key, &deleted) && deleted == 0;
}

static bool put_owner(struct decision *d, const struct record *record, struct bytes name,
                      struct guid space)
{
    struct container container;

    (void)name;
    if (!container_decode(record->value, &container))
        return false;
    container.space = space;
    container.root.is_shared = false;
    container.lease = no_lease;
    container.immutability.is_closed = false;
    container_write(d->changes, d->arena, &container);
    return true;
}

static enum store_result drop_owner(struct decision *d, const struct record *record)
{
    struct container container;

    return container_decode(record->value, &container) ? container_drop(d, &container, false)
                                                       : STORE_CORRUPT;
}

/* A restore does not replace what a policy or a hold protects, or may protect. decision: 1409 */
static enum error permit_replacement(const struct record *record)
{
    struct container container;

    if (!container_decode(record->value, &container))
        return E_InternalError;
    if (container.immutability.has_versions)
        return E_ContainerImmutableStorageWithVersioningEnabled;
    if (container.immutability.holds.len > 0)
        return E_ContainerHasLegalHold;
    if (container.immutability.mode == POLICY_NONE)
        return OK;
    return container.immutability.mode == POLICY_LOCKED ? E_ContainerImmutabilityPolicyLocked
                                                        : E_BlobImmutableDueToPolicy;
}

/* A restored task has another id, and the old id may be that of the original's task, which a change
 * of the restored blob must not remove. */
static struct bytes without_lease(struct arena *arena, enum record_family family,
                                  const struct record *record)
{
    struct blob blob;
    struct text out;

    if (family == RECORD_INNER)
        return uncommitted_without_task(arena, record);
    if (family != RECORD_LISTED || !bytes_is(record->key, KEY_OF_BASE) ||
        !blob_decode(record->value, &blob) ||
        (blob.lease.kind == no_lease.kind && blob.expiry.at == 0))
        return record->value;
    blob.lease = no_lease;
    memset(&blob.expiry.task, 0, sizeof blob.expiry.task);
    text_init(&out, arena, record->value.len);
    blob_encode(&out, &blob);
    return text_bytes(&out);
}

const struct restore_functions blob_restore = { .check_name = name_check,
                                                .is_owner = is_owner,
                                                .put_owner = put_owner,
                                                .permit_replacement = permit_replacement,
                                                .drop = drop_owner,
                                                .without_lease = without_lease };
