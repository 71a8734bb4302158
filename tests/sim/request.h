/* A request of a simulated client: what it asks, how it goes through the server's application, and
 * what came back. The signature is made here, by a reading of the reference of its own. */
#ifndef LAGRA_SIM_REQUEST_H
#define LAGRA_SIM_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy_terms.h"
#include "framing.h"
#include "fs_ask.h"
#include "path_ask.h"
#include "protect_ask.h"
#include "queue_ask.h"
#include "sm_ask.h"
#include "table_ask.h"

enum op {
    OP_CREATE_CONTAINER,
    OP_DELETE_CONTAINER,
    OP_GET_CONTAINER,
    OP_SET_CONTAINER_METADATA,
    OP_GET_ACL,
    OP_SET_ACL,
    OP_LEASE_CONTAINER,
    OP_RESTORE_CONTAINER,
    OP_PROTECT,         /* by the operator: changes the protection of a container, */
    OP_SHOW_PROTECTION, /* or shows it */
    OP_FIND,
    OP_LIST_BLOBS,
    OP_LIST_CONTAINERS,
    OP_SET_SERVICE,
    OP_GET_SERVICE,
    OP_BATCH,
    OP_PUT_BLOB,
    OP_GET_BLOB,
    OP_HEAD_BLOB,
    OP_SET_METADATA,
    OP_GET_METADATA,
    OP_SET_PROPERTIES,
    OP_LEASE_BLOB,
    OP_SNAPSHOT,
    OP_DELETE_BLOB,
    OP_PUT_BLOCK,
    OP_PUT_BLOCK_LIST,
    OP_GET_BLOCK_LIST,
    OP_SET_TAGS,
    OP_GET_TAGS,
    OP_APPEND_BLOCK,
    OP_SEAL,
    OP_PUT_PAGE,
    OP_CLEAR_PAGE,
    OP_PAGE_RANGES,
    OP_SET_TIER,
    OP_COPY,
    OP_ABORT_COPY,
    OP_UNDELETE,
    OP_SET_POLICY,
    OP_DELETE_POLICY,
    OP_SET_HOLD,
    OPS
};

#define CLIENTS_MAX   48u
#define CONTAINERS    3u
#define BLOBS         5u
#define LEASE_IDS     3u
#define BLOCK_IDS     4u
#define SEGMENTS_MAX  6u
#define PAGE_BYTES    512u
#define UNIT_PAGES    512u /* of one unit of the server */
#define PAGES_MAX     1100u
#define POLICIES      2u
#define SAS_LETTERS   8u
#define SAS_ALL       4u /* the one that permits most */
#define SAS_TYPES     5u
#define PARTS_MAX     12u
#define REHYDRATE_S   40u
#define LIST_PREFIXES 6u
#define SNAPSHOT_SIZE 32

#define DELETED_SIZE  20
#define MARKER_SIZE   160

enum condition { IF_NOTHING, IF_MATCH_TAG, IF_MATCH_ANY, IF_NONE_MATCH_TAG, IF_NONE_MATCH_ANY };
enum delete_mode { DELETE_BASE, DELETE_INCLUDE, DELETE_ONLY };
enum list_source { FROM_COMMITTED, FROM_UNCOMMITTED, FROM_LATEST };
enum blob_kind { KIND_BLOCKS, KIND_APPENDED, KIND_PAGES };
enum sequence_act { SEQUENCE_KEPT, SEQUENCE_MAX, SEQUENCE_UPDATE, SEQUENCE_INCREMENT };
enum sequence_condition { IF_ANY_SEQUENCE, IF_SEQUENCE_LE, IF_SEQUENCE_LT, IF_SEQUENCE_EQ };
enum tier { AT_INFERRED, AT_HOT, AT_COOL, AT_COLD, AT_ARCHIVE, TIERS };
enum signature {
    SIGNED,
    UNSIGNED,
    SIGNED_WRONGLY,
    SIGNED_LONG_AGO,
    SIGNED_BY_SAS,    /* of the container, with letters of its own */
    SIGNED_BY_POLICY, /* the same, with those of a stored policy */
    SIGNED_BY_USER,   /* of the container, with a user delegation key */
    SIGNED_BY_ACCOUNT_SAS,
};

/* A time of a signature or of a policy: on one side of now or the other, by years. */
enum moment { AT_NO_TIME, LONG_PAST, FAR_AHEAD };
#define MOMENTS 3u
/* Which address, and how, may use a signature; 0: it does not say. */
enum sas_address { ANY_ADDRESS, OWN_ADDRESS, ADDRESSES_AROUND, OTHER_ADDRESS, ADDRESSES_BESIDE };
enum sas_protocol { ANY_PROTOCOL, BOTH_PROTOCOLS, HTTPS_ALONE };
struct sas_terms {
    enum moment start, expiry, key_start, key_expiry;
    enum sas_address address;
    enum sas_protocol protocol;
    unsigned letters; /* of sas_letters, beside those of the policy; 0: none */
};
struct stored_policy {
    bool exists;
    unsigned letters; /* of sas_letters; 0: it says none */
    enum moment start, expiry;
};

/* What a page of a listing or of a search is to show, and from where on. */
enum {
    INCLUDE_SNAPSHOTS = 1,
    INCLUDE_METADATA = 2,
    INCLUDE_UNCOMMITTED = 4,
    INCLUDE_DELETED = 8,
    INCLUDE_VERSIONS = 16,
    INCLUDE_VERSIONS_ONLY = 32, /* names that have no current version */
    INCLUDES = 64,
    INCLUDE_PROTECTION = 64, /* policies and holds */
};
struct page_ask {
    unsigned include;  /* INCLUDE_ bits; of containers: metadata alone */
    unsigned prefix;   /* of list_prefixes; 0: none */
    bool by_delimiter; /* "/" */
    unsigned max;      /* 0: not sent */
    char marker[MARKER_SIZE];
    /* What the marker stands for: the first that the page may show. */
    unsigned from;                     /* blob or container, in the order of names */
    char from_snapshot[SNAPSHOT_SIZE]; /* empty: the base */
    unsigned container, tag;           /* of a search that goes on: its own */
};

/* Bytes of a blob: `length` bytes of the pattern of `seed`. */
struct segment {
    uint64_t seed;
    uint32_t length;
    uint8_t block; /* id + 1; 0: not of a block */
    uint8_t key;   /* of the customer, with which a block was staged; 0: none */
};

struct ask {
    enum op op;
    unsigned container, blob;
    char snapshot[SNAPSHOT_SIZE]; /* empty: the base */
    bool is_version;              /* it is the id of a version */
    enum condition condition;
    uint64_t etag;                            /* of the condition */
    bool is_weak;                             /* that ETag */
    int64_t modified_since, unmodified_since; /* Unix seconds; 0: none */
    enum signature signature;
    unsigned token;     /* principal of a bearer token or user delegation SAS, or 0 (roles.h) */
    unsigned flaw;      /* of that token, or 0 */
    bool wants_key;     /* Get User Delegation Key, in place of `op` */
    unsigned sas;       /* of sas_letters, or the policy's number */
    unsigned sas_types; /* of account_sas_types */
    struct sas_terms terms;
    unsigned origin;    /* the site that asks; of Set Service Properties: that may; 0: none */
    unsigned retention; /* of Set Service Properties: days; 0: nothing is kept */
    unsigned container_retention; /* of the same, of containers */
    char deleted[DELETED_SIZE]; /* of Restore Container: the version of the one that was deleted */
    bool is_versioned;          /* of the same: blobs have versions */
    bool is_permanent;          /* of Delete Blob */
    unsigned if_tag;            /* value that the tag is to have; 0: no such condition */
    const struct malformed *malformed; /* one part of the request is; NULL: none */
    struct page_ask page;
    unsigned lease_id; /* 0: none */
    unsigned metadata; /* 0: none */
    unsigned type;     /* of the content; 0: none sent */
    unsigned tag;      /* value of the one tag; 0: none */
    unsigned access;   /* public: 0 none, 1 blob, 2 container */
    struct stored_policy policies[POLICIES];
    enum tier tier;
    bool is_fast; /* rehydrates with high priority */
    /* Of a copy. */
    unsigned source_container, source_blob;
    char source_snapshot[SNAPSHOT_SIZE];
    bool source_is_version;
    uint64_t source_etag; /* of the condition; 0: none */
    bool is_sync;         /* Copy Blob From URL */
    bool is_remote;       /* its source, of kind and content, lies on another server */
    enum fate fate;
    struct copy_id copy_id; /* to be aborted */
    /* Of a batch: what is asked in it. */
    const struct ask *parts;
    unsigned part_count;
    bool is_of_account; /* batch of the account, whose parts may be for several containers */
    struct segment content;
    enum lease_act act;
    unsigned proposed;       /* lease id; 0: none */
    int duration_s, break_s; /* -1: infinite, none */
    enum delete_mode delete_mode;
    struct {
        enum list_source source;
        unsigned block;
    } list[SEGMENTS_MAX];
    unsigned list_count;
    enum blob_kind kind; /* that Put Blob makes */
    bool has_size;       /* of a page blob that is to be made, or changed */
    uint32_t size;
    enum sequence_act sequence_act;
    enum sequence_condition sequence_condition;
    uint64_t sequence;               /* to be set */
    uint64_t if_sequence;            /* of the condition */
    bool has_position, has_size_max; /* of an append blob */
    uint32_t position, size_max;
    char previous[SNAPSHOT_SIZE]; /* to compare pages with; empty: none */
    bool has_range;
    uint32_t range_from, range_to;
    struct table_ask table; /* of the Table service */
    struct protect_ask protect;
    /* How the client behaves. */
    bool in_pieces;         /* the body comes in pieces */
    uint64_t pause_ns;      /* between them */
    bool goes_away;         /* before the answer */
    bool half_closes;       /* sends no more after the request, but reads */
    unsigned stops_after;   /* pieces of the answer's body that are read; 0: all */
    uint64_t think_ns;      /* before the request */
    struct framing framing; /* by the wire */
    /* Of other services. */
    struct queue_ask queue;
    struct fs_ask fs;     /* of the File service */
    struct sm_ask smb;    /* the same by SMB, if its `op` says so */
    struct path_ask path; /* of a hierarchical account */
};

struct reply {
    bool came; /* else the client went away, or the connection was cut */
    int status;
    char code[64];
    uint64_t etag;      /* 0: none */
    bool etag_is_odd;   /* not of the form that the service gives */
    int64_t modified_s; /* Last-Modified in Unix seconds; 0: none */
    unsigned metadata, tag_count;
    char type[64];
    char lease_status[16], lease_state[16], lease_duration[16], lease_id[40], access[16];
    char snapshot[SNAPSHOT_SIZE], version[SNAPSHOT_SIZE];
    bool is_current;
    uint64_t length;      /* of the body, as told */
    uint64_t blob_length; /* x-ms-blob-content-length */
    bool has_blob_length;
    char kind[16], tier[16], archive_status[32], copy_status[16];
    bool sealed;
    uint64_t append_offset, sequence;
    unsigned block_count; /* of an append blob */
    int lease_time;
    char range[64];
    char origin[24]; /* that may read the answer */
    struct protect_reply protect;
    struct queue_reply queue;
    struct table_tokens table;
    struct fs_reply fs;
    struct sm_reply smb;
    struct path_reply path;
    unsigned char *body; /* malloc; answer_release() */
    size_t body_size;
    bool body_whole;
    bool was_cut; /* by the server, within the body */
    /* When: commits before it began and before it ended, and time. */
    uint64_t commits_before, commits_after;
    uint64_t began_ns, ended_ns;
};

extern const char *const op_names[OPS];
/* As the model knows them, and as they are written in a URL. */
extern const char *const container_names[CONTAINERS];
extern const char *const blob_names[BLOBS];
extern const char *const list_prefixes[LIST_PREFIXES];
extern const char *const lease_texts[LEASE_IDS + 1];
extern const char *const type_texts[4];
extern const char *const kind_texts[3];
extern const char *const tier_texts[TIERS];
extern const char *const sas_letters[SAS_LETTERS];
extern const char *const account_sas_types[SAS_TYPES];

struct account;
struct decision_pool;
struct endpoint;
struct endpoint_set;
struct server;
struct store;
/* Opens the store. NULL with *ret_problem. */
struct server *server_open(const char **ret_problem);
/* Of the process of the clients, where there are front ends (fleet.h): it only signs. */
struct server *server_of_clients(void);
/* listener_tag of its service. */
void *server_tag(struct server *server);
/* Makes the other cells of the cluster known to its services (server/cell.h). */
void server_join(struct server *server, const struct endpoint *like);
struct endpoint_set *server_endpoints(struct server *server);
struct decision_pool *server_pool(struct server *server);
/* The account that clients use. */
const struct account *server_account(void);
bool server_healthy(const struct server *server);
struct store *server_store(const struct server *server);
/* From now on requests come by sockets. */
void server_open_wire(struct server *server);
void server_close(struct server *server);

/* Sends it and waits for the answer. slot: the client's number, whose commits are told to
 * committed() of the service. */
void request_send(struct server *server, unsigned slot, const struct ask *ask,
                  struct reply *ret_answer);
void answer_release(struct reply *answer);
/* The client does nothing for so long. */
void request_think(unsigned slot, uint64_t ns);
/* It asks no more. */
void request_leave(unsigned slot);
/* The client whose request the calling thread works on; -1: none. */
int request_slot(void);
void request_set_slot(int slot);

void pattern_fill(uint64_t seed, uint64_t from, unsigned char *to, size_t size);
/* The key of the account, in base64. */
extern const char request_account_key[];
/* Base64 of the HMAC-SHA256 of a text, by the account's key. */
void request_mac(const char *text, char *to, size_t size);
void block_name(unsigned block, char to[16]);
/* Of blobs; ask_format() of any service. */
void ask_format_blob(const struct ask *ask, char *to, size_t size);
void ask_format(const struct ask *ask, char *to, size_t size);

#endif
