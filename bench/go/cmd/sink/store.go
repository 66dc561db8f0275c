package main

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/btree"
)

// keptBytes is how much of an object stays in memory; of a larger one only its length does, and it reads as zeros.
const keptBytes = 4 << 20

type object struct {
	key      string
	size     int64
	body     []byte
	etag     string
	meta     map[string]string
	modified time.Time
}

type upload struct {
	key  string
	id   string
	meta map[string]string
	mu   sync.Mutex
	size map[int]int64
}

// store holds the objects and uploads of all buckets; keys begin with the bucket's name.
type store struct {
	mu      sync.RWMutex
	objects *btree.BTreeG[*object]
	uploads map[string]*upload
	next    atomic.Int64
}

func newStore() *store {
	return &store{
		objects: btree.NewG(32, func(a, b *object) bool { return a.key < b.key }),
		uploads: map[string]*upload{},
	}
}

func (s *store) get(key string) *object {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, _ := s.objects.Get(&object{key: key})
	return found
}

// put makes an object if the request's conditions hold; otherwise it returns the status that S3 answers.
func (s *store) put(o *object, header http.Header) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, exists := s.objects.Get(o)
	if header.Get("If-None-Match") == "*" && exists {
		return http.StatusPreconditionFailed
	}
	if wanted := header.Get("If-Match"); wanted != "" {
		if !exists {
			return http.StatusNotFound
		}
		if strings.Trim(wanted, `"`) != strings.Trim(before.etag, `"`) {
			return http.StatusPreconditionFailed
		}
	}
	s.objects.ReplaceOrInsert(o)
	return 0
}

func (s *store) delete(key, ifMatch string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ifMatch != "" {
		before, exists := s.objects.Get(&object{key: key})
		if exists && strings.Trim(ifMatch, `"`) != strings.Trim(before.etag, `"`) {
			return http.StatusPreconditionFailed
		}
	}
	s.objects.Delete(&object{key: key})
	return 0
}

func (s *store) initiate(key string, meta map[string]string) *upload {
	u := &upload{key: key, id: fmt.Sprintf("u%015x", s.next.Add(1)), meta: meta, size: map[int]int64{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uploads[u.id] = u
	return u
}

func (s *store) upload(id, key string) *upload {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if u := s.uploads[id]; u != nil && u.key == key {
		return u
	}
	return nil
}

// complete makes the object of an upload; parts aren't checked against what was sent.
func (s *store) complete(u *upload, parts int, header http.Header) (*object, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uploads[u.id] == nil {
		return nil, http.StatusNotFound
	}
	o := &object{key: u.key, meta: u.meta, modified: time.Now()}
	o.etag = fmt.Sprintf(`"%032x-%d"`, s.next.Add(1), parts)
	if _, exists := s.objects.Get(o); exists && header.Get("If-None-Match") == "*" {
		return nil, http.StatusPreconditionFailed
	}
	for _, size := range u.size {
		o.size += size
	}
	s.objects.ReplaceOrInsert(o)
	delete(s.uploads, u.id)
	return o, 0
}

func (s *store) abort(u *upload) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.uploads, u.id)
}

type listing struct {
	objects  []*object
	prefixes []string
	next     string
}

// list returns up to max entries after a key, folded at the delimiter.
func (s *store) list(bucket, prefix, after, delimiter string, max int) listing {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found listing
	base := bucket + "/"
	full := base + prefix
	last := ""
	visit := func(o *object) bool {
		if !strings.HasPrefix(o.key, full) {
			return false
		}
		key := o.key[len(base):]
		if after != "" && (key <= after || (strings.HasSuffix(after, delimiter) && delimiter != "" && strings.HasPrefix(key, after))) {
			return true
		}
		if delimiter != "" {
			if i := strings.Index(o.key[len(full):], delimiter); i >= 0 {
				folded := o.key[len(base) : len(full)+i+len(delimiter)]
				if len(found.prefixes) > 0 && found.prefixes[len(found.prefixes)-1] == folded {
					return true
				}
				if len(found.objects)+len(found.prefixes) == max {
					found.next = last
					return false
				}
				found.prefixes = append(found.prefixes, folded)
				last = folded
				return true
			}
		}
		if len(found.objects)+len(found.prefixes) == max {
			found.next = last
			return false
		}
		found.objects = append(found.objects, o)
		last = key
		return true
	}
	from := full
	if after != "" && base+after > from {
		from = base + after
	}
	s.objects.AscendGreaterOrEqual(&object{key: from}, visit)
	return found
}

func (s *store) counts() (objects, uploads int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.objects.Len(), len(s.uploads)
}

func etagOf(body []byte, n int64) string {
	if body == nil {
		return `"` + fmt.Sprintf("%032s", strconv.FormatInt(n, 16)) + `"`
	}
	sum := md5.Sum(body)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}
