/* The key of a cluster. Its front ends use it to authenticate each other (net_listen.key). The key
 * is a file in the cluster's directory that only its owner may read; a process that can read it can
 * read the cells too.
 *
 *   key    one line: "lagra-key 1 SECRET CRC", where SECRET is in hex and CRC is the CRC-32C of the
 *          text before it */
#ifndef LAGRA_CLUSTER_KEY_H
#define LAGRA_CLUSTER_KEY_H

#include "base/bytes.h"
#include "net/net.h"

#define CLUSTER_KEY_NAME       "key"
#define CLUSTER_KEY_TEXT_BYTES 96u

/* Creates the file with a random secret, durable once the directory is synced. Returns false with
 * errno. */
bool cluster_key_create(int folder);
enum cluster_key_result {
    CLUSTER_KEY_READ,
    CLUSTER_KEY_MISSING,
    CLUSTER_KEY_UNUSABLE, /* see *ret_problem (static) */
};
/* Reads the secret, which the caller must erase. May block for as long as the file system does. */
enum cluster_key_result cluster_key_read(const char *path, uint8_t ret_secret[NET_KEY_BYTES],
                                         const char **ret_problem);

/* ---- its text, pure ---- */

/* Writes the file's contents, NUL-terminated. */
void cluster_key_text_write(const uint8_t secret[NET_KEY_BYTES], char text[CLUSTER_KEY_TEXT_BYTES]);
/* Parses the file's contents. Returns false unless they are exactly what cluster_key_text_write()
 * writes. */
bool cluster_key_text_read(struct bytes text, uint8_t ret_secret[NET_KEY_BYTES]);

#endif
