/* The record in the file `owner` of a cell: its owner, or its last owner. Pure.
 *
 * A slot of the file, OWNER_SLOT_BYTES long:
 *
 *   0   8  "LagraOwn"
 *   8   4  CRC-32C of all bytes that follow, little-endian
 *   12  2  length of the fields, big-endian
 *   14  .. fields (base/codec.h): version, cluster, cell, incarnation, renewal, is_held, lease_ms,
 *          renewed, boot, pid, name, address, client; since version 2 also forward; since version 3
 *          also used_bytes; since version 4 also version, serves, move, renewed_ns; since version 5
 *          also smb; since version 6 also keys; since version 7 also protocol
 *   ..     zeros
 *
 * The file has two slots, which are written alternately, so a write that is torn by a crash leaves
 * the previous record intact. The newest valid record counts. To add fields, append them,
 * raise the version, keep the reader for the old version, and add its bytes to
 * tests/unit/cluster/test_owner_record.c. Since version 7, readers ignore the fields that later
 * versions append. */
#ifndef LAGRA_CLUSTER_OWNER_RECORD_H
#define LAGRA_CLUSTER_OWNER_RECORD_H

#include "base/dates.h"
#include "base/ids.h"
#include "cluster/protocol.h"
#include "net/net.h"

#define OWNER_SLOT_BYTES   4096u
#define OWNER_FILE_BYTES   (2 * OWNER_SLOT_BYTES)
#define OWNER_NAME_MAX     64u
#define OWNER_ADDRESS_MAX  280u
#define OWNER_CLIENT_MAX   64u
#define OWNER_FORWARD_MAX  63u
#define OWNER_VERSION_MAX  32u
#define OWNER_MOVE_MAX     160u
#define OWNER_SMB_MAX      253u
#define OWNER_LEASE_MAX_MS 60000u
#define OWNER_CELL_MAX     9999u

/* Identity of a front end. The strings contain no control characters. */
struct owner_identity {
    struct guid boot; /* boot id of its machine; changes at each boot */
    uint64_t pid;
    char name[OWNER_NAME_MAX + 1];       /* machine name */
    char address[OWNER_ADDRESS_MAX + 1]; /* "host:port" of its Blob service */
    /* "client4123", the client of its CephFS mount; "" if unknown */
    char client[OWNER_CLIENT_MAX + 1];
    /* "192.0.2.1:10020", where other front ends forward requests (address_read()); "" if nowhere */
    char forward[OWNER_FORWARD_MAX + 1];
    char version[OWNER_VERSION_MAX + 1]; /* of its program; "" if unknown */
    struct protocol_range protocol;      /* versions that it understands */
    /* host to which SMB clients of other front ends are referred; "" if none */
    char smb[OWNER_SMB_MAX + 1];
};

struct owner_record {
    struct guid cluster;
    uint32_t cell;
    uint64_t incarnation; /* incremented by each new owner; 0 if the cell never had one */
    uint64_t renewal;     /* incremented by each write of the record */
    bool is_held;         /* false if the owner released the cell */
    uint32_t lease_ms;
    instant renewed; /* the owner's wall clock at the renewal, for operators only */
    struct owner_identity owner;
    uint64_t used_bytes; /* of contents and records in the cell, as last counted by the owner */
    bool serves;         /* the owner executes requests; false while it opens the store */
    char move[OWNER_MOVE_MAX + 1]; /* move to another cell in progress; "" if there is none */
    /* Start of the renewal by the owner's clock_boot_ns(), compared only by that owner. */
    uint64_t renewed_ns;
    uint32_t keys[NET_KEYS_MAX]; /* ids of the cluster's keys that the owner has read, or 0 */
};

/* Returns true for "", and for a host name or an IPv4 address of at most OWNER_SMB_MAX characters;
 * false for an IPv6 address, which the path of a referral cannot contain. */
bool owner_smb_is_valid(const char *host);
/* Encodes the record into a slot and fills all OWNER_SLOT_BYTES of it. */
void owner_record_write(const struct owner_record *record, char slot[OWNER_SLOT_BYTES]);
/* Decodes a slot. Returns false if it contains anything other than a record written by
 * owner_record_write(); *ret_record is then undefined. */
bool owner_record_read(const char slot[OWNER_SLOT_BYTES], struct owner_record *ret_record);
/* Finds the newest record of a complete file. Returns false if neither slot has a valid record. */
bool owner_record_newest(const char file[OWNER_FILE_BYTES], struct owner_record *ret_record);
/* Returns the file offset of the slot in which this record belongs. */
uint64_t owner_record_offset(const struct owner_record *record);

#endif
