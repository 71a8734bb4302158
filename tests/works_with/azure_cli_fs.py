"""Commands of azure-cli for file systems of a hierarchical account: `az storage fs`, each of them except upload and
download of directories, which run azcopy with a URL of Azure's."""
import filecmp
import os
import uuid

from azure_commands import az, folders

ACL = "user::rwx,user:ann:r-x,group::r-x,mask::r-x,other::---"


def fs(*args, **kwargs):
    return az("fs", *args, **kwargs)


def names(entries):
    return [entry["name"] for entry in entries]


def file_systems(system):
    assert not fs("exists", "-n", system)["exists"]
    fs("create", "-n", system, "--metadata", "a=1")
    assert fs("exists", "-n", system)["exists"]
    assert fs("show", "-n", system)["metadata"] == {"a": "1"}
    assert system in names(fs("list"))
    fs("metadata", "update", "-n", system, "--metadata", "b=2")
    assert fs("metadata", "show", "-n", system) == {"b": "2"}
    assert "sig=" in fs("generate-sas", "-n", system, "--permissions", "rl", "--expiry", "2100-01-01")
    fs("service-properties", "update", "--delete-retention", "true", "--delete-retention-period", "3")
    assert fs("service-properties", "show")["delete_retention_policy"]["days"] == 3


def directories(system):
    fs("directory", "create", "-f", system, "-n", "d/e", "--metadata", "a=1")
    assert fs("directory", "exists", "-f", system, "-n", "d")["exists"]
    assert fs("directory", "show", "-f", system, "-n", "d/e")["metadata"]["a"] == "1"
    fs("directory", "metadata", "update", "-f", system, "-n", "d/e", "--metadata", "b=2")
    assert fs("directory", "metadata", "show", "-f", system, "-n", "d/e")["b"] == "2"
    fs("directory", "move", "-f", system, "-n", "d/e", "--new-directory", f"{system}/moved")
    assert not fs("directory", "exists", "-f", system, "-n", "d/e")["exists"]
    assert names(fs("directory", "list", "-f", system)) == ["d", "moved"]
    assert "sdd=1" in fs("directory", "generate-sas", "-f", system, "-n", "d", "--permissions", "rl", "--expiry", "2100-01-01")


def files(system, tree, down):
    fs("file", "create", "-f", system, "-p", "d/new", "--content-type", "text/x")
    assert fs("file", "exists", "-f", system, "-p", "d/new")["exists"]
    fs("file", "append", "-f", system, "-p", "d/new", "--content", "one")
    fs("file", "append", "-f", system, "-p", "d/new", "--content", "two")
    upload = ("file", "upload", "-f", system, "-p", "d/big file", "-s")
    fs(*upload, os.path.join(tree, "big"))
    fs(*upload, os.path.join(tree, "small"), fails="existing non-empty file")
    fs(*upload, os.path.join(tree, "big"), "--overwrite", "true", "--metadata", "a=1")
    big, new = (fs("file", "show", "-f", system, "-p", path) for path in ("d/big file", "d/new"))
    assert (big["size"], big["metadata"], new["size"], new["content_settings"]["contentType"]) == (5000000, {"a": "1"}, 6, "text/x"), (big, new)
    fs("file", "download", "-f", system, "-p", "d/big file", "-d", os.path.join(down, "big"))
    assert filecmp.cmp(os.path.join(tree, "big"), os.path.join(down, "big"), shallow=False)
    fs("file", "metadata", "update", "-f", system, "-p", "d/new", "--metadata", "b=2")
    assert fs("file", "metadata", "show", "-f", system, "-p", "d/new") == {"b": "2"}
    assert names(fs("file", "list", "-f", system)) == ["d", "d/big file", "d/new", "moved"]
    assert names(fs("file", "list", "-f", system, "--path", "d", "--exclude-dir", "--num-results", "1")) == ["d/big file"]
    fs("file", "move", "-f", system, "-p", "d/new", "--new-path", f"{system}/moved/new")
    assert not fs("file", "exists", "-f", system, "-p", "d/new")["exists"]
    fs("file", "set-expiry", "-f", system, "-p", "moved/new", "--expiry-options", "RelativeToNow", "--expires-on", "600000")


def access(system):
    fs("access", "set", "-f", system, "-p", "moved/new", "--owner", "me", "--group", "us", "--permissions", "rwxr-x---")
    shown = fs("access", "show", "-f", system, "-p", "moved/new")
    assert (shown["owner"], shown["group"], shown["permissions"]) == ("me", "us", "rwxr-x---"), shown
    fs("access", "set", "-f", system, "-p", "moved/new", "--acl", ACL)
    assert fs("access", "show", "-f", system, "-p", "moved/new")["acl"] == ACL
    for command, acl in (("set", ACL), ("update", "user:bob:rwx"), ("remove", "user:bob")):
        changed = fs("access", f"{command}-recursive", "-f", system, "-p", "moved", "--acl", acl, "--batch-size", "1")["counters"]
        assert (changed["directoriesSuccessful"], changed["filesSuccessful"], changed["failureCount"]) == (1, 1, 0), changed
    assert "bob" not in fs("access", "show", "-f", system, "-p", "moved/new")["acl"]
    assert "ann" in fs("access", "show", "-f", system, "-p", "moved")["acl"]


def deletions(system):
    fs("file", "delete", "-f", system, "-p", "moved/new", "-y")
    fs("directory", "delete", "-f", system, "-n", "d", "-y")
    assert names(fs("file", "list", "-f", system)) == ["moved"]
    deleted = {path["name"]: path["deletionId"] for path in fs("list-deleted-path", "-f", system)}
    fs("undelete-path", "-f", system, "--deleted-path-name", "moved/new", "--deletion-id", deleted["moved/new"])
    assert fs("file", "show", "-f", system, "-p", "moved/new")["size"] == 6
    fs("delete", "-n", system, "-y")
    assert not fs("exists", "-n", system)["exists"]


with folders({"big": os.urandom(5000000), "small": b"small"}) as (tree, down):
    system = "cli" + uuid.uuid4().hex
    file_systems(system)
    directories(system)
    files(system, tree, down)
    access(system)
    deletions(system)
