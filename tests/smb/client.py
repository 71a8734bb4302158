"""An SMB 3.0 client that does what a test says: one JSON object a line on standard input, one on standard
output for each. Opens are named by the test. Every answer has "status", the NT status as 8 hexadecimal digits.

client.py HOST PORT ACCOUNT KEY SHARE    SHARE may be empty: the command "use" connects to one, "leave" disconnects

impacket's own create() keeps one open a name, and its lock() cannot send: requests are made here.
"""
import json
import struct
import sys
import uuid

from impacket import smb3, smb3structs
from impacket.smbconnection import SMBConnection

TIMEOUT_S = 120
NO_MESSAGE = 0xFFFFFFFFFFFFFFFF  # the message id of a break
OPLOCK_LEASE = 0xFF
OPLOCK_BATCH = 0x09
PERSISTS = 0x2
WRITE_THROUGH = 0x1

# What impacket says of itself, which has handles that persist, too.
smb3.SMB2_GLOBAL_CAP_ENCRYPTION |= smb3structs.SMB2_GLOBAL_CAP_PERSISTENT_HANDLES


class Client:
    def __init__(self, host, port, account, key, share, dialect=smb3structs.SMB2_DIALECT_30):
        self.connection = SMBConnection(host, host, sess_port=port, preferredDialect=dialect, timeout=TIMEOUT_S)
        self.connection.login(account, key, "")
        self.tree = self.connection.connectTree(share) if share else None
        self.smb = self.connection.getSMBServer()
        self.opens = {}
        self.breaks = []

    def use(self, share):
        self.tree = self.connection.connectTree(share)
        return 0, {}

    def leave(self):
        self.connection.disconnectTree(self.tree)
        self.opens, self.breaks = {}, []
        return 0, {}

    def receive(self, message):
        packet = self.smb.recvSMB(message)
        self.keep_break()
        return packet

    def keep_break(self):
        packet = self.smb._Connection["OutstandingResponses"].pop(NO_MESSAGE, None)
        if packet:
            self.breaks.append(packet["Data"])

    def send(self, command, data):
        packet = self.smb.SMB_PACKET()
        packet["Command"] = command
        packet["TreeID"] = self.tree
        packet["Data"] = data
        return self.smb.sendSMB(packet)

    def ask(self, command, data):
        answer = self.receive(self.send(command, data))
        return answer["Status"] & 0xFFFFFFFF, answer["Data"]

    def open(self, name, path, access, share, disposition=1, options=0x40, lease=None, key=None, context=None):
        body = smb3structs.SMB2Create()
        text = path.encode("utf-16le")
        body["ImpersonationLevel"] = 2
        body["DesiredAccess"] = access
        body["ShareAccess"] = share
        body["CreateDisposition"] = disposition
        body["CreateOptions"] = options
        body["FileAttributes"] = 0x80
        body["NameLength"] = len(text)
        body["Buffer"] = text
        if lease is not None:
            body["RequestedOplockLevel"] = OPLOCK_LEASE
            context = b"RqLs", struct.pack("<16sLLQ", key.encode().ljust(16, b"\0"), lease, 0, 0)
        elif context:
            body["RequestedOplockLevel"] = OPLOCK_BATCH
        if context:
            body["Buffer"] = (text or b"\0\0") + b"\0" * (-len(text or b"\0\0") % 8)
            body["CreateContextsOffset"] = 64 + 56 + len(body["Buffer"])
            context = struct.pack("<LHHHHL4s4x", 0, 16, 4, 0, 24, len(context[1]), context[0]) + context[1]
            body["CreateContextsLength"] = len(context)
            body["Buffer"] += context
        status, data = self.ask(smb3structs.SMB2_CREATE, body)
        if status:
            return status, {}
        self.opens[name] = data[64:80]
        at = data.find(b"RqLs")
        return status, {"lease": struct.unpack_from("<L", data, at + 8 + 16)[0]} if at >= 0 else {}

    def open_durable(self, name, path, access, share, guid, persists=False):
        """With a batch oplock; its id is for return_to()."""
        context = struct.pack("<LL8x16s", 0, PERSISTS if persists else 0, uuid.UUID(guid).bytes_le)
        status, _ = self.open(name, path, access, share, context=(b"DH2Q", context))
        return status, {"id": self.opens[name].hex()} if status == 0 else {}

    def return_to(self, name, id, guid, persists=False):
        context = struct.pack("<16s16sL", bytes.fromhex(id), uuid.UUID(guid).bytes_le, PERSISTS if persists else 0)
        return self.open(name, "", 1, 7, context=(b"DH2C", context))

    def close(self, name):
        body = smb3structs.SMB2Close()
        body["Flags"] = 0
        body["FileID"] = self.opens.pop(name)
        return self.ask(smb3structs.SMB2_CLOSE, body)[0], {}

    def write(self, name, offset, text, through=False):
        body = smb3structs.SMB2Write()
        body["Flags"] = WRITE_THROUGH if through else 0
        body["FileID"] = self.opens[name]
        body["Length"] = len(text)
        body["Offset"] = offset
        body["WriteChannelInfoOffset"] = 0
        body["Buffer"] = text.encode()
        return self.ask(smb3structs.SMB2_WRITE, body)[0], {}

    def read(self, name, offset, length):
        body = smb3structs.SMB2Read()
        body["FileID"] = self.opens[name]
        body["Length"] = length
        body["Offset"] = offset
        status, data = self.ask(smb3structs.SMB2_READ, body)
        if status:
            return status, {}
        at, count = struct.unpack_from("<2xBxL", data)
        return status, {"text": data[at - 64:at - 64 + count].decode()}

    def flush(self, name):
        body = smb3structs.SMB2Flush()
        body["FileID"] = self.opens[name]
        return self.ask(smb3structs.SMB2_FLUSH, body)[0], {}

    def lock(self, name, offset, length, flags):
        body = struct.pack("<HHL16sQQL4x", 48, 1, 0, self.opens[name], offset, length, flags)
        return self.ask(smb3structs.SMB2_LOCK, body)[0], {}

    def set(self, name, what, value):
        body = smb3structs.SMB2SetInfo()
        body["InfoType"] = 1
        body["FileInfoClass"] = what
        body["BufferLength"] = len(value)
        body["AdditionalInformation"] = 0
        body["FileID"] = self.opens[name]
        body["Buffer"] = value
        return self.ask(smb3structs.SMB2_SET_INFO, body)[0], {}

    def length(self, name, length):
        return self.set(name, 20, struct.pack("<Q", length))

    def ioctl(self, name, code, data, most):
        body = struct.pack("<HHL16sLLLLLLLL", 57, 0, code, self.opens[name], 64 + 56, len(data), 0, 0, 0, most, 1, 0)
        status, answer = self.ask(smb3structs.SMB2_IOCTL, body + (data or b"\0"))
        if status:
            return status, b""
        at, count = struct.unpack_from("<LL", answer, 32)
        return status, answer[at - 64:at - 64 + count]

    def copy(self, source, name, size):
        """Of the first bytes, by the server. ms-smb2: 2.2.31.1"""
        status, key = self.ioctl(source, 0x00140078, b"", 32)
        if status:
            return status, {}
        return self.ioctl(name, 0x001440F2, key[:24] + struct.pack("<LLQQLL", 1, 0, 0, 0, size, 0), 12)[0], {}

    def disposition(self, name, deletes):
        return self.set(name, 13, bytes([1 if deletes else 0]))

    def rename(self, name, path, replaces=False):
        text = path.encode("utf-16le")
        return self.set(name, 10, struct.pack("<B7xQL", replaces, 0, len(text)) + text)

    def attributes(self, name, attributes):
        return self.set(name, 4, struct.pack("<QQQQLL", 0, 0, 0, 0, attributes, 0))

    def wait_break(self):
        """The next break: which lease goes from what to what."""
        while not self.breaks:
            window = self.smb._Connection["SequenceWindow"]
            self.breaks.append(self.smb.recvSMB(NO_MESSAGE)["Data"])
            self.smb._Connection["SequenceWindow"] = window  # a break has no charge: it took one back
        key, old, new = struct.unpack_from("<4xL16sLL", self.breaks.pop(0))[1:]
        return 0, {"key": key.rstrip(b"\0").decode(), "from": old, "to": new}

    def pending(self):
        """How many breaks have come that wait_break() has not told of."""
        self.ask(smb3structs.SMB2_ECHO, smb3structs.SMB2Echo())
        self.keep_break()
        return 0, {"breaks": len(self.breaks)}

    def acknowledge(self, key, to):
        body = struct.pack("<HHL16sLQ", 36, 0, 0, key.encode().ljust(16, b"\0"), to, 0)
        return self.ask(smb3structs.SMB2_OPLOCK_BREAK, body)[0], {}


def main():
    host, port, account, key, share = sys.argv[1:]
    client = Client(host, int(port), account, key, share)
    print(json.dumps({"status": "00000000"}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        status, more = getattr(client, asked.pop("do"))(**asked)
        print(json.dumps({"status": f"{status:08X}", **more}), flush=True)


if __name__ == "__main__":
    main()
