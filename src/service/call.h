/* A call: one HTTP request in the words of the REST reference, made by routing (request/route.c)
 * from the raw request. What check and parse functions of operations read, and answer functions
 * too. Lives in the exchange's arena; read-only once the check of its operation has run, but for
 * the body. */
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
    const struct call *list; /* of operations, that it is a part of; NULL: none */
    const struct operation *operation;
    const struct request *request; /* by call_set_request() */
    uint64_t header_bits;          /* header_bit() of each of its headers */
    enum http_method method;       /* the request's, or the one that it says it stands for */
    struct arena *arena;
    const struct account *account; /* not NULL unless nobody was authenticated */
    struct bytes account_name;     /* without "-secondary" */
    bool secondary;                /* named with -secondary: reads only */
    bool account_is_elsewhere;     /* than in the host or the path, which begins behind it */
    bool is_limited;               /* its account has limits, and it was let in: limits.c */
    bool website;          /* by the host of static websites: a page is asked for, by anybody */
    bool no_public_access; /* containers cannot be opened to the public */
    bool loose;            /* --loose: what is not built yet is ignored where it would be refused */
    /* "http://127.0.0.1:10000/devstoreaccount1": ServiceEndpoint in listings */
    struct bytes url_prefix;
    const struct query_parameter *query;
    size_t query_count;
    struct bytes version; /* x-ms-version, "2026-10-06"; dates compare as text */
    struct guid request_id;
    struct input input;            /* what the decision is given */
    struct problem *problem;       /* what the error's answer says */
    bool wants_md5;                /* set by check(): input.body.md5 is needed */
    bool wants_crc64;              /* as above: input.body.crc64 */
    struct pool_owner gathers_for; /* set by check(), where the operation gathers */
    bool checks_source;            /* set by check(): a checksum of the copy source was given */
    bool ignores_md5;              /* set by check(): Content-MD5 is not compared. decision: 16 */
    uint32_t inline_max;           /* bodies up to this stay in memory; check() may lower it */
    bool is_for_cell; /* the response to a list is a page for the root cell (cell_page.h) */
    uint64_t rehydrates_ticks; /* how long an archived blob takes to come back */
    struct gate_request gate;
};

/* Value of a query parameter (name lower case); ptr NULL when absent. */
struct bytes call_query(const struct call *call, const char *name);
/* A bit for the name of a header (lower case, not empty). Most of the headers that are looked for were
 * not sent: their bit tells so, as hardly any two that clients send or that are looked for share one.
 * Measured on GETs of 1 KiB, with it and without: 44,800 and 46,100 instructions; CPU of a request 1.8
 * and 4.0 % less in two paired runs of 15 and 25 rounds. decision: 222 */
static inline uint64_t header_bit(struct bytes name)
{
    unsigned first = (unsigned char)name.ptr[0], last = (unsigned char)name.ptr[name.len - 1];

    return 1ull << ((5 * name.len + 20 * first + 24 * last) % 64);
}
void call_set_request(struct call *call, const struct request *request);
/* As request_find_header(), request_header(). */
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
/* Value of a header that states a condition; ptr NULL when it is absent or empty. decision: 847 */
static inline struct bytes call_condition(const struct call *call, const char *name)
{
    struct bytes value = call_header(call, name);

    return value.len > 0 ? value : bytes_of(NULL, 0);
}
/* Is it a date as versions are, yyyy-mm-dd? Any date: a list of known ones would refuse each new
 * client. decision: 1 */
bool call_version_is_valid(struct bytes text);
/* x-ms-version is at least this date. */
bool call_since(const struct call *call, const char *version);

/* A header that is a whole number of at most `max`; *ret_has: was it sent. E_InvalidHeaderValue */
enum error call_read_number(struct call *call, const char *name, uint64_t max, bool *ret_has,
                            uint64_t *ret_number);
/* The same of a header that states a condition: an empty one counts as absent. */
enum error call_read_bound(struct call *call, const char *name, uint64_t max, bool *ret_has,
                           uint64_t *ret_number);
/* One that is true or false; absent or empty: false. E_InvalidHeaderValue */
enum error call_read_flag(struct call *call, const char *name, bool *ret_flag);

/* ---- refusing a call: return call_fail(call, E_X, ...) ---- */

/* The code with a sentence for the client (printf). */
enum error call_fail(struct call *call, enum error e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* E_InvalidHeaderValue, E_MissingRequiredHeader.. with HeaderName and HeaderValue in the body. */
enum error call_fail_header(struct call *call, enum error e, const char *name, struct bytes value);
/* E_InvalidQueryParameterValue, E_OutOfRangeQueryParameterValue with QueryParameterName,
 * QueryParameterValue, Reason. */
enum error call_fail_query(struct call *call, enum error e, const char *name, struct bytes value,
                           const char *reason);
/* E_Md5Mismatch or E_Crc64Mismatch with what the client says and what the server computed in the
 * body (UserSpecifiedMd5, ServerCalculatedMd5 ...). given, computed: `size` bytes each. */
enum error call_fail_sum(struct call *call, enum error e, const void *given, const void *computed,
                         size_t size);

#endif
