/* Stores the security descriptors of a share. */
#include "acl/permission_store.h"

#include <assert.h>
#include <nettle/sha2.h>

#include "base/codec.h"
#include "base/encode.h"
#include "base/endian.h"
#include "service/small_record.h"

#define RECORD_VERSION 1
#define KEY_MAX        20u /* digits of a number */

static const struct bytes record_key = BYTES("p");

/* ---- numbers and keys ---- */

/* Returns the first 64 bits of the descriptor's hash. On a collision, the following numbers are
 * tried. */
static uint64_t first_number(struct bytes descriptor)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx hash;

    sha256_init(&hash);
    sha256_update(&hash, descriptor.len, (const uint8_t *)descriptor.ptr);
    sha256_digest(&hash, sizeof digest, digest);
    return be64_get(digest);
}

/* Appends "*1", which identifies how the number is derived. */
struct bytes permission_key(struct arena *arena, uint64_t number)
{
    static const struct bytes behind = BYTES("*1");
    char *room = arena_bytes(arena, DECIMAL_DIGITS + behind.len);
    struct bytes digits = bytes_decimal(number, room); /* right-aligned in their buffer */

    memcpy(room + DECIMAL_DIGITS, behind.ptr, behind.len);
    return bytes_of(digits.ptr, digits.len + behind.len);
}

bool permission_key_parse(struct bytes key, uint64_t *ret_number)
{
    struct bytes number, rest;

    bytes_cut(key, '*', &number, &rest);
    return number.len <= KEY_MAX && (number.len < 2 || number.ptr[0] != '0') &&
           bytes_is(rest, "1") && bytes_parse_u64(number, UINT64_MAX, ret_number);
}

/* ---- descriptors in requests ---- */

struct bytes permission_parse(struct arena *arena, struct bytes text, bool binary)
{
    struct security_descriptor descriptor;

    if (binary)
        text = base64_decode(arena, text);
    if (!text.ptr || !(binary ? security_descriptor_decode(arena, text, &descriptor)
                              : sddl_read(arena, text, &descriptor)))
        return bytes_of(NULL, 0);
    return security_descriptor_encode(arena, &descriptor);
}

/* ---- default descriptors ---- */

/* The documented root descriptor of new shares, and the descriptors inherited from it. Numbers:
 * first_number() of the canonical form; verified by test_permissions.
 * docs: storage-files-identity-configure-file-level-permissions */
static const struct {
    uint64_t number;
    const char *sddl;
} defaults[] = {
    [PERMISSION_OF_ROOT] = { UINT64_C(5924832799196145163),
                             "O:SYG:SYD:(A;OICI;FA;;;BA)(A;;0x1200a9;;;BU)(A;OICIIO;GXGR;;;BU)"
                             "(A;OICI;0x1301bf;;;AU)(A;OICI;FA;;;SY)(A;OICIIO;GA;;;CO)" },
    [PERMISSION_OF_DIRECTORIES] = { UINT64_C(14420577381516753868),
                                    "O:SYG:SYD:AI(A;OICIID;FA;;;BA)(A;ID;0x1200a9;;;BU)"
                                    "(A;OICIIOID;GXGR;;;BU)(A;OICIID;0x1301bf;;;AU)"
                                    "(A;OICIID;FA;;;SY)(A;ID;FA;;;SY)(A;OICIIOID;GA;;;CO)" },
    [PERMISSION_OF_FILES] = { UINT64_C(2145061034228578544),
                              "O:SYG:SYD:AI(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)"
                              "(A;ID;0x1301bf;;;AU)(A;ID;FA;;;SY)(A;ID;FA;;;SY)" },
};

uint64_t permission_default(enum permission_default which)
{
    return defaults[which].number;
}

static struct bytes canonical(struct arena *arena, const char *sddl)
{
    struct security_descriptor descriptor;
    bool valid = sddl_read(arena, bytes_from_string(sddl), &descriptor);

    assert(valid);
    return security_descriptor_encode(arena, &descriptor);
}

/* Returns the default descriptor with this number; ptr NULL if none exists. */
static struct bytes default_of(struct arena *arena, uint64_t number)
{
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        if (defaults[i].number == number)
            return canonical(arena, defaults[i].sddl);
    }
    return bytes_of(NULL, 0);
}

/* ---- records ---- */

static struct partition partition_of(struct arena *arena, struct guid space, uint64_t number)
{
    char *key = arena_bytes(arena, 1 + 8);

    key[0] = 'P';
    be64_put(key + 1, number);
    return (struct partition){ space, bytes_of(key, 1 + 8) };
}

/* Reads the record. *ret_descriptor: ptr NULL if it does not exist */
static enum store_result read_record(struct decision *d, struct read_view *before,
                                     struct bytes *ret_descriptor)
{
    struct record record;
    struct decoder in;
    enum store_result result = read_view_get(before, RECORD_INNER, record_key, d->arena, &record);

    *ret_descriptor = bytes_of(NULL, 0);
    if (result)
        return result == STORE_NOT_FOUND ? STORE_OK : result;
    decoder_init(&in, record.value);
    if (decode_u8(&in) == RECORD_VERSION)
        *ret_descriptor = decode_bytes(&in);
    if (!decoder_ok(&in) || !ret_descriptor->ptr)
        return record_is_unknown("the record of a permission", record.value);
    return STORE_OK;
}

enum error permission_find(struct decision *d, struct guid space, uint64_t number,
                           struct bytes *ret_descriptor)
{
    struct decision_part *part;
    enum store_result result;

    *ret_descriptor = default_of(d->arena, number);
    if (ret_descriptor->ptr)
        return OK;
    part = decision_open(d, partition_of(d->arena, space, number), NULL);
    result = read_record(d, part->before, ret_descriptor);
    decision_leave(d, part);
    return result ? decision_fail_store(d, result) : OK;
}

enum error permission_find_key(struct decision *d, struct guid space, struct bytes key,
                               uint64_t *ret_number, struct bytes *ret_descriptor)
{
    enum store_result confirmed;
    enum error e;

    if (!permission_key_parse(key, ret_number)) {
        problem_set_header(d->problem, "x-ms-file-permission-key", key);
        return decision_take_back(d, E_InvalidHeaderValue);
    }
    e = permission_find(d, space, *ret_number, ret_descriptor);
    if (e || ret_descriptor->ptr)
        return e;
    confirmed = decision_confirm(d); /* fails if the share was deleted in between */
    if (confirmed)
        return decision_fail_store(d, confirmed);
    return decision_take_back(d, E_FileInvalidPermissionKey);
}

static void write_record(struct decision *d, struct decision_part *part, struct bytes descriptor)
{
    struct text out;

    text_init(&out, d->arena, 16 + descriptor.len);
    encode_u8(&out, RECORD_VERSION);
    encode_bytes(&out, descriptor);
    changes_put(part->changes, RECORD_INNER, record_key, text_bytes(&out), NULL, 0);
}

enum error permission_keep(struct decision *d, struct guid space, struct bytes descriptor,
                           uint64_t *ret_number)
{
    uint64_t number = first_number(descriptor);
    struct bytes there = default_of(d->arena, number);
    struct decision_part *part;
    enum store_result result;

    for (; !bytes_equal(there, descriptor); number++) {
        part = decision_open(d, partition_of(d->arena, space, number), changes_new(d->arena));
        result = read_record(d, part->before, &there);
        if (result)
            return decision_fail_store(d, result);
        if (!there.ptr) {
            write_record(d, part, descriptor);
            break;
        }
        decision_leave(d, part);
        if (bytes_equal(there, descriptor))
            break;
    }
    *ret_number = number;
    return OK;
}

/* Returns the descriptor that a new node inherits, or its directory's descriptor if that would be
 * too large. ACEs in the root's children are marked as inherited, although the root's own
 * descriptor has no such flag. decision: 309 */
static struct bytes inherited(struct arena *arena, struct bytes parent, bool is_root,
                              bool for_directory, const struct descriptor_maker *maker)
{
    struct security_descriptor descriptor;
    struct bytes encoded;

    if (!security_descriptor_decode(arena, parent, &descriptor))
        return bytes_of(NULL, 0);
    if (is_root)
        descriptor.control |= CONTROL_DACL_INHERITED;
    descriptor = security_descriptor_inherit(arena, &descriptor, for_directory, maker);
    encoded = security_descriptor_encode(arena, &descriptor);
    return encoded.ptr ? encoded : parent;
}

enum error permission_inherited(struct decision *d, struct guid space, uint64_t parent,
                                bool for_directory, const struct descriptor_maker *maker,
                                struct bytes *ret_descriptor)
{
    bool is_root = parent == permission_default(PERMISSION_OF_ROOT);
    struct bytes descriptor;
    enum error e = permission_find(d, space, parent, &descriptor);

    if (e)
        return e;
    if (descriptor.ptr)
        descriptor = inherited(d->arena, descriptor, is_root, for_directory, maker);
    *ret_descriptor = descriptor;
    return descriptor.ptr ? OK : decision_fail_store(d, STORE_CORRUPT);
}

enum error permission_inherit(struct decision *d, struct guid space, uint64_t parent,
                              bool for_directory, uint64_t *ret_number)
{
    struct bytes descriptor;
    enum error e;

    *ret_number =
        permission_default(for_directory ? PERMISSION_OF_DIRECTORIES : PERMISSION_OF_FILES);
    if (parent == permission_default(PERMISSION_OF_ROOT) ||
        parent == permission_default(PERMISSION_OF_DIRECTORIES))
        return OK;
    e = permission_inherited(d, space, parent, for_directory, &descriptor_of_system, &descriptor);
    return e ? e : permission_keep(d, space, descriptor, ret_number);
}
