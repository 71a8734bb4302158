/* What tests of QUERY_INFO, SET_INFO, QUERY_DIRECTORY, IOCTL and CHANGE_NOTIFY ask, in one way. ms-smb2: 2.2.31, 2.2.33,
 * 2.2.35, 2.2.37, 2.2.39 */
#ifndef LAGRA_TESTS_UNIT_SMB_ASKING_H
#define LAGRA_TESTS_UNIT_SMB_ASKING_H

#include "client.h"

/* A client of account "one" that speaks 3.1.1, sealed, and has "share" mounted. */
struct client *asking_client(struct world *world);

struct reply ask_info(struct client *client, const struct open_file *file, uint8_t type,
                      uint8_t class, uint32_t room, uint32_t parts);
/* Asks for it with much room, and asserts success; the buffer of the answer. */
struct bytes info_of(struct client *client, const struct open_file *file, uint8_t type,
                     uint8_t class);
/* The buffer that an answer of QUERY_INFO or QUERY_DIRECTORY names. */
struct bytes buffer_of(const struct reply *reply);

struct reply set_info(struct client *client, const struct open_file *file, uint8_t type,
                      uint8_t class, uint32_t parts, struct bytes buffer);

/* Each adds the body of a command. pattern: NULL, none */
void put_query(struct wire_writer *w, const struct open_file *directory, uint8_t class,
               uint8_t flags, const char *pattern, uint32_t room);
void put_control(struct wire_writer *w, const struct open_file *file, uint32_t code,
                 struct bytes input, uint32_t output_max);
void put_notify(struct wire_writer *w, const struct open_file *directory, uint32_t room,
                uint32_t filter);

#endif
