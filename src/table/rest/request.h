/* Inside table/rest/ only: what several operations read from a request or put into an answer:
 * OData's headers, formats and errors. rest: Payload-Format-for-Table-Service-Operations,
 * Setting-the-OData-Data-Service-Version-Headers, Setting-the-Prefer-Header */
#ifndef LAGRA_TABLE_REST_REQUEST_H
#define LAGRA_TABLE_REST_REQUEST_H

#include "service/answer.h"
#include "table/rest/odata.h"
#include "table/tables.h"

/* ---- names: resource.c ---- */

enum error table_read_resource(struct call *call, struct bytes path, struct resource *ret_resource);

#endif
