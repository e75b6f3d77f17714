"""The first words on a machine, run by `python -c`: take the parcel with lastro in it, become its agent.

Standard library only, and nothing of lastro: it is not there yet. argv: the digest of the parcel.
"""

import os
import sys

MARK = b"\x1elastro "


def main() -> None:
    """Take the parcel, unless it is here, and answer home until it hangs up."""
    digest = sys.argv[1]
    shared = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    base = os.environ.get("LASTRO_HOME") or os.path.join(shared, "lastro")
    root = os.path.join(base, "parcels", digest)
    there = os.path.isdir(root)
    out, given = sys.stdout.buffer, sys.stdin.buffer
    out.write(MARK + b'{"bytes": 0, "parcel": ' + (b"true" if there else b"false") + b"}\n")
    out.flush()
    if not there:
        import hashlib  # late, all of them: a machine that was here before needs none
        import io
        import shutil
        import tarfile

        size = int(given.readline())
        data = given.read(size)
        if hashlib.sha256(data).hexdigest() != digest:
            sys.exit("lastro: what arrived is not what was sent")
        aside = f"{root}.{os.getpid()}"
        try:
            os.makedirs(aside)
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
                archive.extractall(aside)  # noqa: S202 - its digest was checked
        except OSError as error:
            shutil.rmtree(aside, ignore_errors=True)
            sys.exit(f"lastro cannot be put into {base}: {error.strerror}")
        try:
            os.rename(aside, root)
        except OSError:  # another connection was faster
            shutil.rmtree(aside)
    sys.path.insert(0, root)
    from lastro.providers.ssh.agent import serve

    serve(root)


main()
