/* What a simulated SMB client asks: of the same few names as the clients of REST (fs_ask.h), by handles that it
 * has open. */
#ifndef LAGRA_SIM_SM_ASK_H
#define LAGRA_SIM_SM_ASK_H

#include "fs_ask.h"

enum sm_op {
    SM_NOTHING, /* it is no request of SMB */
    SM_OPEN,
    SM_RETURN, /* to a durable handle, by another connection */
    SM_READ,   /* from here on: by a handle */
    SM_WRITE,
    SM_SET_LENGTH,
    SM_FLUSH,
    SM_QUERY, /* its length, and whether it is to be deleted */
    SM_LIST,  /* of a directory: some of its names */
    SM_LOCK,
    SM_UNLOCK,
    SM_SET_DELETE, /* that it is deleted with its last handle, or not */
    SM_RENAME,
    SM_NOTIFY, /* of a directory: what changes in it; it waits on when it is answered */
    SM_LISTEN, /* to what it is told so, for some seconds */
    SM_STOP,   /* cancels it */
    SM_CLOSE,
    SM_HANG_UP, /* the connection ends, and all its handles with it */
    SM_OPS
};

/* Requests that go as one frame: an open, and what is asked by it. MS-SMB2 3.3.5.2.7.2 */
#define SM_PARTS 3u

/* What a client may keep to itself: what it has read, its handle, what it has not written yet. */
enum { CACHES_R = 1, CACHES_H = 2, CACHES_W = 4, CACHES_ALL = 7 };
/* What an open may do, and what others may do beside it. */
enum { MAY_R = 1, MAY_W = 2, MAY_D = 4, MAY_RWD = 7 };

/* MS-SMB2 2.2.13 "CreateDisposition" */
enum sm_disposition {
    SM_SUPERSEDE,
    SM_OPEN_THERE,
    SM_CREATE,
    SM_OPEN_IF,
    SM_OVERWRITE,
    SM_OVERWRITE_IF,
    SM_DISPOSITIONS
};

/* What has come of it: CreateAction. MS-SMB2 2.2.14 */
enum { SM_SUPERSEDED, SM_OPENED, SM_CREATED, SM_OVERWRITTEN };

/* MS-SMB2 2.2.13 "CreateOptions" */
enum sm_kind { SM_ANY_KIND, SM_FILE, SM_DIRECTORY };

/* How far a list of a directory has come: "." and "..", then its names in their order. */
enum { SM_DOT, SM_DOT_DOT, SM_FIRST_NAME, SM_LIST_END = SM_FIRST_NAME + FS_NAMES };
/* What is listed by. MS-FSA 2.1.4.4 */
#define SM_PATTERNS 14u
struct sm_pattern {
    const char *text;
    unsigned holds; /* bits of the places above */
};
extern const struct sm_pattern sm_patterns[SM_PATTERNS];
struct sm_scan {
    unsigned pattern, from;
    bool has_begun;
    unsigned sure; /* bits: names that were there when it came so far, which it may not miss */
};

/* A handle, as its client knows it. */
struct sm_handle {
    uint64_t open; /* of the model; 0: none */
    uint64_t persistent, volatile_id;
};

struct sm_ask {
    enum sm_op op;
    enum sm_op then[SM_PARTS - 1]; /* of an open: by its handle, in the same frame */
    unsigned then_count;
    struct fs_path path; /* of an open; the new one of a rename */
    enum sm_disposition disposition;
    enum sm_kind kind;
    unsigned access, share;  /* MAY_* */
    struct sm_handle handle; /* of what goes by one */
    unsigned from, to;       /* slots */
    unsigned seed;
    unsigned length; /* slots */
    bool write_through;
    bool deletes;        /* the open, when it is closed; or what is to be set */
    bool replaces;       /* what has the new name */
    unsigned caching;    /* CACHES_*, that an open asks for; 0: nothing */
    uint64_t key;        /* of its lease; 0: it asks for an oplock */
    bool is_durable;     /* the open is to outlast its connection, */
    bool persists;       /* and the server */
    unsigned kept_s;     /* so long; 0: as long as may be */
    uint64_t create;     /* GUID of what it asks for, or comes back to; 0: none */
    bool is_exclusive;   /* a lock, */
    uint64_t waits_ns;   /* which waits so long, and is then cancelled; 0: it does not */
    struct sm_scan scan; /* of a list; pattern: of one that begins, or begins anew */
    bool restarts, is_single;
    /* Of a watch. */
    uint32_t filter, room;
    bool is_recursive;
    bool replays; /* an open: it goes by a connection that is lost, and once more by another one */
};

/* An entry of a list. */
struct sm_entry {
    unsigned place; /* of sm_scan */
    bool is_other_case, is_directory;
    uint64_t file_id, length;
};

struct sm_reply {
    uint32_t status;
    uint32_t statuses[SM_PARTS]; /* of each part */
    unsigned action;             /* SM_OPENED ... */
    uint64_t persistent, volatile_id;
    uint64_t length; /* of what was opened, or asked for */
    bool is_delete_pending;
    unsigned caching; /* CACHES_* that an open was given */
    struct sm_entry entries[SM_LIST_END];
    unsigned entry_count;
};

/* Those that the model knows. MS-ERREF 2.3.1 */
#define SM_SUCCESS            0u
#define SM_PENDING            0x00000103u
#define SM_CLEANUP            0x0000010Bu
#define SM_ENUM_DIR           0x0000010Cu
#define SM_NOT_AVAILABLE      0xC0000467u
#define SM_MORE_PROCESSING    0xC0000016u
#define SM_BAD_NETWORK_NAME   0xC00000CCu
#define SM_END_OF_FILE        0xC0000011u
#define SM_LOCK_CONFLICT      0xC0000054u
#define SM_LOCK_NOT_GRANTED   0xC0000055u
#define SM_RANGE_NOT_LOCKED   0xC000007Eu
#define SM_INVALID_PARAMETER  0xC000000Du
#define SM_UNSUCCESSFUL       0xC0000001u
#define SM_INVALID_OPLOCK     0xC00000E3u
#define SM_CANCELLED          0xC0000120u
#define SM_ACCESS_DENIED      0xC0000022u
#define SM_NAME_NOT_FOUND     0xC0000034u
#define SM_NAME_COLLISION     0xC0000035u
#define SM_PATH_NOT_FOUND     0xC000003Au
#define SM_SHARING_VIOLATION  0xC0000043u
#define SM_DELETE_PENDING     0xC0000056u
#define SM_DISK_FULL          0xC000007Fu
#define SM_IS_A_DIRECTORY     0xC00000BAu
#define SM_NOT_A_DIRECTORY    0xC0000103u
#define SM_NOT_EMPTY          0xC0000101u
#define SM_NO_SUCH_FILE       0xC000000Fu
#define SM_NO_MORE_FILES      0x80000006u
#define SM_CANNOT_DELETE      0xC0000121u
#define SM_FILE_CLOSED        0xC0000128u
#define SM_IO_ERROR           0xC00000E9u
#define SM_NO_RESOURCES       0xC000009Au
#define SM_NO_SERVER_RESOURCE 0xC0000205u
#define SM_DATA_ERROR         0xC000003Eu
#define SM_IO_TIMEOUT         0xC00000B5u

/* A part of what is asked in one frame, as if it was asked alone, by that handle. 0: the open */
struct sm_ask sm_part(const struct sm_ask *ask, unsigned part, const struct sm_handle *handle);
/* For people. */
void sm_ask_format(const struct sm_ask *ask, char *to, size_t size);

#endif
