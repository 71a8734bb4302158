/* What a simulated client asks of the File service: one share, whose names are few, so that clients meet
 * in directories that others create, move and delete. */
#ifndef LAGRA_SIM_FS_ASK_H
#define LAGRA_SIM_FS_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy_terms.h"
#include "lease_act.h"

#define FS_NAMES     3u
#define FS_DEPTH     8u /* no path that is asked for is longer */
#define FS_DATE_SIZE 32u
#define FS_SHARE     "files"
#define FS_BLOBS     2u
/* The bytes of a file are slots that were each written by one request, or never: of a run's size
 * (fs_slot_bytes()). */
#define FS_SLOTS     8u

enum fs_op {
    /* Of the share: */
    FS_CREATE_SHARE,
    FS_SNAPSHOT_SHARE,
    FS_DELETE_SNAPSHOT,
    FS_SET_QUOTA,
    FS_LEASE_SHARE,
    FS_CREATE_PERMISSION,
    FS_DELETE_SHARE,
    FS_RESTORE_SHARE,
    FS_KEEP_SHARES, /* those that are deleted from then on, or not */
    /* Of blobs of the account, which copies are from: */
    FS_CREATE_CONTAINER,
    FS_PUT_BLOB,
    FS_PUT_PAGES,
    FS_DELETE_BLOB,
    /* Of what a path names: */
    FS_CREATE_DIRECTORY,
    FS_CREATE_FILE,
    FS_COPY_FILE,
    FS_ABORT_COPY,
    FS_PUT_RANGE,
    FS_PUT_RANGE_FROM_URL,
    FS_CLEAR_RANGE,
    FS_SET_LENGTH,
    FS_SET_METADATA,
    FS_SET_DIRECTORY_METADATA,
    FS_RENAME_FILE,
    FS_RENAME_DIRECTORY,
    FS_DELETE_FILE,
    FS_DELETE_DIRECTORY,
    FS_LEASE_FILE,
    FS_GET_FILE, /* from here on: reads */
    FS_HEAD_FILE,
    FS_HEAD_DIRECTORY,
    FS_LIST_RANGES,
    FS_LIST_FILES,
    FS_LIST_HANDLES,
    /* Of the share, and of all shares: */
    FS_HEAD_SHARE,
    FS_GET_PERMISSION,
    FS_LIST_SHARES,
    FS_GET_SERVICE,
    FS_GET_BLOB,
    FS_OPS
};

struct fs_path {
    unsigned depth; /* 0: the root */
    unsigned char names[FS_DEPTH];
    unsigned char cases; /* bit i: name i is written in the other case */
};

/* More are not made. */
#define FS_SNAPSHOTS_MAX 60u

/* A snapshot of the share, as somebody was told of it; or one that is deleted and kept. */
struct fs_snapshot {
    uint64_t commit;         /* that made it, or deleted the share; 0: the share itself */
    char date[FS_DATE_SIZE]; /* or version */
};

/* What a list is to show, and from where on. */
enum { FS_TIMESTAMPS = 1, FS_ETAGS = 2, FS_ATTRIBUTES = 4, FS_PERMISSION_KEYS = 8 };
enum { FS_SNAPSHOTS = 1, FS_METADATA = 2, FS_DELETED = 4 }; /* of shares */
struct fs_page {
    unsigned include, prefix; /* of fs_prefixes; 0: none */
    unsigned max;             /* 0: not sent */
    unsigned marker; /* of a name, in either case: number + 1 (fs_name_marker()); 0: none */
};

struct fs_ask {
    enum fs_op op;
    struct fs_snapshot snapshot; /* of what is read, or deleted */
    struct fs_path path;
    struct fs_path source; /* of a rename, whose target is the path; of what is copied */
    struct fs_snapshot source_snapshot;
    bool
        is_remote; /* it lies on another server: so many slots of the pattern of the seed, then zeros */
    unsigned source_length;
    unsigned source_blob; /* the source is a blob, number + 1; 0: none */
    unsigned blob;        /* that is put, read or deleted */
    enum fate fate;
    struct copy_id copy;         /* to be aborted */
    struct fs_snapshot previous; /* List Ranges shows what differs from it */
    bool replaces;               /* of Delete Share: its snapshots go too */
    unsigned metadata;           /* 0: none */
    unsigned length;             /* slots, of a file that is created or cut */
    bool has_range;
    unsigned from, to;    /* slots, of what is read or written */
    unsigned source_from; /* slot; of a range that is copied */
    unsigned seed;        /* of what is written */
    unsigned lease;       /* id of lease_texts; 0: none. Of a rename: the target's */
    unsigned source_lease;
    enum lease_act act;
    unsigned proposed;  /* lease id; 0: none */
    unsigned quota;     /* GiB; 0: none is sent */
    unsigned retention; /* days; 0: deleted shares are not kept */
    struct fs_page page;
    unsigned permission; /* of fs_permissions; 0: none; of a creation: it inherits */
    unsigned letters; /* of fs_letters: of the signature of the share; 0: the account's key signs */
};

/* What answers of this service say beside what all do. */
struct fs_reply {
    uint64_t file_id;
    unsigned quota;
    char permission_key[40];
    char copy_id[40], copy_progress[40]; /* empty: none */
};

extern const char *const fs_shares[1];
extern const char *const fs_op_names[FS_OPS];
/* In both cases, as they are written in a URL. */
extern const char *const fs_names[2][FS_NAMES];
/* The same as bytes. */
extern const char *const fs_name_bytes[2][FS_NAMES];
#define FS_PREFIXES 6u
extern const char *const fs_prefixes[FS_PREFIXES];
/* Which names begin with a prefix, whatever their case: bits. */
extern const unsigned fs_prefix_holds[FS_PREFIXES];
/* Base64 of a name, as markers have it. */
extern const char *const fs_name_base64[2][FS_NAMES];
/* Canonical. Of the first three nothing is inherited. */
#define FS_PERMISSIONS       4u /* that requests give */
#define FS_PERMISSIONS_KNOWN 6u /* with those that directories and files inherit of the last */
extern const char *const fs_permissions[FS_PERMISSIONS_KNOWN + 1];
/* What is inherited of one by what is made in its directory without one of its own; 0: another. */
unsigned fs_inherited(unsigned permission, bool is_directory);

/* What a shared access signature of the share permits. */
#define FS_LETTERS     7u
#define FS_LETTERS_ALL 6u
extern const char *const fs_letters[FS_LETTERS];
/* Any of these is needed; NULL: no such signature is used for it. */
const char *fs_needs_letters(const struct fs_ask *ask);

/* Is it of what a path names? */
bool fs_has_path(enum fs_op op);
bool fs_is_read(enum fs_op op);
/* Does it make or change a directory, file or blob, and its ETag? */
bool fs_writes_node(enum fs_op op);
/* Are there blobs in this run, to be copied to files? */
bool fs_has_blobs(void);
bool fs_is_of_blob(enum fs_op op);
/* Are there large files in this run, so that shares become full? Then files are read by ranges. */
bool fs_is_large(void);
/* Of a file that a run of large files has many of: three fill 1 GiB. */
unsigned fs_large_slots(void);
/* Bytes of a slot in this run: below what lies inline, or so that a file has several units. */
uint32_t fs_slot_bytes(void);
bool fs_same_path(const struct fs_path *one, const struct fs_path *other);
/* For people. */
void fs_ask_format(const struct fs_ask *ask, char *to, size_t size);

#endif
