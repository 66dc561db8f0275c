// Calls of the Go SDK v2, which compares the CRC-64 of what it sends and gets.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strings"
	"time"

	"github.com/aliyun/alibabacloud-oss-go-sdk-v2/oss"
	"github.com/aliyun/alibabacloud-oss-go-sdk-v2/oss/credentials"
)

const minPart = 100 * 1024

var (
	ctx       = context.Background()
	bucket    = env("BUCKET")
	signature = env("SIGNATURE")
	prefix    = "go-v2-" + signature + "/"
	client    = clientWith(env("ACCESS_KEY_ID"), env("ACCESS_KEY_SECRET"), "")
)

func clientWith(id, secret, token string) *oss.Client {
	config := oss.LoadDefaultConfig().
		WithRegion(env("REGION")).
		WithEndpoint(env("ENDPOINT")).
		WithRetryMaxAttempts(1).
		WithCredentialsProvider(credentials.NewStaticCredentialsProvider(id, secret, token))
	if signature == "v1" {
		config = config.WithSignatureVersion(oss.SignatureVersionV1)
	}
	return oss.NewClient(config)
}

func key(name string) *string { return oss.Ptr(prefix + name) }

func put(name, body string) error {
	_, err := client.PutObject(ctx, &oss.PutObjectRequest{Bucket: &bucket, Key: key(name), Body: strings.NewReader(body)})
	return err
}

func get(by *oss.Client, name string) (string, error) {
	result, err := by.GetObject(ctx, &oss.GetObjectRequest{Bucket: &bucket, Key: key(name)})
	if err != nil {
		return "", err
	}
	defer result.Body.Close()
	body, err := io.ReadAll(result.Body)
	return string(body), err
}

func holds(name, body string) error {
	got, err := get(client, name)
	if err != nil {
		return err
	}
	return equal(got, body)
}

func initiate(name string) (*string, error) {
	result, err := client.InitiateMultipartUpload(ctx, &oss.InitiateMultipartUploadRequest{
		Bucket: &bucket, Key: key(name), Metadata: map[string]string{"k": "v"},
	})
	if err != nil {
		return nil, err
	}
	return result.UploadId, nil
}

func part(name string, uploadID *string, number int32, body string) (oss.UploadPart, error) {
	result, err := client.UploadPart(ctx, &oss.UploadPartRequest{
		Bucket: &bucket, Key: key(name), UploadId: uploadID, PartNumber: number, Body: strings.NewReader(body),
	})
	if err != nil {
		return oss.UploadPart{}, err
	}
	return oss.UploadPart{PartNumber: number, ETag: result.ETag}, nil
}

func upload(name string, sizes ...int) (*string, []oss.UploadPart, error) {
	uploadID, err := initiate(name)
	if err != nil {
		return nil, nil, err
	}
	var parts []oss.UploadPart
	for i, size := range sizes {
		done, err := part(name, uploadID, int32(i*3+1), strings.Repeat("x", size))
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, done)
	}
	return uploadID, parts, nil
}

func complete(name string, uploadID *string, parts []oss.UploadPart, forbid bool) error {
	request := &oss.CompleteMultipartUploadRequest{
		Bucket: &bucket, Key: key(name), UploadId: uploadID,
		CompleteMultipartUpload: &oss.CompleteMultipartUpload{Parts: parts},
	}
	if forbid {
		request.ForbidOverwrite = oss.Ptr("true")
	}
	_, err := client.CompleteMultipartUpload(ctx, request)
	return err
}

func abort(name string, uploadID *string) error {
	_, err := client.AbortMultipartUpload(ctx, &oss.AbortMultipartUploadRequest{Bucket: &bucket, Key: key(name), UploadId: uploadID})
	return err
}

func main() {
	objects()
	listings()
	multipart()
	credentialsAndURLs()
	finish()
}

func objects() {
	call("put, get, head with metadata", func() error {
		body := strings.Repeat("hello", 1000)
		_, err := client.PutObject(ctx, &oss.PutObjectRequest{
			Bucket: &bucket, Key: key("a"), Body: strings.NewReader(body),
			Metadata: map[string]string{"commitbridge-id": "0123"}, ContentType: oss.Ptr("text/csv"),
		})
		if err != nil {
			return err
		}
		head, err := client.HeadObject(ctx, &oss.HeadObjectRequest{Bucket: &bucket, Key: key("a")})
		if err != nil {
			return err
		}
		got := []any{head.Metadata["commitbridge-id"], head.ContentLength, *head.ContentType}
		return all(
			func() error { return equal(got, []any{"0123", int64(5000), "text/csv"}) },
			func() error { return holds("a", body) },
		)
	})
	call("a key of odd characters", func() error {
		const odd = "odd/a b+c&d=é%2F..//~!'()*/中文 🙂.txt"
		return all(func() error { return put(odd, "odd") }, func() error { return holds(odd, "odd") })
	})
	call("range", func() error {
		result, err := client.GetObject(ctx, &oss.GetObjectRequest{Bucket: &bucket, Key: key("a"), Range: oss.Ptr("bytes=1-3")})
		if err != nil {
			return err
		}
		defer result.Body.Close()
		body, _ := io.ReadAll(result.Body)
		return equal(string(body), "ell")
	})
	call("absent objects", func() error {
		_, getErr := get(client, "none")
		_, headErr := client.HeadObject(ctx, &oss.HeadObjectRequest{Bucket: &bucket, Key: key("none")})
		_, deleteErr := client.DeleteObject(ctx, &oss.DeleteObjectRequest{Bucket: &bucket, Key: key("none")})
		exists, existsErr := client.IsObjectExist(ctx, bucket, prefix+"none")
		return all(
			func() error { return refused(404, "NoSuchKey", getErr) },
			func() error { return refused(404, "NoSuchKey", headErr) },
			func() error { return deleteErr },
			func() error { return existsErr },
			func() error { return equal(exists, false) },
		)
	})
	call("forbid overwrite", func() error {
		once := func(body string) error {
			_, err := client.PutObject(ctx, &oss.PutObjectRequest{
				Bucket: &bucket, Key: key("once"), Body: strings.NewReader(body), ForbidOverwrite: oss.Ptr("true"),
			})
			return err
		}
		return all(
			func() error { return once("1") },
			func() error { return refused(409, "FileAlreadyExists", once("2")) },
			func() error { return holds("once", "1") },
		)
	})
	call("copy", func() error {
		_, err := client.CopyObject(ctx, &oss.CopyObjectRequest{Bucket: &bucket, Key: key("copy é"), SourceKey: key("a")})
		return all(func() error { return err }, func() error { return holds("copy é", strings.Repeat("hello", 1000)) })
	})
	call("deleting many", func() error {
		var keys []oss.DeleteObject
		for i := range 5 {
			name := fmt.Sprintf("many/%d é&", i)
			if err := put(name, "1"); err != nil {
				return err
			}
			keys = append(keys, oss.DeleteObject{Key: key(name)})
		}
		result, err := client.DeleteMultipleObjects(ctx, &oss.DeleteMultipleObjectsRequest{Bucket: &bucket, Objects: keys})
		if err != nil {
			return err
		}
		return equal(len(result.DeletedObjects), 5)
	})
}

func listings() {
	var keys []string
	call("listing by pages, v1 and v2", func() error {
		for i := range 25 {
			name := fmt.Sprintf("list/%03d/x y", i)
			keys = append(keys, prefix+name)
			if err := put(name, "1"); err != nil {
				return err
			}
		}
		var v1, v2, folded []string
		pages := client.NewListObjectsPaginator(&oss.ListObjectsRequest{Bucket: &bucket, Prefix: key("list/"), MaxKeys: 7})
		for pages.HasNext() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, object := range page.Contents {
				v1 = append(v1, *object.Key)
			}
		}
		for _, delimiter := range []*string{nil, oss.Ptr("/")} {
			pages := client.NewListObjectsV2Paginator(&oss.ListObjectsV2Request{
				Bucket: &bucket, Prefix: key("list/"), MaxKeys: 7, Delimiter: delimiter,
			})
			for pages.HasNext() {
				page, err := pages.NextPage(ctx)
				if err != nil {
					return err
				}
				for _, object := range page.Contents {
					v2 = append(v2, *object.Key)
				}
				for _, common := range page.CommonPrefixes {
					folded = append(folded, *common.Prefix+"x y")
				}
			}
		}
		return all(
			func() error { return equal(v1, keys) },
			func() error { return equal(v2, keys) },
			func() error { return equal(folded, keys) },
		)
	})
	call("uploads by pages", func() error {
		var wanted, listed []string
		ids := map[string]*string{}
		for _, name := range []string{"up/a", "up/a", "up/b c", "up/d/e"} {
			uploadID, err := initiate(name)
			if err != nil {
				return err
			}
			wanted = append(wanted, prefix+name+" "+*uploadID)
			ids[prefix+name+" "+*uploadID] = uploadID
		}
		sort.Strings(wanted)
		pages := client.NewListMultipartUploadsPaginator(&oss.ListMultipartUploadsRequest{
			Bucket: &bucket, Prefix: key("up/"), MaxUploads: 1,
		})
		for pages.HasNext() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, upload := range page.Uploads {
				entry := *upload.Key + " " + *upload.UploadId
				listed = append(listed, entry)
				if err := abort(strings.TrimPrefix(*upload.Key, prefix), ids[entry]); err != nil {
					return err
				}
			}
		}
		return equal(listed, wanted)
	})
}

func multipart() {
	call("multipart upload", func() error {
		uploadID, parts, err := upload("multi", minPart, minPart+1, 5)
		if err != nil {
			return err
		}
		var numbers []int32
		pages := client.NewListPartsPaginator(&oss.ListPartsRequest{Bucket: &bucket, Key: key("multi"), UploadId: uploadID, MaxParts: 2})
		for pages.HasNext() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, part := range page.Parts {
				numbers = append(numbers, part.PartNumber)
			}
		}
		return all(
			func() error { return equal(numbers, []int32{1, 4, 7}) },
			func() error { return complete("multi", uploadID, parts, false) },
			func() error { return holds("multi", strings.Repeat("x", 2*minPart+6)) },
			func() error { return refused(404, "NoSuchUpload", complete("multi", uploadID, parts, false)) },
			func() error { return refused(404, "NoSuchUpload", abort("multi", uploadID)) },
		)
	})
	call("rules of complete", func() error {
		uploadID, parts, err := upload("rules", 10, 10)
		if err != nil {
			return err
		}
		absent := []oss.UploadPart{{PartNumber: 9, ETag: oss.Ptr("x")}}
		return all(
			func() error { return refused(400, "EntityTooSmall", complete("rules", uploadID, parts, false)) },
			func() error { return refused(400, "InvalidPart", complete("rules", uploadID, absent, false)) },
			func() error { return abort("rules", uploadID) },
			func() error { return refused(404, "NoSuchUpload", complete("rules", uploadID, parts, false)) },
		)
	})
	call("complete that forbids overwrite", func() error {
		uploadID, parts, err := upload("once", 10)
		if err != nil {
			return err
		}
		return all(
			func() error { return refused(409, "FileAlreadyExists", complete("once", uploadID, parts, true)) },
			func() error { return complete("once", uploadID, parts, false) },
		)
	})
	call("upload part copy", func() error {
		uploadID, err := initiate("part-copy")
		if err != nil {
			return err
		}
		result, err := client.UploadPartCopy(ctx, &oss.UploadPartCopyRequest{
			Bucket: &bucket, Key: key("part-copy"), UploadId: uploadID, PartNumber: 1,
			SourceKey: key("a"), Range: oss.Ptr("bytes=0-4"),
		})
		if err != nil {
			return err
		}
		parts := []oss.UploadPart{{PartNumber: 1, ETag: result.ETag}}
		return all(
			func() error { return complete("part-copy", uploadID, parts, false) },
			func() error { return holds("part-copy", "hello") },
		)
	})
	call("the uploader", func() error {
		body := bytes.Repeat([]byte("0123456789abcdef"), 64*1024)
		uploader := client.NewUploader(func(options *oss.UploaderOptions) {
			options.PartSize = minPart
			options.ParallelNum = 4
		})
		_, err := uploader.UploadFrom(ctx, &oss.PutObjectRequest{Bucket: &bucket, Key: key("big")}, bytes.NewReader(body))
		return all(func() error { return err }, func() error { return holds("big", string(body)) })
	})
}

func send(method, url string, body string) (int, string, error) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	return reply.StatusCode, string(text), err
}

func credentialsAndURLs() {
	call("signed URLs", func() error {
		signedPut, err := client.Presign(ctx, &oss.PutObjectRequest{Bucket: &bucket, Key: key("signed é")}, oss.PresignExpires(time.Minute))
		if err != nil {
			return err
		}
		signedGet, err := client.Presign(ctx, &oss.GetObjectRequest{Bucket: &bucket, Key: key("signed é")}, oss.PresignExpires(time.Minute))
		if err != nil {
			return err
		}
		putStatus, _, putErr := send("PUT", signedPut.URL, "signed")
		getStatus, text, getErr := send("GET", signedGet.URL, "")
		wrongStatus, _, _ := send("GET", strings.Replace(signedGet.URL, "signed", "other", 1), "")
		return all(
			func() error { return putErr },
			func() error { return getErr },
			func() error {
				return equal([]any{putStatus, getStatus, text, wrongStatus}, []any{200, 200, "signed", 403})
			},
		)
	})
	call("temporary credentials", func() error {
		temporary := clientWith(env("STS_ACCESS_KEY_ID"), env("STS_ACCESS_KEY_SECRET"), env("STS_TOKEN"))
		_, err := get(temporary, "a")
		_, wrong := get(clientWith(env("STS_ACCESS_KEY_ID"), env("STS_ACCESS_KEY_SECRET"), "other"), "a")
		return all(
			func() error { return err },
			func() error { return refused(403, "InvalidSecurityToken", wrong) },
		)
	})
	call("wrong credentials", func() error {
		_, wrong := get(clientWith(env("ACCESS_KEY_ID"), "wrong", ""), "a")
		_, unknown := get(clientWith("nobody", "x", ""), "a")
		return all(
			func() error { return refused(403, "SignatureDoesNotMatch", wrong) },
			func() error { return refused(403, "InvalidAccessKeyId", unknown) },
		)
	})
	call("bucket with versions", func() error {
		name := bucket + "-go-" + signature
		putOnce := func() (*oss.PutObjectResult, error) {
			return client.PutObject(ctx, &oss.PutObjectRequest{
				Bucket: &name, Key: key("v"), Body: strings.NewReader("1"), ForbidOverwrite: oss.Ptr("true"),
			})
		}
		if _, err := client.PutBucket(ctx, &oss.PutBucketRequest{Bucket: &name}); err != nil {
			return err
		}
		_, err := client.PutBucketVersioning(ctx, &oss.PutBucketVersioningRequest{
			Bucket: &name, VersioningConfiguration: &oss.VersioningConfiguration{Status: oss.VersionEnabled},
		})
		if err != nil {
			return err
		}
		first, err := putOnce()
		if err != nil {
			return err
		}
		second, err := putOnce()
		if err != nil {
			return err
		}
		marker, err := client.DeleteObject(ctx, &oss.DeleteObjectRequest{Bucket: &name, Key: key("v")})
		if err != nil {
			return err
		}
		_, gone := client.GetObject(ctx, &oss.GetObjectRequest{Bucket: &name, Key: key("v")})
		if err := refused(404, "NoSuchKey", gone); err != nil {
			return err
		}
		for _, version := range []*string{first.VersionId, second.VersionId, marker.VersionId} {
			request := &oss.DeleteObjectRequest{Bucket: &name, Key: key("v"), VersionId: version}
			if _, err := client.DeleteObject(ctx, request); err != nil {
				return err
			}
		}
		_, err = client.DeleteBucket(ctx, &oss.DeleteBucketRequest{Bucket: &name})
		return err
	})
}
