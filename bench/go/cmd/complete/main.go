// Complete is a loop over aws-sdk-go-v2 that does nothing but complete uploads: bucket, key and upload id come on
// stdin, a line each, with tabs between.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

func main() {
	endpoint := flag.String("endpoint", "", "URL of the store")
	concurrency := flag.Int("concurrency", 64, "requests at a time")
	flag.Parse()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = *concurrency, *concurrency
	client := s3.New(s3.Options{
		BaseEndpoint: endpoint,
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("bench", "bench-secret", ""),
		UsePathStyle: true,
		HTTPClient:   &http.Client{Transport: transport},
		Retryer:      aws.NopRetryer{},
	})
	var lines []string
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		lines = append(lines, in.Text())
	}
	work := make(chan string, len(lines))
	for _, line := range lines {
		work <- line
	}
	close(work)
	before := cpu()
	started := time.Now()
	var wait sync.WaitGroup
	for range *concurrency {
		wait.Go(func() {
			for line := range work {
				field := strings.Split(line, "\t")
				_, err := client.CompleteMultipartUpload(context.Background(), &s3.CompleteMultipartUploadInput{
					Bucket: &field[0], Key: &field[1], UploadId: &field[2], IfNoneMatch: aws.String("*"),
					MultipartUpload: &types.CompletedMultipartUpload{Parts: []types.CompletedPart{
						{PartNumber: aws.Int32(1), ETag: aws.String(`"e"`)},
					}},
				})
				if err != nil {
					log.Fatal(err)
				}
			}
		})
	}
	wait.Wait()
	fmt.Printf("{\"seconds\": %.4f, \"cpu_s\": %.4f}\n", time.Since(started).Seconds(), cpu()-before)
}

func cpu() float64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}
