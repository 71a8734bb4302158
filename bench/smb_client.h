/* An SMB 3.1.1 client on a blocking socket, for the load generator: it logs on by NTLMv2, seals with AES-128-GCM,
 * and has one request on its way at a time. What goes wrong ends the program. One thread. */
#ifndef LAGRA_BENCH_SMB_CLIENT_H
#define LAGRA_BENCH_SMB_CLIENT_H

#include "smb_protocol/wire.h"

struct smb_login {
    const char *host, *port, *user, *password, *share;
};

struct smb_client;
/* Connected, logged on, with the share's tree. number: its client GUID is made of it */
struct smb_client *smb_client_open(const struct smb_login *login, unsigned number);
void smb_client_close(struct smb_client *client);
int smb_client_fd(const struct smb_client *client);

/* Begins a request; its body is written to what is returned. */
struct wire_writer smb_client_begin(struct smb_client *client, enum smb_command command);
/* Seals it, and sends all of it. */
void smb_client_send(struct smb_client *client);
/* Receives a message of the server; false: it says that the answer comes later. What *ret_body reads is valid until the
 * next call. */
bool smb_client_receive(struct smb_client *client, uint32_t *ret_status,
                        struct wire_reader *ret_body);
/* Sends what was begun, and receives its answer; a status that is an error ends the program. */
struct wire_reader smb_client_ask(struct smb_client *client);

struct smb_file {
    uint64_t persistent, volatile_id;
};
/* Each begins a request. CREATE: opens, or makes and opens, a file to be read and written, shared by all. */
void smb_client_create(struct smb_client *client, const char *name);
struct smb_file smb_client_created(struct wire_reader *body);
void smb_client_read(struct smb_client *client, const struct smb_file *file, uint64_t offset,
                     uint32_t size);
void smb_client_write(struct smb_client *client, const struct smb_file *file, uint64_t offset,
                      struct bytes bytes);
void smb_client_close_file(struct smb_client *client, const struct smb_file *file);

#endif
