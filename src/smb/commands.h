/* The command table: one row per command. ms-smb2: 3.3.5.1 to 3.3.5.22 */
#ifndef LAGRA_SMB_COMMANDS_H
#define LAGRA_SMB_COMMANDS_H

#include "smb_session/command_row.h"

/* Returns the row of a command, or NULL if it is unknown. */
const struct smb_row *smb_row_find(uint16_t command);

SMB_BEGIN(create);
SMB_DECIDED(create);
SMB_ANSWER(create);
SMB_OVER(create);
SMB_BEGIN(close);
SMB_DECIDED(close);
SMB_GO_ON(close);
SMB_ANSWER(close);
SMB_BEGIN(flush);
SMB_DECIDED(flush);
SMB_BEGIN(read);
SMB_DECIDED(read);
SMB_GO_ON(read);
SMB_LOAD(read);
SMB_ANSWER(read);
SMB_OVER(read);
SMB_BEGIN(write);
SMB_GO_ON(write);
SMB_DECIDED(write);
SMB_ANSWER(write);
SMB_OVER(write);
SMB_BEGIN(lock);
SMB_DECIDED(lock);
SMB_BEGIN(ioctl);
SMB_DECIDED(ioctl);
SMB_GO_ON(ioctl);
SMB_LOAD(ioctl);
SMB_ANSWER(ioctl);
SMB_OVER(ioctl);
SMB_BEGIN(query_directory);
SMB_DECIDED(query_directory);
SMB_ANSWER(query_directory);
SMB_OVER(query_directory);
SMB_BEGIN(query_info);
SMB_DECIDED(query_info);
SMB_ANSWER(query_info);
SMB_BEGIN(set_info);
SMB_DECIDED(set_info);
SMB_ANSWER(set_info);
SMB_BEGIN(oplock_break);
SMB_DECIDED(oplock_break);
SMB_ANSWER(oplock_break);

#endif
