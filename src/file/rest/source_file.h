/* Internal to file/rest/: a file as the source of a copy. */
#ifndef LAGRA_FILE_REST_SOURCE_FILE_H
#define LAGRA_FILE_REST_SOURCE_FILE_H

#include "file/file_operations.h"
#include "source/open_source.h"

/* Returns the facts of a file as a copy source; a member of struct service. */
enum error file_source(const struct operation *operation, const struct result *result,
                       struct source_facts *ret_facts);
/* Returns the file of an open source, or NULL if it is not a file of this server. */
const struct get_file_properties_result *source_file(const struct open_source *open);

#endif
