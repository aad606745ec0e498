// Command registry is a registry for tests, without TLS or accounts. What is pushed is kept in a folder.
//
//	registry -dir FOLDER ADDRESS...
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	dir := flag.String("dir", "", "folder of what is pushed")
	flag.Parse()
	if err := serve(*dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "registry:", err)
		os.Exit(1)
	}
}

// serve serves the same at every address, until one of them fails.
func serve(dir string, addresses []string) error {
	if dir == "" || len(addresses) == 0 {
		return errors.New("usage: registry -dir FOLDER ADDRESS, and more addresses")
	}
	server := &http.Server{
		Handler:           registry.New(registry.WithBlobHandler(registry.NewDiskBlobHandler(dir)), registry.Logger(log.New(io.Discard, "", 0))),
		ReadHeaderTimeout: time.Minute,
	}
	failed := make(chan error)
	for _, address := range addresses {
		listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
		if err != nil {
			return err
		}
		go func() { failed <- server.Serve(listener) }()
	}
	return <-failed
}
