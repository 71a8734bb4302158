/* Names of the blobs that a search of a hierarchical container finds (find_blobs.c).
 *
 * The index of tags refers to nodes, so renaming a directory changes none of its entries. The path
 * of a node is read when it is found, from the node upwards. Containers that share a tree
 * (container_root.h) share its index, so a search passes over the nodes of the others.
 * Internal to blob/. */
#ifndef LAGRA_BLOB_FOUND_PATH_H
#define LAGRA_BLOB_FOUND_PATH_H

#include "blob/blob.h"

struct found_paths;
/* Starts a search of a hierarchical container. */
struct found_paths *found_paths_open(struct decision *d, const struct container *container);
/* Returns the path of a file or directory; ptr NULL if it is not found: it no longer exists, is in a
 * deleted directory or in another container, or has expired. Returns STORE_OK, STORE_CORRUPT, or
 * another failure. */
enum store_result found_path(struct found_paths *paths, uint64_t node, struct bytes *ret_path);
/* Returns STORE_OK, or STORE_CONFLICT if the paths did not all exist at once: a file was renamed or
 * deleted, or a directory moved, since the start. After some attempts that is accepted. */
enum store_result found_paths_confirm(struct found_paths *paths);

#endif
