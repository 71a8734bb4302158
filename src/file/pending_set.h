/* Inside file/ only: which entries of a page are to be deleted, by the index of the share's space
 * (open_record.h). */
#ifndef LAGRA_FILE_PENDING_SET_H
#define LAGRA_FILE_PENDING_SET_H

#include "file/file.h"

/* Takes those out of *page whose delete is pending, though perhaps only of those that were so when the page was
 * made. Where nothing is pending it costs one look at the index.
 * returns STORE_OK, as index_iterator_next() */
enum store_result pending_leave_out(struct decision *d, struct tree_page *page);

#endif
