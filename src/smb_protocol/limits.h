/* Limits on the resources that a client can hold, with the error returned at each. README.md,
 * invariant 6. */
#ifndef LAGRA_SMB_PROTOCOL_LIMITS_H
#define LAGRA_SMB_PROTOCOL_LIMITS_H

/* MaxReadSize, MaxWriteSize, MaxTransactSize. STATUS_INVALID_PARAMETER. ms-smb2: 3.3.5.4 */
#define SMB_IO_MAX                 (1u << 20)
/* Maximum size of the window of message ids, as in Windows; no further credits are granted.
 * ms-smb2: 3.3.1.2 */
#define SMB_CREDITS_MAX            8192u
/* Sessions of a connection, including incomplete ones; fewer before the first is valid.
 * STATUS_INSUFFICIENT_RESOURCES. */
#define SMB_SESSIONS_MAX           256u
#define SMB_SESSIONS_AT_FIRST      8u
/* Channels of a session, as in Windows and Samba. STATUS_INSUFFICIENT_RESOURCES. ms-smb2:
 * 3.3.5.5.2 */
#define SMB_CHANNELS_MAX           32u
/* Tree connects of a session. STATUS_INSUFFICIENT_RESOURCES. */
#define SMB_TREES_MAX              1024u
/* Opens of a connection. STATUS_INSUFFICIENT_RESOURCES. */
#define SMB_OPENS_MAX              16384u
/* Disconnected durable handles of an account, and of all accounts. Further handles are closed.
 * ms-smb2: 3.3.7.1 */
#define SMB_KEPT_OF_ACCOUNT_MAX    16384u
#define SMB_DURABLE_MAX            65536u
/* Handles that an ending connection, session or tree connect closes before other connections of its
 * thread run. */
#define SMB_CLOSED_AT_ONCE         64u
/* Parked requests of a connection. STATUS_INSUFFICIENT_RESOURCES. ms-smb2: 3.3.4.2 */
#define SMB_PARKED_MAX             512u
/* Parked requests (which hold at most half of the memory budget) and watched directories of an
 * account, over all connections. STATUS_INSUFFICIENT_RESOURCES. */
#define SMB_PARKED_OF_ACCOUNT_MAX  8192u
#define SMB_WATCHES_OF_ACCOUNT_MAX 8192u
/* Bytes of messages in progress, including the data they read, list and copy, and of unsent frames.
 * At the limit no further message is accepted (smb_connection_has_room()). */
#define SMB_WORK_BYTES_MAX         ((size_t)16 << 20)
#define SMB_UNSENT_BYTES_MAX       ((size_t)16 << 20)
/* Bytes that the requests of a compound may read, list and write. STATUS_INSUFFICIENT_RESOURCES. */
#define SMB_COMPOUND_BYTES_MAX     (16u << 20)
/* Arena of a message, and of its response; both are charged to the memory budget of the process.
 * STATUS_INSUFF_SERVER_RESOURCES. */
#define SMB_MESSAGE_ARENA_MAX      ((size_t)64 << 20)
#define SMB_ANSWER_ARENA_MAX       ((size_t)96 << 20)
/* Unreported changes of one watch, and of all watches of a connection. STATUS_NOTIFY_ENUM_DIR. */
#define SMB_CHANGES_MAX            ((size_t)64 << 10)
#define SMB_CHANGES_OF_ALL_MAX     ((size_t)16 << 20)
/* Contexts of a NEGOTIATE, and of a CREATE. STATUS_INVALID_PARAMETER. */
#define SMB_CONTEXTS_MAX           64u

#endif
