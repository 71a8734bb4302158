/* Which request of SMB a thread works on, as the server runs it: so a commit is known to be of that request, or of
 * one that the server has made itself (it closes what a connection leaves behind). */
#ifndef LAGRA_SIM_SM_SEEN_H
#define LAGRA_SIM_SM_SEEN_H

#include <stdbool.h>
#include <stdint.h>

/* Slots from SLOTS_MAX (judge.h) on are of the server's own requests, of clients' answers to breaks, and of what comes
 * by channels. */
#define SM_OWN_MAX 256u

enum sm_own {
    SM_OWN_CLOSE,
    SM_OWN_LEAVE,
    SM_OWN_OVERDUE,
    SM_OWN_ANSWER,
    SM_OWN_OPEN, /* a client's, that came by a channel */
    SM_OWN_OTHER
};

/* What a request is about, and what it was decided on. */
struct sm_seen {
    unsigned client;
    bool has_waited; /* for others */
    uint64_t message_id;
    enum sm_own own;
    uint64_t volatile_id; /* of the open; 0: none */
    uint64_t node, etag;  /* of its file, once it is decided */
    uint64_t handle;      /* that an open has made */
    unsigned action;      /* of an open: SM_OPENED ... */
};
/* Of a client's request in work. */
struct sm_seen sm_seen(unsigned slot);
struct sm_seen sm_seen_own(unsigned number);

/* A handle that the server closes because nobody came back to it; said once. */
struct sm_overdue {
    uint64_t handle; /* 0: there is none */
    uint64_t etag;   /* of its file */
};
struct sm_overdue sm_overdue_seen(void);

#endif
