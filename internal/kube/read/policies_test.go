package read

import (
	"errors"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/statecraft-dev/statecraft/internal/guard"
)

// installed is when the policies of a test were.
var installed = metav1.NewTime(time.Unix(1_700_000_000, 0))

// policies are those that area capture ships, as they were installed.
func policies(t *testing.T) (guard.Shipped, []client.Object) {
	t.Helper()
	shipped, err := guard.ShippedFor("capture", "statecraft-system")
	if err != nil {
		t.Fatal(err)
	}
	var objects []client.Object
	for i := range shipped.Policies {
		objects = append(objects, shipped.Policies[i].DeepCopy())
	}
	for i := range shipped.Bindings {
		objects = append(objects, shipped.Bindings[i].DeepCopy())
	}
	for _, object := range objects {
		object.SetCreationTimestamp(installed)
		object.SetGeneration(1)
	}
	return shipped, objects
}

func look(t *testing.T, shipped guard.Shipped, objects []client.Object) guard.Verdict {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(admissionv1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	live := Live{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()}
	verdict, err := Policies{Live: live, Shipped: shipped, Namespace: "statecraft-system", Area: "capture"}.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

// TestPoliciesAreRead installs the policies that are shipped, and takes one away.
func TestPoliciesAreRead(t *testing.T) {
	shipped, objects := policies(t)
	early, late := installed.Add(-time.Hour), installed.Add(time.Hour)
	for name, tc := range map[string]struct {
		objects  []client.Object
		made     time.Time
		gap      bool
		tooEarly bool
	}{
		"all are there, and the request is younger":  {objects, late, false, false},
		"all are there, and the request is older":    {objects, early, false, true},
		"one is missing, and the request is younger": {objects[1:], late, true, false},
		"one is missing, and the request is older":   {objects[1:], early, true, false},
	} {
		v := look(t, shipped, tc.objects)
		if gap, tooEarly := v.Gap != "", v.TooEarly("the request", tc.made) != ""; gap != tc.gap || tooEarly != tc.tooEarly {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestTheRecordOfAnAreaIsRead: one policy was changed and changed back, and a leader of that area has recorded that later.
func TestTheRecordOfAnAreaIsRead(t *testing.T) {
	shipped, objects := policies(t)
	objects[0].SetGeneration(3)
	next, _, _ := look(t, shipped, objects).Next()
	record := func(area string) *corev1.ConfigMap {
		cm, err := next.ConfigMap(area, "statecraft-system")
		if err != nil {
			t.Fatal(err)
		}
		cm.CreationTimestamp = metav1.NewTime(installed.Add(time.Hour))
		return cm
	}
	before, after := installed.Add(30*time.Minute), installed.Add(2*time.Hour)
	for name, there := range map[string][]client.Object{
		"nobody":                 objects,
		"a leader of other area": append([]client.Object{record("edge")}, objects...),
	} {
		if v := look(t, shipped, there); v.TooEarly("the request", after) == "" {
			t.Errorf("a policy is in force whose last change was recorded by %s", name)
		}
	}
	v := look(t, shipped, append(objects, record("capture")))
	if v.TooEarly("the request", before) == "" || v.TooEarly("the request", after) != "" {
		t.Errorf("it is in force since %s", v.Since)
	}
	if _, old, changed := v.Next(); changed || old == nil {
		t.Error("the record is replaced by the same one")
	}
}
