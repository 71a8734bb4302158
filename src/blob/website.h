/* The static website of an account: the blobs of its container "$web", which anyone may read at the
 * host <account>.web.<domain>, whatever the public access of the container.
 * rest: Set-Blob-Service-Properties "StaticWebsite"; docs: Static website hosting in Azure Storage;
 * decision: 108 */
#ifndef LAGRA_BLOB_WEBSITE_H
#define LAGRA_BLOB_WEBSITE_H

#include "blob/blob_operations.h"

struct website_parameters {
    struct parameters base;
    struct get_blob_parameters read;
};
struct website_result {
    struct result base;
    struct get_blob_result read;
    bool is_error_document; /* the requested page does not exist: this is sent instead */
};
OPERATION_DECLARE(website);

#endif
