"""A store that speaks S3, by boto3: calls that may be asked again, and errors with a next step.

boto3's own transfer manager is not used: after a kill it begins anew, and leaves billed parts behind.
"""

from __future__ import annotations

import base64
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from lastro.errors import StorageError
from lastro.locale import _
from lastro.records import dataclass
from lastro.storage.transfer.parts import There
from lastro.storage.transfer.place import Bucket

_T = TypeVar("_T")

#: How often one call is tried, and how long a connection may be silent, in seconds.
_TRIES, _SILENT = 5, 20.0
_AGAIN = frozenset(
    {
        *("BadDigest", "InternalError", "RequestTimeout", "ServiceUnavailable", "SlowDown", "Throttling"),
        "XAmzContentSHA256Mismatch",
    }
)
_GONE = frozenset({"NoSuchUpload", "NoSuchKey", "404", "NotFound"})


@dataclass(frozen=True, kw_only=True)
class Object:
    """An object in a store: its size in bytes, and what the store calls its content."""

    key: str
    bytes: int
    etag: str


class _Damaged(Exception):
    """What came back is not what was sent, or asked for; the call is tried again."""


class S3:
    """One store. Credentials, region and endpoint come from where boto3 finds them (AWS_ENDPOINT_URL).

    `retried` counts the calls that had to be made again.
    """

    def __init__(self, *, connections: int = 16, silent: float | None = None) -> None:
        """Make a client.

        Raises:
            StorageError: boto3 is not installed.
        """
        try:
            import boto3
            from botocore.config import Config
        except ImportError as error:
            raise StorageError(
                _("a store that speaks S3 is reached by boto3, which is not installed"),
                hint=_("pip install 'lastro[s3]'"),
            ) from error
        wait = float(os.environ.get("LASTRO_S3_SILENT", silent or _SILENT))
        config = Config(
            connect_timeout=wait,
            read_timeout=wait,
            max_pool_connections=connections,
            # Each try is counted, and drawn from the budget, so tries are made here.
            retries={"total_max_attempts": 1},
            # Content-MD5 is sent instead, which every store checks.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        self._client = boto3.client("s3", config=config)
        self.retried = 0

    # --- sending ------------------------------------------------------------------------------------

    def put(self, place: Bucket, data: bytes, draw: Callable[[int], None]) -> str:
        """Send a small object; return what the store calls it."""
        md5 = hashlib.md5(data, usedforsecurity=False).digest()

        def send() -> str:
            draw(len(data))
            answer = self._client.put_object(
                **_at(place), Body=data, ContentMD5=base64.b64encode(md5).decode()
            )
            return self._agreed(answer, md5)

        return self._try(send, place)

    def begin(self, place: Bucket) -> str:
        """Begin an upload in parts; return its id."""
        made = self._try(partial(self._client.create_multipart_upload, **_at(place)), place)
        return str(made["UploadId"])

    def put_part(
        self, place: Bucket, upload: str, number: int, data: bytes, md5: bytes, draw: Callable[[int], None]
    ) -> str:
        """Send a part whose MD5 is known; return what the store calls it."""

        def send() -> str:
            draw(len(data))
            answer = self._client.upload_part(
                **_at(place),
                UploadId=upload,
                PartNumber=number,
                Body=data,
                ContentMD5=base64.b64encode(md5).decode(),
            )
            return self._agreed(answer, md5)

        return self._try(send, place)

    def _agreed(self, answer: Mapping[str, Any], md5: bytes) -> str:
        """Return the name that the store gave to bytes; it has to be their MD5.

        With keys of its own (KMS) it is none, but the store has compared Content-MD5 before it encrypted.
        """
        etag = str(answer["ETag"]).strip('"')
        foreign = str(answer.get("ServerSideEncryption", "")).startswith("aws:kms")
        if etag != md5.hex() and not foreign:
            raise _Damaged(etag)
        return etag

    def parts(self, place: Bucket, upload: str) -> list[There] | None:
        """Return the parts that an upload has; None when the store knows of no such upload."""
        found: list[There] = []
        marker = 0
        while True:
            ask = partial(self._client.list_parts, **_at(place), UploadId=upload, PartNumberMarker=marker)
            try:
                answer = self._try(ask, place)
            except FileNotFoundError:
                return None
            found += [
                There(number=one["PartNumber"], size=one["Size"], etag=one["ETag"].strip('"'))
                for one in answer.get("Parts", ())
            ]
            if not answer.get("IsTruncated"):
                return found
            marker = int(answer["NextPartNumberMarker"])

    def complete(self, place: Bucket, upload: str, etags: Mapping[int, str]) -> None:
        """Make an object of all parts. Raises FileNotFoundError when the store knows of no such upload."""
        parts = [{"PartNumber": number, "ETag": etags[number]} for number in sorted(etags)]
        done = {"UploadId": upload, "MultipartUpload": {"Parts": parts}}
        self._try(partial(self._client.complete_multipart_upload, **_at(place), **done), place)

    def abort(self, place: Bucket, upload: str) -> None:
        """Give up an upload, its parts too. One that is not there is no error."""
        try:
            self._try(partial(self._client.abort_multipart_upload, **_at(place), UploadId=upload), place)
        except FileNotFoundError:
            return

    def remove(self, place: Bucket) -> None:
        """Remove an object. One that is not there is no error."""
        self._try(partial(self._client.delete_object, **_at(place)), place)

    # --- looking, fetching --------------------------------------------------------------------------

    def head(self, place: Bucket) -> Object | None:
        """Return what the store knows of an object; None when there is none."""
        try:
            answer = self._try(partial(self._client.head_object, **_at(place)), place)
        except FileNotFoundError:
            return None
        return Object(key=place.key, bytes=answer["ContentLength"], etag=answer["ETag"].strip('"'))

    def list(self, place: Bucket) -> list[Object]:
        """Return all objects whose keys begin with this one."""
        found: list[Object] = []
        more: dict[str, str] = {}
        while True:
            ask = partial(self._client.list_objects_v2, Bucket=place.bucket, Prefix=place.key, **more)
            answer = self._try(ask, place)
            found += [
                Object(key=one["Key"], bytes=one["Size"], etag=one["ETag"].strip('"'))
                for one in answer.get("Contents", ())
            ]
            if not answer.get("IsTruncated"):
                return found
            more = {"ContinuationToken": answer["NextContinuationToken"]}

    def get(
        self,
        place: Bucket,
        begin: int,
        size: int,
        etag: str,
        *,
        draw: Callable[[int], None],
        md5: str | None = None,
    ) -> bytes:
        """Fetch a piece of an object that is still the one with this name.

        Raises:
            StorageError: it has changed meanwhile, or comes damaged each time.
            FileNotFoundError: it is not there.
        """
        ranged = {"Range": f"bytes={begin}-{begin + size - 1}"} if size else {}

        def fetch() -> bytes:
            draw(size)
            answer = self._client.get_object(**_at(place), IfMatch=f'"{etag}"', **ranged)
            data: bytes = answer["Body"].read()
            wrong = md5 is not None and hashlib.md5(data, usedforsecurity=False).hexdigest() != md5
            if len(data) != size or wrong:
                raise _Damaged(f"{len(data)}")
            return data

        return self._try(fetch, place)

    # --- trying again -------------------------------------------------------------------------------

    def _try(self, call: Callable[[], _T], place: Bucket) -> _T:
        from botocore import exceptions
        from urllib3.exceptions import HTTPError

        last: Exception | None = None
        for number in range(_TRIES):
            if number:
                self.retried += 1
                time.sleep(min(0.1 * 4 ** (number - 1), 5))
            try:
                return call()
            except exceptions.ClientError as error:
                code = str(error.response.get("Error", {}).get("Code", ""))
                status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
                if code in _GONE or status == 404:
                    raise _gone(place, code) from error
                if code not in _AGAIN and status < 500:
                    raise _refused(place, code, str(error)) from error
                last = error
            except (
                exceptions.ConnectionError,
                exceptions.HTTPClientError,
                HTTPError,
                OSError,
                _Damaged,
            ) as error:
                last = error
            except exceptions.BotoCoreError as error:
                raise _refused(place, type(error).__name__, str(error)) from error
        raise StorageError(
            _("{place} did not take or give it in {tries} tries: {error}").format(
                place=place, tries=_TRIES, error=last
            ),
            hint=_("type the same again: what has arrived is not sent again"),
        ) from last


def _gone(place: Bucket, code: str) -> Exception:
    if code == "NoSuchBucket":
        return _refused(place, code, _("there is no such bucket"))
    return FileNotFoundError(str(place))


def _refused(place: Bucket, code: str, text: str) -> StorageError:
    if code == "PreconditionFailed":
        return StorageError(
            _("{place} was changed while it was being fetched").format(place=place),
            hint=_("type the same again; it is then fetched from the beginning"),
        )
    hint = {
        "NoCredentialsError": _("give AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or `aws configure`"),
        "NoSuchBucket": _("make the bucket first; lastro makes none"),
        "AccessDenied": _(
            "the key may not do this here; ask for the right to list, read and write the bucket"
        ),
    }.get(code, _("check bucket, credentials and endpoint (AWS_ENDPOINT_URL)"))
    return StorageError(_("{place} refused: {error}").format(place=place, error=text), hint=hint)


def _at(place: Bucket) -> dict[str, str]:
    return {"Bucket": place.bucket, "Key": place.key}
