/* Opens of a file, whether an operation may go on beside them, and what a new open may cache: access, sharing,
 * caching, delete pending. An operation of the File REST API counts as an open that lasts no time; one of SMB stays.
 * Pure; nothing here waits, sends or stores. The numbered rules (16-25) are in README.md.
 * source: MS-FSA 2.1.5.1.2.2 (sharing), 2.1.4.12 and MS-SMB2 3.3.4.7 (breaks), MS-FSA 2.1.5.18 (grants); Azure
 * Files "Manage file locks"; semantics 8.2 to 8.4. Any thread. */
#ifndef LAGRA_CONCURRENCY_OPENS_H
#define LAGRA_CONCURRENCY_OPENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors.h"

/* What an open may do, and what others may do beside it. */
#define ACCESS_READ    1
#define ACCESS_WRITE   2
#define ACCESS_DELETE  4
#define ACCESS_ALL     7

/* What a client may keep to itself: data it has read, the open handle after its program closed it,
 * data it has not sent yet. "RWH" of MS-SMB2 2.2.13.2.8. */
#define CACHING_READ   1
#define CACHING_HANDLE 2
#define CACHING_WRITE  4
#define CACHING_ALL    7

#define NO_CACHING     UINT16_MAX

/* Whose write caching an open cannot be beside. One for attributes alone is beside all; one that reads the
 * security descriptor as well is beside leases. */
#define MEETS_OPLOCKS  1
#define MEETS_LEASES   2
#define MEETS_ALL      3

/* One open of SMB. */
struct file_open {
    uint8_t access;   /* ACCESS_*; 0: takes no part in sharing */
    uint8_t share;    /* ACCESS_* that others may have beside it */
    uint8_t meets;    /* MEETS_* */
    uint16_t caching; /* index into file_opens.cachings, NO_CACHING */
};

/* What one client holds, for one open (oplock) or for all that have its lease key. An oplock is R (level II), RW
 * (exclusive) or RWH (batch); what breaks it leaves R at most. */
struct file_caching {
    uint8_t holds;     /* CACHING_*, as granted, until the client acknowledges less */
    uint8_t breaks_to; /* what it is to go down to; `holds` when nothing is asked of it */
    bool is_oplock;
};

/* All that is open of one file. Borrowed; no index in it is out of range. */
struct file_opens {
    const struct file_open *opens;
    size_t open_count;
    const struct file_caching *cachings;
    size_t caching_count;
    bool is_delete_pending;
    bool is_read_only; /* the file's attribute */
    bool is_leased;    /* by Lease File, and neither broken nor released */
    bool has_locks;    /* of byte ranges */
};

/* What an operation needs of a file. */
struct file_use {
    uint8_t access;       /* ACCESS_* */
    uint8_t share;        /* ACCESS_* that it bears beside it */
    uint8_t strips;       /* CACHING_* that nobody else keeps */
    uint8_t waits_for;    /* CACHING_* whose holders are waited for; others lose them meanwhile */
    bool needs_no_open;   /* not even one for attributes */
    bool needs_writable;  /* refused on a read-only file */
    bool ignores_pending; /* goes on where a delete is pending */
    bool is_open;         /* comes from SMB: a lease of REST shuts out writers */
    bool spares_leases;   /* strips and waits for oplocks alone */
    bool changes_data;    /* by a handle: its own level II oplock goes, too */
    bool takes_names; /* of an oplock that caches handles nothing is left: the file is renamed */
    bool has_waited;  /* for others: it goes on once no break is under way any more */
};

/* What operations of the File REST API need: semantics 8.2, 8.4. Those of a file that is replaced or
 * renamed are not documented: rule 20. */
enum rest_use {
    REST_LISTS,    /* List Directories and Files, List Handles, Force Close Handles */
    REST_PASSES,   /* Lease File but for acquire; properties of a directory: rule 20 */
    REST_EXAMINES, /* Get File Properties, Get File Metadata */
    REST_READS,    /* Get File, List Ranges, source of Copy File */
    REST_WRITES, /* Put Range, Set File Properties, Set File Metadata, the end of a pending copy */
    REST_REPLACES, /* Create File and Copy File over a file */
    REST_RENAMES,  /* Rename File, Rename Directory: the source */
    REST_DELETES,  /* Delete File, Delete Directory; Rename File: the file that is replaced */
    REST_LEASES,   /* Lease File: acquire */
    REST_USES
};
const struct file_use *rest_use(enum rest_use use);

/* Do this open and the operation share the file? What the open's client caches does not matter. */
bool opens_bear(const struct file_open *open, const struct file_use *use);

/* One break to be sent: caching number `caching` is to go down to `to`. */
struct caching_break {
    uint16_t caching;
    uint8_t to;
};

struct opens_verdict {
    enum error error; /* OK, or why it is refused: no breaks then */
    bool waits; /* send the breaks, and ask again when one was acknowledged or an open closed */
    size_t
        break_count; /* to be sent, also where it does not wait; none that is under way already */
};

/* May the operation go on beside these opens?
 *
 * own         the caching that the operation itself has (an SMB open with the same lease key), which
 *             it does not break; NO_CACHING
 * ret_breaks  room for opens->caching_count
 * error       E_DeletePending       a delete is pending
 *             E_ReadOnlyAttribute   the file is read-only
 *             E_SharingViolation    an open, or a lease of REST, does not bear it */
struct opens_verdict opens_judge(const struct file_opens *opens, const struct file_use *use,
                                 uint16_t own, struct caching_break *ret_breaks);

/* What of the caching `wants` a new open may have beside the others, once opens_judge() has let it pass.
 *
 * own      the caching of its lease, which other opens have already; NO_CACHING
 * returns  CACHING_*; of `own` what that has from now on: more, or what it had. Rule 24 */
uint8_t opens_grant(const struct file_opens *opens, uint8_t wants, bool is_oplock, uint16_t own);

#endif
