/* Get Queue Metadata, Set Queue Metadata as requests and answers. */
#include "queue/queue_operations.h"
#include "service/answer.h"
#include "service/metadata.h"

/* rest: Get-Queue-Metadata */
enum error get_queue_metadata_check(struct call *call, struct get_queue_metadata_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

void get_queue_metadata_answer(struct answer *a, const struct get_queue_metadata_parameters *p,
                               const struct get_queue_metadata_result *r)
{
    (void)p;
    answer_status(a, 200);
    metadata_answer(a, r->metadata);
    answer_u64(a, "x-ms-approximate-messages-count", r->messages);
}

/* rest: Set-Queue-Metadata */
enum error set_queue_metadata_check(struct call *call, struct set_queue_metadata_parameters *p)
{
    return metadata_from_headers(call, &p->metadata);
}

void set_queue_metadata_answer(struct answer *a, const struct set_queue_metadata_parameters *p,
                               const struct set_queue_metadata_result *r)
{
    (void)p;
    (void)r;
    answer_status(a, 204);
}
