/* The Table service. Not built yet: its table has no rows, so every request is authorized and then
 * answered 501 NotImplemented. */
#ifndef LAGRA_TABLE_TABLE_H
#define LAGRA_TABLE_TABLE_H

#include "service/operation.h"

extern const struct service table_service;

#endif
