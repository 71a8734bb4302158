"""Commands of azure-cli in one process, whose start takes seconds, and files for them."""
import contextlib
import filecmp
import io
import os
import tempfile

from azure.cli.core import get_default_cli


def az(*args, fails=None):
    """What `az storage ...` returns; fails: the code that it is refused with."""
    said = io.StringIO()
    cli = get_default_cli()
    with contextlib.redirect_stderr(said):
        status = cli.invoke(["storage", *args], out_file=io.StringIO())
    if fails:
        assert status != 0 and fails in str(cli.result.error), f"az storage {' '.join(args)}: {cli.result.error}"
        return None
    assert status == 0, f"az storage {' '.join(args)}: {cli.result.error} {said.getvalue()}"
    return cli.result.result


@contextlib.contextmanager
def folders(files):
    """A configuration of azure-cli, and two folders: one with these files, one that is empty."""
    with tempfile.TemporaryDirectory() as work:
        os.environ["AZURE_CONFIG_DIR"] = os.path.join(work, "config")
        os.environ["AZURE_CORE_COLLECT_TELEMETRY"] = "no"
        tree, down = os.path.join(work, "tree"), os.path.join(work, "down")
        for name, data in files.items():
            write(tree, name, data)
        os.mkdir(down)
        yield tree, down


def write(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def same(one, other):
    compared = filecmp.dircmp(one, other)
    assert not compared.left_only and not compared.right_only and not compared.diff_files, compared.report()
    for folder in compared.common_dirs:
        same(os.path.join(one, folder), os.path.join(other, folder))
