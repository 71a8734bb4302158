/* Create contexts of requests and responses. ms-smb2: 2.2.13.2, 2.2.14.2 */
#ifndef LAGRA_SMB_CREATE_CONTEXTS_H
#define LAGRA_SMB_CREATE_CONTEXTS_H

#include "smb_session/caching.h"
#include "smb_session/durable.h"

struct create_contexts {
    struct bytes bytes; /* as received */
    struct lease_context lease;
    instant snapshot;        /* TWrp, or 0 */
    struct bytes descriptor; /* SecD, or ptr NULL */
    uint64_t allocation;     /* AlSi: bytes to allocate on create or overwrite, or 0 */
    bool wants_maximum;      /* MxAc */
    bool wants_ids;          /* QFid */
    struct durable_request durable;
};

/* Returns STATUS_SUCCESS, STATUS_INVALID_PARAMETER, or STATUS_EAS_NOT_SUPPORTED, since extended
 * attributes are not supported. */
enum nt_status create_contexts_read(struct create_contexts *contexts, enum smb_dialect dialect);
/* Writes the contexts of the response, and their offset and length at `fixed_at`. */
void create_contexts_write(const struct create_contexts *contexts, const struct smb_open *open,
                           const struct smb_durable *durable, const struct handle_open *opened,
                           struct wire_writer *w, size_t fixed_at);

#endif
