/* Delete Container as a request and as an answer. rest: Delete-Container */
#include "blob/container_operations.h"
#include "service/answer.h"

enum error delete_container_check(struct call *call, struct delete_container_parameters *p)
{
    (void)call;
    (void)p;
    return OK;
}

void delete_container_answer(struct answer *a, const struct delete_container_parameters *p,
                             const struct delete_container_result *r)
{
    (void)p;
    (void)r;
    answer_status(a, 202);
}
