package plugin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// office is an API server with one execution, which takes every decision unless it is told to refuse.
type office struct {
	*httptest.Server
	execution map[string]any
	refuses   string // with these words
	read      int
	tried     []remediationv1.ExecutionApproval // as dry runs
	written   []remediationv1.ExecutionApproval
}

func newOffice(t *testing.T, file string) *office {
	t.Helper()
	var s situation
	if err := yaml.UnmarshalStrict(contents(t, file), &s); err != nil {
		t.Fatal(err)
	}
	o := &office{execution: s.Object}
	o.Server = httptest.NewServer(o)
	t.Cleanup(o.Close)
	return o
}

// ServeHTTP implements http.Handler.
func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const in = "/apis/remediation.statecraft.dev/v1alpha1/namespaces/shop/"
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodGet && r.URL.Path == in+"kubernetesexecutions/more":
		o.read++
		_ = json.NewEncoder(w).Encode(o.execution)
	case r.Method == http.MethodPost && r.URL.Path == in+"executionapprovals" && o.refuses != "":
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":%q}`, o.refuses)
	case r.Method == http.MethodPost && r.URL.Path == in+"executionapprovals":
		var a remediationv1.ExecutionApproval
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &a)
		if r.URL.Query().Get("dryRun") == "All" {
			o.tried = append(o.tried, a)
		} else {
			o.written = append(o.written, a)
		}
		var fields map[string]any
		_ = json.Unmarshal(body, &fields)
		fields["metadata"].(map[string]any)["name"] = "more-x7k2p"
		fields["spec"].(map[string]any)["approver"] = map[string]any{"username": "olga"}
		_ = json.NewEncoder(w).Encode(fields)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	}
}

// at runs the program at a terminal, where a person types an answer; "" is no terminal.
func (o *office) at(t *testing.T, answer string, args ...string) (code int, out, problems string) {
	t.Helper()
	cmd := newCommand(&options{
		config: genericclioptions.NewConfigFlags(true), now: func() time.Time { return looked },
		terminal: func(io.Reader) bool { return answer != "" },
	})
	cmd.SetIn(strings.NewReader(answer))
	var stdout, stderr strings.Builder
	args = append(args, "--server="+o.URL, "-n", "shop", "--cache-dir="+t.TempDir())
	code = run(t.Context(), cmd, args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// looked is when people look at the execution that waits.
var looked = time.Date(2026, 5, 17, 9, 34, 15, 0, time.UTC)

const (
	awaited  = "testdata/why/approval_awaited.yaml"
	aDigest  = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
	anUID    = "0d3a6c4e-9d0f-4c39-8f0e-0f8f3a1c2b5d"
	noPerson = "Nothing was decided, because there is no terminal to ask."
)

// What is approved is what was shown: digest and UID are of the one read, and nobody is asked twice.
func TestApprove(t *testing.T) {
	o := newOffice(t, awaited)
	code, out, problems := o.at(t, "yes\n", "approve", "more", "--reason=The sale begins at noon.", "--valid-for=2h", "--include-rollback")
	if code != AsWished || o.read != 1 || len(o.tried) != 1 || len(o.written) != 1 {
		t.Fatalf("%d, read %d times, tried %d, written %d: %s%s", code, o.read, len(o.tried), len(o.written), out, problems)
	}
	for _, a := range []remediationv1.ExecutionApproval{o.tried[0], o.written[0]} {
		s := a.Spec
		if s.PlanDigest != aDigest || s.ExecutionRef.UID != anUID || s.ExecutionRef.Name != "more" || s.Decision != remediationv1.Approved ||
			!s.IncludesRollback || s.Reason != "The sale begins at noon." || !s.ValidUntil.Time.Equal(looked.Add(2*time.Hour)) || s.Approver != nil {
			t.Errorf("%+v", s)
		}
	}
	golden(t, "testdata/decide/approve.golden", out+problems)
	_, out, problems = o.at(t, "yes\n", "reject", "kx/more")
	golden(t, "testdata/decide/reject.golden", out+problems)
	if d := o.written[1].Spec; d.Decision != remediationv1.Rejected || d.PlanDigest != aDigest || d.ValidUntil != nil {
		t.Errorf("%+v", d)
	}
}

// Nothing is written unless a person says the very word, or said so before.
func TestNothingIsDecidedUnasked(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		args   []string
		code   int
		writes int
		says   string
	}{
		"a person says yes":            {"yes\n", nil, AsWished, 1, "Approved by olga"},
		"a person says no":             {"no\n", nil, NotAsWished, 0, "Nothing was decided."},
		"a person says y":              {"y\n", nil, NotAsWished, 0, "Nothing was decided."},
		"the input ends":               {" ", nil, NotAsWished, 0, "Nothing was decided."},
		"no terminal":                  {"", nil, NotAsWished, 0, noPerson},
		"no terminal, but sure":        {"", []string{"--yes"}, AsWished, 1, "Approved by olga"},
		"a dry run":                    {"", []string{"--dry-run=server"}, AsWished, 0, "Nothing was written."},
		"a dry run, sure":              {"", []string{"--dry-run=server", "--yes"}, AsWished, 0, "Nothing was written."},
		"the plan that was looked at":  {"", []string{"--yes", "--digest=" + aDigest}, AsWished, 1, "Approved by olga"},
		"another plan":                 {"", []string{"--yes", "--digest=" + strings.Repeat("0", 64)}, NotAsWished, 0, "The plan has changed since you looked at it"},
		"an unknown dry run":           {"", []string{"--yes", "--dry-run=client"}, CouldNotLook, 0, "choose server or none"},
		"longer than a day":            {"", []string{"--yes", "--valid-for=25h"}, CouldNotLook, 0, "give at most 24h"},
		"a time that is over":          {"", []string{"--yes", "--valid-for=-1m"}, CouldNotLook, 0, "cannot hold"},
		"data, and a person says yes":  {"yes\n", []string{"-o", "json"}, AsWished, 1, `"kind": "ExecutionApproval"`},
		"data, and no terminal to ask": {"", []string{"-o", "yaml"}, NotAsWished, 0, noPerson},
	} {
		o := newOffice(t, awaited)
		code, out, problems := o.at(t, tc.answer, append([]string{"approve", "more"}, tc.args...)...)
		if code != tc.code || len(o.written) != tc.writes || !strings.Contains(strings.Join(strings.Fields(out+problems), " "), tc.says) {
			t.Errorf("%s: %d, %d writes: %s%s", name, code, len(o.written), out, problems)
		}
		if o.read > 1 {
			t.Errorf("%s: the execution was read %d times", name, o.read)
		}
	}
}

// The command that is shown decides about what was shown, repeats what was given, and shows no password.
func TestTheCommandToRun(t *testing.T) {
	o := newOffice(t, awaited)
	_, _, problems := o.at(t, "", "approve", "more", "--reason=it's noon", "--as=olga", "--as-group=a", "--as-group=b", "--token=hush")
	want := "\n  kubectl statecraft approve more -n shop --as=olga --as-group=a --as-group=b --cache-dir="
	if !strings.Contains(problems, want) || !strings.Contains(problems, ` '--reason=it'\''s noon' --server=`) ||
		!strings.HasSuffix(problems, " --yes --digest="+aDigest+"\n") || strings.Contains(problems, "hush") {
		t.Error(problems)
	}
}

// Data goes where data is expected, and nothing else.
func TestDataIsAlone(t *testing.T) {
	o := newOffice(t, awaited)
	_, out, problems := o.at(t, "", "approve", "more", "--yes", "-o", "json")
	var a remediationv1.ExecutionApproval
	if err := json.Unmarshal([]byte(out), &a); err != nil || a.Spec.PlanDigest != aDigest || a.Name == "" {
		t.Errorf("%v: %s", err, out)
	}
	if !strings.Contains(problems, "spec.replicas: 2 → 5") {
		t.Errorf("the plan is not shown: %s", problems)
	}
}

// Each refusal says the next step.
func TestRefusals(t *testing.T) {
	for words, next := range map[string]string{
		"denied request: the requester of an execution cannot approve, reject or acknowledge it": "Another person who may approve in namespace shop must decide",
		"denied request: clerk may not approve kubernetesexecutions more in namespace shop":      "kubectl create rolebinding approvers -n shop --clusterrole=statecraft-remediation-approver",
		`User "clerk" cannot create resource "executionapprovals" in API group`:                  "kubectl create rolebinding approvers -n shop --clusterrole=statecraft-remediation-approver",
		"denied request: a person decides about an execution, and not a ServiceAccount":          "Log on as a person who may approve",
		"quota": "The API server refuses the decision",
	} {
		o := newOffice(t, awaited)
		o.refuses = words
		code, out, problems := o.at(t, "yes\n", "approve", "more", "--yes")
		said := strings.Join(strings.Fields(problems), " ")
		if code != NotAsWished || !strings.Contains(said, next) || !strings.Contains(out, "spec.replicas") || strings.Contains(said, "%!") || strings.Contains(said, "denied request") {
			t.Errorf("%s: %d %s", words, code, problems)
		}
	}
}

// The verbs that decide can write decisions of one namespace, and read no more than the others.
func TestNothingButDecisionsIsSent(t *testing.T) {
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Method+" "+r.URL.Path)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	base := server.URL + "/clusters/one"
	path, err := decisions(&rest.Config{Host: base}, "shop")
	if err != nil || path != "/clusters/one/apis/remediation.statecraft.dev/v1alpha1/namespaces/shop/executionapprovals" {
		t.Fatalf("%s: %v", path, err)
	}
	client := http.Client{Transport: onlyDecides{http.DefaultTransport, path}}
	for _, request := range []string{
		"PUT " + path, "PATCH " + path + "/a", "DELETE " + path + "/a", "DELETE " + path, "POST " + path + "/a", "POST " + path + "/",
		"POST " + strings.Replace(path, "shop", "depot", 1), "POST " + strings.Replace(path, "executionapprovals", "kubernetesexecutions", 1),
		"POST /api/v1/namespaces/shop/pods", "GET /api/v1/namespaces/shop/secrets", "GET /api/v1/namespaces/shop/secrets/a",
	} {
		method, at, _ := strings.Cut(request, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+at, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := client.Do(req); err == nil {
			_ = answer.Body.Close()
			t.Errorf("%s was sent", request)
		}
	}
	d, err := NewDecider(&rest.Config{Host: base}, "shop")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = d.Decide(t.Context(), remediationv1.ExecutionApprovalSpec{}, false)
	if len(sent) != 1 || sent[0] != "POST "+path {
		t.Errorf("sent %v", sent)
	}
	for _, namespace := range []string{"", "shop/pods/web/exec?x="} {
		if _, err := NewDecider(&rest.Config{Host: base}, namespace); err == nil {
			t.Errorf("%q is taken for a namespace", namespace)
		}
	}
}
