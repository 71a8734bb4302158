/* The command table. Columns:
 *   size         StructureSize of the request
 *   needs        SESSION, TREE, FILE: each includes the previous ones
 *   compounding  ALONE, COMPOUND, LAST: enum smb_compounding
 *   answered     COMMITTED, SEEN, LASTING: enum smb_lasting
 *   effect       CHANGES: audited, since it may change data or permissions
 *   file         offset of the FileId in the body
 *   pays for     offsets of the lengths in the body that CreditCharge must cover
 * ms-smb2: 2.2.3 to 2.2.39, 3.3.5.2.5 */
#include "smb/commands.h"

#include <assert.h>

#include "smb_session/request.h"

static enum smb_step echo_begin(struct smb_request *request, struct wire_reader *r)
{
    (void)r;
    return smb_refuse(request, STATUS_SUCCESS);
}

/* clang-format off */
#define ROW(name, size, needs, compounding, answered, effect, file, pays, ...) \
    [SMB_##name] = { SMB_##name, #name, size, NEEDS_##needs, compounding, answered, effect, file, pays, __VA_ARGS__ }
#define KEEPS         false
#define CHANGES       true
#define NONE          { 0, 0 }
#define LENGTH(at)    { at, 0 }
#define LENGTHS(a, b) { a, b }
static const struct smb_row rows[SMB_COMMANDS] = {
/*   command          size needs     compounding answered   effect   file pays for          begin, decided, go_on, load, answer, over */
ROW(NEGOTIATE,        36,  NOTHING,  ALONE,      COMMITTED, KEEPS,   0,  NONE,             smb_negotiate_begin, NULL, NULL, NULL, smb_negotiate_answer, NULL),
ROW(SESSION_SETUP,    25,  NOTHING,  ALONE,      COMMITTED, CHANGES, 0,  NONE,             smb_session_setup_begin, NULL, smb_session_setup_go_on, NULL, smb_session_setup_answer, smb_session_setup_over),
ROW(LOGOFF,           4,   SESSION,  COMPOUND,   COMMITTED, CHANGES, 0,  NONE,             smb_logoff_begin, NULL, smb_logoff_go_on, NULL, NULL, NULL),
ROW(TREE_CONNECT,     9,   SESSION,  COMPOUND,   SEEN,      CHANGES, 0,  NONE,             smb_tree_connect_begin, smb_tree_connect_decided, NULL, NULL, smb_tree_connect_answer, NULL),
ROW(TREE_DISCONNECT,  4,   TREE,     COMPOUND,   COMMITTED, KEEPS,   0,  NONE,             smb_tree_disconnect_begin, NULL, smb_tree_disconnect_go_on, NULL, NULL, NULL),
ROW(CREATE,           57,  TREE,     COMPOUND,   SEEN,      CHANGES, 0,  NONE,             smb_create_begin, smb_create_decided, NULL, NULL, smb_create_answer, smb_create_over),
ROW(CLOSE,            24,  FILE,     COMPOUND,   SEEN,      CHANGES, 8,  NONE,             smb_close_begin, smb_close_decided, smb_close_go_on, NULL, smb_close_answer, NULL),
ROW(FLUSH,            24,  FILE,     COMPOUND,   LASTING,   KEEPS,   8,  NONE,             smb_flush_begin, smb_flush_decided, NULL, NULL, NULL, NULL),
ROW(READ,             49,  FILE,     COMPOUND,   SEEN,      KEEPS,   16, LENGTH(4),        smb_read_begin, smb_read_decided, smb_read_go_on, smb_read_load, smb_read_answer, smb_read_over),
ROW(WRITE,            49,  FILE,     COMPOUND,   COMMITTED, CHANGES, 16, LENGTH(4),        smb_write_begin, smb_write_decided, smb_write_go_on, NULL, smb_write_answer, smb_write_over),
ROW(LOCK,             48,  FILE,     COMPOUND,   COMMITTED, KEEPS,   8,  NONE,             smb_lock_begin, smb_lock_decided, NULL, NULL, NULL, NULL),
ROW(IOCTL,            57,  TREE,     COMPOUND,   SEEN,      CHANGES, 0,  LENGTHS(28, 44),  smb_ioctl_begin, smb_ioctl_decided, smb_ioctl_go_on, smb_ioctl_load, smb_ioctl_answer, smb_ioctl_over),
ROW(CANCEL,           4,   NOTHING,  COMPOUND,   COMMITTED, KEEPS,   0,  NONE,             NULL, NULL, NULL, NULL, NULL, NULL),
ROW(ECHO,             4,   NOTHING,  COMPOUND,   COMMITTED, KEEPS,   0,  NONE,             echo_begin, NULL, NULL, NULL, NULL, NULL),
ROW(QUERY_DIRECTORY,  33,  FILE,     COMPOUND,   SEEN,      KEEPS,   8,  LENGTH(28),       smb_query_directory_begin, smb_query_directory_decided, NULL, NULL, smb_query_directory_answer, smb_query_directory_over),
ROW(CHANGE_NOTIFY,    32,  FILE,     LAST,       COMMITTED, KEEPS,   8,  LENGTH(4),        smb_change_notify_begin, smb_change_notify_decided, smb_change_notify_go_on, NULL, smb_change_notify_answer, smb_change_notify_over),
ROW(QUERY_INFO,       41,  FILE,     COMPOUND,   SEEN,      KEEPS,   24, LENGTHS(4, 12),   smb_query_info_begin, smb_query_info_decided, NULL, NULL, smb_query_info_answer, NULL),
ROW(SET_INFO,         33,  FILE,     COMPOUND,   LASTING,   CHANGES, 16, LENGTH(4),        smb_set_info_begin, smb_set_info_decided, NULL, NULL, smb_set_info_answer, NULL),
ROW(OPLOCK_BREAK,     24,  TREE,     COMPOUND,   COMMITTED, KEEPS,   8,  NONE,             smb_oplock_break_begin, smb_oplock_break_decided, NULL, NULL, smb_oplock_break_answer, NULL),
};
/* clang-format on */

const struct smb_row *smb_row_find(uint16_t command)
{
    if (command >= SMB_COMMANDS)
        return NULL;
    assert(rows[command].command == command);
    return &rows[command];
}
