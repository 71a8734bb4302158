/* An SMB client without sockets, for tests of the machine: builds messages with smb_protocol/wire.h, has the machine take
 * them, and reads what it sends. One client is one connection; what it is told to do wrong, it does. */
#ifndef LAGRA_TESTS_UNIT_SMB_CLIENT_H
#define LAGRA_TESTS_UNIT_SMB_CLIENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "../store/chosen.h"

#include "smb/connection.h"
#include "smb_protocol/crypto.h"
#include "smb_protocol/status.h"
#include "smb_protocol/wire.h"

#include <cmocka.h> /* last: it has a macro `fail` */

#define TEST_KEY_1 "a2V5IG51bWJlciBvbmUgb2YgdGhlIGFjY291bnQgb25l"
#define TEST_KEY_2 "a2V5IG51bWJlciB0d28gb2YgdGhlIGFjY291bnQgb25l"

/* A service on a store in memory, or on what LAGRA_SMB_STORE in the environment names (chosen.h), with accounts
 * "one" (both keys above) and "two" (the first of them), each with a share "share". */
struct world {
    struct store *store;
    char folder[CHOSEN_FOLDER_SIZE]; /* of the store, or "" */
    struct accounts *accounts;
    struct decision_pool *pool;
    struct smb_service *service;
};
#define WORLD_POOL_THREADS 2u
struct world *world_new(bool allow_unencrypted);
struct world *world_new_with(const struct smb_options *options);
void world_free(struct world *world);
/* Of a test of cmocka: *state is a world that allows messages that are not encrypted. */
int world_setup(void **state);
int world_teardown(void **state);
void world_add_share(struct world *world, const char *account, const char *share);

struct client;
struct client *client_new(struct world *world);
/* It comes from there; each client comes from another address unless it is said. */
void client_address(struct client *client, uint32_t address);
/* Its socket is gone. */
void client_cut(struct client *client);
/* Ends the connection, and waits until nothing is left of it. */
void client_free(struct client *client);
/* The machine has said that the connection is to be closed. */
bool client_is_cut(const struct client *client);
struct smb_connection *client_machine(struct client *client);
struct arena *client_arena(struct client *client);
/* The machine takes another message. */
bool client_has_room(const struct client *client);
/* What the machine sends from now on lies before a socket that takes nothing; or it takes all of it. */
void client_stall(struct client *client, bool stalls);

/* ---- sending ---- */

/* What goes out: one message, or a compound of several. */
struct sending {
    struct text text;
    size_t last_at; /* where the last message begins */
    bool has_message;
};
void sending_begin(struct client *client, struct sending *sending);
/* Adds the header of a command, with the next message id; returns a writer for its body. flags: SMB_FLAG_RELATED */
struct wire_writer sending_add(struct client *client, struct sending *sending, uint16_t command,
                               uint32_t flags);
/* Credits that the next messages cost; and ask for. */
void client_charge(struct client *client, uint16_t charge, uint16_t asked);
/* Signs, seals as the client is told to, and has the machine take it. returns the last message's id */
uint64_t client_send(struct client *client, struct sending *sending);
/* The next message has the id of the one so many before. */
void client_unsend(struct client *client, uint64_t ids);
/* These bytes as they are. */
void client_send_raw(struct client *client, struct bytes bytes);

/* ---- receiving ---- */

struct reply {
    struct smb_header header;
    struct bytes bytes; /* from the header on */
    bool was_sealed, is_signed_rightly;
    bool ends_frame; /* the last of its compound */
};
/* Waits for the final answer with this id; interim ones are passed over, and counted. */
struct reply client_receive(struct client *client, uint64_t message_id);
/* The next message, whatever it is, in the order of their coming. */
struct reply client_next(struct client *client);
/* Whether there is none, once the machine has nothing to run. */
bool client_has_none(struct client *client);
struct wire_reader reply_body(const struct reply *reply);

/* The machine was posted, and has not run since. */
bool client_is_posted(struct client *client);
/* Waits until the machine was posted. Does not run it. */
void client_await_post(struct client *client);
/* Sends the only message of it, and receives its answer. */
struct reply client_ask(struct client *client, struct sending *sending);

/* ---- what tests do all the time ---- */

/* dialect 0x0311 etc.; ciphers and signing algorithms of 3.1.1: 0 is none offered */
struct negotiating {
    uint16_t dialects[4];
    size_t dialect_count;
    uint16_t security_mode;
    uint32_t capabilities;
    uint16_t cipher, signing;
    bool no_preauth;
};
struct reply client_negotiate(struct client *client, const struct negotiating *negotiating);
/* Negotiates a dialect with everything that it has. */
void client_speak(struct client *client, enum smb_dialect dialect);
/* Logs on; returns the status of the last answer. */
uint32_t client_log_on(struct client *client, const char *account, const char *key);
/* The first half of a log-on, in a session of its own; returns the status. */
uint32_t client_begin_log_on(struct client *client);
/* The session that its next log-on says it had before. */
void client_previous(struct client *client, uint64_t id);
/* While the client waits for a response, the machine of the other one runs too, unless that is NULL. */
void client_waits_with(struct client *client, struct client *other);
void client_use_session(struct client *client, uint64_t id);
/* Binds the connection to the session of another one, by which it is signed; if that goes well it uses it from then on.
 * returns the status of the last answer */
uint32_t client_bind(struct client *client, const struct client *of, const char *account,
                     const char *key);
uint64_t client_session(const struct client *client);
void client_seal(struct client *client, bool seals);
void client_sign(struct client *client, bool signs);
/* The body of a TREE_CONNECT to \\server\share. */
void put_tree_connect(struct client *client, struct wire_writer *w, const char *share);
/* Connects to \\server\share, and uses the tree from then on. Signed in 3.1.1 unless it is sealed, as all clients do. */
uint32_t client_mount(struct client *client, const char *share);
/* One that speaks the dialect, is logged on as "one", uses its share "share", and asks for credits that will do. All
 * of a world have one ClientGuid. */
struct client *client_begin(struct world *world, enum smb_dialect dialect);
void client_use_tree(struct client *client, uint32_t id);
uint32_t client_tree(const struct client *client);

/* A file or directory that is open. */
struct open_file {
    uint64_t persistent, volatile_id;
    uint8_t level;   /* OplockLevel, as given */
    uint32_t action; /* CreateAction */
    struct reply reply;
};
/* What a create asks for beside its name; zeroed: to read and write what is there, or make it, shared by all. */
struct creating {
    uint32_t access, attributes, share, disposition, options;
    bool shares_nothing;
    uint8_t level;
    struct bytes contexts;
};
/* Adds a CREATE. */
void put_create(struct wire_writer *w, const char *name, const struct creating *creating);
/* returns the status; of STATUS_SUCCESS: *ret_file */
uint32_t client_create(struct client *client, const char *name, const struct creating *creating,
                       struct open_file *ret_file);
/* The same with a zeroed creating; asserts that it is open. */
void client_open(struct client *client, const char *name, struct open_file *ret_file);
uint32_t client_close(struct client *client, const struct open_file *file);
uint32_t client_write(struct client *client, const struct open_file *file, uint64_t offset,
                      const char *text);
/* ret_bytes: in the client's arena */
uint32_t client_read(struct client *client, const struct open_file *file, uint64_t offset,
                     uint32_t size, struct bytes *ret_bytes);
void put_file(struct wire_writer *w, const struct open_file *file);
/* The body of a READ. */
void put_read(struct wire_writer *w, const struct open_file *file, uint64_t offset, uint32_t size);
/* A frame of several: which open a create made. */
struct open_file file_of(const struct reply *reply);

#define assert_status(reply, wanted)                                                               \
    assert_int_equal((reply).header.status, nt_status_value(wanted))

#endif
