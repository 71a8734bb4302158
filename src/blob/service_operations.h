/* The operations on the Blob service itself: what each is asked and what comes of it. The functions:
 * account_information.c, list_containers.c, user_delegation_key.c, and the files of these names in
 * rest/; what every service has on itself is in service/service_properties.h. */
#ifndef LAGRA_BLOB_SERVICE_OPERATIONS_H
#define LAGRA_BLOB_SERVICE_OPERATIONS_H

#include "blob/blob.h"
#include "blob/listing.h"

struct get_account_information_parameters {
    struct parameters base;
};
struct get_account_information_result {
    struct result base;
};
OPERATION_DECLARE(get_account_information);

struct list_containers_parameters {
    struct parameters base;
    struct listing listing;
    struct bytes from; /* name to begin at; ptr NULL: at the first */
    struct container_sink *sink;
};
struct list_containers_result {
    struct result base;
    struct bytes next; /* name that the next page begins with; ptr NULL: there is none */
};
OPERATION_DECLARE(list_containers);

struct get_user_delegation_key_parameters {
    struct parameters base;
    /* by parse; whole seconds */
    instant start; /* 0: from now on */
    instant expiry;
    struct bytes user_tid; /* tenant of those who may use what it signs; ptr NULL: not said */
};
struct get_user_delegation_key_result {
    struct result base;
    instant start;
};
OPERATION_DECLARE(get_user_delegation_key);
OPERATION_DECLARE_PARSE(get_user_delegation_key);

#endif
