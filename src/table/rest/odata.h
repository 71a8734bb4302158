/* OData's headers: in which form a client wants its answer, and the answers in that form.
 * Inside table/rest/ only.
 * rest: Payload-Format-for-Table-Service-Operations, Setting-the-Prefer-Header-to-Manage-Response-Echo-on-
 * Insert-Operations, Setting-the-OData-Data-Service-Version-Headers */
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

/* Reads $format or Accept, Prefer, and the versions; refuses what this server does not speak.
 * returns  OK, E_AtomFormatNotSupported, E_InvalidHeaderValue, E_InvalidQueryParameterValue,
 *          E_NotImplemented: an option of OData that the service does not have */
enum error odata_read(struct call *call, const struct odata **ret_odata);
/* Is the body that comes JSON? No Content-Type is taken for it.
 * returns  OK, E_AtomFormatNotSupported, E_InvalidHeaderValue */
enum error odata_check_body(struct call *call);
/* What a parser has refused, with its message; NULL: that of the code. */
enum error odata_refuse(struct call *call, enum error e, const char *message);

/* The headers that every answer in OData has. */
void odata_answer(struct answer *a);
/* Preference-Applied, where the request said what it prefers. */
void odata_answer_preference(struct answer *a);
/* The body and its type. */
void odata_answer_json(struct answer *a, const struct odata *odata, const struct text *json);
/* What an answer to the call shows of entities of the table; all properties. */
struct entity_view entity_view_of(const struct call *call, const struct odata *odata,
                                  struct bytes table);
/* ETag alone: struct service, answer_etag. */
void entity_answer_etag(struct answer *a, struct etag etag, instant modified);
/* An error as {"odata.error":..}, or as <m:error> of the operations that speak XML, those with
 * ?comp=: struct service, answer_error. */
bool odata_answer_error(struct answer *a, enum error e, const struct problem *problem);

/* What a path names: resource.c. */
enum error table_read_resource(struct call *call, struct bytes path, struct resource *ret_resource);

#endif
