/* What the files of CREATE share: create.c, reconnect.c. */
#ifndef LAGRA_SMB_CREATE_H
#define LAGRA_SMB_CREATE_H

#include "file/handle_away.h"
#include "smb/create_contexts.h"

/* A client comes back to an open that was kept for it: reconnect.c */
struct reconnect {
    struct handle_away away;
    struct handle_return back;
    struct durable_kept kept;
    bool is_found; /* away has been decided: now back is */
};

struct create {
    struct handle_open open;
    struct create_contexts contexts;
    struct bytes path; /* in UTF-16, as it came */
    uint8_t level;
    uint32_t options;
    uint32_t impersonation, share, disposition;
    bool came_back;
    struct reconnect reconnect; /* if it asks for that */
};

/* What is kept of the open if its client goes. In the arena. */
struct bytes open_kept(const struct smb_open *open, struct arena *arena);

/* The create has a context by which a client comes back; the rest of it does not count, but for its name and its
 * lease. request->open is a new place. ms-smb2: 3.3.5.9.7, 3.3.5.9.12 */
enum smb_step reconnect_begin(struct smb_request *request, struct create *create);
enum smb_step reconnect_decided(struct smb_request *request, struct create *create);

#endif
