/* Opens of a file: whether an operation may proceed next to them, and what a new open may cache:
 * access, sharing, caching, delete pending. An operation of the File REST API counts as an open of
 * zero duration; an SMB open lasts. Pure; nothing here waits, sends or stores. The numbered rules
 * (16-25) are in README.md. source: MS-FSA 2.1.5.1.2.2 (sharing), 2.1.4.12 and MS-SMB2 3.3.4.7
 * (breaks), MS-FSA 2.1.5.18 (grants); Azure Files "Manage file locks"; semantics 8.2 to 8.4.
 * Thread-safe. */
#ifndef LAGRA_CONCURRENCY_OPENS_H
#define LAGRA_CONCURRENCY_OPENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors.h"

/* Desired access and share mode. */
#define ACCESS_READ    1
#define ACCESS_WRITE   2
#define ACCESS_DELETE  4
#define ACCESS_ALL     7

/* What a client may cache: data it has read, the open handle after its application closed it, data
 * it has not sent yet. "RWH" of MS-SMB2 2.2.13.2.8. */
#define CACHING_READ   1
#define CACHING_HANDLE 2
#define CACHING_WRITE  4
#define CACHING_ALL    7

#define NO_CACHING     UINT16_MAX

/* Kinds of write caching that conflict with an open. An attribute-only open conflicts with none;
 * one that also reads the security descriptor conflicts with oplocks but not with leases. */
#define MEETS_OPLOCKS  1
#define MEETS_LEASES   2
#define MEETS_ALL      3

/* An SMB open. */
struct file_open {
    uint8_t access;   /* ACCESS_*; 0 means not part of sharing checks */
    uint8_t share;    /* ACCESS_* that others may have */
    uint8_t meets;    /* MEETS_* */
    uint16_t caching; /* index into file_opens.cachings, or NO_CACHING */
};

/* The caching state of one open (oplock) or of all opens with a lease key. An oplock is R (level
 * II), RW (exclusive) or RWH (batch); a break leaves at most R. */
struct file_caching {
    uint8_t holds;     /* CACHING_* as granted, until the client acknowledges a break */
    uint8_t breaks_to; /* target of the break in progress, or `holds` */
    bool is_oplock;
};

/* All opens of a file. Borrowed; all indexes in it are valid. */
struct file_opens {
    const struct file_open *opens;
    size_t open_count;
    const struct file_caching *cachings;
    size_t caching_count;
    bool is_delete_pending;
    bool is_read_only; /* the file's attribute */
    bool is_leased;    /* by Lease File, neither broken nor released */
    bool has_locks;    /* has byte-range locks */
};

/* Access that an operation needs. */
struct file_use {
    uint8_t access;         /* ACCESS_* */
    uint8_t share;          /* ACCESS_* that it tolerates from others */
    uint8_t breaks_caching; /* CACHING_* that others must give up */
    /* CACHING_* whose breaks must be acknowledged first; other bits in `breaks_caching` are broken
     * without waiting */
    uint8_t waits_for;
    bool needs_no_open;       /* fails if there is any open, even for attributes only */
    bool needs_writable;      /* refused on a read-only file */
    bool ignores_pending;     /* proceeds even if a delete is pending */
    bool is_open;             /* an SMB open: a REST lease excludes writers */
    bool breaks_oplocks_only; /* breaks and waits for oplocks only */
    bool changes_data;        /* write by a handle: breaks its own level II oplock too */
    bool is_rename;           /* a rename: breaks handle-caching oplocks to none */
    bool has_waited;          /* has waited for breaks; proceeds once none is in progress */
};

/* Needs of the operations of the File REST API: semantics 8.2, 8.4. For replaced and renamed files
 * they are not documented: rule 20. */
enum rest_use {
    REST_LISTS,    /* List Directories and Files, List Handles, Force Close Handles */
    REST_PASSES,   /* Lease File except acquire; properties of a directory: rule 20 */
    REST_EXAMINES, /* Get File Properties, Get File Metadata */
    REST_READS,    /* Get File, List Ranges, source of Copy File */
    /* Put Range, Set File Properties, Set File Metadata, completion of a pending copy */
    REST_WRITES,
    REST_REPLACES, /* Create File and Copy File over an existing file */
    REST_RENAMES,  /* Rename File, Rename Directory: source */
    REST_DELETES,  /* Delete File, Delete Directory; Rename File: replaced file */
    REST_LEASES,   /* Lease File: acquire */
    REST_USES
};
const struct file_use *rest_use(enum rest_use use);

/* Returns true if the open and the operation are compatible in sharing. Ignores caching. */
bool opens_are_compatible(const struct file_open *open, const struct file_use *use);

/* A break to be sent: caching number `caching` goes down to `to`. */
struct caching_break {
    uint16_t caching;
    uint8_t to;
};

struct opens_check_result {
    enum error error; /* OK, or why it is refused (then there are no breaks) */
    bool waits;       /* send the breaks, and check again after an acknowledgment or a close */
    size_t
        break_count; /* breaks to be sent, even if it does not wait; excludes breaks in progress */
};

/* Checks whether an operation may proceed next to these opens.
 *
 * own         caching of the operation itself (an SMB open with the same lease key), which it does
 *             not break, or NO_CACHING
 * ret_breaks  array of opens->caching_count
 * error       E_DeletePending a delete is pending
 *             E_ReadOnlyAttribute   the file is read-only
 *             E_SharingViolation    an open or a REST lease conflicts */
struct opens_check_result opens_check(const struct file_opens *opens, const struct file_use *use,
                                      uint16_t own, struct caching_break *ret_breaks);

/* Returns the CACHING_* flags of `wants` to grant to a new open that opens_check() has allowed.
 * own: the lease that the open shares with other opens, or NO_CACHING; a shared lease never loses
 * flags. Rule 24 */
uint8_t opens_grant(const struct file_opens *opens, uint8_t wants, bool is_oplock, uint16_t own);

#endif
