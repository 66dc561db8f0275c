// Sink is a light double of S3 for benchmarks: it answers after a latency that can be set, counts requests by kind,
// keeps small objects and forgets the bytes of large ones. It checks no signature and no part.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

func main() {
	certificate := flag.String("cert", "", "PEM of the certificate, for https")
	key := flag.String("key", "", "PEM of its key")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	scheme := "http"
	if *certificate != "" {
		scheme = "https"
	}
	s, b := newStore(), newBehaviour()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/_sink":
			b.serve(w, r, s)
			return
		case "/_sink/uploads":
			openUploads(w, r, s)
			return
		case "/_sink/objects":
			listObjects(w, r, s)
			return
		}
		started := time.Now()
		call := newCall(w, r, s)
		b.begin(call.kind)
		defer b.inFlight.Add(-1)
		if !b.admits(call.kind, call.path) {
			call.drain()
			b.delay(started)
			call.fail(http.StatusServiceUnavailable, "SlowDown")
			return
		}
		answer := call.run()
		b.delay(started)
		answer()
	})}
	fmt.Printf("%s://%s\n", scheme, listener.Addr())
	if scheme == "https" {
		err = server.ServeTLS(listener, *certificate, *key)
	} else {
		err = server.Serve(listener)
	}
	log.Fatal(err)
}
