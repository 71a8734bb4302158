/* See wire.h. */
#include "smb_protocol/wire.h"

#include <assert.h>

#include "base/endian.h"

/* ---- reading ---- */

void wire_reader_init(struct wire_reader *r, struct bytes message)
{
    *r = (struct wire_reader){ .message = (const uint8_t *)message.ptr, .size = message.len };
}

/* Returns the next bytes, or NULL if there are not enough. */
static const uint8_t *take(struct wire_reader *r, size_t count)
{
    const uint8_t *at;

    if (count > wire_left(r)) {
        r->bad = true;
        return NULL;
    }
    at = r->message + r->at;
    r->at += count;
    return at;
}

uint8_t wire_u8(struct wire_reader *r)
{
    const uint8_t *at = take(r, 1);

    return at ? at[0] : 0;
}

uint16_t wire_u16(struct wire_reader *r)
{
    const uint8_t *at = take(r, 2);

    return at ? le16_get(at) : 0;
}

uint32_t wire_u32(struct wire_reader *r)
{
    const uint8_t *at = take(r, 4);

    return at ? le32_get(at) : 0;
}

uint64_t wire_u64(struct wire_reader *r)
{
    const uint8_t *at = take(r, 8);

    return at ? le64_get(at) : 0;
}

struct guid wire_guid(struct wire_reader *r)
{
    const uint8_t *at = take(r, sizeof(struct guid));
    struct guid guid = { 0 };

    if (at)
        memcpy(&guid, at, sizeof guid);
    return guid;
}

struct bytes wire_bytes(struct wire_reader *r, size_t count)
{
    const uint8_t *at = count > 0 ? take(r, count) : NULL;

    return at ? bytes_of(at, count) : bytes_of("", 0);
}

void wire_skip(struct wire_reader *r, size_t count)
{
    wire_bytes(r, count);
}

/* Returns the padding needed at offset `at`. */
static size_t padding(size_t at, size_t alignment)
{
    assert(alignment > 0 && (alignment & (alignment - 1)) == 0);
    return (alignment - at % alignment) % alignment;
}

void wire_pass_padding(struct wire_reader *r, size_t alignment)
{
    size_t count = padding(r->at, alignment);

    wire_skip(r, count < wire_left(r) ? count : wire_left(r));
}

void wire_seek(struct wire_reader *r, size_t offset, size_t floor)
{
    if (r->bad || offset < floor || offset > r->size)
        r->bad = true;
    else
        r->at = offset;
}

struct bytes wire_buffer(struct wire_reader *r, size_t offset, size_t length, size_t floor)
{
    if (length == 0)
        return bytes_of("", 0);
    if (r->bad || offset < floor || offset > r->size || length > r->size - offset) {
        r->bad = true;
        return bytes_of("", 0);
    }
    return bytes_of(r->message + offset, length);
}

/* ---- writing ---- */

void wire_writer_init(struct wire_writer *w, struct text *out)
{
    *w = (struct wire_writer){ .out = out, .start = out->len };
}

void wire_put_u8(struct wire_writer *w, uint8_t value)
{
    text_add_char(w->out, (char)value);
}

void wire_put_u16(struct wire_writer *w, uint16_t value)
{
    char bytes[2];

    le16_put(bytes, value);
    text_add(w->out, bytes_of(bytes, sizeof bytes));
}

void wire_put_u32(struct wire_writer *w, uint32_t value)
{
    char bytes[4];

    le32_put(bytes, value);
    text_add(w->out, bytes_of(bytes, sizeof bytes));
}

void wire_put_u64(struct wire_writer *w, uint64_t value)
{
    char bytes[8];

    le64_put(bytes, value);
    text_add(w->out, bytes_of(bytes, sizeof bytes));
}

void wire_put_guid(struct wire_writer *w, const struct guid *guid)
{
    text_add(w->out, bytes_of(guid->b, sizeof guid->b));
}

void wire_put(struct wire_writer *w, struct bytes bytes)
{
    text_add(w->out, bytes);
}

void wire_put_placed(struct wire_writer *w, struct bytes bytes)
{
    assert(bytes.ptr == w->out->ptr + w->out->len);
    assert(bytes.len <= w->out->capacity - w->out->len);
    w->out->len += bytes.len;
}

void wire_put_zeros(struct wire_writer *w, size_t count)
{
    text_reserve(w->out, count);
    memset(w->out->ptr + w->out->len, 0, count);
    w->out->len += count;
}

void wire_put_padding(struct wire_writer *w, size_t alignment)
{
    wire_put_zeros(w, padding(wire_place(w), alignment));
}

void wire_set_u16(struct wire_writer *w, size_t at, uint16_t value)
{
    assert(wire_place(w) >= 2 && at <= wire_place(w) - 2);
    le16_put(w->out->ptr + w->start + at, value);
}

void wire_set_u32(struct wire_writer *w, size_t at, uint32_t value)
{
    assert(wire_place(w) >= 4 && at <= wire_place(w) - 4);
    le32_put(w->out->ptr + w->start + at, value);
}

/* ---- names and times ---- */

bool wire_utf8(struct arena *arena, struct bytes utf16, struct bytes *ret_utf8)
{
    struct text out;

    if (utf16.len % 2 != 0)
        return false;
    text_init(&out, arena, utf16.len / 2 * 3);
    for (size_t at = 0; at < utf16.len; at += 2) {
        uint32_t c = le16_get(utf16.ptr + at), low;

        if (c >= 0xDC00 && c <= 0xDFFF)
            return false;
        if (c >= 0xD800 && c <= 0xDBFF) {
            at += 2;
            low = at < utf16.len ? le16_get(utf16.ptr + at) : 0;
            if (low < 0xDC00 || low > 0xDFFF)
                return false;
            c = 0x10000 + ((c - 0xD800) << 10 | (low - 0xDC00));
        }
        text_add_code_point(&out, c);
    }
    *ret_utf8 = text_bytes(&out);
    return true;
}

void wire_put_utf16(struct wire_writer *w, struct bytes utf8)
{
    text_reserve(w->out, utf8.len * 2);
    while (utf8.len > 0) {
        uint32_t c = bytes_take_code_point(&utf8);

        if (c >= 0x10000) {
            wire_put_u16(w, (uint16_t)(0xD7C0 + (c >> 10)));
            c = 0xDC00 | (c & 0x3FF);
        }
        wire_put_u16(w, (uint16_t)c);
    }
}

uint64_t filetime_of(instant t)
{
    return t > FILETIME_EPOCH ? t - FILETIME_EPOCH : 0;
}

instant filetime_instant(uint64_t filetime)
{
    return filetime > 0 && filetime <= INT64_MAX ? filetime + FILETIME_EPOCH : 0;
}

/* ---- SMB2 header ---- */

static const uint8_t plain_id[4] = { 0xFE, 'S', 'M', 'B' };
static const uint8_t sealed_id[4] = { 0xFD, 'S', 'M', 'B' };
static const uint8_t compressed_id[4] = { 0xFC, 'S', 'M', 'B' };
static const uint8_t smb1_id[4] = { 0xFF, 'S', 'M', 'B' };

/* Reads both forms of the header, ASYNC and SYNC. ms-smb2: 2.2.1.1, 2.2.1.2 */
bool smb_header_read(struct wire_reader *r, struct smb_header *ret_header)
{
    struct smb_header h = { 0 };
    struct bytes id = wire_bytes(r, sizeof plain_id), signature;
    uint16_t size = wire_u16(r);

    h.credit_charge = wire_u16(r);
    h.status = wire_u32(r);
    h.command = wire_u16(r);
    h.credits = wire_u16(r);
    h.flags = wire_u32(r);
    h.next_command = wire_u32(r);
    h.message_id = wire_u64(r);
    if (h.flags & SMB_FLAG_ASYNC) {
        h.async_id = wire_u64(r);
    } else {
        h.process_id = wire_u32(r);
        h.tree_id = wire_u32(r);
    }
    h.session_id = wire_u64(r);
    signature = wire_bytes(r, SMB_SIGNATURE_SIZE);
    if (!wire_ok(r) || !bytes_equal(id, bytes_of(plain_id, sizeof plain_id)) ||
        size != SMB_HEADER_SIZE)
        return false;
    memcpy(h.signature, signature.ptr, sizeof h.signature);
    *ret_header = h;
    return true;
}

void smb_header_write(struct wire_writer *w, const struct smb_header *header)
{
    assert(wire_place(w) == 0);
    wire_put(w, bytes_of(plain_id, sizeof plain_id));
    wire_put_u16(w, SMB_HEADER_SIZE);
    wire_put_u16(w, header->credit_charge);
    wire_put_u32(w, header->status);
    wire_put_u16(w, header->command);
    wire_put_u16(w, header->credits);
    wire_put_u32(w, header->flags);
    wire_put_u32(w, header->next_command);
    wire_put_u64(w, header->message_id);
    if (header->flags & SMB_FLAG_ASYNC) {
        wire_put_u64(w, header->async_id);
    } else {
        wire_put_u32(w, header->process_id);
        wire_put_u32(w, header->tree_id);
    }
    wire_put_u64(w, header->session_id);
    wire_put(w, bytes_of(header->signature, sizeof header->signature));
    assert(wire_place(w) == SMB_HEADER_SIZE);
}

/* ---- transform header ---- */

enum smb_frame smb_frame_kind(struct bytes frame)
{
    static const struct {
        const uint8_t *id;
        enum smb_frame kind;
    } kinds[] = {
        { plain_id, SMB_FRAME_PLAIN },
        { sealed_id, SMB_FRAME_SEALED },
        { compressed_id, SMB_FRAME_COMPRESSED },
        { smb1_id, SMB_FRAME_SMB1 },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (bytes_has_prefix(frame, bytes_of(kinds[i].id, sizeof plain_id)))
            return kinds[i].kind;
    return SMB_FRAME_UNKNOWN;
}

/* Flags in 3.1.1. In 3.0 the field is EncryptionAlgorithm, whose only value, AES-128-CCM, is also
 * 1. ms-smb2: 2.2.41 */
#define TRANSFORM_ENCRYPTED 1

bool smb_transform_read(struct bytes frame, struct smb_transform *ret_transform)
{
    struct smb_transform t = { 0 };
    struct wire_reader r;
    struct bytes signature, nonce;
    uint16_t flags;

    if (smb_frame_kind(frame) != SMB_FRAME_SEALED)
        return false;
    wire_reader_init(&r, frame);
    wire_skip(&r, sizeof sealed_id);
    signature = wire_bytes(&r, sizeof t.signature);
    nonce = wire_bytes(&r, sizeof t.nonce);
    t.size = wire_u32(&r);
    wire_skip(&r, 2);
    flags = wire_u16(&r);
    t.session_id = wire_u64(&r);
    if (!wire_ok(&r) || flags != TRANSFORM_ENCRYPTED || t.size != wire_left(&r))
        return false;
    memcpy(t.signature, signature.ptr, sizeof t.signature);
    memcpy(t.nonce, nonce.ptr, sizeof t.nonce);
    *ret_transform = t;
    return true;
}

void smb_transform_write(uint8_t to[SMB_TRANSFORM_SIZE], const struct smb_transform *transform)
{
    memcpy(to, sealed_id, sizeof sealed_id);
    memcpy(to + 4, transform->signature, sizeof transform->signature);
    memcpy(to + 20, transform->nonce, sizeof transform->nonce);
    le32_put(to + 36, transform->size);
    le16_put(to + 40, 0);
    le16_put(to + 42, TRANSFORM_ENCRYPTED);
    le64_put(to + 44, transform->session_id);
}

/* ---- path names in CREATE and renames ---- */

#define NAMES_MAX 256u /* more than a path can have */

/* Replaces each '/' by a backslash, as both separate names. decision: 444 */
static struct bytes with_backslashes(struct arena *arena, struct bytes path)
{
    char *copy;

    if (!memchr(path.ptr, '/', path.len))
        return path;
    copy = arena_bytes(arena, path.len);
    for (size_t i = 0; i < path.len; i++)
        copy[i] = path.ptr[i] == '/' ? '\\' : path.ptr[i];
    return bytes_of(copy, path.len);
}

/* Streams are not supported. ".." is resolved lexically: decision 377. ms-smb2: 3.3.5.9 */
enum nt_status smb_read_names(struct arena *arena, struct bytes path,
                              const struct bytes **ret_names, size_t *ret_count)
{
    struct bytes *names = arena_array(arena, NAMES_MAX, sizeof *names);
    size_t count = 0;

    path = with_backslashes(arena, path);
    if (path.len > 0 && path.ptr[0] == '\\')
        return STATUS_INVALID_PARAMETER;
    if (memchr(path.ptr, ':', path.len))
        return STATUS_OBJECT_NAME_INVALID;
    for (struct bytes rest = path; path.len > 0 && rest.ptr;) {
        struct bytes name;

        bytes_cut(rest, '\\', &name, &rest);
        if (name.len == 0 || count == NAMES_MAX)
            return STATUS_OBJECT_NAME_INVALID;
        if (!bytes_is(name, ".."))
            names[count++] = name;
        else if (count-- == 0)
            return STATUS_OBJECT_PATH_SYNTAX_BAD;
    }
    *ret_names = names;
    *ret_count = count;
    return STATUS_SUCCESS;
}
