/* Entities as JSON in request and response bodies. Internal to table/. Thread-safe.
 * rest: Payload-Format-for-Table-Service-Operations */
#ifndef LAGRA_TABLE_REST_ENTITY_JSON_H
#define LAGRA_TABLE_REST_ENTITY_JSON_H

#include "table/entity.h"

/* ---- parsing ---- */

/* Parses the entity in a body. Checks keys that are present (ptr NULL means absent, or null).
 * Ignores Timestamp and odata.*, so the timestamp is 0, and skips null properties. A type is given
 * by `P@odata.type`, before or after P; otherwise it is String, Boolean, Int32 for an integer
 * within its range, or Double for other numbers. decision: 162
 * ret_message  error message, or NULL for the code's default message
 * returns  OK; E_InvalidInput, E_PropertyNameInvalid, E_PropertyNameTooLong,
 *          E_PropertyValueTooLarge, E_TooManyProperties, E_DuplicatePropertiesSpecified,
 *          E_OutOfRangeInput (a date or a key), E_KeyValueTooLarge. entity_check() checks the total
 *          size, once the keys are known. */
enum error entity_json_read(struct arena *arena, struct bytes body, struct entity *ret_entity,
                            const char **ret_message);

/* Checks a property name: a letter or _, then letters, digits, _ and XML's combining characters. No
 * '-'. At most 255 code units. Returns OK, E_PropertyNameInvalid, E_PropertyNameTooLong.
 * rest: Understanding-the-Table-Service-Data-Model "Property Names" */
enum error entity_name_check(struct bytes utf8);

/* ---- writing ---- */

enum odata_metadata { ODATA_NO_METADATA, ODATA_MINIMAL_METADATA, ODATA_FULL_METADATA };

/* What a response shows of its entities, and the URLs it contains. */
struct entity_view {
    enum odata_metadata metadata;
    struct bytes url_prefix;    /* "http://127.0.0.1:10002/devstoreaccount1" */
    struct bytes account;       /* for odata.type */
    struct bytes table;         /* as it was created */
    const struct bytes *select; /* names as requested; none: all */
    size_t select_count;
};

/* Writes a single entity, the entire body. */
void entity_json_write(struct text *out, const struct entity_view *view,
                       const struct entity *entity);
/* Write a list of entities: begin, each entity, end. */
void entity_list_begin(struct text *out, const struct entity_view *view);
void entity_list_add(struct text *out, const struct entity_view *view, const struct entity *entity);
void entity_list_end(struct text *out);

/* Writes T(PartitionKey='p',RowKey='r'), as part of a URL. */
void entity_path_write(struct text *out, struct bytes table, struct bytes partition_key,
                       struct bytes row_key);
/* Writes W/"datetime'2017-01-05T03%3A24%3A42.7201549Z'" and returns its length. */
#define ENTITY_ETAG_SIZE 48
size_t entity_etag_format(instant timestamp, char buffer[ENTITY_ETAG_SIZE]);

#endif
