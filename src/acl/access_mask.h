/* Access rights of opens of files and directories: MS-DTYP 2.4.3, MS-SMB2 2.2.13.1. */
#ifndef LAGRA_ACL_ACCESS_MASK_H
#define LAGRA_ACL_ACCESS_MASK_H

#include "concurrency/opens.h"

#define MAY_READ_DATA        UINT32_C(0x00000001) /* directories: list entries */
#define MAY_WRITE_DATA       UINT32_C(0x00000002) /* directories: add a file */
#define MAY_APPEND_DATA      UINT32_C(0x00000004) /* directories: add a subdirectory */
#define MAY_READ_EA          UINT32_C(0x00000008)
#define MAY_WRITE_EA         UINT32_C(0x00000010)
#define MAY_EXECUTE          UINT32_C(0x00000020) /* directories: traverse */
#define MAY_DELETE_CHILD     UINT32_C(0x00000040)
#define MAY_READ_ATTRIBUTES  UINT32_C(0x00000080)
#define MAY_WRITE_ATTRIBUTES UINT32_C(0x00000100)
#define MAY_DELETE           UINT32_C(0x00010000)
#define MAY_READ_CONTROL     UINT32_C(0x00020000)
#define MAY_WRITE_DAC        UINT32_C(0x00040000)
#define MAY_WRITE_OWNER      UINT32_C(0x00080000)
#define MAY_SYNCHRONIZE      UINT32_C(0x00100000)
#define MAY_ACCESS_SACL      UINT32_C(0x01000000)
#define MAY_MAXIMUM          UINT32_C(0x02000000) /* MAXIMUM_ALLOWED */
#define MAY_GENERIC_ALL      UINT32_C(0x10000000)
#define MAY_GENERIC_EXECUTE  UINT32_C(0x20000000)
#define MAY_GENERIC_WRITE    UINT32_C(0x40000000)
#define MAY_GENERIC_READ     UINT32_C(0x80000000)

/* All rights of files except ACCESS_SYSTEM_SECURITY. MS-SMB2 2.2.13.1.1 */
#define MAY_ALL              UINT32_C(0x001F01FF)

/* The read-only rights of MAY_ALL. */
#define MAY_READ                                                                                   \
    (MAY_READ_DATA | MAY_READ_EA | MAY_EXECUTE | MAY_READ_ATTRIBUTES | MAY_READ_CONTROL |          \
     MAY_SYNCHRONIZE)

/* Maps generic rights to the specific rights of files. Retains MAY_MAXIMUM. MS-DTYP 2.4.3;
 * MS-FSA 2.1.5.1 */
uint32_t access_mask_mapped(uint32_t mask);
/* Returns the ACCESS_* bits that take part in sharing checks, 0 for attribute-only access.
 * MS-FSA 2.1.5.1.2.2 */
uint8_t access_mask_shares(uint32_t mask);
/* Returns the kinds of other clients' write caching that conflict with this access (MEETS_*).
 * MS-FSA 2.1.4.12, 2.1.5.1.2.2 */
uint8_t access_mask_meets(uint32_t mask);

#endif
