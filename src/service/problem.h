/* What the answer to an error says besides its code: facts, written down where the error is found
 * and rendered where the answer is made (request/error_answer.c). Everything lies in the exchange's
 * arena or is static. */
#ifndef LAGRA_SERVICE_PROBLEM_H
#define LAGRA_SERVICE_PROBLEM_H

#include "base/arena.h"
#include "base/errors.h"

#define PROBLEM_FIELDS_MAX 4

/* A container's cell, and the incarnation under which it was placed there (service/placement.h). */
enum { PLACEMENT_CELL_MAX = 9999 };
/* Headers of E_MisdirectedRequest, between front ends only. */
#define PLACEMENT_HEADER_CELL        "x-lagra-cell"
#define PLACEMENT_HEADER_INCARNATION "x-lagra-placement"
struct placement {
    uint32_t cell; /* 0: not known here */
    uint64_t incarnation;
};

struct problem {
    const char *detail; /* a sentence that is added to the message; NULL: none */
    struct problem_field {
        const char *name; /* as the reference spells it: "HeaderName", "Reason" */
        struct bytes value;
    } fields[PROBLEM_FIELDS_MAX];
    size_t field_count;
    struct bytes message; /* replaces the code's unless ptr is NULL */
    /* E_CannotVerifyCopySource: what the source answered. 0: nothing is known of it. */
    int source_status;
    struct bytes source_code;    /* ptr NULL: none */
    struct bytes source_message; /* ptr NULL: that of the code */
    /* E_InvalidRange: how long the resource is that the range does not touch. */
    uint64_t length;
    bool is_soft_deleted;       /* E_BlobNotFound: the snapshot is retained */
    struct placement elsewhere; /* E_MisdirectedRequest: where to ask instead; cell 0: the root */
    unsigned retry_after_s;     /* when the same may be asked again; 0: nothing is said of that */
};

/* Of a caller without the right, who learns nothing of what else was found wrong before. detail: ptr NULL: none */
void problem_of_permission(struct problem *problem, struct arena *arena, struct bytes detail);
/* The only field so far. */
void problem_set_field(struct problem *problem, const char *name, struct bytes value);
/* One more. */
void problem_add_field(struct problem *problem, const char *name, struct bytes value);
/* HeaderName and, unless value.ptr is NULL, HeaderValue. */
void problem_set_header(struct problem *problem, const char *name, struct bytes value);

#endif
