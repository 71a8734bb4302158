/* Internal to file/rest/: a file as the source of a copy. */
#ifndef LAGRA_FILE_REST_SOURCE_FILE_H
#define LAGRA_FILE_REST_SOURCE_FILE_H

#include "file/file_operations.h"
#include "source/open_source.h"

/* A member of struct service. */
extern const struct source_functions file_source_functions;
/* Returns the file of an open source, or NULL if it is not a file of this server. */
const struct get_file_properties_result *source_file(const struct open_source *open);

#endif
