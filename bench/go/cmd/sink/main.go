// Sink is a light double of S3 for benchmarks: it answers after a latency that can be set, counts requests by kind,
// keeps small objects and forgets the bytes of large ones. It checks no signature and no part.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"
)

func main() {
	certificate := flag.String("tls", "", "listens for https too; file for the certificate, which it makes")
	flag.Parse()
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
		defer b.end(call.kind)
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
	listener := listen()
	fmt.Printf("http://%s", listener.Addr())
	if *certificate != "" {
		made, err := newCertificate(*certificate)
		if err != nil {
			log.Fatal(err)
		}
		secure := listen()
		fmt.Printf(" https://%s", secure.Addr())
		// By HTTP/1.1 alone, as S3.
		config := &tls.Config{Certificates: []tls.Certificate{made}, NextProtos: []string{"http/1.1"}}
		go func() { log.Fatal(server.Serve(tls.NewListener(secure, config))) }()
	}
	fmt.Println()
	log.Fatal(server.Serve(listener))
}

func listen() net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	return listener
}
