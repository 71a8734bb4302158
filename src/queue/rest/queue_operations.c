/* Operations on queues: parsing of requests, rendering of responses. */
#include "queue/rest/request.h"

#include "queue/queue_operations.h"
#include "service/answer.h"
#include "service/metadata.h"
#include "properties/metadata_acl.h"

const struct container_type queue_container = {
    .metadata = offsetof(struct queue_state, queue.metadata),
    .policies = offsetof(struct queue_state, queue.policies),
    .write = queue_write_state,
    .letters = { .known = "raup" },
};

/* ---- Create Queue, Delete Queue ---- */

/* rest: Create-Queue4 */
enum error create_queue_check(struct call *call, struct create_queue_parameters *p)
{
    p->space = guid_new();
    return metadata_from_headers(call, &p->metadata);
}

void create_queue_answer(struct answer *a, const struct create_queue_parameters *p,
                         const struct create_queue_result *r)
{
    (void)p;
    if (r->existed)
        answer_status(a, 204);
}

/* rest: Delete-Queue3 */
OPERATION_CHECKS_NOTHING(delete_queue)

OPERATION_ANSWERS_NOTHING(delete_queue)

/* ---- Get Queue Metadata ---- */

/* rest: Get-Queue-Metadata */
OPERATION_CHECKS_NOTHING(get_queue_metadata)

void get_queue_metadata_answer(struct answer *a, const struct get_queue_metadata_parameters *p,
                               const struct get_queue_metadata_result *r)
{
    (void)p;
    metadata_answer(a, r->metadata);
    answer_u64(a, "x-ms-approximate-messages-count", r->messages);
}
