/* Requests of the File service, as the reference writes them. */
#ifndef LAGRA_SIM_FS_REQUEST_H
#define LAGRA_SIM_FS_REQUEST_H

#include "request.h"

struct draft;
struct arena;

void fs_request_write(const struct ask *ask, struct arena *arena, struct draft *ret_draft);
struct http_header;
void fs_request_read_header(const struct http_header *header, struct reply *reply);
void fs_request_format(const struct ask *ask, char *to, size_t size);

#endif
