package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
)

// dial connects and logs on. It is done here and not by the client, because that one
// knows a single password.
func (a Access) dial(ctx context.Context, addr string, dialer *net.Dialer, secure *tls.Config) (net.Conn, error) {
	conn, err := connect(ctx, addr, dialer, secure)
	if err != nil {
		return nil, err
	}
	if err := a.introduce(conn, dialer.Timeout); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// introduce logs on, and asks the server who it is. Both are done once: a connection never leads to another process.
func (a Access) introduce(conn net.Conn, within time.Duration) error {
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	if a.Login != nil {
		if err := a.logOn(conn); err != nil {
			return err
		}
	}
	if a.mark != "" {
		if err := verifyMark(conn, a.mark); err != nil {
			return err
		}
	}
	return conn.SetDeadline(time.Time{})
}

func connect(ctx context.Context, addr string, dialer *net.Dialer, secure *tls.Config) (net.Conn, error) {
	if secure == nil {
		return dialer.DialContext(ctx, "tcp", addr)
	}
	return (&tls.Dialer{NetDialer: dialer, Config: secure}).DialContext(ctx, "tcp", addr)
}

// logOn offers one password after the other, on the same connection.
func (a Access) logOn(conn net.Conn) error {
	user, passwords, err := a.Login()
	if err != nil {
		return fmt.Errorf("find password: %w", err)
	}
	refused := fmt.Errorf("%w: there is no password", ErrDenied)
	for _, p := range passwords {
		if refused = authenticate(conn, user, p); !errors.Is(refused, ErrDenied) {
			break
		}
	}
	if refused != nil {
		return fmt.Errorf("log on as %s: %w", user, refused)
	}
	return nil
}

func authenticate(conn io.ReadWriter, user string, p access.Password) error {
	reply, err := exchange(conn, "AUTH", user, p.Reveal())
	switch {
	case err != nil:
		return err
	case strings.HasPrefix(reply, "+"):
		return nil
	case strings.HasPrefix(reply, "-"):
		return refusal(reply[1:])
	}
	return fmt.Errorf("%w: %.40q", ErrMalformed, reply)
}

// exchange sends a command and returns the first line of what is answered.
func exchange(conn io.ReadWriter, words ...string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(conn, b.String()); err != nil {
		return "", err
	}
	return readLine(conn)
}

// readLine reads up to the end of a line, and not a byte more: what follows is the client's.
func readLine(r io.Reader) (string, error) {
	const most = 512
	var text []byte
	for one := make([]byte, 1); len(text) < most; {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return strings.TrimRight(string(text), "\r"), nil
		}
		text = append(text, one[0])
	}
	return "", fmt.Errorf("%w: a line without end", ErrMalformed)
}
