/* Entities as JSON: what a request's body says, and how answers show them. Inside the table room
 * only; any thread. rest: Payload-Format-for-Table-Service-Operations */
#ifndef LAGRA_TABLE_REST_ENTITY_JSON_H
#define LAGRA_TABLE_REST_ENTITY_JSON_H

#include "table/entity.h"

/* ---- reading ---- */

/* The entity in a body. Keys are checked where they are given (ptr NULL: not given, or null);
 * its timestamp is 0: what the body says of Timestamp and of odata.* is passed over. Properties
 * that are null are not there. A type is what `P@odata.type` says, before or behind P, else:
 * String, Boolean, Int32 for a whole number within its range, Double for all others.
 * decision: 162
 * ret_message  the message of the refusal; NULL: that of its code
 * returns  OK; E_InvalidInput, E_PropertyNameInvalid, E_PropertyNameTooLong,
 *          E_PropertyValueTooLarge, E_TooManyProperties, E_DuplicatePropertiesSpecified,
 *          E_OutOfRangeInput (a date or a key), E_KeyValueTooLarge.
 *          The size of the whole is entity_check()'s, when its keys are known. */
enum error entity_json_read(struct arena *arena, struct bytes body, struct entity *ret_entity,
                            const char **ret_message);

/* Whether a text may be a property's name: a letter or _, then letters, digits, _ and what XML
 * allows to combine with them. No '-'. At most 255 code units. rest:
 * Understanding-the-Table-Service-Data-Model "Property Names"
 * returns  OK, E_PropertyNameInvalid, E_PropertyNameTooLong */
enum error entity_name_check(struct bytes utf8);

/* ---- writing ---- */

enum odata_metadata { ODATA_NO_METADATA, ODATA_MINIMAL_METADATA, ODATA_FULL_METADATA };

/* What an answer shows of its entities, and what it says of where they are. */
struct entity_view {
    enum odata_metadata metadata;
    struct bytes url_prefix;    /* "http://127.0.0.1:10002/devstoreaccount1" */
    struct bytes account;       /* for odata.type */
    struct bytes table;         /* as it was created */
    const struct bytes *select; /* names as they were asked for; none: all */
    size_t select_count;
};

/* An entity alone, which is the whole body. */
void entity_json_write(struct text *out, const struct entity_view *view,
                       const struct entity *entity);
/* A list of them: begin, each entity, end. */
void entity_list_begin(struct text *out, const struct entity_view *view);
void entity_list_add(struct text *out, const struct entity_view *view, const struct entity *entity);
void entity_list_end(struct text *out);

/* T(PartitionKey='p',RowKey='r'), as part of a URL. */
void entity_path_write(struct text *out, struct bytes table, struct bytes partition_key,
                       struct bytes row_key);
/* W/"datetime'2017-01-05T03%3A24%3A42.7201549Z'"; returns its length. */
#define ENTITY_ETAG_SIZE 48
size_t entity_etag_format(instant timestamp, char buffer[ENTITY_ETAG_SIZE]);

#endif
