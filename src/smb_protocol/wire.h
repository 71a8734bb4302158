/* Encoding of SMB2 messages: a bounds-checked reader and a writer (little endian; offsets are
 * relative to the start of the message), UTF-16LE names, FILETIME, SMB2 header and transform
 * header. Pure functions. Readers and writers are not thread-safe.
 *
 * The reader treats its input as hostile: a read beyond the end of the message sets `bad`, and all
 * later reads return zeros and empty buffers. Callers check wire_ok() once, before they use the
 * values. ms-smb2: 2.2 */
#ifndef LAGRA_SMB_PROTOCOL_WIRE_H
#define LAGRA_SMB_PROTOCOL_WIRE_H

#include "base/arena.h"
#include "base/dates.h"
#include "base/ids.h"
#include "smb_protocol/status.h"

/* ---- reading ---- */

struct wire_reader {
    const uint8_t *message; /* not owned */
    size_t size;
    size_t at; /* at most size */
    bool bad;
};

/* Reads one message of a compound, which ends at the next header. */
void wire_reader_init(struct wire_reader *r, struct bytes message);
static inline bool wire_ok(const struct wire_reader *r)
{
    return !r->bad;
}
static inline size_t wire_left(const struct wire_reader *r)
{
    return r->bad ? 0 : r->size - r->at;
}
uint8_t wire_u8(struct wire_reader *r);
uint16_t wire_u16(struct wire_reader *r);
uint32_t wire_u32(struct wire_reader *r);
uint64_t wire_u64(struct wire_reader *r);
struct guid wire_guid(struct wire_reader *r); /* the 16 bytes as received */
/* Returns the next bytes, which remain part of the message. */
struct bytes wire_bytes(struct wire_reader *r, size_t count);
void wire_skip(struct wire_reader *r, size_t count);
/* Skips padding up to a multiple of `alignment` (a power of two), or up to the end. */
void wire_pass_padding(struct wire_reader *r, size_t alignment);
/* Moves to an offset given in the message, from `floor`, the end of the fixed part, to the end of
 * the message. */
void wire_seek(struct wire_reader *r, size_t offset, size_t floor);
/* Returns a buffer given by offset and length, without moving the reader. The offset of an empty
 * buffer is ignored, since clients send arbitrary values (ms-smb2: 3.3.5.9). The ptr is never
 * NULL. */
struct bytes wire_buffer(struct wire_reader *r, size_t offset, size_t length, size_t floor);

/* ---- writing ---- */

/* Appends to a text, which grows in its arena and also contains the earlier messages of a compound.
 * The caller checks sizes; exceeding the limit of the arena is a bug. */
struct wire_writer {
    struct text *out;
    size_t start; /* start of this message in *out */
};

/* Starts a message at the end of *out. */
void wire_writer_init(struct wire_writer *w, struct text *out);
/* Returns the current offset in the message. */
static inline size_t wire_place(const struct wire_writer *w)
{
    return w->out->len - w->start;
}
void wire_put_u8(struct wire_writer *w, uint8_t value);
void wire_put_u16(struct wire_writer *w, uint16_t value);
void wire_put_u32(struct wire_writer *w, uint32_t value);
void wire_put_u64(struct wire_writer *w, uint64_t value);
void wire_put_guid(struct wire_writer *w, const struct guid *guid);
void wire_put(struct wire_writer *w, struct bytes bytes);
/* Appends bytes that were written to reserved space already. */
void wire_put_placed(struct wire_writer *w, struct bytes bytes);
void wire_put_zeros(struct wire_writer *w, size_t count);
/* Appends zeros up to a multiple of `alignment` (a power of two) from the start of the message. */
void wire_put_padding(struct wire_writer *w, size_t alignment);
/* Overwrites a value at an offset in the message, such as a length that was not known before. */
void wire_set_u16(struct wire_writer *w, size_t at, uint16_t value);
void wire_set_u32(struct wire_writer *w, size_t at, uint32_t value);

/* ---- names and times ---- */

/* Converts UTF-16LE to UTF-8. Returns false for an odd length or an unpaired surrogate, as REST
 * could not represent such a name. */
bool wire_utf8(struct arena *arena, struct bytes utf16, struct bytes *ret_utf8);
/* Appends valid UTF-8 as UTF-16LE without a terminator: bytes_utf16_units() * 2 bytes. */
void wire_put_utf16(struct wire_writer *w, struct bytes utf8);

/* FILETIME: 100 ns units since 1601; 0 is no time. ms-dtyp: 2.3.3 */
#define FILETIME_EPOCH UINT64_C(504911232000000000) /* 1601-01-01 as an instant */
/* Returns 0 for an instant before 1601. */
uint64_t filetime_of(instant t);
/* Returns 0 for values with the highest bit set: the caller must check for -1 and -2 first
 * (ms-fscc: 2.4.7). */
instant filetime_instant(uint64_t filetime);

/* ---- SMB2 header: ms-smb2 2.2.1 ---- */

#define SMB_HEADER_SIZE 64
#define SMB_COMMANDS    19 /* known commands are below it */

enum smb_command {
    SMB_NEGOTIATE,
    SMB_SESSION_SETUP,
    SMB_LOGOFF,
    SMB_TREE_CONNECT,
    SMB_TREE_DISCONNECT,
    SMB_CREATE,
    SMB_CLOSE,
    SMB_FLUSH,
    SMB_READ,
    SMB_WRITE,
    SMB_LOCK,
    SMB_IOCTL,
    SMB_CANCEL,
    SMB_ECHO,
    SMB_QUERY_DIRECTORY,
    SMB_CHANGE_NOTIFY,
    SMB_QUERY_INFO,
    SMB_SET_INFO,
    SMB_OPLOCK_BREAK,
};

enum smb_dialect {
    SMB_NO_DIALECT = 0,
    SMB_202 = 0x0202, /* recognized only to be rejected */
    SMB_210 = 0x0210,
    SMB_300 = 0x0300,
    SMB_302 = 0x0302,
    SMB_311 = 0x0311,
};

#define SMB_FLAG_RESPONSE  0x00000001u /* SERVER_TO_REDIR */
#define SMB_FLAG_ASYNC     0x00000002u
#define SMB_FLAG_RELATED   0x00000004u
#define SMB_FLAG_SIGNED    0x00000008u
#define SMB_FLAG_PRIORITY  0x00000070u
#define SMB_FLAG_DFS       0x10000000u
#define SMB_FLAG_REPLAY    0x20000000u

#define SMB_FLAGS_AT       16 /* offset in the header */
#define SMB_SIGNATURE_AT   48 /* offset in the header */
#define SMB_SIGNATURE_SIZE 16

struct smb_header {
    uint16_t credit_charge;
    uint32_t status;       /* in a request: ChannelSequence in the low half (3.x) */
    uint16_t command;      /* enum smb_command, or unknown */
    uint16_t credits;      /* requested or granted */
    uint32_t flags;        /* SMB_FLAG_.. */
    uint32_t next_command; /* offset of the next message of the compound; 0 for the last */
    uint64_t message_id;
    uint64_t async_id;   /* only with SMB_FLAG_ASYNC */
    uint32_t process_id; /* only without it */
    uint32_t tree_id;    /* only without it */
    uint64_t session_id;
    uint8_t signature[SMB_SIGNATURE_SIZE];
};

/* Reads the header and moves the reader to its end. Returns false if the message has no complete
 * SMB2 header with a StructureSize of 64. Does not check the consistency of the fields. */
bool smb_header_read(struct wire_reader *r, struct smb_header *ret_header);
/* Writes the header at the start of the message. */
void smb_header_write(struct wire_writer *w, const struct smb_header *header);

/* ---- transform header of an encrypted frame: ms-smb2 2.2.41 ---- */

#define SMB_TRANSFORM_SIZE       52
#define SMB_TRANSFORM_NONCE_SIZE 16
struct smb_transform {
    uint8_t signature[SMB_SIGNATURE_SIZE];
    uint8_t nonce[SMB_TRANSFORM_NONCE_SIZE];
    uint32_t size; /* OriginalMessageSize */
    uint64_t session_id;
};

/* Kind of a frame, by its ProtocolId. */
enum smb_frame {
    SMB_FRAME_UNKNOWN,
    SMB_FRAME_SMB1,
    SMB_FRAME_PLAIN,
    SMB_FRAME_SEALED,
    SMB_FRAME_COMPRESSED
};
enum smb_frame smb_frame_kind(struct bytes frame);

/* Returns false if the frame has no complete transform header with the Encrypted flag, or if
 * OriginalMessageSize is not the size of the rest. */
bool smb_transform_read(struct bytes frame, struct smb_transform *ret_transform);
void smb_transform_write(uint8_t to[SMB_TRANSFORM_SIZE], const struct smb_transform *transform);

/* Splits a path of a create or rename at its backslashes; an empty path is the root. Allocates in
 * the arena. Returns STATUS_SUCCESS, STATUS_INVALID_PARAMETER, STATUS_OBJECT_NAME_INVALID or
 * STATUS_OBJECT_PATH_SYNTAX_BAD. */
enum nt_status smb_read_names(struct arena *arena, struct bytes path,
                              const struct bytes **ret_names, size_t *ret_count);

#endif
