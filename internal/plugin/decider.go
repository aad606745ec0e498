package plugin

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	kx "github.com/statecraft-dev/statecraft/internal/remediation/explain"
)

// Decider reads executions of one namespace, and writes what a person decided about them. It writes nothing else.
type Decider struct {
	*Reader
	namespace string
	decisions dynamic.ResourceInterface
}

// NewDecider makes one for a namespace.
func NewDecider(cfg *rest.Config, namespace string) (*Decider, error) {
	r, err := NewReader(cfg)
	if err != nil {
		return nil, err
	}
	path, err := decisions(cfg, namespace)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(through(cfg, func(next http.RoundTripper) http.RoundTripper { return onlyDecides{next, path} }))
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return &Decider{r, namespace, client.Resource(remediationv1.GroupVersion.WithResource("executionapprovals")).Namespace(namespace)}, nil
}

// Execution reads an execution. What is shown of it, and what is decided about it, come from this one read.
func (d *Decider) Execution(ctx context.Context, name string) (*remediationv1.KubernetesExecution, error) {
	obj, err := d.objects.Resource(remediationv1.GroupVersion.WithResource("kubernetesexecutions")).Namespace(d.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read execution: %w", err)
	}
	return kx.Read(obj)
}

// Decide writes a decision, or asks the API server whether it would take it. The answer says in whose name it is.
func (d *Decider) Decide(ctx context.Context, spec remediationv1.ExecutionApprovalSpec, dryRun bool) (*remediationv1.ExecutionApproval, error) {
	a := &remediationv1.ExecutionApproval{
		TypeMeta:   metav1.TypeMeta{APIVersion: remediationv1.GroupVersion.String(), Kind: "ExecutionApproval"},
		ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, GenerateName: spec.ExecutionRef.Name + "-"},
		Spec:       spec,
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	if err != nil {
		return nil, fmt.Errorf("write decision: %w", err)
	}
	var options metav1.CreateOptions
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	made, err := d.decisions.Create(ctx, &unstructured.Unstructured{Object: fields}, options)
	if err != nil {
		return nil, fmt.Errorf("write decision: %w", err)
	}
	answer := &remediationv1.ExecutionApproval{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(made.Object, answer); err != nil {
		return nil, fmt.Errorf("read decision: %w", err)
	}
	return answer, nil
}

// executionName understands name and kx/name.
func executionName(arg string) (string, error) {
	kind, name, isPair := strings.Cut(arg, "/")
	if !isPair {
		return arg, nil
	}
	switch strings.ToLower(kind) {
	case "kx", "kubernetesexecution", "kubernetesexecutions", "kubernetesexecutions." + remediationv1.GroupName:
		if name != "" && !strings.Contains(name, "/") {
			return name, nil
		}
	}
	return "", fmt.Errorf("%q is no execution: name it as NAME or kx/NAME", arg)
}
