/* Operations on paths of the hierarchical container "box", without the Data Lake endpoint. */
#ifndef LAGRA_TESTS_UNIT_BLOB_PATHS_H
#define LAGRA_TESTS_UNIT_BLOB_PATHS_H

#include "fixture.h"

#include "blob/path_operations.h"

enum error create_directory(struct fixture *f, const char *path);
enum error delete_directory(struct fixture *f, const char *path, bool is_recursive);
/* of: with the source's lease and conditions; NULL: without */
enum error rename_path(struct fixture *f, const char *from, const char *to,
                       const struct path_rename *of);

#endif
