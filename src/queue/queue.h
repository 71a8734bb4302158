/* The Queue service. Not built yet: its table has no rows, so every request is authorized and then
 * answered 501 NotImplemented. */
#ifndef LAGRA_QUEUE_QUEUE_H
#define LAGRA_QUEUE_QUEUE_H

#include "service/operation.h"

extern const struct service queue_service;

#endif
