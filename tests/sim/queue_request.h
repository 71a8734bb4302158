/* Requests to the Queue service. */
#ifndef LAGRA_SIM_QUEUE_REQUEST_H
#define LAGRA_SIM_QUEUE_REQUEST_H

#include "services.h"

#define QUEUE_ID_TEXT 40

void queue_format(const struct ask *ask, char *to, size_t size);
void queue_write_request(const struct ask *ask, struct arena *arena, struct draft *ret_draft);
void queue_read_header(const struct http_header *header, struct reply *reply);
/* As in the path and in answers. */
void queue_id_format(const unsigned char *id, char to[QUEUE_ID_TEXT]);
bool queue_id_parse(const char *text, unsigned char *ret_id);

#endif
