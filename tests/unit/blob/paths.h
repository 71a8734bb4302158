/* Operations on paths of the hierarchical container "box", without the Data Lake endpoint. "bag:a/b" is a path of the
 * container "bag". */
#ifndef LAGRA_TESTS_UNIT_BLOB_PATHS_H
#define LAGRA_TESTS_UNIT_BLOB_PATHS_H

#include "fixture.h"

#include "blob/path_operations.h"

enum error create_directory(struct fixture *f, const char *path);
enum error delete_directory(struct fixture *f, const char *path, bool is_recursive);
/* of: with the source's lease and conditions; NULL: without */
enum error rename_path(struct fixture *f, const char *from, const char *to,
                       const struct path_rename *of);

enum error put_path(struct fixture *f, const char *path, const char *text);
enum error delete_path(struct fixture *f, const char *path);
/* Restores the newest deletion of a path. */
enum error undelete_path(struct fixture *f, const char *path);
/* "name:length" of the blob. */
enum error read_path(struct fixture *f, const char *path, char *out, size_t size);
/* The same of all blobs, with blanks between, in pages of `max`; "-name:length" of deleted paths. */
enum error list_paths(struct fixture *f, uint32_t max, bool lists_deleted, char *out, size_t size);
/* The same of another container. */
enum error list_paths_of(struct fixture *f, const char *container, uint32_t max, bool lists_deleted,
                         char *out, size_t size);
/* The sorted names of the blobs with the tag k=v. */
enum error find_tagged(struct fixture *f, char *out, size_t size);
/* The same of the entries of the root. */
enum error list_root(struct fixture *f, char *out, size_t size);

#endif
