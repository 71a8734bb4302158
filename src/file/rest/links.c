/* Links as requests. rest: Create-Hard-Link, Create-Symbolic-Link, Read-Symbolic-Link */
#include "file/file_operations.h"
#include "service/operation.h"

enum error link_check(struct call *call, struct link_parameters *p)
{
    p->restype = call_query(call, "restype");
    return OK;
}

OPERATION_ANSWERS_NOTHING(link)
