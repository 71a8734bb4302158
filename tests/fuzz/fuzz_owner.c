/* The record of a cell's owner and the file of a cluster, as they may lie on a shared file system: whatever is read as a
 * record is written and read again as the same, with strings that end and have no control characters. The checksum is
 * made right, so that what is behind it is reached. */
#include <stdlib.h>

#include "base/crc.h"
#include "cluster/folder.h"
#include "cluster/owner_record.h"
#include "fuzz.h"

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void require_clean(const char *text, size_t max)
{
    size_t length = strlen(text);

    require(length <= max);
    for (size_t i = 0; i < length; i++)
        require((unsigned char)text[i] >= ' ' && text[i] != 0x7f);
}

static void make_valid(char slot[OWNER_SLOT_BYTES])
{
    uint32_t crc = crc32c(0, slot + 12, OWNER_SLOT_BYTES - 12);

    for (unsigned i = 0; i < 4; i++)
        slot[8 + i] = (char)(crc >> 8 * i & 0xff);
}

static void check_slot(const char slot[OWNER_SLOT_BYTES])
{
    char written[OWNER_SLOT_BYTES];
    struct owner_record record, again;

    if (!owner_record_read(slot, &record))
        return;
    require(record.cell > 0 && record.cell <= OWNER_CELL_MAX);
    require(!record.is_held || (record.incarnation > 0 && record.lease_ms > 0));
    require(record.lease_ms <= OWNER_LEASE_MAX_MS);
    require_clean(record.owner.name, OWNER_NAME_MAX);
    require_clean(record.owner.address, OWNER_ADDRESS_MAX);
    require_clean(record.owner.client, OWNER_CLIENT_MAX);
    require(owner_smb_is_valid(record.owner.smb));
    owner_record_write(&record, written);
    require(owner_record_read(written, &again));
    require(memcmp(&record, &again, sizeof record) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char slot[OWNER_SLOT_BYTES] = { 0 }, text[CLUSTER_TEXT_BYTES];
    struct guid id;

    if (size > 0)
        memcpy(slot, data, size < sizeof slot ? size : sizeof slot);
    check_slot(slot);
    make_valid(slot);
    check_slot(slot);
    if (cluster_text_read(bytes_of(size > 0 ? (const char *)data : "", size), &id)) {
        cluster_text_write(&id, text);
        require(bytes_equal(bytes_from_string(text), bytes_of(data, size)));
    }
    return 0;
}
