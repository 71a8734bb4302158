/* What tests of durable handles ask, in one way: of the file "x", by the GUID 1. ms-smb2: 2.2.13.2.11, 2.2.13.2.12 */
#ifndef LAGRA_TESTS_UNIT_SMB_DURABLE_CLIENT_H
#define LAGRA_TESTS_UNIT_SMB_DURABLE_CLIENT_H

#include "client.h"

#define BATCH      9u
#define PERSISTENT 2u

/* With DH2Q. timeout_ms: 0: as the server likes. flags: PERSISTENT. returns the status */
uint32_t durable_open(struct client *c, uint32_t timeout_ms, uint32_t flags, uint8_t level,
                      struct open_file *ret_file);
/* Comes back to it, with DH2C. returns the status */
uint32_t durable_return(struct client *c, const struct open_file *file, uint32_t flags,
                        struct open_file *ret_file);
/* The create of durable_open() once more. returns the status */
uint32_t durable_replay(struct client *c, uint32_t flags, uint8_t level, uint64_t *ret_persistent);

#endif
