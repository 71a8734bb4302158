/* A connection to another server for a thread that may wait: TCP, and TLS with a shared key. It belongs to no worker. Each
 * function blocks until it is done or its deadline (by clock_boot_ns()) has passed. One thread at a time. */
#ifndef LAGRA_NET_STREAM_H
#define LAGRA_NET_STREAM_H

#include "base/bytes.h"
#include "net/connection.h"

struct net_stream;

/* Connects to the peer and authenticates both ends. Returns NULL if that fails. */
struct net_stream *net_stream_open(const struct net_peer *peer, uint64_t deadline_ns);
/* Sends all of it. ret_is_sent: set to true if the peer may have received some of it, even if this fails. */
bool net_stream_send(struct net_stream *stream, struct bytes data, uint64_t deadline_ns,
                     bool *ret_is_sent);
/* Receives 1 to `max` bytes. Returns 0 at the end of the stream, -1 on failure or after the deadline. */
ssize_t net_stream_receive(struct net_stream *stream, char *to, size_t max, uint64_t deadline_ns);
/* Returns false if the peer has closed the connection or sent something that nobody asked for. Does not block. */
bool net_stream_is_quiet(struct net_stream *stream);
/* NULL: nothing. */
void net_stream_close(struct net_stream *stream);

#endif
