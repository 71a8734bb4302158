/* See tier.h. */
#include "blob/tier.h"

#include "base/endian.h"

#define GIB (UINT64_C(1) << 30)

/* The maximum length of a page blob in each premium tier. learn.microsoft.com:
 * azure/virtual-machines/disks-types, "Premium SSD size" */
static uint64_t tier_size(enum access_tier tier)
{
    static const uint64_t gib[] = { 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32767 };

    return gib[tier - TIER_P4] * GIB;
}

enum error tier_fits(struct decision *d, enum access_tier tier, enum blob_type type,
                     uint64_t length)
{
    if (!tier_is_premium(tier))
        return type == BLOB_BLOCK ? OK : E_AccessTierNotSupportedForBlobType;
    if (type == BLOB_BLOCK) {
        problem_set_header(d->problem, "x-ms-access-tier",
                           bytes_from_string(access_tier_text(tier)));
        return E_InvalidHeaderValue; /* as recorded */
    }
    if (type != BLOB_PAGE)
        return E_AccessTierNotSupportedForBlobType;
    return length > tier_size(tier) ? E_BlobTierInadequateForContentLength : OK;
}

void blob_set_tier(struct blob *blob, enum access_tier tier, instant now)
{
    if (blob->tier != tier)
        blob->tier_changed = now;
    blob->tier = tier;
    blob->rehydrates_to = TIER_NONE;
    blob->is_rehydrated_fast = false;
    blob->rehydrated_at = 0;
}

void blob_rehydrate(struct blob *blob, enum access_tier to, const struct rehydration *how,
                    instant now)
{
    blob->rehydrates_to = to;
    blob->is_rehydrated_fast = how->is_high;
    blob->rehydrated_at = now + how->ticks;
}

enum error blob_refuse_archived(const struct blob *blob)
{
    if (blob->tier != TIER_ARCHIVE)
        return OK;
    return blob->rehydrates_to != TIER_NONE ? E_BlobBeingRehydrated : E_BlobArchived;
}

/* ---- the rehydration task ---- */

/* Payload: date of the snapshot or version (0: the base), time of the rehydration; be64 each. */
#define PAYLOAD_SIZE 16

void rehydrate_defer(struct changes *changes, const struct blob *blob)
{
    char payload[PAYLOAD_SIZE];

    be64_put(payload, blob->ref.at);
    be64_put(payload + 8, blob->rehydrated_at);
    changes_defer(changes, blob->rehydrated_at, TASK_REHYDRATE, bytes_of(payload, sizeof payload));
}

enum store_result rehydrate_blob(struct decision *d, const struct deferred_task *task,
                                 const struct endpoint *endpoint)
{
    struct bytes payload = task->payload;
    struct blob blob, was;
    enum store_result result;

    (void)endpoint;
    if (payload.len != PAYLOAD_SIZE)
        return STORE_OK;
    result = blob_read_dated(d->before, d->arena, be64_get(payload.ptr), &blob);
    if (result == STORE_NOT_FOUND)
        return STORE_OK;
    if (result || blob.rehydrates_to == TIER_NONE ||
        blob.rehydrated_at != be64_get(payload.ptr + 8))
        return result;
    was = blob;
    blob_set_tier(&blob, blob.rehydrates_to, d->now);
    blob_change(d, &was, &blob);
    return STORE_OK;
}

/* ---- as text ---- */

const char *blob_type_text(enum blob_type type)
{
    switch (type) {
    case BLOB_PAGE:
        return "PageBlob";
    case BLOB_APPEND:
        return "AppendBlob";
    case BLOB_BLOCK:
        break;
    }
    return "BlockBlob";
}

const char *access_tier_text(enum access_tier tier)
{
    static const char *const texts[] = {
        [TIER_HOT] = "Hot", [TIER_COOL] = "Cool", [TIER_COLD] = "Cold", [TIER_ARCHIVE] = "Archive",
        [TIER_P4] = "P4",   [TIER_P6] = "P6",     [TIER_P10] = "P10",   [TIER_P15] = "P15",
        [TIER_P20] = "P20", [TIER_P30] = "P30",   [TIER_P40] = "P40",   [TIER_P50] = "P50",
        [TIER_P60] = "P60", [TIER_P70] = "P70",   [TIER_P80] = "P80",
    };

    return tier <= TIER_LAST ? texts[tier] : NULL;
}

const char *archive_status_text(const struct blob *blob)
{
    static const char *const texts[] = {
        [TIER_HOT] = "rehydrate-pending-to-hot",
        [TIER_COOL] = "rehydrate-pending-to-cool",
        [TIER_COLD] = "rehydrate-pending-to-cold",
    };

    return texts[blob->rehydrates_to];
}
