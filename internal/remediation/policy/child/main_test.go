package child

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// The tests run their own binary as the process that answers. It takes no limits here, because the
// race detector needs more memory than they allow: test/integration/remediationpolicy tries them.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && behaviours[os.Args[1]] != nil {
		syscall.Exit(behaviours[os.Args[1]]()) // os.Exit would wait for the race detector
	}
	os.Exit(m.Run())
}

var behaviours = map[string]func() int{
	"answer": func() int {
		return code(serve(os.Stdin, os.Stdout, func(q policy.Question) policy.Reply {
			return policy.Reply{
				Answer:  policy.Answer{Allow: true, Reasons: []string{strconv.Itoa(os.Getpid()), fmt.Sprint(os.Environ())}},
				Problem: q.Input.Change.Summary,
			}
		}))
	},
	"slow": func() int {
		return code(serve(os.Stdin, os.Stdout, func(policy.Question) policy.Reply {
			began := time.Now()
			<-time.After(slowness)
			return policy.Reply{Answer: policy.Answer{Reasons: []string{stamp(began), stamp(time.Now())}}}
		}))
	},
	"panic": func() int {
		return code(serve(os.Stdin, os.Stdout, func(policy.Question) policy.Reply { panic("secret") }))
	},
	"idle":   func() int { <-time.After(time.Hour); return 0 },
	"refuse": func() int { return complain("secret", 1) },
	"usage":  func() int { return complain("usage: secret", 2) },
	"memory": func() int { return complain("fatal error: runtime: out of memory\n\ngoroutine 1 [running]:", 2) },
	"segfault": func() int {
		return complain("SIGSEGV: segmentation violation\nPC=0x439fdd m=3 sigcode=1 addr=0x0\n\ngoroutine 0 gp=0x3a40 m=3 mp=0x80 [idle]:", 2)
	},
	"bug": func() int {
		return complain("panic: runtime error: secret\n\ngoroutine 7 [running]:\nruntime.gopanic(", 2)
	},
	"garbage": func() int { fmt.Fprint(os.Stdout, "secret"); return 0 },
	"silent":  func() int { return 0 },
	"endless": func() int {
		for {
			if _, err := os.Stdout.Write(make([]byte, 1<<16)); err != nil {
				return 1
			}
		}
	},
	"noisy": func() int {
		for range 1000 {
			_, _ = os.Stderr.Write(make([]byte, 1<<12))
		}
		return code(json.NewEncoder(os.Stdout).Encode(policy.Reply{Answer: policy.Answer{Allow: true}}))
	},
}

const slowness = 100 * time.Millisecond

func stamp(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func complain(text string, code int) int {
	fmt.Fprint(os.Stderr, text)
	return code
}

func code(err error) int {
	if err != nil {
		return complain(err.Error(), 1)
	}
	return 0
}
