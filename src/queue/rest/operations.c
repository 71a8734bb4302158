/* The operation table of the Queue service: one row per operation, with its name in the REST
 * reference. Columns: service/row.h. Queue operations have no conditions, leases or ETags: the last
 * writer wins.
 *
 * rest: Queue-Service-REST-API, Create-account-SAS, Create-service-SAS; semantics 7 */
#include "queue/expire_messages.h"
#include "queue/message_operations.h"
#include "queue/queue_operations.h"
#include "queue/rest/request.h"
#include "properties/metadata_acl.h"
#include "properties/preflight.h"
#include "service/row.h"
#include "properties/service_properties.h"
#include "service/user_delegation_key.h"

/* Maximum body size: a message in which every character has its longest escape, plus the XML
 * elements around it. */
#define MESSAGE_BODY_MAX (UINT64_C(512) << 10)

OPERATION_MERGED(list_queues, "");
OPERATION_WITH_PARSE(set_service_properties);
OPERATION(get_service_properties);
OPERATION(get_service_stats);
OPERATION_WITH_PARSE(get_user_delegation_key);
OPERATION(preflight);
OPERATION(create_queue);
OPERATION(delete_queue);
OPERATION(get_queue_metadata);
OPERATION(set_metadata);
OPERATION(get_acl);
OPERATION_WITH_PARSE(set_acl);
OPERATION_WITH_PARSE(put_message);
OPERATION(get_messages);
OPERATION(peek_messages);
OPERATION_WITH_PARSE(update_message);
OPERATION(delete_message);
OPERATION(clear_messages);

/* clang-format off */
static const struct operation operations[] = {
    /* ---- service ---- */
    ROW("List Queues", GET, QUEUES, "comp=list", NULL, READS, MAY("s", "l", "", "", CONTAINER_READ, PRIVATE), "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, &list_queues_functions),
    ROW("Set Queue Service Properties", PUT, QUEUES, "comp=properties&restype=service", NULL, WRITES, MAY("s", "w", "", "", SERVICE_WRITE, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, XML_BODY_MAX, 202, 0, NULL, &set_service_properties_functions),
    ROW("Get Queue Service Properties", GET, QUEUES, "comp=properties&restype=service", NULL, READS, MAY("s", "r", "", "", SERVICE_READ, PRIVATE), "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, &get_service_properties_functions),
    ROW("Get Queue Service Stats", GET, QUEUES, "comp=stats&restype=service", NULL, READS, MAY("s", "r", "", "", SERVICE_READ, PRIVATE), "2013-08-15",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, &get_service_stats_functions),
    ROW("Get User Delegation Key", POST, QUEUES, "comp=userdelegationkey&restype=service", NULL, READS, MAY("s", "", "", "", DELEGATION_KEY, PRIVATE), "2025-07-05",
        NO_IF, OTHER_READ, IGNORED, NONE, MEMORY, XML_BODY_MAX, 200, 0, NULL, &get_user_delegation_key_functions),
    ROW("Preflight Queue Request", METHOD_OPTIONS, ANY, SELECTOR_ANY, NULL, READS, MAY(RIGHTS_ANY, "*", "*", "", ANY, PRIVATE), "2013-08-15",
        NO_IF, OTHER_READ, IGNORED, NONE, IGNORED, 0, 200, 0, NULL, LOGGED_AS("QueuePreflightRequest", &preflight_functions)),

    /* ---- queues ---- */
    ROW("Create Queue", PUT, QUEUE, "", NULL, WRITES, MAY("c", "cw", "", "", CONTAINER_WRITE, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 201, 204, NULL, ADDS(&create_queue_functions)),
    ROW("Delete Queue", DELETE, QUEUE, "", NULL, WRITES, MAY("c", "d", "", "", CONTAINER_DELETE, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 204, 0, queue_subject, &delete_queue_functions),
    ROW("Get Queue Metadata", GH, QUEUE, "comp=metadata", NULL, READS, MAY("c", "r", "r", "", CONTAINER_READ, PRIVATE), "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, queue_subject, &get_queue_metadata_functions),
    ROW("Set Queue Metadata", PUT, QUEUE, "comp=metadata", NULL, WRITES, MAY("c", "w", "", "", CONTAINER_WRITE, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 204, 0, queue_subject, &set_metadata_functions),
    ROW("Get Queue ACL", GH, QUEUE, "comp=acl", NULL, READS, MAY("c", "", "", "", CONTAINER_GET_ACL, PRIVATE), "2012-02-12",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, queue_subject, &get_acl_functions),
    ROW("Set Queue ACL", PUT, QUEUE, "comp=acl", NULL, WRITES, MAY("c", "", "", "", CONTAINER_SET_ACL, PRIVATE), "2012-02-12",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, XML_BODY_MAX, 204, 0, queue_subject, &set_acl_functions),

    /* ---- messages ---- */
    ROW("Put Message", POST, MESSAGES, "", NULL, WRITES, MAY("o", "a", "a", "", MESSAGE_ADD, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, MESSAGE_BODY_MAX, 201, 0, NULL, &put_message_functions),
    ROW("Peek Messages", GET, MESSAGES, "", "?peekonly=true", READS, MAY("o", "r", "r", "", MESSAGE_READ, PRIVATE), "2009-09-19",
        NO_IF, OTHER_READ, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, &peek_messages_functions),
    ROW("Get Messages", GET, MESSAGES, "", NULL, WRITES, MAY("o", "p", "p", "", MESSAGE_PROCESS, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 200, 0, NULL, &get_messages_functions),
    ROW("Clear Messages", DELETE, MESSAGES, "", NULL, WRITES, MAY("o", "d", "", "", MESSAGE_DELETE, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 204, 0, queue_subject, &clear_messages_functions),
    ROW("Update Message", PUT, MESSAGE, "", NULL, WRITES, MAY("o", "u", "u", "", MESSAGE_WRITE, PRIVATE), "2011-08-18",
        NO_IF, WRITE, IGNORED, NONE, MEMORY, MESSAGE_BODY_MAX, 204, 0, NULL, &update_message_functions),
    ROW("Delete Message", DELETE, MESSAGE, "", NULL, WRITES, MAY("o", "p", "p", "", MESSAGE_PROCESS, PRIVATE), "2009-09-19",
        NO_IF, WRITE, IGNORED, NONE, REFUSED, 0, 204, 0, NULL, &delete_message_functions),
};
/* clang-format on */

static const char *const levels[] = {
    [LEVEL_QUEUES] = "/",
    [LEVEL_QUEUE] = "/queue",
    [LEVEL_MESSAGES] = "/queue/messages",
    [LEVEL_MESSAGE] = "/queue/messages/id",
};

static const struct task_handler task_handlers[] = {
    { TASK_EXPIRE_MESSAGES, "delete expired messages", expire_messages },
};

const struct service queue_service = {
    .name = "queue",
    .sections = SECTION_LOGGING | SECTION_LOGGING_2,
    .operations = operations,
    .operation_count = sizeof operations / sizeof operations[0],
    .task_handlers = task_handlers,
    .task_handler_count = sizeof task_handlers / sizeof task_handlers[0],
    .reads_are_not_cached = true,
    .levels = levels,
    .resource_size = sizeof(struct queue_resource),
    .read_resource = queue_read_resource,
    .names = queue_signed_names,
    .check_names = queue_check_names,
    .usage = &queue_usage,
    .container = &queue_container,
    .restore = &queue_restore,
    .locate = queue_locate,
    .permit_facts = queue_permit_facts,
};
