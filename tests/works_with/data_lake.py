"""File systems, directories, files, appends, renames, access control lists, leases and lists of a hierarchical account
through azure-storage-file-datalake."""
import datetime
import os
import uuid

import azure.core.exceptions
import azure.storage.filedatalake as lake

service = lake.DataLakeServiceClient(os.environ["LAGRA_TEST_DFS_URL"],
                                     credential={"account_name": os.environ["LAGRA_TEST_ACCOUNT_NAME"],
                                                 "account_key": os.environ["LAGRA_TEST_ACCOUNT_KEY"]})


def refused(code, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except azure.core.exceptions.HttpResponseError as error:
        assert error.error_code == code, error.error_code
        return
    raise SystemExit(f"{code} was expected")


name = "py" + uuid.uuid4().hex
system = service.create_file_system(name, metadata={"a": "b"})
assert system.get_file_system_properties().metadata == {"a": "b"}
assert name in [found.name for found in service.list_file_systems(name_starts_with="py")]
system.set_file_system_metadata({"c": "d"})
assert system.get_file_system_properties().metadata == {"c": "d"}

folder = system.create_directory("ä b/inner", metadata={"e": "f"})
file = folder.create_file("c d.txt", content_settings=lake.ContentSettings(content_type="text/plain"))
file.append_data(b"x" * 3000000, 0, 3000000)
file.append_data(b"y" * 1000000, 3000000, 1000000, validate_content=True)
refused("InvalidFlushPosition", file.flush_data, 17)
file.flush_data(4000000)
assert file.download_file().readall() == b"x" * 3000000 + b"y" * 1000000
assert file.download_file(2999999, 2).readall() == b"xy"
properties = file.get_file_properties()
assert (properties.size, properties.content_settings.content_type) == (4000000, "text/plain")
uploaded = folder.get_file_client("uploaded")
uploaded.upload_data(b"z" * 9000000, overwrite=True, chunk_size=4 << 20, metadata={"g": "h"})
assert uploaded.get_file_properties().metadata == {"g": "h"}
uploaded.set_metadata({"i": "j"})
uploaded.set_http_headers(lake.ContentSettings(content_language="de"))
assert uploaded.get_file_properties().content_settings.content_language == "de"

paths = [(path.name, path.is_directory, path.content_length) for path in system.get_paths(max_results=2)]
assert paths == [("ä b", True, 0), ("ä b/inner", True, 0), ("ä b/inner/c d.txt", False, 4000000),
                 ("ä b/inner/uploaded", False, 9000000)], paths
assert [path.name for path in system.get_paths("ä b", recursive=False)] == ["ä b/inner"]

moved = file.rename_file(f"{name}/moved.txt")
assert moved.get_file_properties().size == 4000000
assert not file.exists()
inner = folder.rename_directory(f"{name}/renamed")
assert inner.get_file_client("uploaded").get_file_properties().size == 9000000

inner.set_access_control(acl="user::rwx,user:bob:r-x,group::r-x,other::---,default:user:bob:rw-")
assert "user:bob:r-x" in inner.get_access_control()["acl"]
inner.create_sub_directory("sub").create_file("leaf")
changed = inner.update_access_control_recursive("user:carol:rwx")
assert (changed.counters.directories_successful, changed.counters.files_successful) == (2, 2), changed.counters
changed = inner.remove_access_control_recursive("user:carol")
assert changed.counters.failure_count == 0
assert "carol" not in inner.get_sub_directory_client("sub").get_access_control()["acl"]
inner.set_access_control(owner="me", group="us")
found = inner.get_access_control()
assert (found["owner"], found["group"]) == ("me", "us"), found

moved.set_file_expiry("RelativeToNow", 86400000)
assert moved.get_file_properties().expiry_time > datetime.datetime.now(datetime.timezone.utc)

lease = moved.acquire_lease()
refused("LeaseIdMissing", moved.append_data, b"stolen", 4000000, 6)
moved.append_data(b"leased", 4000000, 6, lease=lease)
moved.flush_data(4000006, lease=lease)
lease.release()
refused("BlobNotFound", system.get_file_client("nothing").get_file_properties)
refused("PathAlreadyExists", moved.create_file, match_condition=azure.core.MatchConditions.IfMissing)

sas = lake.generate_file_sas(os.environ["LAGRA_TEST_ACCOUNT_NAME"], name, "", "moved.txt",
                             os.environ["LAGRA_TEST_ACCOUNT_KEY"], permission="r",
                             expiry=datetime.datetime.utcnow() + datetime.timedelta(hours=1))
signed = lake.DataLakeFileClient(os.environ["LAGRA_TEST_DFS_URL"], name, "moved.txt", credential=sas)
assert signed.download_file(4000000, 6).readall() == b"leased"
refused("AuthorizationPermissionMismatch", signed.append_data, b"x", 4000006, 1)

inner.delete_directory()
assert [path.name for path in system.get_paths()] == ["moved.txt", "ä b"]
moved.delete_file()
system.delete_file_system()
