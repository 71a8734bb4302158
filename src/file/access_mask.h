/* What an open of a file or directory may do, as Windows numbers it: MS-DTYP 2.4.3, MS-SMB2 2.2.13.1.
 * Plain values. */
#ifndef LAGRA_FILE_ACCESS_MASK_H
#define LAGRA_FILE_ACCESS_MASK_H

#include "concurrency/opens.h"

#define MAY_READ_DATA        UINT32_C(0x00000001) /* of a directory: list it */
#define MAY_WRITE_DATA       UINT32_C(0x00000002) /* of a directory: add a file */
#define MAY_APPEND_DATA      UINT32_C(0x00000004) /* of a directory: add a directory */
#define MAY_READ_EA          UINT32_C(0x00000008)
#define MAY_WRITE_EA         UINT32_C(0x00000010)
#define MAY_EXECUTE          UINT32_C(0x00000020) /* of a directory: go through it */
#define MAY_DELETE_CHILD     UINT32_C(0x00000040)
#define MAY_READ_ATTRIBUTES  UINT32_C(0x00000080)
#define MAY_WRITE_ATTRIBUTES UINT32_C(0x00000100)
#define MAY_DELETE           UINT32_C(0x00010000)
#define MAY_READ_CONTROL     UINT32_C(0x00020000)
#define MAY_WRITE_DAC        UINT32_C(0x00040000)
#define MAY_WRITE_OWNER      UINT32_C(0x00080000)
#define MAY_SYNCHRONIZE      UINT32_C(0x00100000)
#define MAY_ACCESS_SACL      UINT32_C(0x01000000)
#define MAY_MAXIMUM          UINT32_C(0x02000000) /* as much as the client may have */
#define MAY_GENERIC_ALL      UINT32_C(0x10000000)
#define MAY_GENERIC_EXECUTE  UINT32_C(0x20000000)
#define MAY_GENERIC_WRITE    UINT32_C(0x40000000)
#define MAY_GENERIC_READ     UINT32_C(0x80000000)

/* All that a file knows, but for the SACL. MS-SMB2 2.2.13.1.1 */
#define MAY_ALL              UINT32_C(0x001F01FF)

/* Of it what changes nothing. */
#define MAY_READ                                                                                   \
    (MAY_READ_DATA | MAY_READ_EA | MAY_EXECUTE | MAY_READ_ATTRIBUTES | MAY_READ_CONTROL |          \
     MAY_SYNCHRONIZE)

/* The generic rights as those of files. MAY_MAXIMUM stays. MS-DTYP 2.4.3; MS-FSA 2.1.5.1 */
uint32_t access_mask_mapped(uint32_t mask);
/* What takes part in sharing: ACCESS_*. Of attributes alone: 0. MS-FSA 2.1.5.1.2.2 */
uint8_t access_mask_shares(uint32_t mask);
/* Whose caching it cannot be beside: MEETS_*. MS-FSA 2.1.4.12, 2.1.5.1.2.2 */
uint8_t access_mask_meets(uint32_t mask);

#endif
