/* Requests of a simulated client for a hierarchical account, through both of its endpoints: two filesystems (one in
 * clusters), with three names in each of their directories, three levels deep.
 *
 * A place is the number of a path. In the first filesystem, 0 is the root, and the entries of the directory p are 3 p + 1 to
 * 3 p + 3, in the order of their names. The places of the second one follow in the same order. */
#ifndef LAGRA_SIM_PATH_ASK_H
#define LAGRA_SIM_PATH_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leases.h"

#define PATH_NAMES       3u
#define PATH_FILESYSTEMS 2u
#define PATH_OF_ONE      40u /* places of one filesystem */
#define PATH_PLACES      (PATH_FILESYSTEMS * PATH_OF_ONE)
#define PATH_TEXT_SIZE   16
#define PATH_TOKEN_SIZE  120
#define PATH_ACL_SIZE    400
/* Places of one filesystem that can have entries. */
#define PATH_DIRECTORIES 13u
/* Users who have no role, so that only lists permit something to them; 0 is the superuser. */
#define PATH_USERS       2u
#define PATH_LEASE_IDS   2u
#define PATH_BLOCK_IDS   4u
#define PATH_LIST_BLOCKS 3u
#define PATH_TIME_SIZE   32
/* Duration of leases that are not infinite. */
#define PATH_LEASE_S     20
#define PATH_MARKER_SIZE 120

enum path_op {
    PATH_CREATE_FILESYSTEM,
    PATH_HOLD, /* by the operator: the legal hold of a filesystem */
    PATH_DELETE_FILESYSTEM,
    PATH_CREATE_FILE,
    PATH_CREATE_DIRECTORY,
    PATH_PUT, /* Put Blob */
    PATH_APPEND,
    PATH_FLUSH,
    PATH_SET_PROPERTIES, /* or Set Blob Metadata */
    PATH_SET_ACL,
    PATH_LEASE,
    PATH_PUT_BLOCK,
    PATH_PUT_BLOCK_LIST,
    PATH_SNAPSHOT,
    PATH_RENAME,
    PATH_DELETE, /* a file or directory, or a snapshot */
    PATH_SET_EXPIRY,
    PATH_UNDELETE,
    PATH_SET_SERVICE, /* the soft-delete policy */
    PATH_READ,        /* this and the following change nothing */
    PATH_GET_FILESYSTEM,
    PATH_GET_PROPERTIES,
    PATH_GET_ACCESS,
    PATH_GET_BLOCK_LIST,
    PATH_LIST,
    PATH_LIST_SNAPSHOTS, /* List Blobs, of all files */
    PATH_LIST_DELETED,   /* the same, of deleted paths */
    PATH_GET_SERVICE,
    PATH_OPS
};

enum path_if {
    PATH_IF_NOTHING,
    PATH_IF_MATCH,
    PATH_IF_MATCH_ANY,
    PATH_IF_NONE_MATCH,
    PATH_IF_NONE_MATCH_ANY,
    PATH_IF_MODIFIED,
    PATH_IF_UNMODIFIED,
    PATH_IFS
};
struct path_condition {
    enum path_if kind;
    uint64_t etag; /* ticks */
    int64_t date;  /* Unix seconds */
};

/* x-ms-lease-action of an append or flush. */
enum path_lease {
    PATH_LEASES_NOTHING,
    PATH_ACQUIRES,
    PATH_RENEWS,
    PATH_RELEASES, /* this and the next only of requests that flush */
    PATH_ACQUIRES_AND_RELEASES
};

struct path_content {
    uint64_t seed;
    uint32_t length;
    unsigned block; /* id of the block + 1; 0 for other content */
};

enum path_block_source { PATH_COMMITTED, PATH_UNCOMMITTED, PATH_LATEST };

/* Expiry that a request sets. */
enum path_expiry { PATH_NO_EXPIRY, PATH_EXPIRES_IN, PATH_EXPIRES_AT, PATH_NEVER_EXPIRES };

enum { PATH_EXECUTE = 1, PATH_WRITE = 2, PATH_READS = 4 };
#define PATH_NO_USER 0u
/* The entries of one scope. */
struct path_rights {
    unsigned user, group, other;
    unsigned named, of_named; /* a user, or PATH_NO_USER, and his entry */
    unsigned mask;            /* if there is a named user */
};
struct path_acl {
    unsigned owner;
    bool is_sticky, has_defaults;
    struct path_rights access, defaults;
};

struct path_ask {
    enum path_op op;
    unsigned place, from; /* from: source of a rename */
    unsigned user;        /* who sends it */
    bool by_blob;         /* through the Blob endpoint */
    struct path_condition condition, source_condition;
    struct lease_terms lease;     /* its id is also that of other requests */
    unsigned source_lease;        /* of a rename; 0 if not sent */
    enum path_lease lease_action; /* append, flush */
    bool is_legacy;               /* mode of a rename; otherwise none is sent */
    bool is_recursive;            /* delete, list */
    unsigned value;               /* metadata; 0 if none */
    struct path_acl acl;          /* without its owner */
    bool sets_mode;               /* only the mode of the list is set */
    struct path_content content;
    uint32_t position; /* append, flush */
    bool keeps_rest;   /* of a flush */
    bool flushes;      /* of an append */
    struct {
        enum path_block_source source;
        unsigned block;
    } list[PATH_LIST_BLOCKS]; /* of a block list */
    unsigned list_count;
    char snapshot[PATH_TIME_SIZE]; /* read, delete; empty for the file */
    bool with_snapshots;           /* delete */
    unsigned max;                  /* maximum entries of a list; 0 if not sent */
    char continuation[PATH_TOKEN_SIZE];
    unsigned next; /* first place of a continued list; 0 for the first page */
    enum path_expiry expiry;
    uint64_t expiry_time; /* milliseconds, or Unix seconds */
    unsigned days;        /* of retention; 0: soft delete is off */
    bool releases;        /* the hold is removed */
    uint64_t
        deletion; /* ticks: which deletion is restored, or the first one of the page; 0 if none */
    char marker[PATH_MARKER_SIZE]; /* of a list of deleted paths */
};

/* Headers of a response. */
struct path_reply {
    char continuation[PATH_TOKEN_SIZE];
    char resource_type[16], existing_type[16];
    char owner[40], acl[PATH_ACL_SIZE], permissions[16];
    unsigned value;
    uint64_t deletion; /* ticks; 0 if the path is not retained */
    int64_t expiry_s;  /* Unix seconds; 0 if none */
};

extern const char *const path_filesystems[PATH_FILESYSTEMS];
/* Returns the number of filesystems in this run. */
unsigned path_filesystem_count(void);
extern const char *const path_op_names[PATH_OPS];
/* Writes a path within the filesystem: "a/b"; "" for the root. */
void path_text(unsigned place, char to[PATH_TEXT_SIZE]);
/* Returns the place of a path in the filesystem of `root`, or PATH_PLACES if there is none. */
unsigned path_place(unsigned root, const char *text, size_t length);
static inline unsigned path_filesystem_of(unsigned place)
{
    return place / PATH_OF_ONE;
}
/* Returns the root of the filesystem. */
static inline unsigned path_root(unsigned place)
{
    return place - place % PATH_OF_ONE;
}
static inline bool path_is_root(unsigned place)
{
    return place % PATH_OF_ONE == 0;
}
/* Not for a root. */
static inline unsigned path_parent(unsigned place)
{
    return path_root(place) + (place % PATH_OF_ONE - 1) / PATH_NAMES;
}
/* Returns the number of its name in its directory. Not for a root. */
static inline unsigned path_name_of(unsigned place)
{
    return (place % PATH_OF_ONE - 1) % PATH_NAMES;
}
/* Returns the entry of a directory with this name, or PATH_PLACES if it is too deep. */
static inline unsigned path_child(unsigned place, unsigned name)
{
    return place % PATH_OF_ONE < PATH_DIRECTORIES
               ? path_root(place) + PATH_NAMES * (place % PATH_OF_ONE) + 1 + name
               : PATH_PLACES;
}
/* Returns whether the place is `above` or below it. */
bool path_is_below(unsigned place, unsigned above);
/* Returns the new place of `place` after a rename from `from` to `to`, or PATH_PLACES if it is too deep. */
unsigned path_moved(unsigned place, unsigned from, unsigned to);
/* Returns the name of an owner or user. */
const char *path_user(unsigned user);
/* Writes a list as x-ms-acl has it; with its mask as in a response. */
void path_acl_text(const struct path_acl *acl, bool with_mask, char to[PATH_ACL_SIZE]);
/* Formats a request for messages. */
void path_ask_format(const struct path_ask *ask, char *to, size_t size);

#endif
