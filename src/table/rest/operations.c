/* The operation table of the Table service: see table.h. */
#include "service/operation.h"
#include "table/table.h"

const struct service table_service = { .name = "table" };
