/* The operation table of the Table service: one row per operation, with its name in the REST
 * reference. Columns: see service/row.h. X-HTTP-Method may replace the method of a POST.
 * rest: Table-Service-REST-API; semantics 2.4, 6 */
#include "properties/metadata_acl.h"
#include "properties/preflight.h"
#include "service/row.h"
#include "properties/service_properties.h"
#include "table/entity_operations.h"
#include "table/rest/odata.h"
#include "table/rest/transaction.h"
#include "table/table_operations.h"

#define TABLE_BODY_MAX  (UINT64_C(64) << 10)
/* An entity of 1 MiB in JSON. */
#define ENTITY_BODY_MAX (UINT64_C(4) << 20)
/* rest: Performing-Entity-Group-Transactions */
#define BATCH_BODY_MAX  (UINT64_C(4) << 20)

#define M               IF_MATCH

OPERATION_WITH_PARSE(set_service_properties);
OPERATION(get_service_properties);
OPERATION(get_service_stats);
OPERATION(preflight);
OPERATION_MERGED(query_tables, "Tables");
OPERATION(get_table);
OPERATION_WITH_PARSE(create_table);
OPERATION(delete_table);
OPERATION(get_acl);
OPERATION_WITH_PARSE(set_acl);
OPERATION_WITH_PARSE(insert_entity);
OPERATION_WITH_PARSE(replace_entity);
OPERATION_WITH_PARSE(merge_entity);
OPERATION(delete_entity);
OPERATION(get_entity);
OPERATION(query_entities);
OPERATION_TRANSACTION(entity_group_transaction);

/* clang-format off */
static const struct operation operations[] = {
    /* ---- service ---- */
    ROW("Set Table Service Properties", PUT, SERVICE, "comp=properties&restype=service", NULL, WRITES, MAY("s", "w", "", "", SERVICE_WRITE, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, XML_BODY_MAX, 202, 0,
        NULL, &set_service_properties_functions),
    ROW("Get Table Service Properties", GET, SERVICE, "comp=properties&restype=service", NULL, READS, MAY("s", "r", "", "", SERVICE_READ, PRIVATE), "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        NULL, &get_service_properties_functions),
    ROW("Get Table Service Stats", GET, SERVICE, "comp=stats&restype=service", NULL, READS, MAY("s", "r", "", "", SERVICE_READ, PRIVATE), "2013-08-15",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        NULL, &get_service_stats_functions),
    ROW("Preflight Table Request", METHOD_OPTIONS, ANY, SELECTOR_ANY, NULL, READS, MAY(ANY, "*", "*", "", ANY, CONTAINER), "2013-08-15",
        NO_IF, OTHER_READ, IGNORED, NONE, IGNORED, 0, 200, 0,
        NULL, LOGGED_AS("TablePreflightRequest", &preflight_functions)),

    /* ---- tables ---- */
    ROW("Query Tables", GET, TABLES, "", NULL, READS, MAY("c", "l", "", "", CONTAINER_READ, PRIVATE), "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        NULL, &query_tables_functions),
    ROW("Query Tables", GET, NAMED, "", NULL, READS, MAY("c", "l", "", "", CONTAINER_READ, PRIVATE), "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        table_subject_named, LOGGED_AS("QueryTable", &get_table_functions)),
    ROW("Create Table", POST, TABLES, "", NULL, WRITES, MAY("c", "cw", "", "", CONTAINER_WRITE, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, TABLE_BODY_MAX, 201, 204,
        NULL, ADDS(&create_table_functions)),
    ROW("Delete Table", DELETE, NAMED, "", NULL, WRITES, MAY("c", "d", "", "", CONTAINER_DELETE, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 204, 0,
        table_subject_named, &delete_table_functions),
    ROW("Get Table ACL", GET, TABLE, "comp=acl", NULL, READS, MAY("c", "", "", "", CONTAINER_GET_ACL, PRIVATE), "2012-02-12",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0,
        table_subject, &get_acl_functions),
    ROW("Set Table ACL", PUT, TABLE, "comp=acl", NULL, WRITES, MAY("c", "", "", "", CONTAINER_SET_ACL, PRIVATE), "2012-02-12",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, XML_BODY_MAX, 204, 0,
        table_subject, &set_acl_functions),

    /* ---- entities: with If-Match they require an existing entity; the first matching row is used.
     * An upsert needs both rights (rest: Create-service-SAS "Permissions for a table",
     * Authorize-with-Azure-Active-Directory "Permissions for table service operations") ---- */
    ROW("Insert Entity", POST, TABLE, "", NULL, WRITES, MAY("o", "a", "a", "", ENTITY_ADD, PRIVATE), "2009-09-19",
        NO_IF, ENTITY, IGNORED, CHANGED, MEMORY, ENTITY_BODY_MAX, 201, 204,
        entity_subject_optional, LISTED(&insert_entity_functions)),
    ROW("Update Entity", PUT, ENTITY, "", "if-match", WRITES, MAY("o", "u", "u", "", ENTITY_UPDATE, PRIVATE), "2009-09-19",
        M, ENTITY, IGNORED, CHANGED, MEMORY, ENTITY_BODY_MAX, 204, 0,
        entity_subject, LISTED(&replace_entity_functions)),
    ROW("Merge Entity", METHOD_MERGE | METHOD_PATCH, ENTITY, "", "if-match", WRITES, MAY("o", "u", "u", "", ENTITY_UPDATE, PRIVATE), "2009-09-19",
        M, ENTITY, IGNORED, CHANGED, MEMORY, ENTITY_BODY_MAX, 204, 0,
        entity_subject, LISTED(&merge_entity_functions)),
    ROW("Insert Or Replace Entity", PUT, ENTITY, "", NULL, WRITES, MAY_WITH_ALL("au", ENTITY_UPSERT, PRIVATE), "2011-08-18",
        NO_IF, ENTITY, IGNORED, CHANGED, MEMORY, ENTITY_BODY_MAX, 204, 0,
        entity_subject_optional, LISTED(&replace_entity_functions)),
    ROW("Insert Or Merge Entity", METHOD_MERGE | METHOD_PATCH, ENTITY, "", NULL, WRITES, MAY_WITH_ALL("au", ENTITY_UPSERT, PRIVATE), "2011-08-18",
        NO_IF, ENTITY, IGNORED, CHANGED, MEMORY, ENTITY_BODY_MAX, 204, 0,
        entity_subject_optional, LISTED(&merge_entity_functions)),
    ROW("Delete Entity", DELETE, ENTITY, "", "if-match", WRITES, MAY("o", "d", "d", "", ENTITY_DELETE, PRIVATE), "2009-09-19",
        M, ENTITY, IGNORED, NONE, REFUSED, 0, 204, 0,
        entity_subject, LISTED(&delete_entity_functions)),
    ROW("Query Entities", GET, ENTITY, "", NULL, READS, MAY("o", "r", "r", "", ENTITY_READ, PRIVATE), "2009-09-19",
        NO_IF, ENTITY, IGNORED, RETURNED, REFUSED, 0, 200, 0,
        entity_subject, LOGGED_AS("QueryEntity", LISTED(&get_entity_functions))),
    ROW("Query Entities", GET, TABLE, "", NULL, READS, MAY("o", "r", "r", "", ENTITY_READ, PRIVATE), "2009-09-19",
        NO_IF, ENTITY, IGNORED, NONE, REFUSED, 0, 200, 0,
        table_subject, LISTED(&query_entities_functions)),
    ROW("Entity Group Transaction", POST, BATCH, "", NULL, WRITES, MAY(ANY, "*", "*", "", ANY, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, BATCH_BODY_MAX, 202, 0,
        NULL, &entity_group_transaction_functions),
};
/* clang-format on */

static const char *const levels[] = {
    [LEVEL_SERVICE] = "/",
    [LEVEL_TABLES] = "/Tables",
    [LEVEL_NAMED] = "/Tables('table')",
    [LEVEL_TABLE] = "/table",
    [LEVEL_ENTITY] = "/table(PartitionKey='p',RowKey='r')",
    [LEVEL_BATCH] = "/$batch",
};

const struct service table_service = {
    .name = "table",
    .sections = SECTION_LOGGING,
    .operations = operations,
    .operation_count = sizeof operations / sizeof operations[0],
    .levels = levels,
    .unsigned_parameter = "$filter",
    .etags = ETAG_TIMESTAMP,
    .answer_etag = entity_answer_etag,
    .resource_size = sizeof(struct table_resource),
    .state_size = sizeof(struct table_state),
    .read_resource = table_read_resource,
    .names = table_signed_names,
    .check_names = table_check_names,
    .usage = &table_usage,
    .container = &table_container,
    .restore = &table_restore,
    .locate = table_locate,
    .permit_facts = table_permit_facts,
    .answer_error = odata_answer_error,
};
