/* Inside sm_link.c, sm_breaks.c and sm_logon.c: a connection of an SMB client, as its client's thread has it. */
#ifndef LAGRA_SIM_SM_LINK_PRIVATE_H
#define LAGRA_SIM_SM_LINK_PRIVATE_H

#include "sm_link.h"

#include "smb/connection.h"
#include "smb_protocol/ntlm_keys.h"
#include "smb_protocol/wire.h"

#define NEXT_AT      20u /* NextCommand. MS-SMB2 2.2.1.2 */
#define ARENA_MAX    ((size_t)64 << 20)
#define MESSAGES_MAX 64u
#define BREAKS_MAX   64u
#define CREDITS      64u /* that are asked for with each request */

/* A break that the server has told, and the client's answer. */
struct told_break {
    uint64_t key; /* of a lease; 0: an oplock */
    uint64_t persistent, volatile_id;
    unsigned keeps;
    uint64_t due_ns;     /* 0: never */
    uint64_t message_id; /* of the answer; 0: not sent yet */
};

struct link {
    struct smb_host host; /* first */
    unsigned slot;
    struct link *home; /* of a channel: the link whose session it is bound to; NULL: it is none */
    struct link *channel; /* that is bound to its session; NULL: none is */
    uint8_t session_key[NTLM_KEY_SIZE];
    struct smb_connection *machine; /* NULL: it is not connected */
    bool is_posted, is_cut, is_ending, has_ended, has_tree;
    struct arena *arena;
    struct sm_message messages[MESSAGES_MAX]; /* that came, and were not taken yet */
    unsigned message_count;
    struct told_break breaks[BREAKS_MAX];
    unsigned break_count;
    /* What is sent next. */
    struct text text;
    uint64_t next_id, sent_ids[SM_PARTS];
    unsigned sent_count;
    size_t last_at; /* where the last message of the frame begins */
    /* What the server has said. */
    uint64_t session_id;
    uint32_t tree_id;
};

/* ---- sm_link.c ---- */

/* The server's, and the client's thread as a host. */
void link_begin(struct link *link, unsigned slot);
void link_write(struct link *link, uint16_t command, unsigned charge,
                struct wire_writer *ret_writer);
uint64_t link_send(struct link *link);
bool link_ask(struct link *link, struct sm_message *ret_message);
/* The connection ends; and until nothing is left of it. */
void link_cut(struct link *link);
void link_free(struct link *link);
/* Of the client. */
struct link *link_at(unsigned slot);

/* ---- sm_breaks.c ---- */

void link_take_break(struct link *link, struct bytes bytes);
/* The answer to an answer to a break. False: it is of something else. */
bool link_take_break_answer(struct link *link, uint64_t message_id, uint32_t status);
/* Answers what is due. Returns when the next one is; 0: none is. */
uint64_t link_answer_breaks(struct link *link);

/* ---- sm_logon.c ---- */

/* From negotiation on. */
void link_log_on(struct link *link);
bool link_connect_tree(struct link *link, uint32_t *ret_status);
/* A second session of the connection, which is the link's until it logs off. */
void link_log_on_beside(struct link *link);
void link_log_off(struct link *link);
/* The same of a channel, to the session of its home. False: it cannot, at the moment. */
bool link_bind(struct link *link);

#endif
