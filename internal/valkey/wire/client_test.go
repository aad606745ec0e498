package wire

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// stub is a server of a few words: what it answers to which command. What it is not
// taught it refuses.
type stub struct {
	net.Listener
	answers map[string]string        // in the protocol's own words
	slow    map[string]time.Duration // by first word, before it answers

	mu    sync.Mutex
	heard []string
}

func newStub(t *testing.T, answers map[string]string) *stub {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stub{Listener: l, answers: answers}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return s
}

func (s *stub) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	for {
		words, err := command(r)
		if err != nil {
			return
		}
		text := strings.Join(words, " ")
		s.mu.Lock()
		s.heard = append(s.heard, text)
		s.mu.Unlock()
		if wait := s.slow[words[0]]; wait > 0 {
			<-time.After(wait)
		}
		answer, known := s.answers[text]
		switch {
		case known:
		case words[0] == "CLIENT", words[0] == "HELLO", words[0] == "PING":
			answer = "+OK\r\n"
		default:
			answer = "-ERR unknown command\r\n"
		}
		if _, err := conn.Write([]byte(answer)); err != nil {
			return
		}
	}
}

func command(r *bufio.Reader) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(line[1:]))
	words := make([]string, 0, max(n, 0))
	for range n {
		if _, err = r.ReadString('\n'); err != nil { // the length of the word
			return nil, err
		}
		word, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		words = append(words, strings.TrimSpace(word))
	}
	return words, err
}

// patient is a client for tests in which time does not matter: on a busy machine even a stub is slow.
func patient() *Client { return NewClient().Patient(time.Minute) }

func bulk(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }

// podOf is the mark of a server.
func podOf(id string) string { return "shop/web-0-0/" + id[:8] }

// alone is all that a blank server answers.
func alone(id string) map[string]string {
	return map[string]string{
		"CLUSTER MYID":      bulk(id),
		"CLUSTER MYSHARDID": bulk(idc),
		"CLUSTER NODES":     bulk(id + " :6379@16379 myself,master - 0 0 0 connected\n"),
		"CLUSTER INFO":      bulk("cluster_state:fail\r\n"),
		"INFO server persistence memory replication keyspace": bulk("# Server\r\nvalkey_version:8.1.1\r\n"),
		"CLUSTER SHARDS": "*1\r\n*4\r\n$5\r\nslots\r\n*0\r\n$5\r\nnodes\r\n*1\r\n*2\r\n$2\r\nid\r\n" + bulk(id),
		"ROLE":           "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n",
		"CONFIG GET cluster-node-timeout cluster-announce-human-nodename": "*4\r\n" + bulk("cluster-node-timeout") + bulk("5000") + bulk(podMark) + bulk(podOf(id)),
		"CONFIG GET cluster-announce-human-nodename":                      "*2\r\n" + bulk(podMark) + bulk(podOf(id)),
	}
}

func TestAskIsOneRoundTrip(t *testing.T) {
	s := newStub(t, alone(ida))
	c := patient()
	defer c.Close()
	server, err := c.Ask(t.Context(), s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if !server.Blank() || server.ID != ida || server.Version != "8.1.1" || server.Timeout != 5000 || server.OK || server.Mark != podOf(ida) {
		t.Errorf("%+v", server)
	}
}

func TestOnlyTheServerThatIsMeantIsTold(t *testing.T) {
	other := newStub(t, alone(idb))
	host, port, _ := net.SplitHostPort(other.Addr().String())
	answers := alone(ida)
	answers["CLUSTER MEET "+host+" "+port] = "+OK\r\n"
	s := newStub(t, answers)
	c := patient()
	defer c.Close()
	addr, met := s.Addr().String(), []Target{{Addr: other.Addr().String(), ID: idb, Mark: podOf(idb)}}
	for name, tc := range map[string]struct {
		at Target
		to []Target
	}{
		"who is told is another":                      {Target{Addr: addr, ID: idb}, met},
		"who is told is of another pod":               {Target{Addr: addr, ID: ida, Mark: podOf(idb)}, met},
		"who is met is another":                       {Target{Addr: addr, ID: ida}, []Target{{Addr: met[0].Addr, ID: idc}}},
		"who is met has its ID and is of another pod": {Target{Addr: addr, ID: ida}, []Target{{Addr: met[0].Addr, ID: idb, Mark: podOf(idc)}}},
	} {
		if err := c.Meet(t.Context(), tc.at, tc.to); !errors.Is(err, ErrOtherServer) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	s.mu.Lock()
	heard := strings.Join(s.heard, "\n")
	s.mu.Unlock()
	if strings.Contains(heard, "MEET") {
		t.Errorf("the wrong server was told:\n%s", heard)
	}
	if err := c.Meet(t.Context(), Target{Addr: addr, ID: ida, Mark: podOf(ida)}, met); err != nil {
		t.Error(err)
	}
	if err := c.Replicate(t.Context(), Target{Addr: addr, ID: ida}, idb); !errors.Is(err, ErrRefused) {
		t.Errorf("error %v", err)
	}
}

// A server that accepts and says nothing must not hold anybody up.
func TestSilenceIsAnError(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	c := NewClient()
	defer c.Close()
	began := time.Now()
	if _, err := c.Ask(t.Context(), addr); !errors.Is(err, ErrUnreachable) {
		t.Errorf("a mute server: %v", err)
	}
	if took := time.Since(began); took > 5*patience {
		t.Errorf("a mute server held us up for %s", took)
	}
	_ = l.Close()
	if _, err := c.Ask(t.Context(), addr); !errors.Is(err, ErrUnreachable) {
		t.Errorf("nobody there: %v", err)
	}
}

// A server that takes longer than a second is unreachable, unless there is time for it.
func TestAPatientClientWaits(t *testing.T) {
	s := newStub(t, alone(ida))
	s.slow = map[string]time.Duration{"ROLE": patience + patience/4}
	for name, tc := range map[string]struct {
		client *Client
		want   error
	}{
		"as it is": {NewClient(), ErrUnreachable},
		"patient":  {patient(), nil},
	} {
		_, err := tc.client.Ask(t.Context(), s.Addr().String())
		tc.client.Close()
		if !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

// Addresses come and go with pods: their clients must not stay.
func TestIdleClientsAreLetGo(t *testing.T) {
	s := newStub(t, alone(ida))
	c := patient()
	defer c.Close()
	if _, err := c.Ask(t.Context(), s.Addr().String()); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep(time.Now().Add(idle))
	if len(c.clients) != 1 {
		t.Error("a client that was just used is gone")
	}
	c.sweep(time.Now().Add(10 * idle))
	if len(c.clients) != 0 {
		t.Error("a client that nobody uses is kept")
	}
}
