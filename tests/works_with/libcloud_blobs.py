"""Apache Libcloud: containers, objects, metadata, streams, listing by pages; through kills."""
import io
import os
import re
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from libcloud.storage.drivers import azure_blobs
from libcloud.storage.providers import get_driver
from libcloud.storage.types import (
    ContainerAlreadyExistsError, ContainerDoesNotExistError, ContainerIsNotEmptyError,
    ObjectDoesNotExistError, Provider)

KILLS = 2
OBJECTS = 240
TRIES = 100
BOX = "box" + uuid.uuid4().hex

given = dict(part.split("=", 1) for part in os.environ["AZURE_STORAGE_CONNECTION_STRING"].split(";") if part)
host, port = re.match(r"http://([^:]+):(\d+)", given["BlobEndpoint"]).groups()


def new_driver():
    # A connection of its own for each thread: libcloud's are not made for more.
    return get_driver(Provider.AZURE_BLOBS)(
        key=given["AccountName"], secret=given["AccountKey"], secure=False, host=host, port=int(port))


def refused(kind, call, *args):
    try:
        call(*args)
    except kind:
        return
    raise AssertionError(f"no {kind}")


def content(item):
    return b"".join(item.as_stream())


def objects(driver):
    box = driver.create_container(BOX)
    refused(ContainerAlreadyExistsError, driver.create_container, BOX)
    refused(ContainerDoesNotExistError, driver.get_container, "missing")
    refused(ObjectDoesNotExistError, driver.get_object, BOX, "missing")
    assert BOX in [container.name for container in driver.iterate_containers()]

    name = "a/ä b+c%25#?.txt"
    box.upload_object_via_stream(
        io.BytesIO(b"text"), name, extra={"meta_data": {"color": "blue"}, "content_type": "text/plain"})
    found = driver.get_object(BOX, name)
    assert (found.size, found.meta_data, found.extra["content_type"]) == (4, {"color": "blue"}, "text/plain")
    assert content(found) == b"text"
    assert b"".join(driver.download_object_range_as_stream(found, 1, 3)) == b"ex"

    large = os.urandom(2 * azure_blobs.AZURE_UPLOAD_CHUNK_SIZE + 5)
    box.upload_object_via_stream(iter([large[:1000], large[1000:]]), "large")
    assert content(driver.get_object(BOX, "large")) == large
    with tempfile.NamedTemporaryFile() as file:
        file.write(large[:5000])
        file.flush()
        driver.upload_object(file.name, box, "large", ex_use_lease=True)
    replaced = driver.get_object(BOX, "large")
    assert content(replaced) == large[:5000]
    assert replaced.extra["lease"]["state"] == "available"
    driver.ex_set_object_metadata(replaced, {"color": "red"})
    assert driver.get_object(BOX, "large").meta_data == {"color": "red"}

    assert [item.name for item in box.list_objects(prefix="a/")] == [name]
    refused(ContainerIsNotEmptyError, box.delete)
    assert found.delete()
    refused(ObjectDoesNotExistError, driver.get_object, BOX, name)


def through_kills(driver):
    """Each object that was acknowledged is there, as it was written, and listed."""
    def write(number):
        own = new_driver()
        for _ in range(TRIES):
            try:
                own.upload_object_via_stream(
                    io.BytesIO(b"%d" % number), own.get_container(BOX), f"n/{number:04}")
                return
            except OSError:  # the server is away
                time.sleep(0.1)
        raise AssertionError(f"{number} could not be written")

    with ThreadPoolExecutor(4) as pool:
        for done, _ in enumerate(pool.map(write, range(OBJECTS))):
            if done % (OBJECTS // (KILLS + 1)) == 0 and 0 < done < OBJECTS - 1:
                print("kill", flush=True)
    listed = driver.get_container(BOX).list_objects(prefix="n/")
    assert [item.name for item in listed] == [f"n/{number:04}" for number in range(OBJECTS)]
    for number, item in enumerate(listed):
        assert content(item) == b"%d" % number


driver = new_driver()
objects(driver)
through_kills(driver)
