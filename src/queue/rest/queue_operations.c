/* Operations on queues: parsing of requests, rendering of responses. */
#include "queue/queue_operations.h"
#include "service/answer.h"
#include "service/metadata.h"
#include "properties/signed_identifiers.h"

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

/* ---- Get and Set Queue Metadata ---- */

/* rest: Get-Queue-Metadata */
OPERATION_CHECKS_NOTHING(get_queue_metadata)

void get_queue_metadata_answer(struct answer *a, const struct get_queue_metadata_parameters *p,
                               const struct get_queue_metadata_result *r)
{
    (void)p;
    metadata_answer(a, r->metadata);
    answer_u64(a, "x-ms-approximate-messages-count", r->messages);
}

/* rest: Set-Queue-Metadata */
enum error set_queue_metadata_check(struct call *call, struct set_queue_metadata_parameters *p)
{
    return metadata_from_headers(call, &p->metadata);
}

OPERATION_ANSWERS_NOTHING(set_queue_metadata)

/* ---- Get and Set Queue ACL ---- */

static const struct policy_letters policy_letters = { .known = "raup" };

OPERATION_CHECKS_NOTHING(get_queue_acl)

void get_queue_acl_answer(struct answer *a, const struct get_queue_acl_parameters *p,
                          const struct get_queue_acl_result *r)
{
    struct text out;

    (void)p;
    text_init(&out, a->arena, 512);
    signed_identifiers_xml(&out, &r->policies);
    answer_xml(a, &out);
}

OPERATION_CHECKS_NOTHING(set_queue_acl)

enum error set_queue_acl_parse(struct call *call, struct set_queue_acl_parameters *p)
{
    return signed_identifiers_read(call, &policy_letters, &p->policies);
}

OPERATION_ANSWERS_NOTHING(set_queue_acl)
