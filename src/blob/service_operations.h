/* The operations on the Blob service itself: what each is asked and what comes of it. The functions:
 * account_information.c, service_properties.c, list_containers.c, user_delegation_key.c, and the files of these names in
 * rest/. */
#ifndef LAGRA_BLOB_SERVICE_OPERATIONS_H
#define LAGRA_BLOB_SERVICE_OPERATIONS_H

#include "blob/blob.h"
#include "blob/cors_rules.h"
#include "blob/listing.h"

struct get_account_information_parameters {
    struct parameters base;
};
struct get_account_information_result {
    struct result base;
};
OPERATION_DECLARE(get_account_information);

struct get_blob_service_stats_parameters {
    struct parameters base;
};
struct get_blob_service_stats_result {
    struct result base;
    instant last_sync; /* what was written before can be read at the secondary */
};
OPERATION_DECLARE(get_blob_service_stats);

struct get_blob_service_properties_parameters {
    struct parameters base;
};
struct get_blob_service_properties_result {
    struct result base;
    struct cors_rules cors;
};
OPERATION_DECLARE(get_blob_service_properties);

struct set_blob_service_properties_parameters {
    struct parameters base;
    bool has_cors; /* else the rules stay as they are */
    struct cors_rules cors;
};
struct set_blob_service_properties_result {
    struct result base;
};
OPERATION_DECLARE(set_blob_service_properties);
OPERATION_DECLARE_PARSE(set_blob_service_properties);

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
