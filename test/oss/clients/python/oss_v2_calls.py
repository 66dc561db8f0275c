"""Calls of alibabacloud-oss-v2, the newer Python SDK. It compares the CRC-64 of what it sends and gets."""

import datetime
import hashlib
import base64
import time

import alibabacloud_oss_v2 as oss
import requests

from script import *  # noqa: F403

prefix = f"oss-v2-{signature}/"
other_name = f"{bucket}-oss-v2-{signature}"


def client_with(*credentials, **options):
    provider = oss.credentials.StaticCredentialsProvider(*credentials)
    config = oss.config.Config(
        region=region, endpoint=endpoint, credentials_provider=provider, signature_version=signature, **options
    )
    config.retry_max_attempts = 1
    return oss.Client(config)


client = client_with(key_id, key_secret)


def refused(status, code, action):
    try:
        action()
    except oss.exceptions.OperationError as error:
        service_error = error.unwrap()
        equal((service_error.status_code, service_error.code), (status, code))
        return service_error
    raise AssertionError(f"no {code}")


def put(key, body, in_bucket=bucket, **options):
    return client.put_object(oss.PutObjectRequest(in_bucket, prefix + key, body=body, **options))


def get(key, by=client, in_bucket=bucket, **options):
    with by.get_object(oss.GetObjectRequest(in_bucket, prefix + key, **options)).body as body:
        return body.read()


def initiate(key, **options):
    request = oss.InitiateMultipartUploadRequest(bucket, prefix + key, **options)
    return client.initiate_multipart_upload(request).upload_id


def part(key, upload_id, number, body):
    request = oss.UploadPartRequest(bucket, prefix + key, part_number=number, upload_id=upload_id, body=body)
    return oss.UploadPart(part_number=number, etag=client.upload_part(request).etag)


def complete(key, upload_id, parts, **options):
    listed = None if parts is None else oss.CompleteMultipartUpload(parts=parts)
    request = oss.CompleteMultipartUploadRequest(
        bucket, prefix + key, upload_id=upload_id, complete_multipart_upload=listed, **options
    )
    return client.complete_multipart_upload(request)


def abort(key, upload_id):
    return client.abort_multipart_upload(oss.AbortMultipartUploadRequest(bucket, prefix + key, upload_id=upload_id))


@call
def put_get_and_head_with_metadata():
    body = b"hello" * 1000
    md5 = base64.b64encode(hashlib.md5(body).digest()).decode()
    put("a", body, metadata={"commitbridge-id": "0123"}, content_md5=md5, content_type="text/csv")
    equal(get("a"), body)
    head = client.head_object(oss.HeadObjectRequest(bucket, prefix + "a"))
    equal((head.metadata["commitbridge-id"], head.content_length, head.content_type), ("0123", 5000, "text/csv"))
    equal(head.etag, f'"{hashlib.md5(body).hexdigest().upper()}"')


@call
def a_key_of_odd_characters():
    put(ODD_KEY, b"odd")
    equal(get(ODD_KEY), b"odd")


@call
def ranges():
    put("r", b"0123456789")
    equal(get("r", range_header="bytes=2-4"), b"234")
    equal(get("r", range_header="bytes=5-20", range_behavior="standard"), b"56789")


@call
def existence_and_meta():
    equal((client.is_object_exist(bucket, prefix + "r"), client.is_object_exist(bucket, prefix + "none")), (True, False))
    equal(client.get_object_meta(oss.GetObjectMetaRequest(bucket, prefix + "r")).content_length, 10)


@call
def absent_objects():
    equal(refused(404, "NoSuchKey", lambda: get("none")).ec, "0026-00000001")
    refused(404, "NoSuchKey", lambda: client.head_object(oss.HeadObjectRequest(bucket, prefix + "none")))
    equal(client.delete_object(oss.DeleteObjectRequest(bucket, prefix + "none")).status_code, 204)


@call
def forbid_overwrite():
    put("once", b"1", forbid_overwrite="true")
    error = refused(409, "FileAlreadyExists", lambda: put("once", b"2", forbid_overwrite="true"))
    equal(error.ec, "0042-00000214")


@call
def listings_by_pages():
    keys = [f"{prefix}list/{i:03}/x y" for i in range(25)]
    for key in keys:
        put(key[len(prefix) :], b"1")
    v1 = client.list_objects_paginator(limit=7)
    pages = list(v1.iter_page(oss.ListObjectsRequest(bucket, prefix=prefix + "list/")))
    equal([o.key for page in pages for o in page.contents], keys)
    v2 = client.list_objects_v2_paginator(limit=7)
    pages = list(v2.iter_page(oss.ListObjectsV2Request(bucket, prefix=prefix + "list/", start_after=keys[2])))
    equal([o.key for page in pages for o in page.contents], keys[3:])
    pages = list(v2.iter_page(oss.ListObjectsV2Request(bucket, prefix=prefix + "list/", delimiter="/")))
    equal([p.prefix for page in pages for p in page.common_prefixes], [key[:-3] for key in keys])


@call
def multipart_upload():
    upload_id = initiate("multi", metadata={"k": "v"})
    parts = [part("multi", upload_id, 1, b"1" * MIN_PART), part("multi", upload_id, 7, b"7")]
    request = oss.ListPartsRequest(bucket, prefix + "multi", upload_id=upload_id)
    pages = list(client.list_parts_paginator(limit=1).iter_page(request))
    equal([(p.part_number, p.size) for page in pages for p in page.parts], [(1, MIN_PART), (7, 1)])
    equal(complete("multi", upload_id, parts).etag.endswith('-2"'), True)
    equal(get("multi"), b"1" * MIN_PART + b"7")
    refused(404, "NoSuchUpload", lambda: complete("multi", upload_id, parts))
    refused(404, "NoSuchUpload", lambda: abort("multi", upload_id))
    refused(404, "NoSuchUpload", lambda: part("multi", upload_id, 1, b"x"))


@call
def complete_all():
    upload_id = initiate("all")
    part("all", upload_id, 1, b"1" * MIN_PART)
    part("all", upload_id, 2, b"2")
    complete("all", upload_id, None, complete_all="yes")
    equal(get("all"), b"1" * MIN_PART + b"2")


@call
def rules_of_complete():
    upload_id = initiate("rules")
    parts = [part("rules", upload_id, 1, b"x"), part("rules", upload_id, 2, b"y")]
    equal(refused(400, "EntityTooSmall", lambda: complete("rules", upload_id, parts)).ec, "0042-00000213")
    refused(400, "InvalidPartOrder", lambda: complete("rules", upload_id, parts[::-1]))
    refused(400, "InvalidPart", lambda: complete("rules", upload_id, [oss.UploadPart(part_number=3, etag="x")]))
    other = initiate("once")
    listed = [part("once", other, 1, b"x")]
    refused(409, "FileAlreadyExists", lambda: complete("once", other, listed, forbid_overwrite="true"))
    equal(abort("rules", upload_id).status_code, 204)
    refused(404, "NoSuchUpload", lambda: complete("rules", upload_id, parts))


@call
def uploads_by_pages():
    wanted = sorted((prefix + key, initiate(key)) for key in ["up/a", "up/a", "up/b c", "up/d/e"])
    paginator = client.list_multipart_uploads_paginator(limit=1)
    pages = list(paginator.iter_page(oss.ListMultipartUploadsRequest(bucket, prefix=prefix + "up/")))
    equal([(u.key, u.upload_id) for page in pages for u in page.uploads or []], wanted)
    for key, upload_id in wanted:
        abort(key[len(prefix) :], upload_id)


@call
def copies():
    put("src é", b"s" * 300_000, metadata={"k": "v"})
    client.copy_object(
        oss.CopyObjectRequest(bucket, prefix + "copy", source_bucket=bucket, source_key=prefix + "src é")
    )
    equal(client.head_object(oss.HeadObjectRequest(bucket, prefix + "copy")).metadata["k"], "v")
    upload_id = initiate("part-copy")
    parts = []
    for number, source_range in enumerate(["bytes=0-149999", "bytes=150000-299999"], 1):
        request = oss.UploadPartCopyRequest(
            bucket,
            prefix + "part-copy",
            part_number=number,
            upload_id=upload_id,
            source_bucket=bucket,
            source_key=prefix + "src é",
            source_range=source_range,
        )
        parts.append(oss.UploadPart(part_number=number, etag=client.upload_part_copy(request).etag))
    complete("part-copy", upload_id, parts)
    equal(get("part-copy"), b"s" * 300_000)


@call
def the_uploader_and_the_downloader():
    body = bytes(range(256)) * 4096
    oss.Uploader(client, part_size=MIN_PART, parallel_num=4).upload_from(
        oss.PutObjectRequest(bucket, prefix + "big"), __import__("io").BytesIO(body)
    )
    equal(get("big"), body)


@call
def signed_urls():
    request = oss.PutObjectRequest(bucket, prefix + "signed é")
    signed = client.presign(request, expires=datetime.timedelta(seconds=60))
    equal(requests.put(signed.url, data=b"signed", headers=signed.signed_headers).status_code, 200)
    upload_id = initiate("signed part")
    request = oss.UploadPartRequest(bucket, prefix + "signed part", part_number=1, upload_id=upload_id)
    signed = client.presign(request, expires=datetime.timedelta(seconds=60))
    reply = requests.put(signed.url, data=b"part", headers=signed.signed_headers)
    complete("signed part", upload_id, [oss.UploadPart(part_number=1, etag=reply.headers["ETag"])])
    equal(get("signed part"), b"part")
    signed = client.presign(oss.GetObjectRequest(bucket, prefix + "a"), expires=datetime.timedelta(seconds=2))
    equal(requests.get(signed.url.replace("/a?", "/r?")).status_code, 403)
    time.sleep(3.1)
    equal("Request has expired." in requests.get(signed.url).text, True)


@call
def deleting_many():
    keys = [f"{prefix}many/{i} é&" for i in range(5)]
    for key in keys:
        put(key[len(prefix) :], b"1")
    objects = [oss.DeleteObject(key=key) for key in keys]
    result = client.delete_multiple_objects(oss.DeleteMultipleObjectsRequest(bucket, objects=objects))
    equal(sorted(o.key for o in result.deleted_objects), keys)
    quiet = oss.DeleteMultipleObjectsRequest(bucket, objects=objects, quiet=True)
    equal(client.delete_multiple_objects(quiet).deleted_objects, None)


@call
def temporary_credentials():
    put("sts", b"sts")
    temporary = client_with(sts_key_id, sts_key_secret, sts_token)
    equal(requests.get(temporary.presign(oss.GetObjectRequest(bucket, prefix + "sts")).url).content, b"sts")
    if signature == "v4":  # its V1 sends the token in a header that no document names
        equal(get("sts", by=temporary), b"sts")
        wrong = client_with(sts_key_id, sts_key_secret, "other")
        refused(403, "InvalidSecurityToken", lambda: get("sts", by=wrong))


@call
def wrong_credentials():
    refused(403, "SignatureDoesNotMatch", lambda: get("a", by=client_with(key_id, "wrong")))
    refused(403, "InvalidAccessKeyId", lambda: get("a", by=client_with("nobody", key_secret)))


@call
def additional_signed_headers():
    equal(get("a", by=client_with(key_id, key_secret, additional_headers=["host", "user-agent"])), b"hello" * 1000)


@call
def buckets_and_versions():
    client.put_bucket(oss.PutBucketRequest(other_name))
    equal(client.get_bucket_info(oss.GetBucketInfoRequest(other_name)).bucket_info.name, other_name)
    equal(client.get_bucket_versioning(oss.GetBucketVersioningRequest(other_name)).version_status, None)
    enabled = oss.VersioningConfiguration(status="Enabled")
    client.put_bucket_versioning(oss.PutBucketVersioningRequest(other_name, versioning_configuration=enabled))
    first = put("v", b"1", in_bucket=other_name, forbid_overwrite="true").version_id
    second = put("v", b"2", in_bucket=other_name, forbid_overwrite="true").version_id
    marker = client.delete_object(oss.DeleteObjectRequest(other_name, prefix + "v"))
    equal(marker.delete_marker, True)
    refused(404, "NoSuchKey", lambda: get("v", in_bucket=other_name))
    equal(get("v", in_bucket=other_name, version_id=first), b"1")
    listed = client.list_object_versions(oss.ListObjectVersionsRequest(other_name))
    equal([v.version_id for v in listed.version], [second, first])
    for version_id in [first, second, marker.version_id]:
        client.delete_object(oss.DeleteObjectRequest(other_name, prefix + "v", version_id=version_id))
    client.delete_bucket(oss.DeleteBucketRequest(other_name))


finish()
