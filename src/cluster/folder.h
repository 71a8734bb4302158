/* The directory of a cluster, on a file system that all its machines share:
 *
 *   cluster             one line: "lagra-cluster 1 ID CRC", where CRC is the CRC-32C of the text
 *                       before it
 *   key                 the secret that its front ends share (key.h)
 *   cells/0001/owner    the cell's owner (owner_file.h)
 *   cells/0001/data/    the cell's data directory, used by an embedded engine
 *
 * Functions that access the directory may block for as long as the file system does. */
#ifndef LAGRA_CLUSTER_FOLDER_H
#define LAGRA_CLUSTER_FOLDER_H

#include "base/ids.h"

/* Interval at which front ends check for added cells and changes of the files `pins` and `key`. */
#define CLUSTER_REREAD_MS  2000u
#define CLUSTER_CELLS_MAX  64u /* per cluster, for now: a front end has one thread per cell */
#define CLUSTER_FILE_NAME  "cluster"
/* The cell that stores accounts, service properties and placements, and every container that is not
 * placed in another cell. */
#define CLUSTER_ROOT       1u
#define CLUSTER_TEXT_BYTES 64u

/* Creates the directory with this number of empty cells, durably. Writes the file `cluster` last.
 * Refuses a directory that already has cells, including those of an interrupted call. Returns false
 * with *ret_problem (static) on failure. */
bool cluster_folder_create(const char *path, unsigned cells, const char **ret_problem);
/* Reads the cluster's id. Returns false with *ret_problem (static) on failure. */
bool cluster_folder_read(const char *path, struct guid *ret_id, const char **ret_problem);
/* Lists the cell numbers, sorted. Returns their number, or 0 with *ret_problem on failure. */
unsigned cluster_folder_cells(const char *path, unsigned cells[CLUSTER_CELLS_MAX],
                              const char **ret_problem);
/* Adds an empty cell, durably, with the number after the last one. Returns the new number, or 0
 * with *ret_problem (static) on failure. */
unsigned cluster_folder_add_cell(const char *path, const char **ret_problem);
/* Return paths, which the caller frees with free(). */
char *cluster_owner_path(const char *path, unsigned cell);
char *cluster_data_path(const char *path, unsigned cell);

/* ---- the file `cluster`, pure ---- */

/* Writes the file's contents, NUL-terminated. */
void cluster_text_write(const struct guid *id, char text[CLUSTER_TEXT_BYTES]);
/* Parses the file's contents. Returns false unless they are exactly what cluster_text_write()
 * writes. */
bool cluster_text_read(struct bytes text, struct guid *ret_id);

#endif
