/* Bytes of SMB2 messages: a bounded reader and a writer (little endian; offsets count from the
 * first byte of the message), UTF-16LE names, FILETIME, the two headers. Pure functions. Any
 * thread, one at a time for a reader or writer.
 *
 * The reader trusts nothing: what is short, or lies outside of the message, marks it `bad`; all
 * later reads return zeros and empty runs, and who reads checks wire_ok() once at the end,
 * before anything is made of the values. ms-smb2: 2.2 */
#ifndef LAGRA_SMB_WIRE_H
#define LAGRA_SMB_WIRE_H

#include "base/arena.h"
#include "base/dates.h"
#include "base/ids.h"

/* ---- reading ---- */

struct wire_reader {
    const uint8_t *message; /* offsets count from here; not owned */
    size_t size;
    size_t at; /* at most size */
    bool bad;
};

/* Of one message of a compound: from its header to the next one's. */
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
struct guid wire_guid(struct wire_reader *r); /* the 16 bytes as they come */
/* The next bytes; they stay in the message. */
struct bytes wire_bytes(struct wire_reader *r, size_t count);
void wire_skip(struct wire_reader *r, size_t count);
/* Passes over what is missing to a multiple of `alignment` (a power of two), at most to the end. */
void wire_pass_padding(struct wire_reader *r, size_t alignment);
/* Goes on at an offset that the message names: not before `floor`, where its fixed part ends,
 * and not past its end. */
void wire_seek(struct wire_reader *r, size_t offset, size_t floor);
/* A buffer that the message names by offset and length, without moving. The offset of an empty
 * one is not looked at: clients send any (ms-smb2: 3.3.5.9). Returns a ptr that is not NULL. */
struct bytes wire_buffer(struct wire_reader *r, size_t offset, size_t length, size_t floor);

/* ---- writing ---- */

/* Into a text that grows in its arena, which also holds the messages before in a compound. Who
 * writes has checked the sizes: what is too much for the arena is a bug. */
struct wire_writer {
    struct text *out;
    size_t start; /* where this message begins in *out */
};

/* The message begins at the end of *out. */
void wire_writer_init(struct wire_writer *w, struct text *out);
/* Offset in the message of what is written next. */
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
/* What lies there already: room that was reserved, and filled. */
void wire_put_placed(struct wire_writer *w, struct bytes bytes);
void wire_put_zeros(struct wire_writer *w, size_t count);
/* Zeros up to a multiple of `alignment` (a power of two) from the start of the message. */
void wire_put_padding(struct wire_writer *w, size_t alignment);
/* Changes what has been written at an offset in the message: lengths and offsets that are known
 * later. */
void wire_set_u16(struct wire_writer *w, size_t at, uint16_t value);
void wire_set_u32(struct wire_writer *w, size_t at, uint32_t value);

/* ---- names and times ---- */

/* UTF-16LE to UTF-8. Returns false for an odd length and for a surrogate without its other half:
 * such a name cannot be kept, nor be seen by REST. */
bool wire_utf8(struct arena *arena, struct bytes utf16, struct bytes *ret_utf8);
/* UTF-8, which must be valid, as UTF-16LE without an end; bytes_utf16_units() * 2 bytes. */
void wire_put_utf16(struct wire_writer *w, struct bytes utf8);

/* 100 ns since 1601; 0: none, both ways. ms-dtyp: 2.3.3 */
#define FILETIME_EPOCH UINT64_C(504911232000000000) /* 1601-01-01 as an instant */
/* An instant before 1601 is 0: there is none. */
uint64_t filetime_of(instant t);
/* Values with the highest bit, which are not times (-1, -2 of ms-fscc: 2.4.7), are 0: look at
 * them before. */
instant filetime_instant(uint64_t filetime);

/* ---- the header: ms-smb2 2.2.1 ---- */

#define SMB_HEADER_SIZE 64
#define SMB_COMMANDS    19 /* below it: known commands */

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
    SMB_202 = 0x0202, /* answered only by who must refuse it */
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

#define SMB_FLAGS_AT       16 /* in the header */
#define SMB_SIGNATURE_AT   48 /* of 16 bytes, in the header */
#define SMB_SIGNATURE_SIZE 16

struct smb_header {
    uint16_t credit_charge;
    uint32_t status;       /* of a request: channel sequence in the low half (3.x) */
    uint16_t command;      /* enum smb_command, or what nobody knows */
    uint16_t credits;      /* asked or granted */
    uint32_t flags;        /* SMB_FLAG_.. */
    uint32_t next_command; /* offset of the next message of the compound; 0: this is the last */
    uint64_t message_id;
    uint64_t async_id;   /* with SMB_FLAG_ASYNC only */
    uint32_t process_id; /* without it only */
    uint32_t tree_id;    /* without it only */
    uint64_t session_id;
    uint8_t signature[SMB_SIGNATURE_SIZE];
};

/* Returns false when the message does not begin with a whole SMB2 header whose StructureSize is
 * 64. What the fields mean together is the caller's to check. Leaves the reader behind the
 * header. */
bool smb_header_read(struct wire_reader *r, struct smb_header *ret_header);
/* At the start of the message. */
void smb_header_write(struct wire_writer *w, const struct smb_header *header);

/* ---- the transform header, before a sealed frame: ms-smb2 2.2.41 ---- */

#define SMB_TRANSFORM_SIZE       52
#define SMB_TRANSFORM_NONCE_SIZE 16
struct smb_transform {
    uint8_t signature[SMB_SIGNATURE_SIZE];
    uint8_t nonce[SMB_TRANSFORM_NONCE_SIZE];
    uint32_t size; /* of the message when it is open */
    uint64_t session_id;
};

/* What a frame is, by its first four bytes. */
enum smb_frame {
    SMB_FRAME_UNKNOWN,
    SMB_FRAME_SMB1,
    SMB_FRAME_PLAIN,
    SMB_FRAME_SEALED,
    SMB_FRAME_COMPRESSED
};
enum smb_frame smb_frame_kind(struct bytes frame);

/* Returns false when the frame does not begin with a whole transform header with the flag for
 * "encrypted", or when the size it names is not that of what follows. */
bool smb_transform_read(struct bytes frame, struct smb_transform *ret_transform);
void smb_transform_write(uint8_t to[SMB_TRANSFORM_SIZE], const struct smb_transform *transform);

#endif
