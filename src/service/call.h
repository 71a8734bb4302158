/* A call: an HTTP request in the terms of the REST reference, created by routing (request/route.c)
 * from the raw request. Read by the check, parse and answer functions of operations. Allocated in
 * the exchange's arena. Once its operation has been checked, only the body may change. */
#ifndef LAGRA_SERVICE_CALL_H
#define LAGRA_SERVICE_CALL_H

#include "auth/auth.h"
#include "base/gate.h"
#include "base/ids.h"
#include "http/http.h"
#include "service/decide_pool.h"
#include "service/decision.h"

struct service;
struct endpoint;

struct query_parameter {
    struct bytes name;  /* decoded, lower case */
    struct bytes value; /* decoded */
};

struct call {
    const struct endpoint *endpoint;
    const struct service *service;
    const struct call *list; /* batch that contains it; NULL if none */
    const struct operation *operation;
    const struct request *request; /* set by call_set_request() */
    uint64_t header_bits;          /* header_bit() of all its headers */
    enum http_method method;       /* the request's method, or the one that a header substitutes */
    struct arena *arena;
    const struct account *account; /* NULL only if the caller was not authenticated */
    struct bytes account_name;     /* without "-secondary" */
    bool secondary;                /* the -secondary endpoint: only reads */
    bool account_is_elsewhere;     /* account is neither in the host nor in the path */
    bool is_limited;               /* admitted, and the account has limits; see limits.c */
    /* anonymous request for a page of a static website, selected by the host */
    bool website;
    bool no_public_access; /* containers cannot allow public access */
    bool loose;            /* --loose: ignore unimplemented features instead of refusing them */
    /* "http://127.0.0.1:10000/devstoreaccount1"; ServiceEndpoint in listings */
    struct bytes url_prefix;
    const struct query_parameter *query;
    size_t query_count;
    struct bytes version; /* x-ms-version, for example "2026-10-06"; dates compare as strings */
    struct guid request_id;
    struct input input;            /* input of the decision */
    struct problem *problem;       /* details for the error response */
    bool wants_md5;                /* set by check() if input.body.md5 is needed */
    bool wants_crc64;              /* set by check() if input.body.crc64 is needed */
    struct pool_owner gathers_for; /* set by check() if the operation gathers */
    bool checks_source;            /* set by check() if a checksum of the copy source was sent */
    bool ignores_md5;              /* set by check(): do not verify Content-MD5. decision: 16 */
    bool has_source_key;           /* set by check() after it has read the key of the copy source */
    bool is_structured; /* the body of the request, or of the response to a read, is a structured
                           body (http/structured_body.h) */
    /* length of the content in the request body; HTTP_LENGTH_UNKNOWN if it is chunked and not
     * structured */
    uint64_t content_length;
    uint32_t inline_max; /* larger bodies are staged; check() may lower it */
    bool is_for_cell;    /* the response to a list is a page for the root cell (cell_page.h) */
    uint64_t rehydrates_ticks; /* time to rehydrate an archived blob */
    struct gate_request gate;
};

/* Returns the value of a query parameter (name in lower case); ptr NULL if it is absent. */
struct bytes call_query(const struct call *call, const char *name);
/* Returns a bit for a header's name (lower case, not empty). Most headers that are looked up were
 * not sent, and their missing bit shows this, because hardly any two common headers share a bit.
 * Measured on GETs of 1 KiB, with and without it: 44,800 and 46,100 instructions; 1.8 and 4.0 %
 * less CPU per request in two paired runs of 15 and 25 rounds. decision: 222 */
static inline uint64_t header_bit(struct bytes name)
{
    unsigned first = (unsigned char)name.ptr[0], last = (unsigned char)name.ptr[name.len - 1];

    return 1ull << ((5 * name.len + 20 * first + 24 * last) % 64);
}
void call_set_request(struct call *call, const struct request *request);
/* Return a header's value like request_find_header() and request_header(). */
static inline struct bytes call_find_header(const struct call *call, struct bytes name)
{
    if ((call->header_bits & header_bit(name)) == 0)
        return bytes_of(NULL, 0);
    return request_find_header(call->request, name);
}
static inline struct bytes call_header(const struct call *call, const char *name)
{
    return call_find_header(call, bytes_from_string(name));
}
/* Returns the value of a conditional header; ptr NULL if it is absent or empty. decision: 847 */
static inline struct bytes call_condition(const struct call *call, const char *name)
{
    struct bytes value = call_header(call, name);

    return value.len > 0 ? value : bytes_of(NULL, 0);
}
/* Returns true if the text is a date yyyy-mm-dd, like all versions. Any date is accepted, because a
 * list of known versions would refuse newer clients. decision: 1 */
bool call_version_is_valid(struct bytes text);
/* Returns true if x-ms-version is at least this date. */
bool call_since(const struct call *call, const char *version);

/* Reads a header that contains a whole number of at most `max`. Sets *ret_has to false if it was
 * not sent. Returns OK, E_InvalidHeaderValue. */
enum error call_read_number(struct call *call, const char *name, uint64_t max, bool *ret_has,
                            uint64_t *ret_number);
/* Like call_read_number(), for a conditional header. An empty header counts as absent. */
enum error call_read_bound(struct call *call, const char *name, uint64_t max, bool *ret_has,
                           uint64_t *ret_number);
/* Reads a header that is true or false. Absent or empty means false. Returns OK,
 * E_InvalidHeaderValue. */
enum error call_read_flag(struct call *call, const char *name, bool *ret_flag);

/* ---- refusing a call: return call_fail(call, E_X, ...) ---- */

/* Sets a message for the client (printf) and returns the code. */
enum error call_fail(struct call *call, enum error e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds HeaderName and HeaderValue to the body of E_InvalidHeaderValue, E_MissingRequiredHeader
 * etc. */
enum error call_fail_header(struct call *call, enum error e, const char *name, struct bytes value);
/* Adds QueryParameterName, QueryParameterValue and Reason to the body of
 * E_InvalidQueryParameterValue or E_OutOfRangeQueryParameterValue. */
enum error call_fail_query(struct call *call, enum error e, const char *name, struct bytes value,
                           const char *reason);
/* Adds the client's checksum and the server's to the body of E_Md5Mismatch or E_Crc64Mismatch
 * (UserSpecifiedMd5, ServerCalculatedMd5 etc.). given, computed: `size` bytes each. */
enum error call_fail_sum(struct call *call, enum error e, const void *given, const void *computed,
                         size_t size);

#endif
