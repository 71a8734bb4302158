/* Get and Set Metadata, Get and Set ACL of containers, queues, tables and shares. Each service says by a struct
 * container_type in struct service where the state of a decision has its metadata and policies.
 *
 * Operations of a service that also carry something else (public access, message counts) are its own.
 *
 * rest: Get-Container-Metadata, Set-Container-Metadata, Get-Queue-ACL, Set-Queue-ACL and their kin */
#ifndef LAGRA_PROPERTIES_METADATA_ACL_H
#define LAGRA_PROPERTIES_METADATA_ACL_H

#include "auth/policies.h"
#include "properties/signed_identifiers.h"
#include "service/operation.h"

struct container_type {
    size_t metadata, policies; /* offsets of struct bytes in the service's struct subject_state */
    /* Writes the container as d->state has it. */
    void (*write)(struct decision *d);
    /* Refuses a request before it is decided; NULL: none is. */
    enum error (*check)(const struct call *call);
    struct policy_letters letters; /* of its policies */
};

OPERATION_NO_PARAMETERS(get_metadata);
struct get_metadata_result {
    struct result base;
    struct bytes metadata;
};
OPERATION_DECLARE(get_metadata);

struct set_metadata_parameters {
    struct parameters base;
    struct bytes metadata; /* replaces all */
};
OPERATION_NO_RESULT(set_metadata);
OPERATION_DECLARE(set_metadata);

OPERATION_NO_PARAMETERS(get_acl);
struct get_acl_result {
    struct result base;
    struct policies policies;
};
OPERATION_DECLARE(get_acl);

struct set_acl_parameters {
    struct parameters base;
    struct policies policies; /* set by parse; replaces all */
};
OPERATION_NO_RESULT(set_acl);
OPERATION_DECLARE(set_acl);
OPERATION_DECLARE_PARSE(set_acl);

/* Renders policies as the body of a response. */
void acl_answer(struct answer *a, const struct policies *policies);

#endif
