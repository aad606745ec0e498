package observe

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// TestTheSwitch: whatever an administrator writes into the emergency brake holds everything, except for false.
func TestTheSwitch(t *testing.T) {
	for name, tc := range map[string]struct {
		data  map[string]string
		holds bool
	}{
		"true": {map[string]string{"suspended": "true"}, true}, "True": {map[string]string{"suspended": "True"}, true},
		"yes": {map[string]string{"suspended": "yes"}, true}, "1": {map[string]string{"suspended": "1"}, true},
		"false": {map[string]string{"suspended": "false"}, false}, "empty": {map[string]string{"suspended": ""}, false},
		"another key": {map[string]string{"policies": "true"}, false}, "nothing": {nil, false},
	} {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: SwitchName}, Data: tc.data}
		g := Gates{Live: read.Live{Reader: fake.NewClientBuilder().WithObjects(cm).Build()}, Namespace: "system"}
		if why, err := g.suspended(t.Context()); err != nil || (why != "") != tc.holds {
			t.Errorf("%s: %q, %v", name, why, err)
		}
	}
}
