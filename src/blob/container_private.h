/* What the files of the container operations share. Inside the blob room only. */
#ifndef LAGRA_BLOB_CONTAINER_PRIVATE_H
#define LAGRA_BLOB_CONTAINER_PRIVATE_H

#include "blob/blob.h"

/* Deletes the container's record (not its contents: changes_drop_space()). */
void container_delete_record(struct changes *changes);

/* Set Container Metadata and ACL, once the new values are in `container` (a copy of the state's): gives
 * it a newer ETag, writes it, and answers 200. */
enum error container_change(struct decision *d, struct container *container);

/* x-ms-blob-public-access as sent with Create Container and Set Container ACL; no header: private.
 * returns OK, E_InvalidHeaderValue */
enum error public_access_from_header(struct decision *d, enum public_access *ret_access);
/* "container", "blob"; NULL for a private container. */
const char *public_access_text(enum public_access access);
/* Adds x-ms-blob-public-access, unless the container is private. */
void public_access_answer(struct decision *d, enum public_access access);

#endif
