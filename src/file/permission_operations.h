/* Create Permission and Get Permission: parameters and results. */
#ifndef LAGRA_FILE_PERMISSION_OPERATIONS_H
#define LAGRA_FILE_PERMISSION_OPERATIONS_H

#include "file/file.h"
#include "acl/security_descriptor.h"

struct create_permission_parameters {
    struct parameters base;
    struct bytes descriptor; /* canonical; set by parse */
};
struct create_permission_result {
    struct result base;
    uint64_t number;
};
OPERATION_DECLARE(create_permission);
OPERATION_DECLARE_PARSE(create_permission);

struct get_permission_parameters {
    struct parameters base;
    struct bytes key; /* as sent */
    bool binary;      /* binary format requested */
};
struct get_permission_result {
    struct result base;
    struct bytes canonical;
    struct security_descriptor descriptor; /* canonical, decoded */
};
OPERATION_DECLARE(get_permission);

#endif
