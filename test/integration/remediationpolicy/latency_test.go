package remediationpolicy

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// often is how many questions are asked for a figure.
const often = 50

func TestLatency(t *testing.T) {
	q := policy.Question{Pack: defaultPack(t), Conditions: []policy.Condition{{Name: "deployment_available"}}}
	q.Input = policy.Input{
		Request:   policy.Request{Action: "rollout_restart", Target: policy.Target{Kind: "Deployment"}},
		Namespace: policy.Namespace{Name: "shop"},
		Pods:      &policy.Pods{Wanted: 2, Ready: 2},
		Now:       policy.Minute(time.Now()),
	}
	a := newAsker("evaluate")
	var took []time.Duration
	for i := range often {
		q.Input.Request.Target.Name = fmt.Sprintf("web-%d", i)
		began := time.Now()
		r := a.ask(t, q)
		took = append(took, time.Since(began))
		if !r.Answer.Allow || !r.Conditions["deployment_available"].Holds {
			t.Fatalf("got %+v", r)
		}
	}
	began := time.Now()
	a.ask(t, q)
	known := time.Since(began)
	slices.Sort(took)
	worst := a.worst()
	harness.Row(t, "median %s, 95 %% %s, most %s; %d MiB at most, %s of CPU; remembered %s",
		took[often/2].Round(time.Millisecond/10), took[often*95/100].Round(time.Millisecond/10), took[often-1].Round(time.Millisecond/10),
		worst.Memory>>20, worst.CPU, known)
	if took[often/2] > time.Second/2 {
		t.Errorf("half of the questions took longer than %s", took[often/2])
	}
}

func defaultPack(t *testing.T) policy.Pack {
	t.Helper()
	objects, err := config.Objects("remediation", config.Namespace, config.Defaults)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, o := range objects {
		if o.GetLabels()[remediationv1.PolicyLabel] == "true" {
			data, _, err := unstructured.NestedStringMap(o.Object, "data")
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(texts, data)
		}
	}
	return policy.NewPack(texts)
}
