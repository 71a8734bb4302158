/* The operation table of the Queue service: see queue.h. */
#include "queue/queue.h"

const struct service queue_service = { .name = "queue" };
