"""Does one kind of thing by SMB 2.1 for every number of a range: see smb.mjs.

smb_client.py PORT ACCOUNT KEY KIND FROM TO
"""
import pathlib
import socket
import struct
import sys
import uuid

sys.path.append(str(pathlib.Path(__file__).parent.parent / "smb"))
from client import Client  # noqa: E402
from impacket import smb3structs  # noqa: E402
from impacket.smbconnection import SessionError, SMBConnection  # noqa: E402

HOST, SHARE, DIALECT = "127.0.0.1", "smb", smb3structs.SMB2_DIALECT_21
PORT, ACCOUNT, KEY, KIND, FROM, TO = sys.argv[1:]
ALL, READ, WRITE, DELETE = 7, 0x120081, 0x120182, 0x10000
CREATE, OPEN, OPEN_OR_CREATE = 2, 1, 3
DIRECTORY, FILE = 0x1, 0x40
LOCK_EXCLUSIVE, LOCK_FAILS, UNLOCK = 0x2, 0x10, 0x4
NAMES, NAMES_OF_FILES, SECURITY = 12, 0x1, 0x100  # of lists; of changes
SHARING_VIOLATION, CLEANUP, BAD_NAME = 0xC0000043, 0x10B, 0xC00000CC
BAD_LOGON, LOCKED_OUT = 0xC000006D, 0xC0000234


def connect():
    return SMBConnection(HOST, HOST, sess_port=int(PORT), preferredDialect=DIALECT, timeout=60)


def client():
    return Client(HOST, int(PORT), ACCOUNT, KEY, SHARE, DIALECT)


def cut(connection):
    connection.getSMBServer().close_session()


def must(answer, expected=0):
    if answer[0] != expected:
        raise RuntimeError(f"{answer[0]:08X} instead of {expected:08X}")
    return answer


def refused(status, function, *arguments):
    try:
        function(*arguments)
    except SessionError as error:
        return must((error.getErrorCode() & 0xFFFFFFFF,), status)
    raise RuntimeError("it is not refused")


def logons(_, i):
    connection = connect()
    connection.login(ACCOUNT, KEY, "")
    connection.logoff()
    cut(connection)


def refusals(_, i):
    connection = connect()
    try:
        connection.login(ACCOUNT if i % 2 else f"none{i}", f"wrong{i}", "")
    except SessionError as error:
        if error.getErrorCode() & 0xFFFFFFFF not in (BAD_LOGON, LOCKED_OUT):
            raise
    else:
        raise RuntimeError("it is not refused")
    cut(connection)


def cuts(_, i):
    for text in b"", b"\0", b"GET / HTTP/1.1\r\n\r\n", struct.pack(">L", 70) + b"\xfeSMB" + bytes(i % 60), struct.pack(">L", 68) + b"\xffSMB" + bytes(64):
        with socket.create_connection((HOST, int(PORT))) as raw:
            raw.sendall(text)
    connection = connect()
    connection.login(ACCOUNT, KEY, "")
    connection.connectTree(SHARE)
    cut(connection)


def trees(own, i):
    connection = own.connection
    connection.disconnectTree(connection.connectTree(SHARE))
    refused(BAD_NAME, connection.connectTree, f"none{i}")


def files(own, i):
    must(own.open("a", f"f{i}", READ | WRITE | DELETE, ALL, CREATE, FILE))
    must(own.write("a", 0, f"text {i}"))
    must(own.read("a", 0, 4))
    must(own.rename("a", f"g{i}"))
    must(own.disposition("a", True))
    must(own.close("a"))


def directories(own, i):
    must(own.open("a", f"d{i}", READ | DELETE, ALL, CREATE, DIRECTORY))
    must(own.ask(smb3structs.SMB2_QUERY_DIRECTORY, struct.pack("<HBBL16sHHL2s", 33, NAMES, 0, 0, own.opens["a"], 96, 2, 4096, b"*\0")))
    must(own.disposition("a", True))
    must(own.close("a"))


def opens(own, i):
    path = f"opens{FROM}-{i % 8}"
    must(own.open("a", path, READ | WRITE, ALL, OPEN_OR_CREATE, FILE, lease=7, key=f"key{FROM}-{i}"[:16]))
    must(own.lock("a", i, 10, LOCK_EXCLUSIVE | LOCK_FAILS))
    must(own.lock("a", i, 10, UNLOCK))
    must(own.open("b", path, READ, 0, OPEN, FILE), SHARING_VIOLATION)
    must(own.close("a"))


def wait(own, changes):
    must(own.open("d", "", READ, ALL, OPEN, DIRECTORY))
    return own.send(smb3structs.SMB2_CHANGE_NOTIFY, struct.pack("<HHL16sLL", 32, 0, 4096, own.opens["d"], changes, 0))


def changes(own, i):
    asked = wait(own, NAMES_OF_FILES)
    must(own.open("a", f"c{FROM}-{i}", READ | DELETE, ALL, CREATE, FILE))
    must((own.receive(asked)["Status"],))
    must(own.close("d"))
    must(own.disposition("a", True))
    must(own.close("a"))
    asked = wait(own, SECURITY)
    must(own.close("d"))
    must((own.receive(asked)["Status"] & 0xFFFFFFFF,), CLEANUP)


def kept(own, i):
    path = f"kept{FROM}-{i % 4}"
    away = client()
    must(away.open("a", path, READ | WRITE, ALL, OPEN_OR_CREATE, FILE))
    must(away.close("a"))
    must(away.open_durable("a", path, READ | WRITE, ALL, str(uuid.UUID(int=i + 1))))
    cut(away.connection)
    must(own.open("b", path, READ | WRITE, ALL, OPEN, FILE))  # ends what its client has left
    must(own.write("b", 0, "x"))
    must(own.close("b"))


kind = globals()[KIND]
own = None if kind in (logons, refusals, cuts) else client()
for number in range(int(FROM), int(TO)):
    kind(own, number)
