/* Blobs of the account that copies to files are from: one of blocks, and one of pages where slots are whole pages.
 * In the model each is a file in no directory. Their requests go to the Blob service of the same server. */
#ifndef LAGRA_SIM_FS_BLOBS_H
#define LAGRA_SIM_FS_BLOBS_H

#include "fs_model.h"

struct arena;
struct draft;
struct text;

/* The port that the Blob service is named by in URLs. */
#define FS_BLOB_PORT 10000u

/* Is it a request of the Blob service? */
bool fs_is_beside(const struct ask *ask);
/* Makes what was drawn something that the blob can be asked. */
void fs_blob_settle(struct fs_ask *ask);
void fs_blob_url(unsigned blob, struct text *url);
void fs_blob_path(const struct fs_ask *ask, struct text *path);
void fs_blob_put(const struct fs_ask *ask, struct arena *arena, struct draft *draft);

struct fs_expected fs_expect_blob(const struct fs_ask *ask, const struct fs_state *state);
/* As what is copied. *ret_length: slots */
struct fs_expected fs_expect_source_blob(const struct fs_state *state, unsigned blob,
                                         unsigned *ret_length);
/* state: the newest, which the commit makes */
void fs_apply_blob(const struct fs_ask *ask, struct fs_state *state);

#endif
