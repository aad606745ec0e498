package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

var served = []Resource{
	core("services", "Service"), core("secrets", "Secret"), core("configmaps", "ConfigMap"), core("events", "Event"),
	grouped("events.k8s.io", "events", "Event"), grouped("apps", "deployments", "Deployment"),
	grouped("discovery.k8s.io", "endpointslices", "EndpointSlice"), grouped("coordination.k8s.io", "leases", "Lease"),
	grouped("capture.statecraft.dev", "manifestcapturerequests", "ManifestCaptureRequest"),
	grouped("valkey.statecraft.dev", "valkeyupgrades", "ValkeyUpgrade"),
	core("serviceaccounts", "ServiceAccount"), core("persistentvolumeclaims", "PersistentVolumeClaim"),
	grouped("example.com", "gadgets", "Gadget"),
	{Group: "metrics.k8s.io", Version: "v1", Resource: "pods", Kind: "PodMetrics", Aggregated: true},
}

func titles(p Plan) (all []string) {
	for _, q := range p.Queries {
		title := q.Title()
		if q.Name != "" {
			title += "/" + q.Name
		}
		if q.Labels != "" {
			title += "?" + q.Labels
		}
		all = append(all, title)
	}
	return all
}

func TestPlans(t *testing.T) {
	everything := []string{"serviceaccounts", "configmaps", "persistentvolumeclaims", "endpointslices.discovery.k8s.io", "gadgets.example.com", "deployments.apps", "services"}
	for what, c := range map[string]struct {
		spec capturev1.ManifestCaptureRequestSpec
		want []string
		skip []meta.Reason
	}{
		"everything, as it is restored": {
			spec: capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{}},
			want: everything, skip: []meta.Reason{ReasonNotAsked, ReasonNotAtOneTime},
		},
		"with Secrets": {
			spec: capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{}, IncludeSecrets: true},
			want: []string{"serviceaccounts", "configmaps", "secrets", "persistentvolumeclaims", "endpointslices.discovery.k8s.io", "gadgets.example.com", "deployments.apps", "services"},
			skip: []meta.Reason{ReasonNotAtOneTime},
		},
		"by label": {
			spec: capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{
				Resources:     []capturev1.ManifestResource{{Resource: "services"}, {Group: "apps", Resource: "deployments"}, {Resource: "services"}},
				LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}},
			}},
			want: []string{"deployments.apps?app=shop", "services?app=shop"},
		},
		"by name, and the rest": {
			spec: capturev1.ManifestCaptureRequestSpec{
				Targets:  []capturev1.ManifestTarget{{Resource: "configmaps", Name: "b"}, {Resource: "configmaps", Name: "a"}, {Resource: "configmaps", Name: "b"}, {Resource: "services", Name: "s"}},
				Selector: &capturev1.ManifestSelector{Resources: []capturev1.ManifestResource{{Resource: "configmaps"}}},
			},
			want: []string{"configmaps/a", "configmaps/b", "configmaps", "services/s"},
		},
	} {
		p, err := PlanOf(&c.spec, served)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var skip []meta.Reason
		for _, s := range p.Skipped {
			skip = append(skip, s.Reason)
		}
		if diff := cmp.Diff(c.want, titles(p)); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		if diff := cmp.Diff(c.skip, skip); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}

func TestWhatCannotBeCapturedIsRefused(t *testing.T) {
	for what, resource := range map[string]capturev1.ManifestResource{
		"what is not served":        {Group: "example.com", Resource: "unknowns"},
		"another group":             {Group: "example.com", Resource: "configmaps"},
		"Events":                    {Resource: "events"},
		"Leases":                    {Group: "coordination.k8s.io", Resource: "leases"},
		"our own requests":          {Group: "capture.statecraft.dev", Resource: "manifestcapturerequests"},
		"upgrades":                  {Group: "valkey.statecraft.dev", Resource: "valkeyupgrades"},
		"what others serve":         {Group: "metrics.k8s.io", Resource: "pods"},
		"Secrets, without a saying": {Resource: "secrets"},
	} {
		_, err := PlanOf(&capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{Resources: []capturev1.ManifestResource{resource}}}, served)
		refused(t, err, capturev1.ReasonInvalidTarget)
		_, named := PlanOf(&capturev1.ManifestCaptureRequestSpec{Targets: []capturev1.ManifestTarget{{Group: resource.Group, Resource: resource.Resource, Name: "a"}}}, served)
		if refused(t, named, capturev1.ReasonInvalidTarget); t.Failed() {
			t.Fatal(what)
		}
	}
	_, err := PlanOf(&capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{}}, nil)
	refused(t, err, capturev1.ReasonInvalidTarget)
}

// TestOnlyWhatIsNotNamedIsOptional: what a request names is wanted, or the request fails.
func TestOnlyWhatIsNotNamedIsOptional(t *testing.T) {
	skip := capturev1.ManifestSelector{OnForbidden: capturev1.ForbiddenSkip}
	named := skip
	named.Resources = []capturev1.ManifestResource{{Resource: "services"}}
	for what, c := range map[string]struct {
		spec capturev1.ManifestCaptureRequestSpec
		want bool
	}{
		"everything":             {capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{}}, false},
		"everything there is":    {capturev1.ManifestCaptureRequestSpec{Selector: &skip}, true},
		"resources that it says": {capturev1.ManifestCaptureRequestSpec{Selector: &named}, false},
	} {
		c.spec.Targets = []capturev1.ManifestTarget{{Resource: "services", Name: "web"}}
		p, err := PlanOf(&c.spec, served)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range p.Queries {
			if q.Optional != (c.want && q.Name == "") {
				t.Errorf("%s: %s %s is optional: %v", what, q.Title(), q.Name, q.Optional)
			}
		}
	}
}

func TestTheMissingRuleIsExact(t *testing.T) {
	q := Query{Resource: grouped("apps", "deployments", "Deployment"), Name: "a"}
	if got, want := q.Missing(), `apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
