package spec

import (
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/job"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// TTL is how long a Job stays after its end, for those who look into it. Its result is saved before.
const TTL = 5 * time.Minute

// Job is the suspended Job of an execution that has a plan. It is written once.
func Job(x *remediationv1.KubernetesExecution, def *remediationv1.ActionDefinition) (*batchv1.Job, error) {
	command, err := commandOf(x, def)
	if err != nil {
		return nil, err
	}
	meta := metav1.ObjectMeta{
		Labels: map[string]string{
			"app.kubernetes.io/part-of":  "statecraft",
			remediationv1.ExecutionLabel: string(x.UID), remediationv1.ActionLabel: def.Name,
		},
		Annotations: map[string]string{remediationv1.ExecutionLabel: x.Name}, // too long for a label, perhaps
	}
	podMeta := outsideOfMeshes(meta)
	return job.New(job.Plan{
		Namespace: x.Namespace, Name: execution.JobName(x.UID),
		Owner: *metav1.NewControllerRef(x, remediationv1.GroupVersion.WithKind("KubernetesExecution")),
		Once:  true, Suspended: true, Deadline: time.Duration(x.Spec.TimeoutSeconds) * time.Second, TTL: TTL,
		PodFinalizer: remediationv1.ResultFinalizer,
		Template: batchv1.JobTemplateSpec{
			ObjectMeta: meta,
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
				ObjectMeta: podMeta,
				Spec:       keptOff(def, x.Status.Plan, podOf(x.Status.Plan, command.Arguments())),
			}},
		},
	}), nil
}

// outsideOfMeshes asks those that add containers to pods to leave this one alone: admission refuses a second container, because it
// would have the token.
func outsideOfMeshes(meta metav1.ObjectMeta) metav1.ObjectMeta {
	meta.Labels, meta.Annotations = maps.Clone(meta.Labels), maps.Clone(meta.Annotations)
	meta.Labels["sidecar.istio.io/inject"] = "false"
	meta.Annotations["linkerd.io/inject"] = "disabled"
	return meta
}

// commandOf is what the program in the pod is asked to do.
func commandOf(x *remediationv1.KubernetesExecution, def *remediationv1.ActionDefinition) (action.Command, error) {
	plan := x.Status.Plan
	params, err := action.Check(def.Spec.Parameters, x.Spec.Parameters)
	if err != nil {
		return action.Command{}, fmt.Errorf("check parameters: %w", err)
	}
	i := slices.IndexFunc(def.Spec.TargetKinds, func(k remediationv1.TargetKind) bool { return k.Kind == plan.Target.Kind })
	if i < 0 {
		return action.Command{}, fmt.Errorf("action %s does not take a %s", def.Name, plan.Target.Kind)
	}
	target := action.Target{
		APIVersion: plan.Target.APIVersion, Kind: plan.Target.Kind, Resource: def.Spec.TargetKinds[i].Resource,
		Namespace: execution.TargetRef(x).Namespace, Name: plan.Target.Name, UID: plan.Target.UID,
	}
	return action.Command{
		Action: def.Spec.Builtin, Target: target, Footprint: plan.Footprint, Execution: x.UID, Parameters: params,
		Timeout: time.Duration(x.Spec.TimeoutSeconds) * time.Second,
	}, nil
}

// keptOff keeps the pod of an action off the node that the action empties.
func keptOff(def *remediationv1.ActionDefinition, plan *remediationv1.Plan, pod corev1.PodSpec) corev1.PodSpec {
	if !action.EvictsFrom(def.Spec.Builtin) {
		return pod
	}
	another := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{
		Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{plan.Target.Name},
	}}}
	pod.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{another}},
	}}
	return pod
}

// podOf is the only pod of an action: one container, restricted, with the rights of the action's account.
func podOf(plan *remediationv1.Plan, args []string) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:            plan.Account,
		RestartPolicy:                 corev1.RestartPolicyNever,
		EnableServiceLinks:            ptr.To(false),     // a Service named kubernetes would take the place of the API server
		TerminationGracePeriodSeconds: ptr.To[int64](30), // the write in flight is finished and reported
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532), RunAsGroup: ptr.To[int64](65532),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: remediationv1.ActionContainer, Image: plan.Image, Args: args,
			TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
			},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
				Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}
}
