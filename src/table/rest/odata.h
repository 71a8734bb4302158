/* OData headers: the format that a client requests, and responses in that format. Internal to
 * table/rest/. rest: Payload-Format-for-Table-Service-Operations,
 * Setting-the-Prefer-Header-to-Manage-Response-Echo-on-Insert-Operations,
 * Setting-the-OData-Data-Service-Version-Headers */
#ifndef LAGRA_TABLE_REST_ODATA_H
#define LAGRA_TABLE_REST_ODATA_H

#include "service/answer.h"
#include "table/rest/entity_json.h"
#include "table/tables.h"

enum odata_preference { PREFERS_NOTHING, PREFERS_CONTENT, PREFERS_NO_CONTENT };
struct odata {
    enum odata_metadata metadata;
    enum odata_preference preference;
};

/* Reads $format or Accept, Prefer, and the versions; refuses unsupported ones. Returns OK,
 * E_AtomFormatNotSupported, E_InvalidHeaderValue, E_InvalidQueryParameterValue, E_NotImplemented
 * (an OData option that the service does not support). */
enum error odata_read(struct call *call, const struct odata **ret_odata);
/* Checks that the request body is JSON, the default without Content-Type. Returns OK,
 * E_AtomFormatNotSupported, E_InvalidHeaderValue. */
enum error odata_check_body(struct call *call);
/* Fails with a parser's error and message; NULL means the code's default message. */
enum error odata_refuse(struct call *call, enum error e, const char *message);

/* Adds the headers of every OData response. */
void odata_answer(struct answer *a);
/* Adds Preference-Applied if the request has a preference. */
void odata_answer_preference(struct answer *a);
/* Adds the body and its Content-Type. */
void odata_answer_json(struct answer *a, const struct odata *odata, const struct text *json);
/* Returns the view for entities of the table in the response to the call, with all properties. */
struct entity_view entity_view_of(const struct call *call, const struct odata *odata,
                                  struct bytes table);
/* Adds only the ETag: struct service, answer_etag. */
void entity_answer_etag(struct answer *a, struct etag etag, instant modified);
/* Renders an error as {"odata.error":..}, or as <m:error> for operations with XML, those with
 * ?comp=: struct service, answer_error. */
bool odata_answer_error(struct answer *a, enum error e, const struct problem *problem);

/* Parses the resource in a path: resource.c. */
enum error table_read_resource(struct call *call, struct bytes path, struct resource *ret_resource);

extern const struct container_type table_container; /* table_operations.c */

#endif
