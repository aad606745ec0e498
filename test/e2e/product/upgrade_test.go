package product

import (
	"strings"

	"github.com/statecraft-dev/statecraft/test/harness"
)

// upgrade does what the docs tell to do, with more values.
func (s *stage) upgrade(flags ...string) (string, error) {
	return s.bed.Helm(s.Context(), append([]string{"upgrade", release, s.load(second).Chart, "-n", s.system,
		"--reset-then-reuse-values", "--force-conflicts"}, flags...)...)
}

func (s *stage) mustUpgrade(flags ...string) {
	s.Helper()
	if out, err := s.upgrade(flags...); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
}

// takesEditsBack edits two objects of the chart by hand; an upgrade makes them what they were.
func (s *stage) takesEditsBack() {
	s.Helper()
	const policy = "validatingadmissionpolicy/requester.capture.statecraft.dev"
	shipped := s.kubectl("get", policy, "-o", "jsonpath={.spec}")
	s.kubectl("scale", "deployment/statecraft-valkey", "-n", s.system, "--replicas=1")
	s.kubectl("patch", policy, "--type=merge", "-p", `{"spec":{"failurePolicy":"Ignore"}}`)
	s.mustUpgrade()
	s.managersReady()
	if n := s.kubectl("get", "deployment/statecraft-valkey", "-n", s.system, "-o", "jsonpath={.spec.replicas}"); n != "2" {
		s.Errorf("%s managers after an upgrade", n)
	}
	if is := s.kubectl("get", policy, "-o", "jsonpath={.spec}"); is != shipped {
		s.Errorf("after an upgrade the policy is %s", is)
	}
}

// takesBadValuesBack upgrades with values that the chart refuses, which changes nothing; then with a flag that the manager
// refuses, during which the managers of before go on, until the flag is taken back.
func (s *stage) takesBadValuesBack() {
	s.Helper()
	if out, err := s.upgrade("--set=areas.valkey.replicas=0"); err == nil || !strings.Contains(err.Error(), "minimum: got 0, want 1") {
		s.Errorf("%v\n%s", err, out)
	}
	s.mustUpgrade("--set=areas.valkey.args={--no-such-flag}")
	ready := "jsonpath={.status.readyReplicas}"
	harness.Eventually(s, within, poll, func() error {
		if n := s.kubectl("get", "deployment/statecraft-valkey", "-n", s.system, "-o", "jsonpath={.status.unavailableReplicas}"); n == "" {
			return &notSaid{"no new manager", "one that does not start"}
		}
		return nil
	})
	if n := s.kubectl("get", "deployment/statecraft-valkey", "-n", s.system, "-o", ready); n == "" || n == "0" {
		s.Error("no manager is left while the new ones do not start")
	}
	s.mustUpgrade("--set-json=areas.valkey.args=[]")
	s.managersReady()
}

// switchesAnArea disables an area and enables it again: its kinds and objects stay.
func (s *stage) switchesAnArea() {
	s.Helper()
	s.mustUpgrade("--set=areas.valkey.enabled=false")
	s.kubectl("wait", "-n", s.system, "--for=delete", "deployment/statecraft-valkey", "--timeout="+within.String())
	if out := s.kubectl("get", "clusterrole,clusterrolebinding", "-o", "name"); strings.Contains(out, "/statecraft-valkey\n") {
		s.Error("an area that is off has rights")
	}
	s.kubectl("get", "vkc", "-A")
	s.mustUpgrade("--set=areas.valkey.enabled=true")
	s.managersReady()
}
