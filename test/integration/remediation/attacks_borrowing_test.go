package remediation

import (
	"crypto/rand"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// scaling is what the action may do, and an attacker would do in its name.
func scaling(t *testing.T, a actor) error {
	return a.Patch(t.Context(), deployment("web", ""), merge(`{"metadata":{"annotations":{"attacked":"by %s"}}}`, a.name))
}

// token asks for one of the action's account, as somebody.
func token(t *testing.T, a actor, bound *authenticationv1.BoundObjectReference) (string, error) {
	r, err := a.core().CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: bound}}, a.creating())
	if err != nil {
		return "", err
	}
	return r.Status.Token, nil
}

// askingForTheManagers asks for a token of the manager, as the pod that it is bound to would bear it.
func askingForTheManagers(bound *authenticationv1.BoundObjectReference) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, _ *stage, a actor) error {
		_, err := a.core().CoreV1().ServiceAccounts(harness.SystemNamespace).CreateToken(t.Context(), "statecraft-remediation",
			&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: bound}}, a.creating())
		return err
	}
}

// bearing is an actor with a token instead of what he has.
func (a actor) bearing(token string) actor {
	cfg := rest.AnonymousClientConfig(a.cfg)
	cfg.BearerToken, cfg.QPS = token, -1
	return a.with(cfg)
}

// handling does something with an object that is there.
func handling[T client.Object](which func(*stage) T, do func(*testing.T, actor, T) error) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, s *stage, a actor) error { return do(t, a, which(s).DeepCopyObject().(T)) }
}

// changing changes an object that is there.
func changing[T client.Object](which func(*stage) T, patch string, args ...any) func(*testing.T, *stage, actor) error {
	return handling(which, func(t *testing.T, a actor, obj T) error { return a.Patch(t.Context(), obj, merge(patch, args...)) })
}

// changingBy changes an object by one of its subresources.
func changingBy[T client.Object](subresource string, which func(*stage) T, patch string) func(*testing.T, *stage, actor) error {
	return handling(which, func(t *testing.T, a actor, obj T) error {
		return a.SubResource(subresource).Patch(t.Context(), obj, merge("%s", patch))
	})
}

func deleting[T client.Object](which func(*stage) T, options ...client.DeleteOption) func(*testing.T, *stage, actor) error {
	return handling(which, func(t *testing.T, a actor, obj T) error { return a.Delete(t.Context(), obj, options...) })
}

// making makes an object.
func making(obj func() client.Object) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, _ *stage, a actor) error { return a.Create(t.Context(), obj()) }
}

// letting makes an object that lets a controller make the pod.
func letting(obj func(name string) client.Object, words string) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, s *stage, a actor) error {
		made := obj(strings.ToLower(rand.Text()) + "-" + a.name) // events stay when their object has gone
		if err := a.Create(t.Context(), made); err != nil {
			return err
		}
		defer func() {
			_ = s.admin.Delete(t.Context(), made, client.PropagationPolicy(metav1.DeletePropagationBackground))
		}()
		return s.said(t, made, words)
	}
}

// entering connects to the pod of an action.
func entering(subresource string, options *corev1.PodExecOptions) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, s *stage, a actor) error {
		request := a.core().CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name(s.pod.Name).SubResource(subresource)
		if options != nil {
			request = request.VersionedParams(options, scheme.ParameterCodec)
		}
		return request.Do(t.Context()).Error()
	}
}

func theJob(s *stage) *batchv1.Job       { return s.job }
func suspendedJob(s *stage) *batchv1.Job { return s.suspended }
func thePod(s *stage) *corev1.Pod        { return s.pod }
func theAccount(*stage) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: named(account)}
}

func borrowedAccounts() []attack {
	const (
		fromItsPod  = "an action acts from its own pod, with a token that is bound to it"
		forKubelets = "only kubelets ask for tokens of actions, and of the manager of area remediation"
		noSecrets   = "no Secret can hold the token of an action, only its own pod has one"
		ourAccounts = notTheManager + "makes, changes and deletes ServiceAccounts of actions"
	)
	squat := func(meta metav1.ObjectMeta) func(*testing.T, *stage, actor) error {
		return making(func() client.Object { return &corev1.ServiceAccount{ObjectMeta: meta} })
	}
	return []attack{
		{name: "impersonate an action", by: both, says: fromItsPod, proves: "accounts-writes", wet: true, try: func(t *testing.T, _ *stage, a actor) error {
			return scaling(t, a.as(accountUser))
		}},
		{name: "impersonate an action for a deletion", by: both, says: fromItsPod, rbac: fromItsPod, try: func(t *testing.T, s *stage, a actor) error {
			return a.as(accountUser).Delete(t.Context(), s.waiting.DeepCopy())
		}},
		{name: "ask for a token of an action", by: both, says: forKubelets, proves: "accounts-tokens", try: func(t *testing.T, _ *stage, a actor) error {
			_, err := token(t, a, nil)
			return err
		}},
		{name: "ask for a token of an action in its pod", by: both, says: forKubelets, try: func(t *testing.T, s *stage, a actor) error {
			_, err := token(t, a, &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: s.pod.Name, UID: s.pod.UID})
			return err
		}},
		{name: "ask for a token of the manager", by: []string{clusterAdmin}, says: forKubelets, try: askingForTheManagers(nil)},
		{name: "ask for a token of the manager in a pod", by: []string{clusterAdmin}, says: forKubelets, try: askingForTheManagers(
			&authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: "statecraft-remediation"})},
		{name: "use a token from before the policies", by: both, says: fromItsPod, try: func(t *testing.T, s *stage, a actor) error {
			before, err := token(t, s.actors[masters], nil)
			if err != nil {
				t.Fatal(err)
			}
			return scaling(t, a.bearing(before))
		}},
		{name: "use a client certificate", by: []string{clusterAdmin}, says: fromItsPod, try: func(t *testing.T, s *stage, a actor) error {
			return scaling(t, a.with(s.bed.ConfigFor(accountUser, "system:serviceaccounts", "system:serviceaccounts:"+namespace)))
		}},
		{name: "make a Secret with a token", by: both, says: noSecrets, proves: "accounts-secrets", try: making(func() client.Object {
			meta := named("token")
			meta.Annotations = map[string]string{corev1.ServiceAccountNameKey: account}
			return &corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeServiceAccountToken}
		})},
		{name: "turn a Secret into one with a token", by: both, says: noSecrets, try: changing(
			func(*stage) *corev1.Secret { return &corev1.Secret{ObjectMeta: named("robot")} }, `{"metadata":{"annotations":{"%s":"%s"}}}`, corev1.ServiceAccountNameKey, account)},
		{name: "squat the account of an action", by: both, says: ourAccounts, proves: "accounts", try: squat(named(remediationv1.AccountPrefix + "rollout-restart"))},
		{name: "squat accounts by the beginning of their names", by: both, says: ourAccounts, try: squat(
			metav1.ObjectMeta{Namespace: namespace, GenerateName: remediationv1.AccountPrefix})},
		{name: "squat the account in a namespace without actions", by: []string{clusterAdmin}, says: ourAccounts, try: squat(
			metav1.ObjectMeta{Namespace: elsewhere, Name: account})},
		{name: "change the account of an action", by: both, says: ourAccounts, try: changing(theAccount, `{"imagePullSecrets":[{"name":"mine"}]}`)},
		{name: "delete the account of an action", by: both, says: ourAccounts, try: deleting(theAccount)},
		{name: "delete all accounts", by: both, says: ourAccounts, try: func(t *testing.T, _ *stage, a actor) error {
			return a.DeleteAllOf(t.Context(), &corev1.ServiceAccount{}, client.InNamespace(namespace), client.MatchingFields{"metadata.name": account})
		}},
	}
}

const (
	makesJobs   = notTheManager + "makes Jobs of actions"
	changesJobs = notTheManager + "changes Jobs of actions, cancel the KubernetesExecution instead"
	deletesJobs = notTheManager + "deletes Jobs of actions, cancel the KubernetesExecution instead"
)

func borrowedJobs() []attack {
	return []attack{
		{name: "make a Job as an action", by: both, says: makesJobs, try: making(func() client.Object { return job("mine", account) })},
		{name: "make a Job by the old field", by: both, says: makesJobs, try: making(func() client.Object {
			j := job("mine", "")
			j.Spec.Template.Spec.DeprecatedServiceAccount = account
			return j
		})},
		{name: "squat the name of a Job", by: both, says: makesJobs, try: making(func() client.Object { return job(remediationv1.JobPrefix+"next", "default") })},
		{name: "squat names of Jobs by their beginning", by: both, says: makesJobs, try: making(func() client.Object {
			j := job("", "default")
			j.GenerateName = remediationv1.JobPrefix
			return j
		})},
		{name: "release a Job", by: both, says: changesJobs, proves: "jobs", try: changing(suspendedJob, `{"spec":{"suspend":false}}`)},
		{name: "suspend a Job", by: both, says: changesJobs, try: changing(theJob, `{"spec":{"suspend":true}}`)},
		{name: "run a Job twice", by: both, says: changesJobs, try: changing(theJob, `{"spec":{"parallelism":2}}`)},
		{name: "try a Job again", by: both, says: changesJobs, try: changing(theJob, `{"spec":{"backoffLimit":5}}`)},
		{name: "give a Job more time", by: both, says: changesJobs, try: changing(theJob, `{"spec":{"activeDeadlineSeconds":99999}}`)},
		{name: "change the template of a suspended Job", by: both, says: changesJobs, try: changing(
			suspendedJob, `{"spec":{"template":{"metadata":{"annotations":{"inject":"/spec/containers/-"}}}}}`)},
		{name: "strip the owners of a Job", by: both, says: changesJobs, try: changing(theJob, `{"metadata":{"ownerReferences":null,"labels":{"a":"b"}}}`)},
		{name: "say that a Job has succeeded", by: both, says: changesJobs, rbac: `cannot patch resource "jobs/status"`, try: changingBy(
			"status", theJob, `{"status":{"succeeded":1}}`)},
		{name: "delete a Job", by: both, says: deletesJobs, try: deleting(theJob, client.PropagationPolicy(metav1.DeletePropagationBackground))},
		{name: "delete a Job and keep its pods", by: both, says: deletesJobs, try: deleting(theJob, client.PropagationPolicy(metav1.DeletePropagationOrphan))},
		{name: "delete a suspended Job", by: both, says: deletesJobs, try: deleting(suspendedJob)},
		{name: "make a Job that runs at once", by: []string{manager}, says: "a Job of an action is made suspended, for one pod and one try", try: making(func() client.Object {
			j := actionJob("at-once")
			j.Spec.Suspend = ptr.To(false)
			return j
		})},
		{name: "make a Job that tries again", by: []string{manager}, says: "a Job of an action is made suspended, for one pod and one try", try: making(func() client.Object {
			j := actionJob("again")
			j.Spec.BackoffLimit = nil
			return j
		})},
	}
}

const (
	makesPods   = "only the job controller makes pods of actions, for Jobs of the manager of area remediation"
	changesPods = "only the manager of area remediation, kubelets, the scheduler and the controllers of Kubernetes change pods of actions, cancel the KubernetesExecution instead"
	oneAlone    = "the pod of an action has one container, nothing may be added to it"
	nobodyIn    = "users cannot exec into, attach to, proxy to or forward ports to the pods of actions, whose names begin with statecraft-x-"
	bindsPods   = "only the scheduler binds pods of actions, their names begin with statecraft-x-"
	ownLabel    = "a pod is labelled with the UID of its own Job where actions run"
	labelsPods  = "only the job controller labels a pod with batch.kubernetes.io/controller-uid where actions run"
)

func pod(change func(*corev1.Pod)) func() client.Object {
	return func() client.Object {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "attack-"}, Spec: podSpec(account)}
		change(p)
		return p
	}
}

// injecting lets the manager run a Job whose pod somebody's policy adds a container to.
func injecting(path string) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, s *stage, a actor) error {
		j := actionJob("injected")
		j.Name, j.GenerateName = "", j.Name+"-"
		j.Spec.Template.Annotations = map[string]string{"inject": path}
		if err := a.Create(t.Context(), j); err != nil {
			return err
		}
		if err := a.Patch(t.Context(), j, merge(`{"spec":{"suspend":false}}`)); err != nil {
			return err
		}
		return s.said(t, j, oneAlone)
	}
}

// speaking makes a pod that the job controller would take for one of the Job of an action.
func speaking(owned bool) func(*testing.T, *stage, actor) error {
	return func(t *testing.T, s *stage, a actor) error {
		return a.Create(t.Context(), pod(func(p *corev1.Pod) {
			p.Spec.ServiceAccountName = "default"
			p.Labels = map[string]string{batchv1.ControllerUidLabel: string(s.job.UID), batchv1.JobNameLabel: s.job.Name}
			p.Finalizers = []string{batchv1.JobTrackingFinalizer}
			if owned {
				p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(s.job, batchv1.SchemeGroupVersion.WithKind("Job"))}
			}
		})())
	}
}

// labelledAs is a Job that labels its pods as those of another one: it may, because it has a selector of its own.
func labelledAs(other *batchv1.Job) func(name string) client.Object {
	return func(name string) client.Object {
		j := job(name, "default")
		j.Spec.ManualSelector, j.Spec.Selector = ptr.To(true), &metav1.LabelSelector{MatchLabels: map[string]string{"let": name}}
		j.Spec.Template.Labels = map[string]string{"let": name, batchv1.ControllerUidLabel: string(other.UID)}
		return j
	}
}

func borrowedPods() []attack {
	unbound := "pod " + remediationv1.JobPrefix + "running" // how a connection fails that admission lets pass
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"let": "it"}}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selector.MatchLabels}, Spec: podSpec(account)}
	template.Spec.RestartPolicy = ""
	return []attack{
		{name: "make a pod as an action", by: both, says: makesPods, try: making(pod(func(*corev1.Pod) {}))},
		{name: "make a pod by the old field", by: both, says: makesPods, try: making(pod(func(p *corev1.Pod) {
			p.Spec.ServiceAccountName, p.Spec.DeprecatedServiceAccount = "", account
		}))},
		{name: "make a pod of a Job that is not one's own", by: both, says: makesPods, try: func(t *testing.T, s *stage, a actor) error {
			return a.Create(t.Context(), pod(func(p *corev1.Pod) {
				p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(s.job, batchv1.SchemeGroupVersion.WithKind("Job"))}
			})())
		}},
		{name: "have a ReplicaSet make a pod", by: both, says: makesPods, try: letting(func(name string) client.Object {
			return &appsv1.ReplicaSet{ObjectMeta: named(name), Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template}}
		}, makesPods)},
		{name: "have a Deployment make a pod", by: both, says: makesPods, try: letting(func(name string) client.Object { return deployment(name, account) }, makesPods)},
		{name: "have a StatefulSet make a pod", by: both, says: makesPods, try: letting(func(name string) client.Object {
			return &appsv1.StatefulSet{ObjectMeta: named(name), Spec: appsv1.StatefulSetSpec{Selector: selector, Template: template}}
		}, makesPods)},
		{name: "have a ReplicationController make a pod", by: both, says: makesPods, try: letting(func(name string) client.Object {
			return &corev1.ReplicationController{ObjectMeta: named(name), Spec: corev1.ReplicationControllerSpec{Selector: selector.MatchLabels, Template: &template}}
		}, makesPods)},
		{name: "have a container added", by: []string{manager}, says: oneAlone, try: injecting("/spec/containers/-")},
		{name: "have an init container added", by: []string{manager}, says: oneAlone, try: injecting("/spec/initContainers")},
		{name: "add a debug container", by: both, says: changesPods, rbac: `cannot patch resource "pods/ephemeralcontainers"`, try: changingBy(
			"ephemeralcontainers", thePod, `{"spec":{"ephemeralContainers":[{"name":"debug","image":"sh","targetContainerName":"action"}]}}`)},
		{name: "strip a pod of its finalizers", by: both, says: changesPods, proves: "pods", try: changing(thePod, `{"metadata":{"finalizers":null}}`)},
		{name: "strip a pod of its labels", by: both, says: changesPods, try: changing(thePod, `{"metadata":{"labels":null}}`)},
		{name: "change the image of a pod", by: both, says: changesPods, try: func(t *testing.T, s *stage, a actor) error {
			return a.Patch(t.Context(), s.pod.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"containers":[{"name":"action","image":"mine"}]}}`)))
		}},
		{name: "say what a pod has reported", by: both, says: changesPods, rbac: `cannot patch resource "pods/status"`, try: changingBy(
			"status", thePod, `{"status":{"phase":"Failed","reason":"Lost"}}`)},
		{name: "resize a pod", by: both, says: changesPods, rbac: `cannot patch resource "pods/resize"`, try: changingBy(
			"resize", thePod, `{"metadata":{"labels":{"a":"b"}}}`)},
		{name: "delete a pod", by: both, says: changesPods, try: deleting(thePod)},
		{name: "force a pod to go", by: both, says: changesPods, try: deleting(thePod, client.GracePeriodSeconds(0))},
		{name: "delete all pods of a Job", by: both, says: changesPods, try: func(t *testing.T, s *stage, a actor) error {
			return a.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(namespace), client.MatchingLabels{batchv1.JobNameLabel: s.job.Name})
		}},
		{name: "bind a pod to a node of one's own", by: both, says: bindsPods, rbac: `cannot create resource "pods/binding"`, proves: "pods-binding",
			try: func(t *testing.T, s *stage, a actor) error {
				return a.core().CoreV1().Pods(namespace).Bind(t.Context(), &corev1.Binding{
					ObjectMeta: metav1.ObjectMeta{Name: s.pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "mine"},
				}, a.creating())
			}},
		{name: "bind a pod by a Binding", by: both, says: bindsPods, rbac: `cannot create resource "bindings"`, try: func(t *testing.T, s *stage, a actor) error {
			return a.core().CoreV1().RESTClient().Post().Namespace(namespace).Resource("bindings").Body(&corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: s.pod.Name}, Target: corev1.ObjectReference{Kind: "Node", Name: "mine"},
			}).Do(t.Context()).Error()
		}},
		{name: "run a command in a pod", by: both, says: nobodyIn, proves: "pods-connect", passes: unbound, try: entering("exec",
			&corev1.PodExecOptions{Command: []string{"sh"}, Stdin: true})},
		{name: "attach to a pod", by: both, says: nobodyIn, try: entering("attach", nil)},
		{name: "forward a port of a pod", by: both, says: nobodyIn, try: entering("portforward", nil)},
		{name: "reach a pod by proxy", by: both, says: nobodyIn, try: entering("proxy", nil)},
		{name: "speak for a Job by a pod of its own", by: both, says: labelsPods, try: speaking(true)},
		{name: "speak for a Job by a pod that it adopts", by: both, says: labelsPods, proves: "pods-witness", try: speaking(false)},
		{name: "speak for a Job by a pod of another Job", by: both, says: ownLabel, try: func(t *testing.T, s *stage, a actor) error {
			return letting(labelledAs(s.job), ownLabel)(t, s, a)
		}},
		{name: "have a Job adopt a pod that is there", by: both, says: labelsPods, try: func(t *testing.T, s *stage, a actor) error {
			return a.Patch(t.Context(), &corev1.Pod{ObjectMeta: named("ordinary")}, merge(`{"metadata":{"labels":{"%s":"%s"}}}`, batchv1.ControllerUidLabel, s.job.UID))
		}},
	}
}
