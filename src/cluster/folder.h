/* The folder of a cluster, on a file system that all its machines share:
 *
 *   cluster             one line: "lagra-cluster 1 ID CRC", the CRC-32C of the text before it
 *   key                 the secret that its front ends share (key.h)
 *   cells/0001/owner    who owns the cell (owner_file.h)
 *   cells/0001/data/    its data folder, that of an embedded engine
 *
 * Functions that touch the folder may block for as long as the file system does. */
#ifndef LAGRA_CLUSTER_FOLDER_H
#define LAGRA_CLUSTER_FOLDER_H

#include "base/ids.h"

#define CLUSTER_CELLS_MAX  64u /* per cluster, for now: a front end has a thread for each */
#define CLUSTER_FILE_NAME  "cluster"
/* The cell that keeps accounts, service properties and placements, and every container that is placed nowhere else. */
#define CLUSTER_ROOT       1u
#define CLUSTER_TEXT_BYTES 64u

/* Creates the folder with this number of empty cells, durably; the file `cluster` is written last.
 * A folder that already has cells is refused, also those of a call that did not finish. Returns
 * false and *ret_problem (static). */
bool cluster_folder_create(const char *path, unsigned cells, const char **ret_problem);
/* Reads the cluster's id. Returns false and *ret_problem (static). */
bool cluster_folder_read(const char *path, struct guid *ret_id, const char **ret_problem);
/* Lists the numbers of its cells, sorted. Returns how many, 0 after a failure (*ret_problem). */
unsigned cluster_folder_cells(const char *path, unsigned cells[CLUSTER_CELLS_MAX],
                              const char **ret_problem);
/* Adds an empty cell, durably, with the number after the last. Returns that, or 0 and *ret_problem (static). */
unsigned cluster_folder_add_cell(const char *path, const char **ret_problem);
/* Return paths, to be freed by free(). */
char *cluster_owner_path(const char *path, unsigned cell);
char *cluster_data_path(const char *path, unsigned cell);

/* ---- the file `cluster`, pure ---- */

/* Writes its contents, with NUL. */
void cluster_text_write(const struct guid *id, char text[CLUSTER_TEXT_BYTES]);
/* Returns false unless it is exactly what cluster_text_write() writes. */
bool cluster_text_read(struct bytes text, struct guid *ret_id);

#endif
