/* The contexts of a create: what is asked and answered beside its fixed part. ms-smb2: 2.2.13.2, 2.2.14.2 */
#ifndef LAGRA_SMB_CREATE_CONTEXTS_H
#define LAGRA_SMB_CREATE_CONTEXTS_H

#include "smb/caching.h"
#include "smb/durable.h"

struct create_contexts {
    struct bytes bytes; /* as they came */
    struct lease_asked lease;
    instant snapshot;        /* TWrp; 0: none */
    struct bytes descriptor; /* SecD; ptr NULL: none */
    uint64_t allocation;     /* AlSi: bytes of what is made or overwritten; 0: none */
    bool wants_maximum;      /* MxAc */
    bool wants_ids;          /* QFid */
    struct durable_asked durable;
};

/* returns STATUS_SUCCESS, STATUS_INVALID_PARAMETER
 *         STATUS_EAS_NOT_SUPPORTED      extended attributes are not served */
enum nt_status create_contexts_read(struct create_contexts *contexts, enum smb_dialect dialect);
/* Those that answer what was asked, and where they are, at `fixed_at` in the message. */
void create_contexts_write(const struct create_contexts *contexts, const struct smb_open *open,
                           const struct smb_durable *durable, const struct handle_open *opened,
                           struct wire_writer *w, size_t fixed_at);

#endif
