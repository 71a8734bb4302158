/* Requests to the Table service on their way to the wire, and what only its answers have. */
#ifndef LAGRA_SIM_TABLE_REQUEST_H
#define LAGRA_SIM_TABLE_REQUEST_H

#include "request.h"

struct arena;
struct draft;
struct http_header;

void table_request_write(const struct ask *ask, struct arena *arena, struct draft *ret_draft);
void table_request_read_header(const struct http_header *header, struct reply *reply);
void table_request_format(const struct ask *ask, char *to, size_t size);

#endif
