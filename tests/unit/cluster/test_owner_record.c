/* The record of a cell's owner: cluster/owner_record.h. Whatever lies on the disk, a record is read only if it was
 * written, and of two slots the newest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/crc.h"
#include "cluster/owner_record.h"

static struct owner_record sample(uint64_t renewal)
{
    struct owner_record record;

    memset(&record, 0, sizeof record);
    for (unsigned i = 0; i < sizeof record.cluster.b; i++) {
        record.cluster.b[i] = (uint8_t)(i + 1);
        record.owner.boot.b[i] = (uint8_t)(0xf0 + i);
    }
    record.cell = 7;
    record.incarnation = 300;
    record.renewal = renewal;
    record.is_held = true;
    record.lease_ms = 3000;
    record.renewed = INSTANT_UNIX_EPOCH + 1;
    record.renewed_ns = 5678;
    record.owner.pid = 4321;
    snprintf(record.owner.name, sizeof record.owner.name, "%s", "one");
    snprintf(record.owner.address, sizeof record.owner.address, "%s", "192.0.2.1:10000");
    snprintf(record.owner.client, sizeof record.owner.client, "%s", "client4123");
    snprintf(record.owner.forward, sizeof record.owner.forward, "%s", "192.0.2.1:10020");
    record.owner.protocol = (struct protocol_range){ 5, 9 };
    record.serves = true; /* also the default for versions before 4 */
    return record;
}

/* Makes the expected record one without versions of the protocol. */
static void set_no_protocol(struct owner_record *record)
{
    record->owner.protocol = (struct protocol_range){ PROTOCOL_UNSAID, PROTOCOL_UNSAID };
}

static void read_as_written(void **state)
{
    char slot[OWNER_SLOT_BYTES];
    struct owner_record record = sample(5), read;

    (void)state;
    owner_record_write(&record, slot);
    assert_true(owner_record_read(slot, &read));
    assert_memory_equal(&read, &record, sizeof read);
    memset(record.owner.name, 'n', OWNER_NAME_MAX);
    memset(record.owner.address, 'a', OWNER_ADDRESS_MAX);
    memset(record.owner.client, 'c', OWNER_CLIENT_MAX);
    memset(record.owner.forward, 'f', OWNER_FORWARD_MAX);
    memset(record.owner.smb, 's', OWNER_SMB_MAX);
    memset(record.owner.version, 'v', OWNER_VERSION_MAX);
    memset(record.move, 'm', OWNER_MOVE_MAX);
    record.owner.protocol = (struct protocol_range){ PROTOCOL_MAX, PROTOCOL_MAX };
    record.keys[0] = record.keys[1] = UINT32_MAX;
    record.serves = false;
    record.incarnation = record.renewal = record.owner.pid = UINT64_MAX;
    owner_record_write(&record, slot);
    assert_true(owner_record_read(slot, &read));
    assert_memory_equal(&read, &record, sizeof read);
}

static void with_crc(char slot[OWNER_SLOT_BYTES])
{
    uint32_t crc = crc32c(0, slot + 12, OWNER_SLOT_BYTES - 12);

    for (unsigned i = 0; i < 4; i++)
        slot[8 + i] = (char)(crc >> 8 * i & 0xff);
}

/* Makes a slot one of an earlier version, with only this many bytes of the fields. */
static void shorten(char slot[OWNER_SLOT_BYTES], unsigned version, unsigned length)
{
    memset(slot + 14 + length, 0, OWNER_SLOT_BYTES - 14 - length);
    slot[13] = (char)length;
    slot[14] = (char)version;
    with_crc(slot);
}

/* Version 1, which must stay readable: see "to change the format" in owner_record.h. */
static void version_1(void **state)
{
    static const uint8_t fields[] = {
        1,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,
        14,   15,   16,   7,    0xac, 0x02, 5,    1,    0xb8, 0x17, 0x08, 0x9f, 0x7f, 0xf5,
        0xf7, 0xb5, 0x80, 0x01, 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9,
        0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff, 0xe1, 0x21, 4,    'o',  'n',  'e',  16,   '1',
        '9',  '2',  '.',  '0',  '.',  '2',  '.',  '1',  ':',  '1',  '0',  '0',  '0',  '0',
        11,   'c',  'l',  'i',  'e',  'n',  't',  '4',  '1',  '2',  '3',
    };
    char slot[OWNER_SLOT_BYTES];
    struct owner_record record = sample(5), read;

    (void)state;
    set_no_protocol(&record);
    record.renewed_ns = 0;
    owner_record_write(&record, slot);
    memset(slot + 13, 0, OWNER_SLOT_BYTES - 13);
    slot[13] = (char)sizeof fields;
    memcpy(slot + 14, fields, sizeof fields);
    with_crc(slot);
    memset(record.owner.forward, 0, sizeof record.owner.forward);
    assert_true(owner_record_read(slot, &read));
    assert_memory_equal(&read, &record, sizeof read);
}

/* Version 2 has the same fields, and one more. */
static void version_2(void **state)
{
    static const uint8_t forward[] = { 16,  '1', '9', '2', '.', '0', '.', '2',
                                       '.', '1', ':', '1', '0', '0', '2', '0' };
    char slot[OWNER_SLOT_BYTES];
    struct owner_record record = sample(5), read;

    (void)state;
    set_no_protocol(&record);
    record.renewed_ns = 0;
    owner_record_write(&record, slot);
    memset(slot + 14 + 81, 0, sizeof slot - 14 - 81);
    memcpy(slot + 14 + 81, forward, sizeof forward);
    slot[13] = (char)(81 + sizeof forward);
    slot[14] = 2;
    with_crc(slot);
    assert_true(owner_record_read(slot, &read));
    assert_memory_equal(&read, &record, sizeof read);
}

/* Version 3 has one more. */
static void version_3(void **state)
{
    static const uint8_t used[] = { 0x80, 0x02 };
    char slot[OWNER_SLOT_BYTES];
    struct owner_record record = sample(5), read;

    (void)state;
    set_no_protocol(&record);
    record.renewed_ns = 0;
    record.used_bytes = 256;
    owner_record_write(&record, slot);
    memset(slot + 14 + 97 + sizeof used, 0, sizeof slot - 14 - 97 - sizeof used);
    slot[13] = (char)(97 + sizeof used);
    slot[14] = 3;
    with_crc(slot);
    assert_memory_equal(slot + 14 + 97, used, sizeof used);
    assert_true(owner_record_read(slot, &read));
    assert_memory_equal(&read, &record, sizeof read);
}

/* Version 4 has four more. */
static void version_4(void **state)
{
    static const uint8_t more[] = { 6, '1', '.', '2', '.', '3', 1, 3, 'm', 'n', 0xae, 0x2c };
    char slot[OWNER_SLOT_BYTES];
    struct owner_record record = sample(5), read;

    (void)state;
    snprintf(record.owner.version, sizeof record.owner.version, "%s", "1.2.3");
    snprintf(record.move, sizeof record.move, "%s", "mn");
    owner_record_write(&record, slot);
    assert_int_equal((uint8_t)slot[13], 98 + sizeof more + 5);
    shorten(slot, 4, 98 + sizeof more);
    set_no_protocol(&record);
    assert_memory_equal(slot + 14 + 98, more, sizeof more);
    assert_true(owner_record_read(slot, &read));
    assert_memory_equal(&read, &record, sizeof read);
    record.is_held = false; /* a cell without an owner is not served */
    owner_record_write(&record, slot);
    assert_false(owner_record_read(slot, &read));
}

/* Version 5 has one more, which is sent to clients within a path: it is a host and nothing else. */
static void version_5(void **state)
{
    static const uint8_t smb[] = { 6, 'a', '.', 'b', '-', '1' };
    char slot[OWNER_SLOT_BYTES];
    struct owner_record record = sample(5), read;
    unsigned length;

    (void)state;
    owner_record_write(&record, slot);
    length = (uint8_t)slot[13] - 5u; /* without an empty one, and what later versions add */
    snprintf(record.owner.smb, sizeof record.owner.smb, "%s", "a.b-1");
    owner_record_write(&record, slot);
    shorten(slot, 5, length + sizeof smb);
    set_no_protocol(&record);
    assert_memory_equal(slot + 14 + length, smb, sizeof smb);
    assert_true(owner_record_read(slot, &read));
    assert_memory_equal(&read, &record, sizeof read);
    snprintf(record.owner.smb, sizeof record.owner.smb, "%s", "a\\b");
    owner_record_write(&record, slot);
    assert_false(owner_record_read(slot, &read));
    snprintf(record.owner.smb, sizeof record.owner.smb, "%s", "2001:db8::1");
    owner_record_write(&record, slot);
    assert_false(owner_record_read(slot, &read));
}

/* Version 6 has two more. */
static void version_6(void **state)
{
    static const uint8_t keys[] = { 0x80, 0x02, 7 };
    char slot[OWNER_SLOT_BYTES];
    struct owner_record record = sample(5), read;
    unsigned length;

    (void)state;
    owner_record_write(&record, slot);
    length = (uint8_t)slot[13] - 4u; /* without keys, and what version 7 adds */
    record.keys[0] = 256;
    record.keys[1] = 7;
    owner_record_write(&record, slot);
    shorten(slot, 6, length + sizeof keys);
    set_no_protocol(&record);
    assert_memory_equal(slot + 14 + length, keys, sizeof keys);
    assert_true(owner_record_read(slot, &read));
    assert_memory_equal(&read, &record, sizeof read);
}

/* Version 7 has two more. A later version has more fields than this one knows, and is read without them. */
static void version_7(void **state)
{
    static const uint8_t protocol[] = { 5, 9 };
    char slot[OWNER_SLOT_BYTES];
    struct owner_record record = sample(5), read;
    unsigned length;

    (void)state;
    owner_record_write(&record, slot);
    length = (uint8_t)slot[13];
    assert_int_equal(slot[14], 7);
    assert_memory_equal(slot + 14 + length - sizeof protocol, protocol, sizeof protocol);
    memset(slot + 14 + length, 'x', 9);
    slot[13] = (char)(length + 9);
    with_crc(slot);
    assert_false(owner_record_read(slot, &read)); /* version 7 has no such fields */
    slot[14] = 8;
    with_crc(slot);
    assert_true(owner_record_read(slot, &read));
    assert_memory_equal(&read, &record, sizeof read);
    shorten(slot, 8, length - 1); /* but it has those of version 7 */
    assert_false(owner_record_read(slot, &read));
}

/* Each byte of the file, changed. */
static void damaged(void **state)
{
    char slot[OWNER_SLOT_BYTES];
    struct owner_record record = sample(5), read;

    (void)state;
    owner_record_write(&record, slot);
    for (size_t i = 0; i < sizeof slot; i++) {
        slot[i] = (char)(slot[i] ^ 1);
        assert_false(owner_record_read(slot, &read));
        slot[i] = (char)(slot[i] ^ 1);
    }
    assert_true(owner_record_read(slot, &read));
    memset(slot, 0, sizeof slot);
    assert_false(owner_record_read(slot, &read));
}

/* A valid checksum does not make a record: what is written into a command line and onto a terminal has no control
 * characters, and nothing follows the fields. */
static void hostile(void **state)
{
    char slot[OWNER_SLOT_BYTES];
    struct owner_record record = sample(5), read;

    (void)state;
    record.owner.name[1] = '\n';
    owner_record_write(&record, slot);
    assert_false(owner_record_read(slot, &read));
    record.owner.name[1] = 0x7f;
    owner_record_write(&record, slot);
    assert_false(owner_record_read(slot, &read));
    record = sample(5);
    owner_record_write(&record, slot);
    slot[OWNER_SLOT_BYTES - 1] = 1;
    with_crc(slot);
    assert_false(owner_record_read(slot, &read));
    record.cell = 0;
    owner_record_write(&record, slot);
    assert_false(owner_record_read(slot, &read));
    record.cell = OWNER_CELL_MAX + 1;
    owner_record_write(&record, slot);
    assert_false(owner_record_read(slot, &read));
    record = sample(5);
    record.lease_ms = OWNER_LEASE_MAX_MS + 1;
    owner_record_write(&record, slot);
    assert_false(owner_record_read(slot, &read));
    record.lease_ms = 0; /* a held cell has a lease */
    owner_record_write(&record, slot);
    assert_false(owner_record_read(slot, &read));
    for (unsigned version = 0; version < 7; version++) {
        record = sample(5);
        owner_record_write(&record, slot);
        slot[14] = (char)version;
        with_crc(slot);
        assert_false(owner_record_read(slot, &read));
    }
}

/* Records are written to both slots in turn, so the one before outlives a write that is torn. */
static void newest(void **state)
{
    char file[OWNER_FILE_BYTES] = { 0 };
    struct owner_record record, read;

    (void)state;
    assert_false(owner_record_newest(file, &read));
    for (uint64_t i = 0; i < 5; i++) {
        record = sample(i);
        owner_record_write(&record, file + owner_record_offset(&record));
        assert_true(owner_record_newest(file, &read));
        assert_int_equal(read.renewal, i);
    }
    memset(file + owner_record_offset(&record) + 20, 0, 100);
    assert_true(owner_record_newest(file, &read));
    assert_int_equal(read.renewal, 3);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_as_written), cmocka_unit_test(version_1), cmocka_unit_test(version_2),
        cmocka_unit_test(version_3),       cmocka_unit_test(version_4), cmocka_unit_test(version_5),
        cmocka_unit_test(version_6),       cmocka_unit_test(version_7), cmocka_unit_test(damaged),
        cmocka_unit_test(hostile),         cmocka_unit_test(newest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
