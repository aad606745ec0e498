package product

import (
	"fmt"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// runsAClass makes a class of functions, and waits until it is available.
func (s *stage) runsAClass(namespace string) {
	s.Helper()
	harness.Apply(s, s.bed, fmt.Sprintf(`apiVersion: runtime.statecraft.dev/v1alpha1
kind: ClassRuntime
metadata: {name: cart, namespace: %s}
spec:
  functions:
  - key: add
    image: %s
    command: [sleep, "86400"]
    podTemplate:
      spec:
        terminationGracePeriodSeconds: 0
        containers:
        - {name: function, imagePullPolicy: Never}
`, namespace, images.Busybox))
	s.condition(namespace, "crt/cart", "Ready")
}

// asksForARepair asks for an action in a namespace of production, and waits until a person must approve it.
func (s *stage) asksForARepair(namespace string) {
	s.Helper()
	s.kubectl("label", "namespace", namespace, "environment=production", remediationv1.EnabledLabel+"=true")
	s.kubectl("create", "deployment", "web", "-n", namespace, "--image="+images.Busybox, "--replicas=0")
	harness.Apply(s, s.bed, fmt.Sprintf(`apiVersion: remediation.statecraft.dev/v1alpha1
kind: KubernetesExecution
metadata: {name: more, namespace: %s}
spec:
  action: scale_deployment
  target: {kind: Deployment, name: web}
  parameters: {replicas: 1}
`, namespace))
	s.kubectl("wait", "-n", namespace, "--for=jsonpath={.status.phase}=waiting_approval", "kx/more", "--timeout="+within.String())
}
