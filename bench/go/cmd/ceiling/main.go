// Ceiling is the most that a sink answers: bare requests over kept connections, without a signature or any parsing.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	endpoint := flag.String("endpoint", "", "URL of the sink")
	concurrency := flag.Int("concurrency", 64, "connections")
	seconds := flag.Float64("seconds", 2, "how long")
	flag.Parse()
	address, err := url.Parse(*endpoint)
	if err != nil {
		log.Fatal(err)
	}
	var answered atomic.Int64
	var wait sync.WaitGroup
	started := time.Now()
	until := started.Add(time.Duration(*seconds * float64(time.Second)))
	request := []byte("HEAD /ceiling/none HTTP/1.1\r\nHost: " + address.Host + "\r\n\r\n")
	for range *concurrency {
		wait.Go(func() {
			connection, err := net.Dial("tcp", address.Host)
			if err != nil {
				log.Fatal(err)
			}
			defer connection.Close()
			in := bufio.NewReader(connection)
			for time.Now().Before(until) {
				if _, err := connection.Write(request); err != nil {
					log.Fatal(err)
				}
				response, err := http.ReadResponse(in, &http.Request{Method: http.MethodHead})
				if err != nil {
					log.Fatal(err)
				}
				response.Body.Close()
				answered.Add(1)
			}
		})
	}
	wait.Wait()
	fmt.Printf("{\"requests_per_s\": %.0f}\n", float64(answered.Load())/time.Since(started).Seconds())
}
