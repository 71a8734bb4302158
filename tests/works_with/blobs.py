"""Every kind of blob, tags, leases, snapshots, copies and batches through azure-storage-blob."""
import os
import uuid

import azure.storage.blob as blobs

service = blobs.BlobServiceClient.from_connection_string(os.environ["AZURE_STORAGE_CONNECTION_STRING"])
container = service.get_container_client("py" + uuid.uuid4().hex)
container.create_container()

block = container.get_blob_client("ä b")
block.upload_blob(b"x" * 5000000, max_concurrency=2, standard_blob_tier=blobs.StandardBlobTier.Cool)
assert len(block.download_blob().readall()) == 5000000
assert block.get_blob_properties().blob_tier == "Cool"
block.set_blob_tags({"k": "v"})
assert block.get_blob_tags() == {"k": "v"}

log = container.get_blob_client("log")
log.create_append_blob()
log.append_block(b"one")
log.append_block(b"two")
assert log.download_blob().readall() == b"onetwo"
pages = container.get_blob_client("pages")
pages.create_page_blob(4096)
pages.upload_page(b"1" * 512, 512, 512)
assert pages.get_page_ranges()[0] == [{"start": 512, "end": 1023}]

copy = container.get_blob_client("copy")
assert copy.start_copy_from_url(block.url)["copy_status"] == "success"
lease = block.acquire_lease(15)
block.set_blob_metadata({"c": "d"}, lease=lease)
lease.release()
block.create_snapshot()
assert len(list(container.list_blobs(include=["snapshots", "metadata", "tags"]))) == 5
container.set_standard_blob_tier_blobs("Hot", "copy")
assert [part.status_code for part in container.delete_blobs("copy", "log", "pages")] == [202] * 3
block.delete_blob(delete_snapshots="include")
container.delete_container()
