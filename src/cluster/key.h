/* The key of a cluster. Its front ends use it to authenticate each other (net_listen.key). The key
 * is a file in the cluster's directory that only its owner may read; a process that can read it can
 * read the cells too.
 *
 *   key    one or two lines: "lagra-key 1 SECRET CRC", where SECRET is in hex and CRC is the
 *          CRC-32C of the text before it in the line
 *
 * Front ends use the first secret to connect and accept both. `lagra cluster rotate-key` replaces
 * the file three times, and waits each time until all owners use it: the new secret is accepted,
 * then used to connect, and then the old one is dropped. decision: 1111 */
#ifndef LAGRA_CLUSTER_KEY_H
#define LAGRA_CLUSTER_KEY_H

#include "base/bytes.h"
#include "base/file.h"
#include "net/net.h"

#define CLUSTER_KEY_NAME     "key"
#define CLUSTER_KEY_LINE     96u
#define CLUSTER_KEY_FILE_MAX (NET_KEYS_MAX * CLUSTER_KEY_LINE)

/* Adds a random secret at the end. Returns false with errno. */
bool cluster_key_add(struct net_secrets *secrets);
/* Replaces the file, durably. Returns false with errno. */
bool cluster_key_write(int folder, const struct net_secrets *secrets);
enum cluster_key_result {
    CLUSTER_KEY_READ,
    CLUSTER_KEY_MISSING,
    CLUSTER_KEY_UNUSABLE, /* see *ret_problem (static) */
};
/* Reads the secrets, which the caller must erase. May block for as long as the file system does. */
enum cluster_key_result cluster_key_read(const char *path, struct net_secrets *ret_secrets,
                                         const char **ret_problem);

/* Reads the file again if it has changed, and renews the key. A file that is missing or unusable is
 * logged, and the previous secrets remain in use. May block for as long as the file system does. */
void cluster_key_refresh(const char *path, struct file_mark *seen, struct net_key *key);

/* ---- its text, pure ---- */

/* Writes the file's contents, NUL-terminated. */
void cluster_key_text_write(const struct net_secrets *secrets, char text[CLUSTER_KEY_FILE_MAX]);
/* Parses the file's contents. Returns false unless they are exactly what cluster_key_text_write()
 * writes. */
bool cluster_key_text_read(struct bytes text, struct net_secrets *ret_secrets);

#endif
