// Command function is what a class of functions runs in tests: it answers, says whether it is ready, and does what it is
// told to, such as to crash.
package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	address := flag.String("address", ":8080", "where to listen")
	says := flag.String("says", "ok", "what to answer")
	crashAfter := flag.Duration("crash-after", 0, "how long until it crashes; 0 is never")
	ask := flag.String("ask", "", "ask another at this URL instead, and print its answer")
	flag.Parse()
	if *ask != "" {
		os.Exit(client(*ask))
	}
	if *crashAfter > 0 {
		time.AfterFunc(*crashAfter, func() { os.Exit(3) })
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() { <-signals; os.Exit(0) }()
	server := &http.Server{Addr: *address, Handler: handler(*says), ReadHeaderTimeout: time.Second}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}

// client asks once.
func client(url string) (code int) {
	c := http.Client{Timeout: time.Second}
	answer, err := c.Get(url)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.Copy(os.Stdout, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		fmt.Fprintln(os.Stderr, answer.Status, err)
		return 1
	}
	return 0
}

// handler answers at /, is asked at /ready, and is told at /switch/ready, /switch/unready and /switch/crash.
func handler(says string) http.Handler {
	var unready atomic.Bool
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, says) })
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if unready.Load() {
			http.Error(w, "told to be unready", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("POST /switch/{to}", func(w http.ResponseWriter, r *http.Request) {
		switch to := r.PathValue("to"); to {
		case "ready", "unready":
			unready.Store(to == "unready")
		case "crash":
			os.Exit(3)
		default:
			http.NotFound(w, r)
		}
	})
	return mux
}
