"""Random operations on one file, as fsx does them, by two mounts and a REST client: what one has done the others see, and
all of it is what a model says. It runs in the guest of linux.mjs.

fsx.py HOST PORT ACCOUNT KEY SHARE MOUNT MOUNT SEED COUNT
"""
import base64
import hashlib
import hmac
import http.client
import os
import random
import sys
import time
from email.utils import formatdate

LENGTH_MAX = 1 << 20
RUN_MAX = 96 << 10
VERSION = "2025-05-05"
# A mount may learn of a change after the client that made it got its response: a break of what a client has read is not
# acknowledged. A break that is lost keeps the mount's view for longer.
BREAK_S = 1
# Linux ignores a length that is less than it knows while it has the file open for writing, and it closes a file up to a second
# after the program has (cifs: is_size_safe_to_change(), closetimeo). Decision 965
CLOSE_S = 1.5
CLOSES_MAX = 3


class Mount:
    def __init__(self, place):
        self.place = self.name = place

    def open(self, name, flags):
        return os.open(os.path.join(self.place, name), flags)

    def with_file(self, name, flags, function):
        file = self.open(name, flags)
        try:
            return function(file)
        finally:
            os.close(file)

    def read(self, name, at, count):
        return self.with_file(name, os.O_RDONLY, lambda file: os.pread(file, count, at))

    def write(self, name, at, data):
        def write(file):
            done = 0
            while done < len(data):
                done += os.pwrite(file, data[done:], at + done)
            if random.random() < 0.2:
                os.fsync(file)
        self.with_file(name, os.O_RDWR, write)

    def length(self, name):
        return os.stat(os.path.join(self.place, name)).st_size

    def resize(self, name, length):
        self.with_file(name, os.O_RDWR, lambda file: os.ftruncate(file, length))

    def rename(self, name, to):
        os.rename(os.path.join(self.place, name), os.path.join(self.place, to))


class Rest:
    name = "REST"

    def __init__(self, host, port, account, key, share):
        self.connection = http.client.HTTPConnection(host, port, timeout=120)
        self.account, self.key, self.share = account, base64.b64decode(key), share

    def ask(self, method, name, queries=(), headers=(), body=b""):
        path = f"/{self.account}/{self.share}/{name}"
        headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": VERSION, **dict(headers)}
        signed = "".join(f"{key}:{value}\n" for key, value in sorted(headers.items()))
        signed += f"/{self.account}{path}" + "".join(f"\n{key}:{value}" for key, value in sorted(queries))
        text = f"{method}\n\n\n{len(body) or ''}\n\n\n\n\n\n\n\n\n{signed}"
        mac = base64.b64encode(hmac.new(self.key, text.encode(), hashlib.sha256).digest()).decode()
        headers["Authorization"] = f"SharedKey {self.account}:{mac}"
        if method == "PUT":
            headers["Content-Length"] = str(len(body))
        query = "&".join(f"{key}={value}" for key, value in queries)
        self.connection.request(method, path + ("?" + query if query else ""), body or None, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise AssertionError(f"{method} {name} {query}: {answer.status} {content!r}")
        return answer, content

    def read(self, name, at, count):
        if at >= self.length(name):
            return b""
        return self.ask("GET", name, (), {"x-ms-range": f"bytes={at}-{at + count - 1}"})[1]

    def put(self, name, at, length, how, data):
        self.ask("PUT", name, [("comp", "range")], {"x-ms-range": f"bytes={at}-{at + length - 1}", "x-ms-write": how}, data)

    def write(self, name, at, data):
        if at + len(data) > self.length(name):
            self.resize(name, at + len(data))
        self.put(name, at, len(data), "update", data)

    def clear(self, name, at, length):
        self.put(name, at, length, "clear", b"")

    def length(self, name):
        return int(self.ask("HEAD", name)[0].headers["Content-Length"])

    def resize(self, name, length):
        self.ask("PUT", name, [("comp", "properties")], {"x-ms-content-length": str(length), "x-ms-file-permission": "preserve",
                 "x-ms-file-attributes": "preserve", "x-ms-file-creation-time": "preserve", "x-ms-file-last-write-time": "now"})

    def rename(self, name, to):
        self.ask("PUT", to, [("comp", "rename")], {"x-ms-file-rename-source": f"http://{self.connection.host}:{self.connection.port}/{self.account}/{self.share}/{name}"})


class Run:
    def __init__(self, actors, seed):
        self.actors, self.rest = actors, actors[-1]
        self.model, self.renames, self.name = bytearray(), 0, f"fsx-{seed}-0"
        self.said = []

    def place(self):
        return random.randrange(LENGTH_MAX), random.randrange(1, RUN_MAX)

    def step(self):
        actor = random.choice(self.actors)
        what = random.choices(["write", "append", "resize", "clear", "rename"], [8, 3, 2, 2, 1])[0]
        at, count = self.place()
        if what == "clear":
            actor = self.rest
        self.said.append(f"{actor.name} {what} {self.name} {at} {count}, length {len(self.model)}")
        getattr(self, what)(actor, at, count)

    def put(self, actor, at, count):
        data = random.randbytes(count)
        actor.write(self.name, at, data)
        self.model.extend(bytes(max(0, at + count - len(self.model))))
        self.model[at:at + count] = data

    def write(self, actor, at, count):
        self.put(actor, at, min(count, LENGTH_MAX - at))

    def append(self, actor, _, count):
        if len(self.model) + count <= LENGTH_MAX:
            self.put(actor, len(self.model), count)

    def resize(self, actor, at, _):
        actor.resize(self.name, at)
        del self.model[at:]
        self.model.extend(bytes(at - len(self.model)))

    def clear(self, actor, at, count):
        end = min(at + count, len(self.model))
        if at < end:
            actor.clear(self.name, at, end - at)
            self.model[at:end] = bytes(end - at)

    def rename(self, actor, *_):
        self.renames += 1
        name = f"{self.name.rsplit('-', 1)[0]}-{self.renames}"
        actor.rename(self.name, name)
        self.name = name

    def difference(self, actor, at, count):
        """None, or how the file differs from the model, and whether it is longer"""
        length, found = actor.length(self.name), actor.read(self.name, at, count)
        wanted = bytes(self.model[at:at + count])
        if length != len(self.model):
            return f"{actor.name} has the length {length}, and not {len(self.model)}", length > len(self.model)
        if found != wanted:
            first = next((i for i, pair in enumerate(zip(found, wanted)) if pair[0] != pair[1]), min(len(found), len(wanted)))
            return f"{actor.name} reads other bytes from {at + first} on ({len(found)} of {len(wanted)} from {at})", False
        return None

    def compare(self, actor, at, count):
        is_mount = isinstance(actor, Mount)
        until, closes = time.monotonic() + (BREAK_S if is_mount else 0), CLOSES_MAX if is_mount else 0
        while difference := self.difference(actor, at, count):
            text, is_longer = difference
            if is_longer and closes > 0:
                closes -= 1
                time.sleep(CLOSE_S)
                until = time.monotonic() + BREAK_S
            elif time.monotonic() < until:
                time.sleep(0.02)
            else:
                raise AssertionError(text)


def main(host, port, account, key, share, one, two, seed, count):
    random.seed(int(seed))
    run = Run([Mount(one), Mount(two), Rest(host, int(port), account, key, share)], seed)
    Mount(one).with_file(run.name, os.O_RDWR | os.O_CREAT | os.O_EXCL, lambda file: None)
    try:
        for _ in range(int(count)):
            run.step()
            run.compare(random.choice(run.actors), *run.place())
        for actor in run.actors:
            run.compare(actor, 0, LENGTH_MAX)
    except Exception:
        print(f"seed {seed}, after {len(run.said)} operations, the last ones:", *run.said[-8:], sep="\n")
        raise


if __name__ == "__main__":
    main(*sys.argv[1:])
