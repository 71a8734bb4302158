/* Details of an error for the response, recorded where the error is detected and rendered in
 * request/error_answer.c. Static, or allocated in the exchange's arena. */
#ifndef LAGRA_SERVICE_PROBLEM_H
#define LAGRA_SERVICE_PROBLEM_H

#include "base/codec.h"
#include "base/errors.h"

#define PROBLEM_FIELDS_MAX 4

/* Cell of a container, and the incarnation under which it was placed there
 * (service/placement.h). */
enum { PLACEMENT_CELL_MAX = 9999 };
/* Headers of E_MisdirectedRequest, used only between front ends. */
#define PLACEMENT_HEADER_CELL        "x-lagra-cell"
#define PLACEMENT_HEADER_INCARNATION "x-lagra-placement"
struct placement {
    uint32_t cell; /* 0 if not known here */
    uint64_t incarnation;
};

struct problem {
    const char *detail; /* sentence added to the message; NULL if none */
    struct problem_field {
        const char *name; /* spelled as in the reference: "HeaderName", "Reason" */
        struct bytes value;
    } fields[PROBLEM_FIELDS_MAX];
    size_t field_count;
    struct bytes message; /* replaces the code's message unless ptr is NULL */
    /* E_CannotVerifyCopySource: status of the source's response; 0 if unknown. */
    int source_status;
    struct bytes source_code;    /* ptr NULL if none */
    struct bytes source_message; /* ptr NULL for the code's message */
    /* E_InvalidRange: length of the resource. */
    uint64_t length;
    bool is_soft_deleted; /* E_BlobNotFound: the snapshot is retained */
    const char *existing; /* E_PathAlreadyExists: "file" or "directory"; NULL if not known */
    /* E_MisdirectedRequest: cell that has the container; cell 0 for the root */
    struct placement elsewhere;
    unsigned retry_after_s; /* time until a retry may succeed; 0 if unspecified */
};

/* Sets the problem for a caller without permission, and discards all other details. detail: ptr
 * NULL if none */
void problem_of_permission(struct problem *problem, struct arena *arena, struct bytes detail);
/* Sets a single field, replacing existing ones. */
void problem_set_field(struct problem *problem, const char *name, struct bytes value);
/* Adds a field. */
void problem_add_field(struct problem *problem, const char *name, struct bytes value);
/* Sets HeaderName and, unless value.ptr is NULL, HeaderValue. */
void problem_set_header(struct problem *problem, const char *name, struct bytes value);

/* Encodes an error for another front end, as its number and its code. Several errors share a code;
 * the number is only used if both versions assign it the same code. */
void problem_encode_error(struct text *out, enum error e);
/* Decodes an error or OK. If it is unknown here, `in` becomes bad. */
enum error problem_decode_error(struct decoder *in);

#endif
