"""Commands of azure-cli: of shares, directories and files, and of blobs."""
import filecmp
import os
import uuid

from azure_commands import az, folders, same


def names(entries):
    return sorted(entry["name"] for entry in entries)


def shares(tree, down, share):
    assert az("share", "create", "-n", share, "--quota", "7")["created"]
    assert az("share", "exists", "-n", share)["exists"]
    assert az("share", "show", "-n", share)["properties"]["quota"] == 7
    az("share", "update", "-n", share, "--quota", "8")
    az("share", "metadata", "update", "-n", share, "--metadata", "x=y")
    assert az("share", "metadata", "show", "-n", share) == {"x": "y"}
    assert az("share", "url", "-n", share).endswith("/" + share)

    az("file", "upload-batch", "-d", share, "--destination-path", "tree", "-s", tree, "--metadata", "a=1")
    assert names(az("file", "list", "-s", share, "--path", "tree")) == ["big", "empty", "näme", "one", "sub"]
    big = az("file", "show", "-s", share, "--path", "tree/big")
    assert (big["properties"]["contentLength"], big["metadata"]) == (5000000, {"a": "1"})
    az("file", "download-batch", "-s", share, "-d", down)
    same(tree, os.path.join(down, "tree"))
    az("file", "upload", "-s", share, "--source", os.path.join(tree, "one"), "-p", "tree/two words.txt")
    az("file", "download", "-s", share, "-p", "tree/two words.txt", "--dest", os.path.join(down, "two"))
    assert filecmp.cmp(os.path.join(tree, "one"), os.path.join(down, "two"), shallow=False)
    stats = az("share", "stats", "-n", share)
    assert stats == "1", stats

    snapshot = az("share", "snapshot", "-n", share)["snapshot"]
    az("file", "resize", "-s", share, "-p", "tree/one", "--size", "2")
    az("file", "update", "-s", share, "-p", "tree/one", "--content-type", "text/x")
    az("file", "metadata", "update", "-s", share, "-p", "tree/one", "--metadata", "c=d")
    one = az("file", "show", "-s", share, "-p", "tree/one")
    assert one["properties"]["contentLength"] == 2 and one["metadata"] == {"c": "d"}, one
    assert one["properties"]["contentSettings"]["contentType"] == "text/x", one
    assert az("file", "show", "-s", share, "-p", "tree/one", "--snapshot", snapshot)["properties"]["contentLength"] == 3
    assert [entry["snapshot"] for entry in az("share", "list", "--include-snapshots", "--prefix", share)] == [snapshot, None]

    url = az("file", "url", "-s", share, "-p", "tree/big")
    az("file", "copy", "start", "--source-uri", url, "-s", share, "-p", "copied")
    copy = az("file", "show", "-s", share, "-p", "copied")["properties"]
    assert (copy["contentLength"], copy["copy"]["status"]) == (5000000, "success"), copy
    az("file", "copy", "cancel", "-s", share, "-p", "copied", "--copy-id", copy["copy"]["id"], fails="NoPendingCopyOperation")
    assert "sig=" in az("file", "generate-sas", "-s", share, "-p", "tree/big", "--permissions", "r", "--expiry", "2100-01-01")

    assert az("share", "list-handle", "-n", share)["items"] == []
    closed = az("share", "close-handle", "-n", share, "--close-all")
    assert closed["closed_handles_count"] == 0, closed
    az("share", "policy", "create", "-s", share, "-n", "p", "--permissions", "rl", "--expiry", "2100-01-01T00:00:00Z")
    assert list(az("share", "policy", "list", "-s", share)) == ["p"]

    az("directory", "create", "-s", share, "-n", "dir", "--metadata", "b=2")
    assert az("directory", "exists", "-s", share, "-n", "dir")["exists"]
    assert az("directory", "metadata", "show", "-s", share, "-n", "dir") == {"b": "2"}
    assert names(az("directory", "list", "-s", share)) == ["dir", "tree"]
    az("directory", "delete", "-s", share, "-n", "tree", fails="DirectoryNotEmpty")
    az("directory", "delete", "-s", share, "-n", "dir")
    az("file", "delete-batch", "-s", share, "--pattern", "tree/*e")
    assert names(az("file", "list", "-s", share, "--path", "tree")) == ["big", "empty", "sub", "two words.txt"]
    az("file", "delete", "-s", share, "-p", "copied")
    az("share", "delete", "-n", share, "--delete-snapshots", "include")
    assert not az("share", "exists", "-n", share)["exists"]


def blobs(tree, down, container):
    assert az("container", "create", "-n", container)["created"]
    az("blob", "upload", "-c", container, "-n", "ä b", "-f", os.path.join(tree, "big"))
    az("blob", "set-tier", "-c", container, "-n", "ä b", "--tier", "Cool")
    url = az("blob", "generate-sas", "-c", container, "-n", "ä b", "--permissions", "r", "--expiry", "2100-01-01", "--full-uri")
    az("blob", "copy", "start", "--source-uri", url, "-c", container, "-b", "copy")
    listed = {blob["name"]: blob["properties"]["blobTier"] for blob in az("blob", "list", "-c", container)}
    assert listed == {"copy": "Hot", "ä b": "Cool"}, listed
    az("blob", "download", "-c", container, "-n", "ä b", "-f", os.path.join(down, "blob"))
    assert filecmp.cmp(os.path.join(tree, "big"), os.path.join(down, "blob"), shallow=False)
    az("blob", "delete-batch", "-s", container, "--pattern", "c*")
    assert names(az("blob", "list", "-c", container)) == ["ä b"]
    az("container", "delete", "-n", container)


with folders({"empty": b"", "one": b"one", "sub/a b": b"x" * 3000, "näme": b"name", "big": os.urandom(5000000)}) as (tree, down):
    shares(tree, down, "cli" + uuid.uuid4().hex)
    blobs(tree, down, "cli" + uuid.uuid4().hex)
