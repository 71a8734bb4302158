/* A connection to another server for a thread that may block: TCP and TLS with a shared key. It
 * belongs to no worker. Each function blocks until it is done or its deadline (by clock_boot_ns())
 * has passed. Must be used by one thread at a time. */
#ifndef LAGRA_NET_STREAM_H
#define LAGRA_NET_STREAM_H

#include "base/bytes.h"
#include "net/connection.h"

struct net_stream;

/* Connects to the peer and authenticates both ends. Returns NULL on failure. */
struct net_stream *net_stream_open(const struct net_peer *peer, uint64_t deadline_ns);
/* Sends all of `data`. Sets *ret_is_sent to true if the peer may have received some of it, even on
 * failure. */
bool net_stream_send(struct net_stream *stream, struct bytes data, uint64_t deadline_ns,
                     bool *ret_is_sent);
/* Receives 1 to `max` bytes. Returns 0 at the end of the stream, and -1 on failure or after the
 * deadline. */
ssize_t net_stream_receive(struct net_stream *stream, char *to, size_t max, uint64_t deadline_ns);
/* Returns true if the connection was authenticated with the current credentials of the key. */
bool net_stream_key_is_newest(const struct net_stream *stream, struct net_key *key);
/* Returns false if the peer has closed the connection or sent unrequested data. Does not block. */
bool net_stream_is_quiet(struct net_stream *stream);
/* Closes the connection. Does nothing for NULL. */
void net_stream_close(struct net_stream *stream);

#endif
