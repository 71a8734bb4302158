/* Internal to file/: finds the entries of a page that have a pending delete, by the index of the
 * share's space (open_record.h). */
#ifndef LAGRA_FILE_PENDING_SET_H
#define LAGRA_FILE_PENDING_SET_H

#include "file/file.h"

/* Removes entries with a pending delete from *page. May miss deletes that became pending after
 * the page was read. Costs one index read if none is pending.
 * returns STORE_OK, as index_iterator_next() */
enum store_result pending_leave_out(struct decision *d, struct tree_page *page);

#endif
