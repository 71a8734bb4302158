/* Delete Table as a request and as an answer. rest: Delete-Table */
#include "table/rest/odata.h"
#include "table/table_operations.h"

enum error delete_table_check(struct call *call, struct delete_table_parameters *p)
{
    const struct odata *odata;

    (void)p;
    return odata_read(call, &odata);
}

void delete_table_answer(struct answer *a, const struct delete_table_parameters *p,
                         const struct delete_table_result *r)
{
    (void)p;
    (void)r;
    odata_answer(a, 204);
}
