/* Inside blob/rest/ only: what the requests of Put Blob, of every type, and Put Block List have in
 * common. */
#ifndef LAGRA_BLOB_REST_CREATE_BLOB_H
#define LAGRA_BLOB_REST_CREATE_BLOB_H

#include "blob/rest/request.h"

#define CONTENT_TYPE_DEFAULT "application/octet-stream"

enum error create_blob_check(struct call *call, enum standard_headers standard,
                             enum body_sums_rule rule, struct create_blob *ret_given);
/* As create_blob_check(), of a blob that begins without bytes of its own: an append or page blob.
 * Whether it can have its tier is for the decision. E_InvalidHeaderValue: there is a body */
enum error create_empty_blob_check(struct call *call, struct create_blob *ret_given);

#endif
