package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// kinds are the names under which the project counts requests everywhere.
var kinds = []string{
	"initiate", "part", "complete", "abort", "put", "get", "head",
	"list", "list_uploads", "delete", "delete_many", "copy", "other",
}

var isWrite = map[string]bool{
	"initiate": true, "part": true, "complete": true, "abort": true, "put": true, "delete": true, "copy": true,
}

// settings are what a benchmark may change while the sink runs.
type settings struct {
	// LatencyMs passes before each answer.
	LatencyMs float64 `json:"latency_ms"`
	// Sigma spreads the latency: of the logarithm, so that LatencyMs is the median.
	Sigma float64 `json:"sigma"`
	// WritesPerSecond and ReadsPerSecond are what a prefix takes; beyond, 503 SlowDown. 0: no limit.
	WritesPerSecond float64 `json:"writes_per_second"`
	ReadsPerSecond  float64 `json:"reads_per_second"`
}

// behaviour is how the sink answers, and what it was asked.
type behaviour struct {
	settings atomic.Pointer[settings]
	counts   map[string]*atomic.Int64
	slowed   atomic.Int64
	inFlight atomic.Int64
	most     atomic.Int64
	// firstComplete and lastComplete are when the first came and the last was answered, in Unix microseconds; 0: none.
	firstComplete, lastComplete atomic.Int64
	mu                          sync.Mutex
	buckets                     map[string]*tokens
}

func newBehaviour() *behaviour {
	b := &behaviour{counts: map[string]*atomic.Int64{}, buckets: map[string]*tokens{}}
	b.settings.Store(&settings{})
	for _, kind := range kinds {
		b.counts[kind] = &atomic.Int64{}
	}
	return b
}

func (b *behaviour) begin(kind string) {
	b.counts[kind].Add(1)
	now := b.inFlight.Add(1)
	for most := b.most.Load(); now > most && !b.most.CompareAndSwap(most, now); most = b.most.Load() {
	}
	if kind == "complete" {
		b.firstComplete.CompareAndSwap(0, time.Now().UnixMicro())
	}
}

func (b *behaviour) end(kind string) {
	b.inFlight.Add(-1)
	if kind == "complete" {
		b.lastComplete.Store(time.Now().UnixMicro())
	}
}

// delay waits as long as the store would take.
func (b *behaviour) delay(since time.Time) {
	s := b.settings.Load()
	ms := s.LatencyMs
	if s.Sigma > 0 {
		ms *= math.Exp(rand.NormFloat64() * s.Sigma)
	}
	if rest := time.Duration(ms*float64(time.Millisecond)) - time.Since(since); rest > 0 {
		time.Sleep(rest)
	}
}

// admits says whether the prefix of a key takes one request more now.
func (b *behaviour) admits(kind, key string) bool {
	s := b.settings.Load()
	rate, class := s.ReadsPerSecond, "r"
	if isWrite[kind] {
		rate, class = s.WritesPerSecond, "w"
	}
	if rate == 0 {
		return true
	}
	// A bucket's first two levels: the job's destination on one side, the state of jobs on the other.
	parts := strings.SplitN(key, "/", 4)
	prefix := class + strings.Join(parts[:min(3, len(parts))], "/")
	b.mu.Lock()
	defer b.mu.Unlock()
	bucket := b.buckets[prefix]
	if bucket == nil {
		bucket = &tokens{left: rate / 10, at: time.Now()}
		b.buckets[prefix] = bucket
	}
	if bucket.take(rate) {
		return true
	}
	b.slowed.Add(1)
	return false
}

// tokens is a bucket that holds a tenth of a second's.
type tokens struct {
	left float64
	at   time.Time
}

func (t *tokens) take(rate float64) bool {
	now := time.Now()
	t.left = min(rate/10, t.left+rate*now.Sub(t.at).Seconds())
	t.at = now
	if t.left < 1 {
		return false
	}
	t.left--
	return true
}

// serve answers what isn't S3: GET /_sink shows counts, PUT /_sink sets, DELETE /_sink forgets the counts.
func (b *behaviour) serve(w http.ResponseWriter, r *http.Request, s *store) {
	switch r.Method {
	case http.MethodPut:
		next := *b.settings.Load()
		if err := json.NewDecoder(r.Body).Decode(&next); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		b.settings.Store(&next)
		b.mu.Lock()
		clear(b.buckets)
		b.mu.Unlock()
	case http.MethodDelete:
		for _, count := range b.counts {
			count.Store(0)
		}
		b.slowed.Store(0)
		b.most.Store(0)
		b.firstComplete.Store(0)
		b.lastComplete.Store(0)
	}
	counts := map[string]int64{}
	for kind, count := range b.counts {
		if n := count.Load(); n > 0 {
			counts[kind] = n
		}
	}
	objects, uploads := s.counts()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"counts": counts, "slowed": b.slowed.Load(), "most_in_flight": b.most.Load(),
		"objects": objects, "uploads": uploads,
		"complete_seconds": float64(b.lastComplete.Load()-b.firstComplete.Load()) / 1e6,
	})
}

// openUploads makes as many uploads below a prefix as it's asked for, for loops that only complete: a line each.
func openUploads(w http.ResponseWriter, r *http.Request, s *store) {
	count, err := strconv.Atoi(r.URL.Query().Get("count"))
	if err != nil {
		http.Error(w, "count must be a number", http.StatusBadRequest)
		return
	}
	bucket, prefix := r.URL.Query().Get("bucket"), r.URL.Query().Get("prefix")
	out := bufio.NewWriter(w)
	defer out.Flush()
	for i := range count {
		key := fmt.Sprintf("%s/part-%06d", prefix, i)
		u := s.initiate(bucket+"/"+key, nil)
		fmt.Fprintf(out, "%s\t%s\t%s\n", bucket, key, u.id)
	}
}

// listObjects says what lies below a bucket's prefix, without being counted: key and length, a line each.
func listObjects(w http.ResponseWriter, r *http.Request, s *store) {
	out := bufio.NewWriter(w)
	defer out.Flush()
	bucket, prefix := r.URL.Query().Get("bucket"), r.URL.Query().Get("prefix")
	for _, o := range s.list(bucket, prefix, "", "", math.MaxInt).objects {
		fmt.Fprintf(out, "%s\t%d\n", o.key[len(bucket)+1:], o.size)
	}
}
