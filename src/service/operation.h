/* The operation table's row, and the one reader of it.
 *
 * A service is a table of rows; everything generic (routing, permission, which conditions are
 * accepted, lease rule, ETag, body) is a column; a decide function holds only what is particular.
 * Docs, reply check and tests read the table. */
#ifndef LAGRA_SERVICE_OPERATION_H
#define LAGRA_SERVICE_OPERATION_H

#include "concurrency/lease.h"
#include "service/call.h"

enum level { LEVEL_SERVICE, LEVEL_CONTAINER, LEVEL_BLOB, LEVEL_ANY };

/* What x-ms-lease-id means for the operation. */
enum lease_rule {
    LEASE_RULE_IGNORED,
    LEASE_RULE_OPTIONAL,    /* checked if an id is sent */
    LEASE_RULE_WHEN_LEASED, /* an id is needed while leased */
    LEASE_RULE_ACTION,      /* the operation is the lease's own; its decide looks */
};

enum etag_rule {
    ETAG_NONE, /* not in the answer */
    ETAG_RETURNED,
    ETAG_CHANGED, /* returned, and newer than before */
};

enum body_rule {
    BODY_REFUSED, /* a body is read and ignored, as Azure does */
    BODY_MEMORY,  /* collected, at most body_max bytes */
    BODY_STAGED,  /* small ones in memory, others streamed to pieces; at most body_max */
};

struct decision;
/* Looks at the request alone, before its body: parses and validates headers and query into
 * call->parameters. Runs once. */
typedef enum error check_fn(struct decision *d);
/* Loads what the request is about: fills d->subject and d->lease. A missing container is the error
 * here; a missing blob is subject.exists = false, or the error when the operation needs one.
 * Pure. */
typedef enum error subject_fn(struct decision *d);
/* Answers and collects changes. Pure: may be run again on a newer state. */
typedef enum error decide_fn(struct decision *d);

struct operation {
    const char *name; /* as the REST reference's page has it */
    unsigned methods; /* METHOD_ bits */
    enum level level;
    /* "comp=metadata&restype=container": exactly these comp/restype; "": none */
    const char *selector;
    /* The header that picks the row: "x-ms-blob-type=BlockBlob"; "x-ms-copy-source": with any
     * value; NULL: none */
    const char *variant;
    const char *sas;     /* SAS permission letters, any of which allows it */
    const char *since;   /* earliest x-ms-version */
    unsigned conditions; /* accepted IF_ bits */
    enum condition_class condition_class;
    enum lease_rule lease;
    enum etag_rule etag;
    enum body_rule body;
    uint64_t body_max;
    int ok[2];           /* success statuses; 0 ends */
    check_fn *check;     /* may be NULL */
    subject_fn *subject; /* may be NULL: no lease, no conditions */
    decide_fn *decide;   /* NULL: known, not built yet: 501 NotImplemented */
};

/* One service: its table and what differs between services. */
struct service {
    const char *name; /* "blob" */
    const struct operation *operations;
    size_t operation_count;
    /* The partition a call reads and changes. May read other partitions (call decision_saw()).
     * returns OK, or the error of what is missing above it (ContainerNotFound) */
    enum error (*locate)(struct decision *d, struct partition *ret_partition);
    /* Are the names in the call well formed?
     * returns OK, E_InvalidResourceName, E_InvalidUri, E_OutOfRangeInput */
    enum error (*check_names)(struct decision *d);
};

/* Everything a check, subject or decide function works with. */
struct decision {
    const struct operation *operation;
    struct call *call;
    struct arena *arena;
    struct store *store;
    enum store_access access; /* of every read and commit of this decision */
    struct snapshot *before;  /* of the call's partition */
    struct changes *changes;
    struct response *response;
    instant now;
    struct subject subject; /* by subject() */
    struct lease lease;     /* by subject() */
    enum lease_resource lease_resource;
    void *state;   /* by subject() or locate(): the service's own */
    uint64_t seen; /* newest sequence of anything read: by decision_saw() */
    /* Bytes to send as the answer's body (Get Blob): set by decide. */
    struct send {
        bool wanted;
        struct content content;
        uint64_t offset;
        uint64_t length;
        bool md5, crc64; /* of the range, as headers */
    } send;
    /* What the error answer says besides code and message. */
    const char *error_detail; /* replaces nothing, is appended to the message; NULL */
    struct {
        const char *name;
        struct bytes value;
    } error_fields[4]; /* <HeaderName>.. in the body */
    size_t error_field_count;
};

/* Something of another partition was read: its sequence must be durable before the answer goes. */
void decision_saw(struct decision *d, uint64_t sequence);
/* return fail(d, E_X, "...") : the code with a detail for the client (printf). */
enum error fail(struct decision *d, enum error e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The first of the elements that the error's body has besides code and message, then others. */
void fail_field(struct decision *d, const char *name, struct bytes value);
void fail_field_more(struct decision *d, const char *name, struct bytes value);
/* E_InvalidHeaderValue, E_MissingRequiredHeader.. with HeaderName and HeaderValue in the body. */
enum error fail_header(struct decision *d, enum error e, const char *name, struct bytes value);
/* E_Md5Mismatch or E_Crc64Mismatch with what the client says and what the server computed in the
 * body (UserSpecifiedMd5, ServerCalculatedMd5 ...). given, computed: `size` bytes each. */
enum error fail_sum(struct decision *d, enum error e, const void *given, const void *computed,
                    size_t size);
/* E_InvalidQueryParameterValue, E_OutOfRangeQueryParameterValue with QueryParameterName,
 * QueryParameterValue, Reason. */
enum error fail_query(struct decision *d, enum error e, const char *name, struct bytes value,
                      const char *reason);
/* A store result that is not STORE_OK as a wire error (the one place): CORRUPT and IO are 500
 * InternalError. */
enum error fail_store(struct decision *d, enum store_result result);

/* Subject, lease and conditions: what may be refused before a body is read, and is checked again
 * with decide. Pure. */
enum error operation_check(struct decision *d);
/* operation_check(), then decide; asserts what the row promises. Pure: may be run again on a newer
 * state. */
enum error operation_decide(struct decision *d);
/* Row for method, level and selectors; NULL: *ret_error says why (405 UnsupportedHttpVerb, 400
 * InvalidQueryParameterValue..). */
const struct operation *operation_find(const struct service *service, const struct call *call,
                                       enum error *ret_error);

/* Answer helpers for decide functions. */
void answer(struct decision *d, int status);
/* ETag and Last-Modified. */
void answer_etag(struct decision *d, struct etag etag, instant modified);
void answer_header(struct decision *d, const char *name, struct bytes value);
void answer_string(struct decision *d, const char *name, const char *value);
void answer_u64(struct decision *d, const char *name, uint64_t value);
/* x-ms-lease-status, -state, -duration. */
void answer_lease(struct decision *d, const struct lease *lease);
void answer_xml(struct decision *d, int status, const struct text *xml);

#endif
