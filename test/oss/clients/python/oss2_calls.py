"""Calls of oss2, the older Python SDK. It compares the CRC-64 of all that it sends and gets."""

import hashlib
import time

import oss2
import requests
from oss2.models import PartInfo

from script import *  # noqa: F403

make_auth = oss2.AuthV4 if signature == "v4" else oss2.Auth
auth = make_auth(key_id, key_secret)
lake = oss2.Bucket(auth, endpoint, bucket, region=region)
service = oss2.Service(auth, endpoint, region=region)
other_name = f"{bucket}-oss2-{signature}"
other = oss2.Bucket(auth, endpoint, other_name, region=region)
prefix = f"oss2-{signature}/"


def refused(status, code, action):
    try:
        action()
    except oss2.exceptions.ServerError as error:
        equal((error.status, error.code if error.status != 304 else code), (status, code))
        return error
    raise AssertionError(f"no {code}")


def upload(key, sizes, **options):
    upload_id = lake.init_multipart_upload(key, **options).upload_id
    parts = []
    for number, size in sizes:
        done = lake.upload_part(key, upload_id, number, bytes([number % 251]) * size)
        parts.append(PartInfo(number, done.etag, size=size, part_crc=done.crc))
    return upload_id, parts


@call
def put_and_get_with_metadata():
    body = b"hello" * 1000
    md5 = oss2.utils.b64encode_as_string(hashlib.md5(body).digest())
    headers = {"x-oss-meta-commitbridge-id": "0123", "Content-MD5": md5, "Content-Type": "text/csv"}
    equal(lake.put_object(prefix + "a", body, headers=headers).etag, hashlib.md5(body).hexdigest().upper())
    got = lake.get_object(prefix + "a")
    equal((got.read(), got.content_type), (body, "text/csv"))
    head = lake.head_object(prefix + "a")
    equal((head.headers["x-oss-meta-commitbridge-id"], head.content_length, head.object_type), ("0123", 5000, "Normal"))


@call
def put_of_unknown_length():
    lake.put_object(prefix + "chunked", (chunk for chunk in [b"ab" * 70_000, b"c"]))
    equal(len(lake.get_object(prefix + "chunked").read()), 140_001)


@call
def an_empty_object():
    lake.put_object(prefix + "empty", b"")
    equal(lake.get_object(prefix + "empty").read(), b"")


@call
def a_key_of_odd_characters():
    lake.put_object(prefix + ODD_KEY, b"odd")
    equal(lake.get_object(prefix + ODD_KEY).read(), b"odd")
    equal([o.key for o in lake.list_objects(prefix=prefix + "odd/").object_list], [prefix + ODD_KEY])


@call
def ranges():
    lake.put_object(prefix + "r", b"0123456789")
    equal(lake.get_object(prefix + "r", byte_range=(2, 4)).read(), b"234")
    equal(lake.get_object(prefix + "r", byte_range=(None, 3)).read(), b"789")
    whole = lake.get_object(prefix + "r", byte_range=(5, 20))
    equal((whole.status, whole.read()), (200, b"0123456789"))
    standard = {"x-oss-range-behavior": "standard"}
    equal(lake.get_object(prefix + "r", byte_range=(5, 20), headers=standard).read(), b"56789")
    refused(416, "InvalidRange", lambda: lake.get_object(prefix + "r", byte_range=(20, 30), headers=standard))


@call
def object_meta_and_existence():
    equal(lake.get_object_meta(prefix + "r").content_length, 10)
    equal((lake.object_exists(prefix + "r"), lake.object_exists(prefix + "none")), (True, False))


@call
def conditional_reads():
    etag = lake.head_object(prefix + "r").etag
    refused(304, "NotModified", lambda: lake.get_object(prefix + "r", headers={"If-None-Match": f'"{etag}"'}))
    refused(412, "PreconditionFailed", lambda: lake.get_object(prefix + "r", headers={"If-Match": '"other"'}))


@call
def absent_objects():
    refused(404, "NoSuchKey", lambda: lake.get_object(prefix + "none"))
    refused(404, "NoSuchKey", lambda: lake.head_object(prefix + "none"))
    equal(lake.delete_object(prefix + "none").status, 204)


@call
def forbid_overwrite():
    once = {"x-oss-forbid-overwrite": "true"}
    lake.put_object(prefix + "once", b"1", headers=once)
    error = refused(409, "FileAlreadyExists", lambda: lake.put_object(prefix + "once", b"2", headers=once))
    equal(error.details["EC"], "0042-00000214")
    equal(lake.get_object(prefix + "once").read(), b"1")


@call
def wrong_content_md5():
    headers = {"Content-MD5": oss2.utils.b64encode_as_string(hashlib.md5(b"other").digest())}
    refused(400, "InvalidDigest", lambda: lake.put_object(prefix + "md5", b"body", headers=headers))


@call
def listing_v1_by_pages():
    for i in range(25):
        lake.put_object(f"{prefix}list/{i:03}/x y", b"1")
    keys = [o.key for o in oss2.ObjectIterator(lake, prefix=prefix + "list/", max_keys=7)]
    equal(keys, [f"{prefix}list/{i:03}/x y" for i in range(25)])
    folded = [o.key for o in oss2.ObjectIterator(lake, prefix=prefix + "list/", delimiter="/", max_keys=4)]
    equal(folded, [f"{prefix}list/{i:03}/" for i in range(25)])


@call
def listing_v2_by_pages():
    keys = [o.key for o in oss2.ObjectIteratorV2(lake, prefix=prefix + "list/", max_keys=7)]
    equal(keys, [f"{prefix}list/{i:03}/x y" for i in range(25)])
    page = lake.list_objects_v2(prefix=prefix + "list/", start_after=f"{prefix}list/020/x y", fetch_owner=True)
    equal([o.key for o in page.object_list], [f"{prefix}list/{i:03}/x y" for i in range(21, 25)])
    folded = lake.list_objects_v2(prefix=prefix + "list/", delimiter="/", max_keys=10)
    equal((len(folded.prefix_list), folded.is_truncated), (10, True))


@call
def multipart_upload():
    key = prefix + "multi"
    upload_id, parts = upload(key, [(1, MIN_PART), (5, MIN_PART + 1), (10_000, 3)], headers={"x-oss-meta-k": "v"})
    equal([p.part_number for p in lake.list_parts(key, upload_id).parts], [1, 5, 10_000])
    equal(lake.complete_multipart_upload(key, upload_id, parts).etag.endswith("-3"), True)
    head = lake.head_object(key)
    equal((head.content_length, head.headers["x-oss-meta-k"], head.object_type), (2 * MIN_PART + 4, "v", "Multipart"))
    body = lake.get_object(key).read()
    equal(body, b"\x01" * MIN_PART + b"\x05" * (MIN_PART + 1) + bytes([10_000 % 251]) * 3)


@call
def an_upload_id_is_dead_once_completed():
    key = prefix + "dead"
    upload_id, parts = upload(key, [(1, 10)])
    lake.complete_multipart_upload(key, upload_id, parts)
    refused(404, "NoSuchUpload", lambda: lake.complete_multipart_upload(key, upload_id, parts))
    refused(404, "NoSuchUpload", lambda: lake.upload_part(key, upload_id, 1, b"x"))
    refused(404, "NoSuchUpload", lambda: lake.abort_multipart_upload(key, upload_id))
    refused(404, "NoSuchUpload", lambda: lake.list_parts(key, upload_id))
    equal(lake.object_exists(key), True)


@call
def abort():
    key = prefix + "aborted"
    upload_id, parts = upload(key, [(1, 10)])
    equal(lake.abort_multipart_upload(key, upload_id).status, 204)
    refused(404, "NoSuchUpload", lambda: lake.complete_multipart_upload(key, upload_id, parts))
    equal(lake.object_exists(key), False)


@call
def rules_of_complete():
    key = prefix + "rules"
    upload_id, parts = upload(key, [(1, MIN_PART - 1), (2, 1)])
    error = refused(400, "EntityTooSmall", lambda: lake.complete_multipart_upload(key, upload_id, parts))
    equal((error.details["PartNumber"], error.details["EC"]), ("1", "0042-00000213"))
    wrong = [parts[0], PartInfo(2, "0" * 32)]
    refused(400, "InvalidPart", lambda: lake.complete_multipart_upload(key, upload_id, wrong))
    refused(400, "InvalidPart", lambda: lake.complete_multipart_upload(key, upload_id, [PartInfo(3, parts[1].etag)]))
    refused(400, "InvalidArgument", lambda: lake.upload_part(key, upload_id, 10_001, b"x"))
    lake.upload_part(key, upload_id, 1, b"a" * MIN_PART)
    lake.complete_multipart_upload(key, upload_id, None, headers={"x-oss-complete-all": "yes"})
    equal(lake.head_object(key).content_length, MIN_PART + 1)


@call
def complete_that_forbids_overwrite():
    key = prefix + "once"
    upload_id, parts = upload(key, [(1, 10)])
    once = {"x-oss-forbid-overwrite": "true"}
    refused(409, "FileAlreadyExists", lambda: lake.complete_multipart_upload(key, upload_id, parts, headers=once))
    lake.complete_multipart_upload(key, upload_id, parts)
    equal(lake.head_object(key).content_length, 10)


@call
def listing_uploads_by_pages():
    keys = [f"{prefix}up/{name}" for name in ["a", "a", "a", "b c", "d/e"]]
    ids = sorted((key, lake.init_multipart_upload(key).upload_id) for key in keys)
    listed = oss2.MultipartUploadIterator(lake, prefix=prefix + "up/", max_uploads=2)
    equal([(u.key, u.upload_id) for u in listed], ids)
    of_a = oss2.ObjectUploadIterator(lake, f"{prefix}up/a", max_uploads=2)
    equal([u.upload_id for u in of_a], [upload_id for key, upload_id in ids if key.endswith("up/a")])
    for key, upload_id in ids:
        lake.abort_multipart_upload(key, upload_id)
    equal(list(oss2.MultipartUploadIterator(lake, prefix=prefix + "up/")), [])


@call
def listing_parts_by_pages():
    key = prefix + "pages"
    upload_id, _ = upload(key, [(n, 5) for n in range(1, 8)])
    equal([p.part_number for p in oss2.PartIterator(lake, key, upload_id, max_parts=3)], list(range(1, 8)))
    lake.abort_multipart_upload(key, upload_id)


@call
def copies():
    lake.put_object(prefix + "src é", b"s" * 300_000, headers={"x-oss-meta-k": "v"})
    lake.copy_object(bucket, prefix + "src é", prefix + "copy")
    equal(lake.head_object(prefix + "copy").headers["x-oss-meta-k"], "v")
    key = prefix + "part-copy"
    upload_id = lake.init_multipart_upload(key).upload_id
    parts = [
        PartInfo(1, lake.upload_part_copy(bucket, prefix + "src é", (0, 149_999), key, upload_id, 1).etag),
        PartInfo(2, lake.upload_part_copy(bucket, prefix + "src é", (150_000, 299_999), key, upload_id, 2).etag),
    ]
    lake.complete_multipart_upload(key, upload_id, parts)
    equal(lake.get_object(key).read(), b"s" * 300_000)


@call
def signed_urls():
    url = lake.sign_url("PUT", prefix + "signed é", 60, slash_safe=True)
    equal(requests.put(url, data=b"signed").status_code, 200)
    url = lake.sign_url("GET", prefix + "signed é", 60, slash_safe=True)
    equal(requests.get(url).content, b"signed")
    equal(requests.get(url.replace("signed", "other")).status_code, 403)
    expired = lake.sign_url("GET", prefix + "signed é", 1, slash_safe=True)
    time.sleep(2.1)
    reply = requests.get(expired)
    equal((reply.status_code, "Request has expired." in reply.text), (403, True))


@call
def deleting_many():
    for i in range(5):
        lake.put_object(f"{prefix}many/{i} é&", b"1")
    keys = [f"{prefix}many/{i} é&" for i in range(5)]
    equal(sorted(lake.batch_delete_objects(keys).deleted_keys), keys)
    equal(list(oss2.ObjectIterator(lake, prefix=prefix + "many/")), [])


@call
def temporary_credentials():
    sts = oss2.StsAuth(sts_key_id, sts_key_secret, sts_token, auth_version=signature)
    temporary = oss2.Bucket(sts, endpoint, bucket, region=region)
    temporary.put_object(prefix + "sts", b"sts")
    equal(temporary.get_object(prefix + "sts").read(), b"sts")
    equal(requests.get(temporary.sign_url("GET", prefix + "sts", 60, slash_safe=True)).content, b"sts")
    wrong = oss2.StsAuth(sts_key_id, sts_key_secret, "other", auth_version=signature)
    get = oss2.Bucket(wrong, endpoint, bucket, region=region).get_object
    refused(403, "InvalidSecurityToken", lambda: get(prefix + "sts"))


@call
def wrong_credentials():
    def get(some_auth):
        return oss2.Bucket(some_auth, endpoint, bucket, region=region).get_object(prefix + "a")

    refused(403, "SignatureDoesNotMatch", lambda: get(make_auth(key_id, "wrong")))
    refused(403, "InvalidAccessKeyId", lambda: get(make_auth("nobody", key_secret)))
    refused(403, "AccessDenied", lambda: get(oss2.AnonymousAuth()))


@call
def buckets():
    other.create_bucket()
    equal(other_name in [b.name for b in oss2.BucketIterator(service)], True)
    equal(other.get_bucket_info().name, other_name)
    equal(other.get_bucket_location().location, f"oss-{region}")
    equal(other.get_bucket_acl().acl, "private")
    other.put_object("x", b"1")
    refused(409, "BucketNotEmpty", other.delete_bucket)
    refused(404, "NoSuchBucket", lambda: oss2.Bucket(auth, endpoint, "no-such-bucket", region=region).get_object("x"))


@call
def lifecycle():
    refused(404, "NoSuchLifecycle", other.get_bucket_lifecycle)
    expire = oss2.models.AbortMultipartUpload(days=7)
    rule = oss2.models.LifecycleRule("abort", "", abort_multipart_upload=expire)
    other.put_bucket_lifecycle(oss2.models.BucketLifecycle([rule]))
    equal(other.get_bucket_lifecycle().rules[0].abort_multipart_upload.days, 7)
    other.delete_bucket_lifecycle()


@call
def versions():
    equal(other.get_bucket_versioning().status, None)
    config = oss2.models.BucketVersioningConfig()
    config.status = oss2.BUCKET_VERSIONING_ENABLE
    other.put_bucket_versioning(config)
    equal(other.get_bucket_versioning().status, "Enabled")
    second = other.put_object("x", b"2", headers={"x-oss-forbid-overwrite": "true"}).versionid
    marker = other.delete_object("x")
    equal(marker.delete_marker, True)
    refused(404, "NoSuchKey", lambda: other.get_object("x"))
    equal(other.get_object("x", params={"versionId": second}).read(), b"2")
    equal(other.get_object("x", params={"versionId": "null"}).read(), b"1")
    listed = other.list_object_versions()
    equal([v.versionid for v in listed.versions], [second, "null"])
    equal([v.versionid for v in listed.delete_marker], [marker.versionid])
    for version in [marker.versionid, second, "null"]:
        other.delete_object("x", params={"versionId": version})
    equal(other.list_object_versions().versions, [])
    other.delete_bucket()


finish()
