package perform

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"

	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// serve lets a cluster answer as an API server does. An answer that is lost breaks the connection.
func serve(t *testing.T, c *cluster, seen func(*http.Request, []byte)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if seen != nil {
			seen(r, body)
		}
		answer := func() (map[string]any, error) { return c.Get(context.Background()) }
		if r.Method == http.MethodDelete {
			d := metav1.DeleteOptions{}
			if err := json.Unmarshal(body, &d); err != nil || d.Kind != "DeleteOptions" {
				t.Errorf("%v in %s", err, body)
			}
			answer = func() (map[string]any, error) {
				_, err := c.Delete(context.Background(), Deletion{*d.Preconditions.UID, *d.Preconditions.ResourceVersion, d.GracePeriodSeconds})
				return map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Success"}, err
			}
		}
		if r.Method == http.MethodPatch {
			patch := map[string]any{}
			if err := json.Unmarshal(body, &patch); err != nil {
				t.Error(err)
			}
			answer = func() (map[string]any, error) {
				out, _, err := c.Patch(context.Background(), patch)
				return out, err
			}
		}
		out, err := answer()
		status := apierrors.APIStatus(nil)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case errors.As(err, &status):
			s := status.Status()
			s.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(int(s.Code))
			_ = json.NewEncoder(w).Encode(s)
		case err != nil:
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Warning", `299 - "spec.x is deprecated"`)
			_ = json.NewEncoder(w).Encode(out)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, s *httptest.Server, target action.Target) Object {
	t.Helper()
	o, err := Connect(&rest.Config{Host: s.URL}, target, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// One write has all that makes it safe: the very object, the very version, and the token.
func TestTheWrite(t *testing.T) {
	c, wrote := newCluster(nil), ""
	s := serve(t, c, func(r *http.Request, body []byte) {
		if wrote = r.Method + " " + r.URL.String(); r.Method == http.MethodPatch {
			wrote += " " + r.Header.Get("Content-Type") + " " + string(body)
		}
	})
	r := Perform(t.Context(), client(t, s, scale().Target), scale(), brief)
	const want = `PATCH /apis/apps/v1/namespaces/shop/deployments/web?fieldManager=statecraft-action&timeout=900ms application/merge-patch+json ` +
		`{"metadata":{"annotations":{"remediation.statecraft.dev/last-action":"e1/done"},"resourceVersion":"10","uid":"u1"},"spec":{"replicas":5}}`
	if wrote != want {
		t.Error(wrote)
	}
	plan, err := action.Plan("scale_deployment", web(), scale().Parameters, execution)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"effect":"Applied","token":"e1/done","affected":1,"resources":[{"kind":"Deployment","namespace":"shop","name":"web","action":"patched",`+
		`"before":"spec.replicas is 2","after":"spec.replicas is 5"}],"warnings":["spec.x is deprecated"],"after":"`+plan.After.Hash+`"}`, string(r.JSON())); diff != "" {
		t.Error(diff)
	}
}

// A deletion has what makes it safe as well, and nothing of the pod is left to compare.
func TestTheDeletion(t *testing.T) {
	c, sent := clusterOf(pod, nil), ""
	s := serve(t, c, func(r *http.Request, body []byte) {
		if sent = r.Method + " " + r.URL.String(); r.Method == http.MethodDelete {
			sent += " " + r.Header.Get("Content-Type") + " " + string(body)
		}
	})
	command := deletion(action.Params{"gracePeriodSeconds": int64(7)})()
	r := Perform(t.Context(), client(t, s, command.Target), command, brief)
	const want = `DELETE /api/v1/namespaces/shop/pods/web?timeout=900ms application/json ` +
		`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":7,"preconditions":{"uid":"u1","resourceVersion":"10"}}`
	if sent != want {
		t.Error(sent)
	}
	if diff := cmp.Diff(`{"effect":"Applied","affected":1,"resources":[{"kind":"Pod","namespace":"shop","name":"web","action":"deleted",`+
		`"before":"metadata.uid is \"u1\"","after":"metadata.uid is absent"}],"warnings":["spec.x is deprecated"]}`, string(r.JSON())); diff != "" {
		t.Error(diff)
	}
	if c.hold(t, r); c.effects != 1 {
		t.Errorf("%d effects", c.effects)
	}
}

func TestPathsOfTheAPI(t *testing.T) {
	for want, target := range map[string]action.Target{
		"/api/v1/nodes/n1":                         {APIVersion: "v1", Resource: "nodes", Name: "n1"},
		"/api/v1/namespaces/shop/configmaps/web":   {APIVersion: "v1", Resource: "configmaps", Namespace: "shop", Name: "web"},
		"/apis/apps/v1/namespaces/a/daemonsets/ds": {APIVersion: "apps/v1", Resource: "daemonsets", Namespace: "a", Name: "ds"},
	} {
		got := ""
		s := serve(t, newCluster(nil), func(r *http.Request, _ []byte) { got = r.URL.Path })
		if _, err := client(t, s, target).Get(t.Context()); err != nil || got != want {
			t.Errorf("%s, want %s: %v", got, want, err)
		}
	}
	s := serve(t, newCluster(nil), nil)
	if _, err := client(t, s, action.Target{APIVersion: "v1", Resource: "nodes", Name: "../secrets"}).Get(t.Context()); err == nil {
		t.Error("a name that leads elsewhere")
	}
	if _, err := Connect(&rest.Config{}, action.Target{APIVersion: "a/b/c"}, time.Second); err == nil {
		t.Error("a version that is none")
	}
}

// The client sends a write once, whatever the answer: one that sends it again by itself reports the
// outcome of the last try, and the first may have been done.
func TestOverTheNetwork(t *testing.T) {
	for say, o := range map[string]struct {
		faults map[string]fault
		writes int
		want   action.Report
	}{
		"an answer is lost":                {faults: map[string]fault{"PATCH 1": lostAfter()}, writes: 1, want: action.Report{Effect: applied}},
		"a connection breaks":              {faults: map[string]fault{"PATCH 1": lostBefore(), "GET 1": failing(errLost)}, writes: 2, want: action.Report{Effect: applied}},
		"the API server asks to try again": {faults: map[string]fault{"PATCH 1": failing(down)}, writes: 2, want: action.Report{Effect: applied}},
		"a storm of conflicts": {faults: map[string]fault{"PATCH 1": first(writeStatus), "PATCH 2": first(writeStatus), "PATCH 3": first(writeStatus), "PATCH 4": first(writeStatus),
			"PATCH 5": first(writeStatus), "PATCH 6": first(writeStatus), "PATCH 7": first(writeStatus)}, writes: 8, want: action.Report{Effect: applied}},
		"another UID":      {faults: map[string]fault{"PATCH 1": first(recreate)}, writes: 1, want: action.Report{Effect: notApplied, Reason: action.ReasonTargetChanged}},
		"it is gone":       {faults: map[string]fault{"PATCH 1": first(remove)}, writes: 1, want: action.Report{Effect: notApplied, Reason: action.ReasonTargetChanged}},
		"it is forbidden":  {faults: map[string]fault{"PATCH 1": failing(forbidden)}, writes: 1, want: action.Report{Effect: notApplied, Reason: action.ReasonFailed}},
		"it is lost, then": {faults: map[string]fault{"PATCH 1": lostAfter(undo)}, writes: 1, want: action.Report{Effect: unknown}},
	} {
		t.Run(say, func(t *testing.T) {
			c := newCluster(o.faults)
			r := Perform(t.Context(), client(t, serve(t, c, nil), scale().Target), scale(), brief)
			c.hold(t, r)
			if r.Effect != o.want.Effect || r.Reason != o.want.Reason || c.patches() != o.writes {
				t.Errorf("%d writes: %+v", c.patches(), r)
			}
		})
	}
}

// A connection that is refused was never used: nothing was written.
func TestAServerThatIsNotThere(t *testing.T) {
	s := serve(t, newCluster(nil), nil)
	o := client(t, s, scale().Target)
	s.Close()
	_, _, err := o.Patch(t.Context(), map[string]any{})
	if answerOf(err) != busy {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if r := Perform(ctx, o, scale(), brief); r.Effect != notApplied || r.Reason != action.ReasonTimeout {
		t.Errorf("%+v", r)
	}
}

// What the program was told by a signal arrives while its write is under way: it finishes the write,
// and reports it.
func TestASignalDuringAWrite(t *testing.T) {
	for say, o := range map[string]struct {
		during fault
		want   action.Report
	}{
		"is answered": {during: first(), want: action.Report{Effect: applied}},
		"is lost":     {during: lostAfter(), want: action.Report{Effect: applied}},
		"is refused":  {during: failing(forbidden), want: action.Report{Effect: notApplied, Reason: action.ReasonFailed}},
		"conflicts":   {during: first(writeStatus), want: action.Report{Effect: notApplied, Reason: action.ReasonFailed}},
		"is not done": {during: lostBefore(), want: action.Report{Effect: unknown}},
	} {
		t.Run(say, func(t *testing.T) {
			ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
			defer stop()
			c := newCluster(map[string]fault{"PATCH 1": func(c *cluster, do func() (map[string]any, error)) (map[string]any, error) {
				if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
					t.Error(err)
				}
				<-ctx.Done()
				return o.during(c, do)
			}})
			p := brief
			if o.want.Effect != unknown { // which takes as long as it may
				p.Settle = time.Minute
			}
			r := Perform(ctx, client(t, serve(t, c, nil), scale().Target), scale(), p)
			c.hold(t, r)
			if r.Effect != o.want.Effect || r.Reason != o.want.Reason || c.patches() != 1 {
				t.Errorf("%d writes: %+v", c.patches(), r)
			}
		})
	}
}

// A write that is under way may take longer than the program looks for its outcome: that begins when
// its answer is lost.
func TestAWriteThatIsLostLongAfterTheSignal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := brief
	p.Settle = 400 * time.Millisecond
	c := newCluster(map[string]fault{"PATCH 1": func(c *cluster, do func() (map[string]any, error)) (map[string]any, error) {
		cancel()
		<-time.After(p.Settle + p.Settle/4)
		return lostAfter()(c, do)
	}})
	if r := Perform(ctx, c, scale(), p); r.Effect != applied {
		t.Errorf("%+v", r)
	}
}

func TestASignalBeforeTheWrite(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := newCluster(map[string]fault{"GET 1": first(func(*cluster) { cancel() })})
	r := Perform(ctx, client(t, serve(t, c, nil), scale().Target), scale(), brief)
	if r.Effect != notApplied || r.Error != "The action had not written Deployment web when it was told to stop" || c.patches() != 0 {
		t.Errorf("%d writes: %+v", c.patches(), r)
	}
}

func TestAWebhookThatChangesTheWrite(t *testing.T) {
	c := newCluster(map[string]fault{"PATCH 1": func(c *cluster, do func() (map[string]any, error)) (map[string]any, error) {
		_, _ = do()
		c.write(`{"spec":{"replicas":4}}`)
		return c.object, nil
	}})
	r := Perform(t.Context(), c, scale(), brief)
	is, err := action.ReadOf("scale_deployment", c.object, nil)
	if err != nil || r.Effect != applied || r.After != is.Hash || !strings.Contains(strings.Join(r.Warnings, ""), "stored something else than was planned") {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRun(t *testing.T) {
	for say, o := range map[string]struct {
		faults  map[string]fault
		args    func([]string) []string
		connect error
		code    int
		want    string
	}{
		"the action is done":       {code: 0, want: `{"effect":"Applied","token":"e1/done","affected":1,`},
		"the target was changed":   {faults: map[string]fault{"GET 1": first(resize)}, code: 1, want: `{"effect":"NotApplied","reason":"target_changed",`},
		"the outcome is not known": {faults: map[string]fault{"PATCH 1": lostAfter(undo)}, code: 2, want: `{"effect":"Unknown","error":"The action wrote`},
		"there is no cluster":      {connect: errors.New("no token"), code: 1, want: `{"effect":"NotApplied","reason":"execution_failed","error":"The action was not begun: no token"}`},
		"an argument is wrong": {args: func(args []string) []string { return append(args, "--uid=") }, code: 1,
			want: `{"effect":"NotApplied","reason":"execution_failed","error":"The action was not begun: flag --uid is missing"}`},
		"a flag is unknown": {args: func(args []string) []string { return append(args, "--sh=x") }, code: 1,
			want: `{"effect":"NotApplied","reason":"execution_failed","error":"The action was not begun: flag provided but not defined: -sh"}`},
	} {
		t.Run(say, func(t *testing.T) {
			command, log := scale(), strings.Builder{}
			command.TerminationLog = filepath.Join(t.TempDir(), "termination-log")
			args := command.Arguments()
			if o.args != nil {
				args = o.args(args)
			}
			code := Run(t.Context(), args, func(action.Target) (Object, error) { return newCluster(o.faults), o.connect }, &log)
			text, err := os.ReadFile(command.TerminationLog)
			if err != nil || code != o.code || !strings.HasPrefix(string(text), o.want) || log.String() != string(text)+"\n" {
				t.Errorf("%d %v %s", code, err, text)
			}
			if _, err := action.ParseReport(text); err != nil {
				t.Error(err)
			}
		})
	}
}
