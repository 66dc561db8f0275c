package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/aliyun/alibabacloud-oss-go-sdk-v2/oss"
)

var tried, passed int

// call tries a call at once; it passes when it returns no error.
func call(name string, action func() error) {
	tried++
	if err := action(); err != nil {
		fmt.Printf("FAILED  %s\n%v\n", name, err)
		return
	}
	passed++
	fmt.Printf("ok      %s\n", name)
}

func finish() {
	line, _ := json.Marshal(map[string]int{"tried": tried, "passed": passed})
	fmt.Println(string(line))
}

func env(name string) string { return os.Getenv("OSS_" + name) }

func equal(actual, expected any) error {
	if reflect.DeepEqual(actual, expected) {
		return nil
	}
	return fmt.Errorf("%v instead of %v", actual, expected)
}

func refused(status int, code string, err error) error {
	var service *oss.ServiceError
	if !errors.As(err, &service) {
		return fmt.Errorf("no %s but %v", code, err)
	}
	return equal([]any{service.StatusCode, service.Code}, []any{status, code})
}

// all runs steps until one fails.
func all(steps ...func() error) error {
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}
