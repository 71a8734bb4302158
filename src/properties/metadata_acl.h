/* Get and Set Metadata, Get and Set ACL of containers, queues, tables and shares. The struct
 * container_type in a service's struct service locates the metadata and the policies in the state
 * of a decision.
 *
 * Operations that also carry other data (public access, message counts) are implemented by their
 * service.
 *
 * rest: Get-Container-Metadata, Set-Container-Metadata, Get-Queue-ACL, Set-Queue-ACL and similar */
#ifndef LAGRA_PROPERTIES_METADATA_ACL_H
#define LAGRA_PROPERTIES_METADATA_ACL_H

#include "auth/policies.h"
#include "properties/properties_xml.h"
#include "service/operation.h"

struct container_type {
    size_t metadata, policies; /* offsets of struct bytes in the service's struct subject_state */
    /* Writes the container from d->state. */
    void (*write)(struct decision *d);
    /* Refuses a request before it is decided; NULL if none is refused. */
    enum error (*check)(const struct call *call);
    struct policy_letters letters; /* permission letters of its policies */
};

OPERATION_NO_PARAMETERS(get_metadata);
struct get_metadata_result {
    struct result base;
    struct bytes metadata;
};
OPERATION_DECLARE(get_metadata);

struct set_metadata_parameters {
    struct parameters base;
    struct bytes metadata; /* replaces all existing metadata */
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
    struct policies policies; /* set by parse; replaces all existing policies */
};
OPERATION_NO_RESULT(set_acl);
OPERATION_DECLARE(set_acl);
OPERATION_DECLARE_PARSE(set_acl);

/* Writes the policies as the response body. */
void acl_answer(struct answer *a, const struct policies *policies);

#endif
