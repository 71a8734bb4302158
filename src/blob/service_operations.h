/* Parameters and results of the operations on the Blob service itself, implemented in
 * service_operations.c, rest/account_information.c and rest/list_containers.c. Those that all
 * services have are in properties/service_properties.h and service/user_delegation_key.h. */
#ifndef LAGRA_BLOB_SERVICE_OPERATIONS_H
#define LAGRA_BLOB_SERVICE_OPERATIONS_H

#include "blob/blob.h"
#include "service/listing.h"

OPERATION_NO_PARAMETERS(get_account_information);
OPERATION_NO_RESULT(get_account_information);
OPERATION_DECLARE(get_account_information);

struct list_containers_parameters {
    struct parameters base;
    struct listing listing;
    struct listing_place from;
    struct listing_sink *sink;
};
struct list_containers_result {
    struct result base;
    struct listing_place next; /* start of the next page; name.ptr NULL: none */
};
OPERATION_DECLARE(list_containers);

#endif
