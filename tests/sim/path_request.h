/* Writes the request of a path_ask, and reads headers of the response. rest: datalakestoragegen2 */
#ifndef LAGRA_SIM_PATH_REQUEST_H
#define LAGRA_SIM_PATH_REQUEST_H

#include "request.h"

struct arena;
struct draft;
struct http_header;

void path_request_write(const struct ask *ask, struct arena *arena, struct draft *ret_draft);
void path_request_format(const struct ask *ask, char *to, size_t size);
void path_request_read_header(const struct http_header *header, struct reply *reply);
bool path_request_is_by_blob(const struct ask *ask);

#endif
