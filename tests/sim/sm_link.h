/* Connections of SMB clients: each is a machine of src/smb/connection.h, which its client's thread owns, as a
 * worker of src/net/ does. So the frames of requests go the whole way that those from a socket go behind it:
 * from negotiation and logon on, through admission, decisions, waits and posts, to the frames of answers. What is
 * left out is the socket (net.h drives that for HTTP), and that messages are signed and sealed. */
#ifndef LAGRA_SIM_SM_LINK_H
#define LAGRA_SIM_SM_LINK_H

#include "request.h"

struct endpoint;
struct fs_open;
struct fs_state;
struct smb_request;

/* A message that came. */
struct sm_message {
    uint16_t command;
    uint32_t status, tree_id;
    uint64_t message_id, session_id, async_id;
    const unsigned char *bytes; /* from its header on, in the arena of the link */
    size_t size;
};

/* Is this client of SMB in this run? */
bool sm_is_client(unsigned slot);
/* With the server's start; nothing where no client is of SMB. */
void sm_link_open(const struct endpoint *endpoint);
/* Before anything decides. */
void sm_link_begin_epoch(struct store *store);
/* After all clients have left. */
void sm_link_close(void);

/* Logged on to the share: connects if need be. False: there is no such share, or the store cannot now; *ret_status
 * says which. */
bool sm_link_begin(unsigned slot, uint32_t *ret_status);
bool sm_link_is_there(unsigned slot);
/* A message of this command is begun in the link's arena: where its body goes. charge: credits that it costs */
struct wire_writer;
void sm_link_write(unsigned slot, uint16_t command, unsigned charge,
                   struct wire_writer *ret_writer);
/* The next message of the same frame, which is related to the one before. */
void sm_link_write_related(unsigned slot, uint16_t command, unsigned charge,
                           struct wire_writer *ret_writer);
/* The id of such a message; and which one has an id: of those that were sent at last. */
uint64_t sm_link_id_of(unsigned slot, unsigned part);
unsigned sm_link_part_of(unsigned slot, uint64_t message_id);
/* Sends it. Returns its message id. */
uint64_t sm_link_send(unsigned slot);
/* Waits for the final answer. False: the connection was cut. */
bool sm_link_receive(unsigned slot, uint64_t message_id, struct sm_message *ret_message);
/* The same for so long; false: it has not come. */
bool sm_link_receive_within(unsigned slot, uint64_t message_id, uint64_t ns,
                            struct sm_message *ret_message);
/* Cancels one that has had an interim answer, which has said its async_id. */
void sm_link_cancel(unsigned slot, uint64_t message_id, uint64_t async_id);
/* Of one that is waited for; 0: it has had none. */
uint64_t sm_link_async_id(unsigned slot, uint64_t message_id);
/* Until something may have come. False: the connection was cut. */
bool sm_link_await(unsigned slot);
/* Does nothing for so long, but for what the machine is posted. */
void sm_link_sleep(unsigned slot, uint64_t ns);
/* The connection ends; waits until nothing is left of it. */
void sm_link_end(unsigned slot);

/* A second connection of the client's session, for a while, in which breaks of opens that it does not know yet are not
 * answered. False: there is none. */
bool sm_channel_begin(unsigned slot);
void sm_channel_write(unsigned slot, uint16_t command, struct wire_writer *ret_writer);
void sm_channel_send(unsigned slot);
/* It is lost; and until nothing is left of it. */
void sm_channel_cut(unsigned slot);
void sm_channel_end(unsigned slot);
/* Has the request come by one? */
bool sm_link_is_channel(const struct smb_request *request);
/* What is sent next is said to have been sent before. */
void sm_link_replays(unsigned slot);

/* Do all clients of this run answer breaks at once? */
bool sm_answers_at_once(void);
/* The open that a client's answer to a break is about; NULL: it is gone. *ret_keeps: what it says */
const struct fs_open *sm_link_answer(unsigned slot, uint64_t message_id,
                                     const struct fs_state *state, unsigned *ret_keeps);

/* The client whose connection a request came by. */
unsigned sm_link_slot_of(const struct smb_request *request);

#endif
