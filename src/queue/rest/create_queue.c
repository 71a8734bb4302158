/* Create Queue, Delete Queue as requests and answers. */
#include "queue/queue_operations.h"
#include "service/answer.h"
#include "service/metadata.h"

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
    answer_status(a, r->existed ? 204 : 201);
}

/* rest: Delete-Queue3 */
enum error delete_queue_check(struct call *call, struct delete_queue_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

void delete_queue_answer(struct answer *a, const struct delete_queue_parameters *p,
                         const struct delete_queue_result *r)
{
    (void)p;
    (void)r;
    answer_status(a, 204);
}
