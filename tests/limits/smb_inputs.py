"""Legal SMB requests that make the server hold as much of one file as there may be: each has its documented
response, and the server goes on. See smb.mjs, which runs one of these at a time:

smb_inputs.py PORT ACCOUNT KEY SHARE INPUT [COUNT]
"""
import pathlib
import socket
import struct
import sys
import time
import uuid

sys.path.append(str(pathlib.Path(__file__).parent.parent / "smb"))
from client import Client  # noqa: E402
from impacket import smb3, smb3structs  # noqa: E402

HOST = "127.0.0.1"
PORT, ACCOUNT, KEY, SHARE, INPUT, *REST = sys.argv[1:]
COUNT = int(REST[0]) if REST else 0
READ, WRITE, ALL = 0x120081, 0x120182, 7
OPEN, CREATE, OPEN_OR_CREATE = 1, 2, 3
DIRECTORY, FILE = 0x1, 0x40
EXCLUSIVE_AT_ONCE, SHARED_AT_ONCE, UNLOCK = 0x12, 0x11, 0x4
LEASE_RH = 0x3
SUCCESS, NO_SUCH_FILE = 0, 0xC000000F
BAD_PARAMETER = 0xC000000D
INFO_LENGTH_MISMATCH, BAD_NAME = 0xC0000004, 0xC0000033
SHARING_VIOLATION, NOT_GRANTED, SHORT_OF_RESOURCES = 0xC0000043, 0xC0000055, 0xC000009A
RESUME_KEY, COPY_CHUNK = 0x00140078, 0x001440F2
OUT_OF_MEMORY = 0xC0000205
OPENS_MAX, LOCKS_MAX, CACHINGS_MAX, TREES_MAX = 2000, 2000, 512, 1024
PARKED_MAX, PARKED_OF_ACCOUNT_MAX, WATCHES_OF_ACCOUNT_MAX, CONNECTION_OPENS_MAX, LIST_ANEW = 512, 8192, 8192, 16384, 0x10C
CHANGE_NOTIFY = 0x0F
MIB = 1 << 20
SILENT, READS = 30, 15
RESIDENT_MIB_MAX = 300  # the budget is 128 MiB
TIMEOUT_MS = 1000


def client():
    return Client(HOST, int(PORT), ACCOUNT, KEY, SHARE)


def vanish(c):
    """The connection is lost, without a word."""
    c.connection.getSMBServer().close_session()


def must(answer, expected=SUCCESS):
    if answer[0] != expected:
        raise RuntimeError(f"{answer[0]:08X} instead of {expected:08X}")
    return answer[1]


def open_many(c, path, count, access=READ, share=ALL, begin=0):
    for i in range(begin, begin + count):
        must(c.open(i, path, access, share, OPEN_OR_CREATE))


def open_persistent(c, name, path, timeout_ms=TIMEOUT_MS):
    context = struct.pack("<LL8x16s", timeout_ms, 2, uuid.uuid4().bytes)
    must(c.open(name, path, READ, ALL, OPEN_OR_CREATE, context=(b"DH2Q", context)))


def lock(c, name, elements):
    body = struct.pack("<HHL16s", 48, len(elements), 0, c.opens[name])
    body += b"".join(struct.pack("<QQL4x", *element) for element in elements)
    return c.ask(smb3structs.SMB2_LOCK, body)


def list_names(c, name, pattern, size):
    text = pattern.encode("utf-16le")
    body = struct.pack("<HBBL16sHHL", 33, 12, 1, 0, c.opens[name], 96, len(text), size) + text
    return c.ask(smb3structs.SMB2_QUERY_DIRECTORY, body)


def control(c, name, code, data, size):
    body = struct.pack("<HHL16sLLLLLLLL", 57, 0, code, c.opens[name], 120, len(data), 0, 0, 0, size, 1, 0) + data
    return c.ask(smb3structs.SMB2_IOCTL, body)


def until_alone(path):
    """Waits until nobody has the file open any more."""
    c = client()
    deadline = time.monotonic() + 30
    while (status := c.open("alone", path, READ | WRITE, 0)[0]) == SHARING_VIOLATION and time.monotonic() < deadline:
        time.sleep(0.1)
    must((status, None))
    c.close("alone")


def persistent_next_to_opens(locks):
    """A persistent handle of a client that vanished ends in time, however much is open and locked of the file."""
    c, lost = client(), client()
    open_many(c, "a", 400, READ | WRITE)
    for at in range(0, locks, 980):
        must(lock(c, 0, [(2 * i, 1, EXCLUSIVE_AT_ONCE) for i in range(at, min(at + 980, locks))]))
    open_persistent(lost, "persistent", "a")
    vanish(lost)
    time.sleep(2 * TIMEOUT_MS / 1000 + 0.5)
    vanish(c)
    until_alone("a")


def many_persistent():
    """Persistent handles whose client vanished end together."""
    lost = client()
    for i in range(COUNT):
        open_persistent(lost, i, "p")
    vanish(lost)
    until_alone("p")


def patterns():
    """Patterns longer than any name are none; those of many wildcards take no time."""
    c = client()
    must(c.open("d", "d", READ, ALL, OPEN_OR_CREATE, DIRECTORY))
    for size in 32930, 65532:
        for room in 104, 256:
            must(list_names(c, "d", "*" * (size // 2), room), BAD_NAME)
            must(list_names(c, "d", "a" * (size // 2), room), BAD_NAME)
    for i in range(COUNT):
        must(c.open("f", f"d\\{'a' * 200}{i}", READ, ALL, CREATE))
        c.close("f")
    for pattern in "*" * 250, "*a" * 125, "<a" * 125, "*<" * 125 + "b":
        status, _ = list_names(c, "d", pattern, 65536)
        if status not in (SUCCESS, NO_SUCH_FILE):
            must((status, None))
    must(list_names(c, "d", "*", 8), INFO_LENGTH_MISMATCH)


def locks_of_one():
    """All locks that a file may have, by two requests; one more is refused, and releasing them is one request."""
    c = client()
    must(c.open("a", "l", READ | WRITE, ALL, OPEN_OR_CREATE))
    must(lock(c, "a", [(i, 1, EXCLUSIVE_AT_ONCE) for i in range(1024)]))
    must(lock(c, "a", [(i, 1, EXCLUSIVE_AT_ONCE) for i in range(1024, LOCKS_MAX)]))
    must(lock(c, "a", [(LOCKS_MAX, 1, SHARED_AT_ONCE)]), SHORT_OF_RESOURCES)
    must(lock(c, "a", [(0, 1, EXCLUSIVE_AT_ONCE)]), NOT_GRANTED)
    for at in 0, 1000:
        must(lock(c, "a", [(i, 1, UNLOCK) for i in range(at, at + 1000)]))
    must(lock(c, "a", [(0, LOCKS_MAX, EXCLUSIVE_AT_ONCE)]))
    vanish(c)
    until_alone("l")


def locks_next_to_opens():
    """A request for 1,000 locks of a file with as many handles as there may be."""
    c = client()
    open_many(c, "m", OPENS_MAX, READ | WRITE)
    must(c.open("more", "m", READ, ALL), SHORT_OF_RESOURCES)
    must(lock(c, 0, [(i, 1, EXCLUSIVE_AT_ONCE) for i in range(1000)]))
    must(lock(c, 1, [(1000 + i, 1, EXCLUSIVE_AT_ONCE) for i in range(1000)]))
    vanish(c)
    until_alone("m")


def disconnected_in_the_way():
    """An open that conflicts with disconnected durable handles ends them, all at once."""
    lost, c = client(), client()
    for i in range(OPENS_MAX - 1):
        context = (b"DH2Q", struct.pack("<LL8x16s", 60000, 0, uuid.uuid4().bytes))
        must(open_durable_by_lease(lost, i, "v", context))
    vanish(lost)
    deadline = time.monotonic() + 30
    while (status := c.open("alone", "v", READ | WRITE, 0)[0]) == SHARING_VIOLATION and time.monotonic() < deadline:
        time.sleep(0.1)
    must((status, None))


def open_durable_by_lease(c, name, path, durable):
    """Opens by one lease with cached handles, which makes each of its handles durable."""
    lease = struct.pack("<16sLLQ", b"one lease".ljust(16, b"\0"), LEASE_RH, 0, 0)
    body = smb3structs.SMB2Create()
    text = path.encode("utf-16le")
    body["RequestedOplockLevel"] = 0xFF
    body["ImpersonationLevel"] = 2
    body["DesiredAccess"], body["ShareAccess"] = READ, ALL
    body["CreateDisposition"], body["CreateOptions"], body["FileAttributes"] = OPEN_OR_CREATE, FILE, 0x80
    body["NameLength"] = len(text)
    contexts = b""
    for i, (kind, data) in enumerate((durable, (b"RqLs", lease))):
        one = struct.pack("<HHHHL4s4x", 16, 4, 0, 24, len(data), kind) + data
        one += b"\0" * (-(len(one) + 4) % 8)
        contexts += struct.pack("<L", 0 if i else len(one) + 4) + one
    body["Buffer"] = text + b"\0" * (-len(text) % 8)
    body["CreateContextsOffset"] = 64 + 56 + len(body["Buffer"])
    body["CreateContextsLength"] = len(contexts)
    body["Buffer"] += contexts
    status, data = c.ask(smb3structs.SMB2_CREATE, body)
    if status == SUCCESS:
        c.opens[name] = data[64:80]
        if b"DH2Q" not in data:
            raise RuntimeError("the handle is not durable")
    return status, None


def client_after(session):
    """Logs on, and says which session it had before."""
    setup = smb3structs.SMB2SessionSetup

    class Setup(setup):
        def __init__(self, *args):
            setup.__init__(self, *args)
            self["PreviousSessionId"] = session

    smb3.SMB2SessionSetup = Setup
    try:
        return client()
    finally:
        smb3.SMB2SessionSetup = setup


def previous_session():
    """A client that logs on again gets its response once all handles of its previous session are closed: an open that shares
    nothing meets none of them, and a persistent handle is found."""
    for round in range(COUNT):
        guid = str(uuid.uuid4())
        c, path = client(), f"y{round}"
        open_many(c, path, 500)
        must(c.open("x", f"x{round}", READ, ALL, CREATE))
        c.close("x")
        kept = must(c.open_durable("x", f"x{round}", READ, 0, guid, persists=True))
        session = c.smb._Session["SessionID"]
        if round % 2:
            vanish(c)
        again = client_after(session)
        must(again.open("alone", path, READ | WRITE, 0))
        must(again.return_to("x", kept["id"], guid, persists=True))
        vanish(again)


def copy_chunks():
    """A copy of 256 chunks between handles of a file that has almost as many as there may be."""
    c = client()
    open_many(c, "c", OPENS_MAX - 100, READ | WRITE)
    must(c.write(0, 0, "x" * 4096))
    key = must(control(c, 0, RESUME_KEY, b"", 32))
    at = struct.unpack_from("<32xL", key)[0] - 64
    chunks = b"".join(struct.pack("<QQL4x", i, 8192 + i * 16, 16) for i in range(256))
    data = must(control(c, 1, COPY_CHUNK, key[at:at + 24] + struct.pack("<L4x", 256) + chunks, 12))
    at = struct.unpack_from("<32xL", data)[0] - 64
    if struct.unpack_from("<LLL", data, at) != (256, 0, 4096):
        raise RuntimeError("not all chunks were copied")
    vanish(c)
    until_alone("c")


def ranges():
    """A file of COUNT ranges with holes between them, written by copies of 256 chunks."""
    c = client()
    must(c.open("a", "ranges", READ | WRITE, ALL, OPEN_OR_CREATE))
    must(c.write("a", 0, "x" * 512))
    key = must(control(c, "a", RESUME_KEY, b"", 32))
    at = struct.unpack_from("<32xL", key)[0] - 64
    for first in range(1, COUNT, 256):
        count = min(256, COUNT - first)
        chunks = b"".join(struct.pack("<QQL4x", 0, i * 1024, 512) for i in range(first, first + count))
        must(control(c, "a", COPY_CHUNK, key[at:at + 24] + struct.pack("<L4x", count) + chunks, 12))
    c.close("a")


def put_reads(c, name, count):
    """Sends a compound of READs of 1 MiB, without waiting for the responses. Returns the first message id. impacket adds the
    rest of the credit charge to its window when it receives a response."""
    first = c.smb._Connection["SequenceWindow"]
    packets = []
    for i in range(count):
        packet = c.smb.SMB_PACKET()
        packet["Command"], packet["TreeID"], packet["SessionID"] = smb3structs.SMB2_READ, c.tree, c.smb._Session["SessionID"]
        packet["MessageID"], packet["CreditCharge"], packet["CreditRequestResponse"] = first + 16 * i, 16, 64
        packet["NextCommand"] = 0 if i == count - 1 else 120
        packet["Data"] = struct.pack("<HBBLQ16sLLLHHB7x", 49, 0, 0, MIB, 0, c.opens[name], 0, 0, 0, 0, 0, 0)
        packets.append(packet)
    rest = b"".join(packet.getData() for packet in packets[1:])
    packets[0].getData = lambda: smb3structs.SMB2Packet.getData(packets[0]) + rest
    c.smb.sendSMB(packets[0])
    c.smb._Connection["SequenceWindow"] = first + 16 * (count - 1) + 1
    return first


def is_refused(c, name):
    """Whether one of READS is refused for lack of memory. Any other error is raised."""
    packet = c.receive(put_reads(c, name, READS))
    frame = bytes(64) + packet["Data"]
    statuses, at = [packet["Status"]], packet["NextCommand"]
    while at:
        status, step = struct.unpack_from("<8xL8xL", frame, at)
        statuses.append(status)
        at = at + step if step else 0
    for status in statuses:
        if status != OUT_OF_MEMORY:
            must((status, None))
    return OUT_OF_MEMORY in statuses


def gather_credits(c):
    for _ in range(8):
        must(c.ask(smb3structs.SMB2_ECHO, struct.pack("<HH", 4, 0)))


def resident_mib(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


def buffer_little(c):
    """The kernel keeps little of what the client does not read: else it may take all that the server has charged."""
    c.smb._NetBIOSSession.get_socket().setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)


def unread():
    """Clients that ask for 15 MiB each and read nothing make the server hold no more than its budget; others are told so,
    and served once that is over. COUNT: the server's process id; 0: its memory says nothing."""
    c = client()
    must(c.open("u", "u", READ | WRITE, ALL, OPEN_OR_CREATE))
    for at in range(0, MIB, 32768):
        must(c.write("u", at, "x" * 32768))
    gather_credits(c)
    if is_refused(c, "u"):
        raise RuntimeError("a read is refused at first")
    silent = [client() for _ in range(SILENT)]
    for other in silent:
        buffer_little(other)
        must(other.open("u", "u", READ, ALL))
        gather_credits(other)
    most, refused = 0, False
    for other in silent:
        put_reads(other, "u", READS)
        most = max(most, resident_mib(COUNT) if COUNT else 0)
    deadline = time.monotonic() + 10
    while not refused and time.monotonic() < deadline:
        refused = is_refused(c, "u")
        most = max(most, resident_mib(COUNT) if COUNT else 0)
    if not refused:
        raise RuntimeError("a read beyond the budget was not refused")
    if most > RESIDENT_MIB_MAX:
        raise RuntimeError(f"{most:.0f} MiB are resident")
    for other in silent:
        vanish(other)
    deadline = time.monotonic() + 30
    while is_refused(c, "u"):
        if time.monotonic() > deadline:
            raise RuntimeError("reads are still refused")
        time.sleep(0.1)


def create_with_contexts(c, path, count):
    text = path.encode("utf-16le")
    body = smb3structs.SMB2Create()
    body["ImpersonationLevel"], body["DesiredAccess"], body["ShareAccess"] = 2, READ, ALL
    body["CreateDisposition"], body["CreateOptions"], body["FileAttributes"] = OPEN_OR_CREATE, FILE, 0x80
    body["NameLength"] = len(text)
    contexts = b"".join(struct.pack("<LHHHHL4s4x", 0 if i == count - 1 else 24, 16, 4, 0, 24, 0, b"none") for i in range(count))
    body["Buffer"] = text + b"\0" * (-len(text) % 8)
    body["CreateContextsOffset"], body["CreateContextsLength"] = 64 + 56 + len(body["Buffer"]), len(contexts)
    body["Buffer"] += contexts
    return c.ask(smb3structs.SMB2_CREATE, body)


def one_beyond():
    """Requests that go one beyond a limit of one request, after one that reaches it."""
    c = client()
    must(c.open("a", "b", READ | WRITE, ALL, OPEN_OR_CREATE))
    gather_credits(c)
    must(lock(c, "a", [(i, 1, EXCLUSIVE_AT_ONCE) for i in range(1024)]))  # LOCKS_MAX
    must(lock(c, "a", [(i, 1, EXCLUSIVE_AT_ONCE) for i in range(2000, 3025)]), BAD_PARAMETER)
    must(lock(c, "a", [(i, 1, UNLOCK) for i in range(1024)]))
    read = struct.Struct("<HBBLQ16sLLLHHB")
    must(c.ask(smb3structs.SMB2_READ, read.pack(49, 0, 0, MIB + 1, 0, c.opens["a"], 0, 0, 0, 0, 0, 0)), BAD_PARAMETER)  # SMB_IO_MAX
    must(create_with_contexts(c, "x", 64))  # SMB_CONTEXTS_MAX
    must(create_with_contexts(c, "x", 65), BAD_PARAMETER)
    key = must(control(c, "a", RESUME_KEY, b"", 32))
    at = struct.unpack_from("<32xL", key)[0] - 64
    for size, count in (16, 257), (MIB + 1, 1), (MIB, 17):  # CHUNKS_MAX, CHUNK_MAX, CHUNKS_SIZE_MAX
        chunks = b"".join(struct.pack("<QQL4x", 0, 0, size) for _ in range(count))
        must(control(c, "a", COPY_CHUNK, key[at:at + 24] + struct.pack("<L4x", count) + chunks, 12), BAD_PARAMETER)
    must(c.open("n", "n" * 256, READ, ALL, CREATE), BAD_NAME)  # TREE_NAME_MAX
    must(c.open("n", "n" * 255, READ, ALL, CREATE))
    c.close("a")


def cachings():
    """Leases of one file: one more than there may be is an open without a lease."""
    c = client()
    for i in range(CACHINGS_MAX):
        if must(c.open(i, "c", READ, ALL, OPEN_OR_CREATE, lease=LEASE_RH, key=f"lease {i}"))["lease"] != LEASE_RH:
            raise RuntimeError(f"lease {i} is not granted")
    if must(c.open("more", "c", READ, ALL, lease=LEASE_RH, key="one more"))["lease"] != 0:
        raise RuntimeError("one lease too many is granted")
    vanish(c)
    until_alone("c")


def trees():
    """One tree connect more than a session may have."""
    c = client()
    path = f"\\\\{HOST}\\{SHARE}".encode("utf-16le")
    for _ in range(TREES_MAX - 1):  # one is connected
        must(c.ask(smb3structs.SMB2_TREE_CONNECT, struct.pack("<HHHH", 9, 0, 72, len(path)) + path))
    must(c.ask(smb3structs.SMB2_TREE_CONNECT, struct.pack("<HHHH", 9, 0, 72, len(path)) + path), SHORT_OF_RESOURCES)
    must(c.open("t", "t", READ, ALL, OPEN_OR_CREATE))


def full():
    """A file with as many handles as there may be, half of them of a client that vanished, and as many locks: one more of
    each is refused, and all end with their clients."""
    lost, c = client(), client()
    open_many(c, "f", OPENS_MAX // 2, READ | WRITE)
    for at in 0, LOCKS_MAX // 2:
        must(lock(c, at // 2, [(i, 1, EXCLUSIVE_AT_ONCE) for i in range(at, at + LOCKS_MAX // 2)]))
    for i in range(OPENS_MAX // 2):
        open_persistent(lost, i, "f", 20 * TIMEOUT_MS)
    vanish(lost)
    time.sleep(0.5)
    must(c.open("more", "f", READ, ALL), SHORT_OF_RESOURCES)
    must(lock(c, 1, [(LOCKS_MAX, 1, EXCLUSIVE_AT_ONCE)]), SHORT_OF_RESOURCES)
    must(c.open("alone", "f", READ | WRITE, 0), SHORT_OF_RESOURCES)
    must(lock(c, 0, [(i, 1, UNLOCK) for i in range(LOCKS_MAX // 2)]))
    c.close(0)
    must(c.open("alone", "f", READ | WRITE, 0), SHARING_VIOLATION)
    must(c.open("more", "f", READ, ALL))
    vanish(c)
    until_alone("f")


def waiting():
    """One more request that waits for a lock than a connection may have."""
    holder, c = client(), client()
    must(holder.open("w", "w", READ | WRITE, ALL, OPEN_OR_CREATE))
    must(lock(holder, "w", [(0, 1, EXCLUSIVE_AT_ONCE)]))
    must(c.open("w", "w", READ | WRITE, ALL))
    gather_credits(c)
    body = struct.pack("<HHL16sQQL4x", 48, 1, 0, c.opens["w"], 0, 1, 0x2)
    for _ in range(PARKED_MAX):
        c.send(smb3structs.SMB2_LOCK, body)
    must(c.ask(smb3structs.SMB2_LOCK, body), SHORT_OF_RESOURCES)
    vanish(c)
    vanish(holder)
    until_alone("w")


def notify(c, name):
    return c.send(smb3structs.SMB2_CHANGE_NOTIFY, struct.pack("<HHL16sLL", 32, 0, 65536, c.opens[name], 0x1, 0))


def changes():
    """Changes of a directory beyond SMB_CHANGES_MAX, which its client has not read, are to be listed."""
    c, other = client(), client()
    must(c.open("n", "notify", READ, ALL, OPEN_OR_CREATE, DIRECTORY))
    first = notify(c, "n")
    for i in range(200):
        must(other.open("f", f"notify\\{'n' * 200}{i}", READ, ALL, CREATE))
        other.close("f")
    if c.receive(first)["Status"] != SUCCESS:
        raise RuntimeError("the first change is not reported")
    packet = c.receive(notify(c, "n"))
    must((packet["Status"], None), LIST_ANEW)


def opens_of_a_connection():
    """One handle more than a connection may have."""
    c = client()
    for i in range(CONNECTION_OPENS_MAX):
        must(c.open(i, f"o{i // 1900}", READ, ALL, OPEN_OR_CREATE))
    must(c.open("more", "more", READ, ALL, OPEN_OR_CREATE), SHORT_OF_RESOURCES)
    c.close(0)
    must(c.open("more", "more", READ, ALL, OPEN_OR_CREATE))


def tokens():
    """An NTLM negotiation that is longer than any (NEGOTIATE_MAX): the session is refused, others are served."""
    c = client()
    token = b"NTLMSSP\0" + struct.pack("<LL", 1, 0xE2088297) + bytes(16) + bytes(8) + bytes(2048)
    body = struct.pack("<HBBLLHHQ", 25, 0, 1, 0, 0, 88, len(token), 0) + token
    must(c.ask(smb3structs.SMB2_SESSION_SETUP, body), BAD_PARAMETER)
    must(client().open("t", "t", READ, ALL, OPEN_OR_CREATE))


def put_notify(c, name):
    """Sends a CHANGE_NOTIFY, and does not wait."""
    return c.send(CHANGE_NOTIFY, struct.pack("<HHL16sLL", 32, 0, 1000, c.opens[name], 0xFFF, 0))


def is_waiting(c, name):
    """Whether one more CHANGE_NOTIFY waits. False: it is refused for lack of resources."""
    message = put_notify(c, name)
    gather_credits(c)  # a refusal comes before these responses
    answer = c.smb._Connection["OutstandingResponses"].pop(message, None)
    if answer:
        must((answer["Status"] & 0xFFFFFFFF, None), SHORT_OF_RESOURCES)
    return not answer


def must_wait_soon(c, name):
    deadline = time.monotonic() + 30
    while not is_waiting(c, name):
        if time.monotonic() > deadline:
            raise RuntimeError("a request is still refused")
        time.sleep(0.1)


def open_directories(c, path, count):
    for i in range(count):
        must(c.open(i, path, READ, ALL, OPEN_OR_CREATE, options=DIRECTORY))


def waiting_of_account():
    """The most requests of an account that wait, on all connections, and one more."""
    last = client()
    open_directories(last, "w", 1)
    many = [client() for _ in range(PARKED_OF_ACCOUNT_MAX // PARKED_MAX)]
    for c in many:
        open_directories(c, "w", 1)
        gather_credits(c)
        for _ in range(PARKED_MAX):
            put_notify(c, 0)
        gather_credits(c)
    if is_waiting(last, 0):
        raise RuntimeError("one more request than there may be waits")
    vanish(many[0])
    must_wait_soon(last, 0)


def watches():
    """The most directories that an account watches, on all connections, and one more, though few requests wait."""
    last = client()
    open_directories(last, "w", 1)
    many = [client() for _ in range(WATCHES_OF_ACCOUNT_MAX // PARKED_MAX)]
    for number, c in enumerate(many):
        open_directories(c, f"w{number}", PARKED_MAX)
        gather_credits(c)
        messages = [put_notify(c, i) for i in range(PARKED_MAX)]
        gather_credits(c)
        must(last.open("new", f"w{number}\\new", READ, ALL, CREATE))  # answers all requests
        for message in messages:
            must((c.receive(message)["Status"] & 0xFFFFFFFF, None))
    if is_waiting(last, 0):
        raise RuntimeError("one more directory than there may be is watched")
    vanish(many[0])
    must_wait_soon(last, 0)


INPUTS = {
    "waiting": waiting,
    "changes": changes,
    "opens": opens_of_a_connection,
    "tokens": tokens,
    "one-beyond": one_beyond,
    "cachings": cachings,
    "trees": trees,
    "full": full,
    "waiting-of-account": waiting_of_account,
    "watches": watches,
    "unread": unread,
    "persistent": lambda: persistent_next_to_opens(0),
    "persistent-and-locks": lambda: persistent_next_to_opens(1960),
    "many-persistent": many_persistent,
    "patterns": patterns,
    "locks": locks_of_one,
    "locks-and-opens": locks_next_to_opens,
    "disconnected": disconnected_in_the_way,
    "copy-chunks": copy_chunks,
    "ranges": ranges,
    "previous": previous_session,
}
INPUTS[INPUT]()
