/* Response to a call, written by the answer functions of operations, which define how a result is
 * represented on the wire and decide nothing. */
#ifndef LAGRA_SERVICE_ANSWER_H
#define LAGRA_SERVICE_ANSWER_H

#include "service/call.h"
#include "service/copy_state.h"

struct answer {
    const struct call *call;
    struct arena *arena;
    struct response *response;
    instant now;      /* instant of the decision; 0 if the call was refused before one was made */
    enum error error; /* error in the response; OK for success */
    /* part of a batch: errors have a line feed after the XML declaration, as in the real
     * service */
    bool of_part;
    size_t part;  /* index of the part in a transaction */
    size_t parts; /* number of parts in the transaction, for error messages */
    /* Content to send as the body. */
    struct answer_content {
        bool wanted;
        struct content content;
        uint64_t offset;
        uint64_t length;
        bool md5, crc64; /* send as headers, computed over these bytes */
    } content;
};

/* Returns the time for an error message: that of the decision, or now. */
instant answer_time(const struct answer *a);
/* Overrides the default status, which is the first one in the operation's row. */
void answer_status(struct answer *a, int status);
void answer_header(struct answer *a, const char *name, struct bytes value);
void answer_string(struct answer *a, const char *name, const char *value);
void answer_u64(struct answer *a, const char *name, uint64_t value);
/* Adds a header with a date, in the format of instant_format_http() or instant_format_iso(). */
void answer_date(struct answer *a, const char *name, instant t);
void answer_iso_date(struct answer *a, const char *name, instant t);
/* Adds ETag and Last-Modified; see struct service, answer_etag. */
void answer_etag(struct answer *a, struct etag etag, instant modified);
/* Adds x-ms-lease-status, -state and -duration. */
void answer_lease(struct answer *a, const struct lease *lease);
/* Responds 421 to the forwarding front end, because another cell has the container. Cell 0: only
 * the root knows which one. */
void answer_elsewhere(struct answer *a, struct placement where);
/* Adds x-ms-error-code. */
void answer_code(struct answer *a, enum error e);
void answer_xml(struct answer *a, const struct text *xml);
/* Ends a page of a list for another cell (cell_page.h) and makes it the body. next: key at which
 * the next page starts, or NULL. */
void answer_cell_page(struct answer *a, struct text *page, const struct page_key *next);

/* OP_check of an operation whose row specifies all checks. */
#define OPERATION_CHECKS_NOTHING(op)                                                               \
    enum error op##_check(struct call *call, struct op##_parameters *parameters)                   \
    {                                                                                              \
        (void)call;                                                                                \
        (void)parameters;                                                                          \
        return OK;                                                                                 \
    }
/* OP_answer of an operation whose response has only the row's status and, if the row specifies one,
 * the ETag. */
#define OPERATION_ANSWERS_NOTHING(op)                                                              \
    void op##_answer(struct answer *a, const struct op##_parameters *parameters,                   \
                     const struct op##_result *result)                                             \
    {                                                                                              \
        (void)a;                                                                                   \
        (void)parameters;                                                                          \
        (void)result;                                                                              \
    }

/* Lease Blob, Lease Container and Lease Share as requests and responses.
 * rest: Lease-Blob, Lease-Container, Lease-Share; semantics 3.1, 3.5 */

/* Reads the lease headers of the call.
 * Returns  OK, E_MissingRequiredHeader, E_InvalidHeaderValue. */
enum error lease_read_request(struct call *call, struct lease_request *ret_request);
/* Sets the status and the lease headers. id: id of the lease */
void answer_lease_outcome(struct answer *a, const struct lease_result *lease,
                          const struct guid *id);
/* Adds LeaseStatus, LeaseState and LeaseDuration to an entry of a list. */
void lease_xml(struct text *out, const struct lease *lease, instant now);

/* Adds x-ms-copy-id and x-ms-copy-status. */
void answer_copy_id(struct answer *a, const struct guid *id, enum copy_status status);
/* Adds all headers of the copy that created the blob or file. Adds nothing if there was no copy.
 * rest: Get-Blob-Properties, Get-File-Properties "x-ms-copy-id" */
void answer_copy(struct answer *a, const struct copy_state *copy);

/* Adds x-ms-encryption-key-sha256. */
void answer_key_hash(struct answer *a, const uint8_t hash[KEY_HASH_SIZE]);

#endif
