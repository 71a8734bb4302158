/* What a client can make a connection hold, and how much of it: each with what it is answered beyond.
 * README.md, invariant 6. */
#ifndef LAGRA_SMB_LIMITS_H
#define LAGRA_SMB_LIMITS_H

/* MaxReadSize, MaxWriteSize, MaxTransactSize: one command's data. More: STATUS_INVALID_PARAMETER.
 * ms-smb2: 3.3.5.4 */
#define SMB_IO_MAX                 (1u << 20)
/* Ids that the window spans; what is asked beyond is not granted. As Windows. ms-smb2: 3.3.1.2 */
#define SMB_CREDITS_MAX            8192u
/* Sessions of a connection, complete or not, and before the first of them is: STATUS_INSUFFICIENT_RESOURCES. */
#define SMB_SESSIONS_MAX           256u
#define SMB_SESSIONS_AT_FIRST      8u
/* Connections of a session: STATUS_INSUFFICIENT_RESOURCES. As Windows and Samba; ms-smb2: 3.3.5.5.2 */
#define SMB_CHANNELS_MAX           32u
/* Trees of a session: STATUS_INSUFFICIENT_RESOURCES. */
#define SMB_TREES_MAX              1024u
/* Handles of a connection: STATUS_INSUFFICIENT_RESOURCES. */
#define SMB_OPENS_MAX              16384u
/* Handles that are kept although their client has lost its connection, of an account and of all: one more is
 * closed. ms-smb2: 3.3.7.1 */
#define SMB_KEPT_OF_ACCOUNT_MAX    16384u
#define SMB_KEPT_MAX               65536u
/* Handles that a connection, session or tree closes at a time when it ends. Other connections of the thread run in
 * between. */
#define SMB_CLOSED_AT_ONCE         64u
/* Requests of a connection that are parked: STATUS_INSUFFICIENT_RESOURCES. ms-smb2: 3.3.4.2 */
#define SMB_PARKED_MAX             512u
/* Those of all connections of an account, which hold half of the memory budget at most, and watched directories of an account:
 * STATUS_INSUFFICIENT_RESOURCES. */
#define SMB_PARKED_OF_ACCOUNT_MAX  8192u
#define SMB_WATCHES_OF_ACCOUNT_MAX 8192u
/* Bytes of messages in work, with what they read, list and copy, and of frames that wait to be sent: no further
 * message is taken before one of them is done (smb_connection_has_room()). */
#define SMB_WORK_BYTES_MAX         ((size_t)16 << 20)
#define SMB_UNSENT_BYTES_MAX       ((size_t)16 << 20)
/* What the requests of a compound may read, list and write together: STATUS_INSUFFICIENT_RESOURCES. */
#define SMB_COMPOUND_BYTES_MAX     (16u << 20)
/* What one message may make its arena hold, and the answer to it: STATUS_INSUFF_SERVER_RESOURCES. Both are charged to
 * the memory budget of the process. */
#define SMB_MESSAGE_ARENA_MAX      ((size_t)64 << 20)
#define SMB_ANSWER_ARENA_MAX       ((size_t)96 << 20)
/* Changes that are kept for a connection's watches until they are asked for, of one watch and of all: beyond,
 * STATUS_NOTIFY_ENUM_DIR. */
#define SMB_CHANGES_MAX            ((size_t)64 << 10)
#define SMB_CHANGES_OF_ALL_MAX     ((size_t)16 << 20)
/* Contexts of one negotiation, and of one create: STATUS_INVALID_PARAMETER. */
#define SMB_CONTEXTS_MAX           64u

#endif
