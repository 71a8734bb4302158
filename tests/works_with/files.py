"""Shares, directories, files, ranges, leases, renames, snapshots and copies through azure-storage-file-share."""
import os
import uuid

import azure.core.exceptions
import azure.storage.fileshare as shares

service = shares.ShareServiceClient.from_connection_string(os.environ["AZURE_STORAGE_CONNECTION_STRING"])
name = "py" + uuid.uuid4().hex
share = service.create_share(name, metadata={"a": "b"}, quota=7)
assert share.get_share_properties().quota == 7

folder = share.create_directory("ä b")
file = folder.upload_file("c d", b"x" * 5000000, max_concurrency=2, metadata={"c": "d"})
assert file.download_file(max_concurrency=2).readall() == b"x" * 5000000
assert file.get_file_properties().metadata == {"c": "d"}
snapshot = share.create_snapshot()["snapshot"]

sparse = share.get_file_client("sparse")
sparse.create_file(1 << 20)
sparse.upload_range(b"1" * 512, 512, 512)
assert sparse.get_ranges() == [{"start": 512, "end": 1023}]
sparse.clear_range(0, 512)
assert sparse.download_file(0, 1024).readall() == bytes(512) + b"1" * 512
sparse.resize_file(700)
assert sparse.get_file_properties().size == 700

lease = file.acquire_lease()
file.upload_range(b"leased", 0, 6, lease=lease)
try:
    file.upload_range(b"stolen", 0, 6)
    raise SystemExit("a write without the lease was taken")
except azure.core.exceptions.HttpResponseError as error:
    assert error.error_code == "LeaseIdMissing", error.error_code
lease.release()

copy = share.get_file_client("copy")
assert copy.start_copy_from_url(file.url)["copy_status"] == "success"
assert copy.download_file(0, 6).readall() == b"leased"
moved = folder.rename_directory("moved").get_file_client("c d").rename_file("moved/e")
assert moved.download_file(0, 6).readall() == b"leased"
assert sorted(entry["name"] for entry in share.list_directories_and_files()) == ["copy", "moved", "sparse"]
then = service.get_share_client(name, snapshot=snapshot)
assert then.get_file_client("ä b/c d").download_file(0, 6).readall() == b"xxxxxx"
assert len(list(service.list_shares(name, include_snapshots=True))) == 2
share.delete_share(delete_snapshots=True)
