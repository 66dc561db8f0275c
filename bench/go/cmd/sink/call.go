package main

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// call is one request of S3's protocol, path style.
type call struct {
	w     http.ResponseWriter
	r     *http.Request
	store *store
	kind  string
	// path is bucket/key.
	path   string
	bucket string
	key    string
	query  url.Values
}

func newCall(w http.ResponseWriter, r *http.Request, s *store) *call {
	path := strings.TrimPrefix(r.URL.Path, "/")
	bucket, key, _ := strings.Cut(path, "/")
	c := &call{w: w, r: r, store: s, path: path, bucket: bucket, key: key}
	if r.URL.RawQuery != "" {
		c.query = r.URL.Query()
	}
	c.kind = c.kindOf()
	return c
}

func (c *call) kindOf() string {
	switch c.r.Method {
	case http.MethodGet:
		switch {
		case c.key != "":
			return "get"
		case c.query.Has("uploads"):
			return "list_uploads"
		case c.query.Has("lifecycle") || c.query.Has("location"):
			return "other"
		}
		return "list"
	case http.MethodHead:
		return "head"
	case http.MethodPut:
		switch {
		case c.key == "":
			return "other"
		case c.query.Has("partNumber"):
			return "part"
		case c.r.Header.Get("X-Amz-Copy-Source") != "":
			return "copy"
		}
		return "put"
	case http.MethodPost:
		switch {
		case c.query.Has("uploads"):
			return "initiate"
		case c.query.Has("uploadId"):
			return "complete"
		case c.query.Has("delete"):
			return "delete_many"
		}
	case http.MethodDelete:
		if c.query.Has("uploadId") {
			return "abort"
		}
		return "delete"
	}
	return "other"
}

// run does what is asked at once, and returns what sends the answer.
func (c *call) run() func() {
	switch c.kind {
	case "initiate":
		u := c.store.initiate(c.path, c.meta())
		return c.xml(fmt.Sprintf(`<InitiateMultipartUploadResult><Bucket>%s</Bucket><Key>%s</Key><UploadId>%s</UploadId></InitiateMultipartUploadResult>`, c.bucket, escape(c.key), u.id))
	case "part":
		return c.part()
	case "complete":
		return c.complete()
	case "abort":
		u := c.store.upload(c.query.Get("uploadId"), c.path)
		if u == nil {
			return c.failing(http.StatusNotFound, "NoSuchUpload")
		}
		c.store.abort(u)
		return c.status(http.StatusNoContent)
	case "put":
		return c.put()
	case "copy":
		return c.copy()
	case "get", "head":
		return c.read()
	case "delete":
		if code := c.store.delete(c.path, c.r.Header.Get("If-Match")); code != 0 {
			return c.failing(code, "PreconditionFailed")
		}
		return c.status(http.StatusNoContent)
	case "delete_many":
		return c.deleteMany()
	case "list":
		return c.list()
	case "list_uploads":
		return c.xml(`<ListMultipartUploadsResult><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>`)
	}
	if c.query.Has("lifecycle") {
		return c.failing(http.StatusNotFound, "NoSuchLifecycleConfiguration")
	}
	return c.status(http.StatusOK)
}

func (c *call) part() func() {
	u := c.store.upload(c.query.Get("uploadId"), c.path)
	if u == nil {
		c.drain()
		return c.failing(http.StatusNotFound, "NoSuchUpload")
	}
	n, err := io.Copy(io.Discard, c.body())
	if err != nil {
		return c.failing(http.StatusBadRequest, "IncompleteBody")
	}
	number, _ := strconv.Atoi(c.query.Get("partNumber"))
	u.mu.Lock()
	u.size[number] = n
	u.mu.Unlock()
	c.w.Header().Set("ETag", etagOf(nil, n))
	return c.status(http.StatusOK)
}

func (c *call) complete() func() {
	body, _ := io.ReadAll(c.r.Body)
	u := c.store.upload(c.query.Get("uploadId"), c.path)
	if u == nil {
		return c.failing(http.StatusNotFound, "NoSuchUpload")
	}
	o, code := c.store.complete(u, strings.Count(string(body), "<Part>"), c.r.Header)
	if code != 0 {
		return c.failing(code, map[int]string{404: "NoSuchUpload", 412: "PreconditionFailed"}[code])
	}
	return c.xml(fmt.Sprintf(`<CompleteMultipartUploadResult><Bucket>%s</Bucket><Key>%s</Key><ETag>%s</ETag></CompleteMultipartUploadResult>`, c.bucket, escape(c.key), escape(o.etag)))
}

func (c *call) put() func() {
	body, err := io.ReadAll(io.LimitReader(c.body(), keptBytes+1))
	if err != nil {
		return c.failing(http.StatusBadRequest, "IncompleteBody")
	}
	o := &object{key: c.path, body: body, size: int64(len(body)), meta: c.meta(), modified: time.Now()}
	if len(body) > keptBytes {
		rest, _ := io.Copy(io.Discard, c.body())
		o.body, o.size = nil, o.size+rest
	}
	o.etag = etagOf(o.body, o.size)
	if code := c.store.put(o, c.r.Header); code != 0 {
		return c.failing(code, map[int]string{404: "NoSuchKey", 412: "PreconditionFailed"}[code])
	}
	c.w.Header().Set("ETag", o.etag)
	return c.status(http.StatusOK)
}

func (c *call) copy() func() {
	from, _ := url.PathUnescape(strings.TrimPrefix(c.r.Header.Get("X-Amz-Copy-Source"), "/"))
	source := c.store.get(from)
	if source == nil {
		return c.failing(http.StatusNotFound, "NoSuchKey")
	}
	o := *source
	o.key, o.modified = c.path, time.Now()
	_ = c.store.put(&o, http.Header{})
	return c.xml(fmt.Sprintf(`<CopyObjectResult><LastModified>%s</LastModified><ETag>%s</ETag></CopyObjectResult>`, iso(o.modified), escape(o.etag)))
}

func (c *call) read() func() {
	if c.key == "" {
		return c.status(http.StatusOK)
	}
	o := c.store.get(c.path)
	if o == nil {
		return c.failing(http.StatusNotFound, "NoSuchKey")
	}
	header := c.w.Header()
	header.Set("ETag", o.etag)
	header.Set("Last-Modified", o.modified.UTC().Format(http.TimeFormat))
	for name, value := range o.meta {
		header.Set(name, value)
	}
	from, to, code := int64(0), o.size-1, http.StatusOK
	if n, _ := fmt.Sscanf(c.r.Header.Get("Range"), "bytes=%d-%d", &from, &to); n > 0 {
		to, code = min(to, o.size-1), http.StatusPartialContent
		header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, o.size))
	}
	header.Set("Content-Length", strconv.FormatInt(to-from+1, 10))
	return func() {
		c.w.WriteHeader(code)
		if c.kind == "head" {
			return
		}
		if o.body != nil {
			_, _ = c.w.Write(o.body[from : to+1])
			return
		}
		_, _ = io.CopyN(c.w, zeros{}, to-from+1)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func (c *call) deleteMany() func() {
	var request struct {
		Object []struct{ Key string }
	}
	if err := xml.NewDecoder(c.r.Body).Decode(&request); err != nil {
		return c.failing(http.StatusBadRequest, "MalformedXML")
	}
	for _, o := range request.Object {
		c.store.delete(c.bucket+"/"+o.Key, "")
	}
	return c.xml(`<DeleteResult></DeleteResult>`)
}

func (c *call) list() func() {
	max := 1000
	if given, err := strconv.Atoi(c.query.Get("max-keys")); err == nil {
		max = min(max, given)
	}
	after := c.query.Get("continuation-token")
	if after == "" {
		after = c.query.Get("start-after")
	}
	if after == "" {
		after = c.query.Get("marker")
	}
	found := c.store.list(c.bucket, c.query.Get("prefix"), after, c.query.Get("delimiter"), max)
	encode := escape
	if c.query.Get("encoding-type") == "url" {
		encode = func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "%2F", "/") }
	}
	var out strings.Builder
	fmt.Fprintf(&out, `<ListBucketResult><Name>%s</Name><Prefix>%s</Prefix><KeyCount>%d</KeyCount><MaxKeys>%d</MaxKeys><IsTruncated>%t</IsTruncated>`,
		c.bucket, encode(c.query.Get("prefix")), len(found.objects)+len(found.prefixes), max, found.next != "")
	if found.next != "" {
		fmt.Fprintf(&out, `<NextContinuationToken>%s</NextContinuationToken><NextMarker>%s</NextMarker>`, escape(found.next), encode(found.next))
	}
	for _, o := range found.objects {
		fmt.Fprintf(&out, `<Contents><Key>%s</Key><LastModified>%s</LastModified><ETag>%s</ETag><Size>%d</Size><StorageClass>STANDARD</StorageClass></Contents>`,
			encode(o.key[len(c.bucket)+1:]), iso(o.modified), escape(o.etag), o.size)
	}
	for _, prefix := range found.prefixes {
		fmt.Fprintf(&out, `<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>`, encode(prefix))
	}
	out.WriteString(`</ListBucketResult>`)
	return c.xml(out.String())
}

func (c *call) meta() map[string]string {
	var meta map[string]string
	for name, values := range c.r.Header {
		if strings.HasPrefix(name, "X-Amz-Meta-") {
			if meta == nil {
				meta = map[string]string{}
			}
			meta[name] = values[0]
		}
	}
	return meta
}

// body is what was meant to be stored: signed chunks are taken out of their frames.
func (c *call) body() io.Reader {
	if !strings.HasPrefix(c.r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return c.r.Body
	}
	return &chunks{in: bufio.NewReaderSize(c.r.Body, 64<<10)}
}

func (c *call) drain() { _, _ = io.Copy(io.Discard, c.r.Body) }

type chunks struct {
	in   *bufio.Reader
	left int64
	done bool
}

func (k *chunks) Read(p []byte) (int, error) {
	for k.left == 0 {
		if k.done {
			return 0, io.EOF
		}
		line, err := k.in.ReadString('\n')
		if err != nil {
			return 0, err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		size, _, _ := strings.Cut(line, ";")
		k.left, err = strconv.ParseInt(size, 16, 64)
		if err != nil {
			return 0, err
		}
		if k.left == 0 {
			k.done = true
			_, _ = io.Copy(io.Discard, k.in)
		}
	}
	n, err := k.in.Read(p[:min(int64(len(p)), k.left)])
	k.left -= int64(n)
	return n, err
}

func (c *call) status(code int) func() {
	return func() { c.w.WriteHeader(code) }
}

func (c *call) xml(text string) func() {
	return func() {
		header := c.w.Header()
		header.Set("Content-Type", "application/xml")
		header.Set("Content-Length", strconv.Itoa(len(text)))
		_, _ = io.WriteString(c.w, text)
	}
}

func (c *call) failing(status int, code string) func() {
	return func() { c.fail(status, code) }
}

func (c *call) fail(status int, code string) {
	c.w.Header().Set("Content-Type", "application/xml")
	c.w.WriteHeader(status)
	if c.r.Method != http.MethodHead {
		_, _ = fmt.Fprintf(c.w, `<Error><Code>%s</Code><Message>%s</Message></Error>`, code, code)
	}
}

func iso(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text))
	return out.String()
}
