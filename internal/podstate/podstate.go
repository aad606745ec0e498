// Package podstate has the words for why a pod does not run; package diagnosis finds them. It does not import
// types of Kubernetes, because programs that run in users' pods use it: a new version of these would restart them.
package podstate

// Reason is why a pod does not run, as Kubernetes calls it. What kubelets call by several names
// in turn has one, or a status would be written with every try.
type Reason string

// The reasons. Kubelets have more; those are passed on as they are.
const (
	Unschedulable              Reason = "Unschedulable"
	ImagePullBackOff           Reason = "ImagePullBackOff"
	InvalidImageName           Reason = "InvalidImageName"
	CreateContainerConfigError Reason = "CreateContainerConfigError"
	CreateContainerError       Reason = "CreateContainerError"
	CrashLoopBackOff           Reason = "CrashLoopBackOff"
	OOMKilled                  Reason = "OOMKilled"
	Evicted                    Reason = "Evicted"
	Failed                     Reason = "Failed"
	// FailedCreate is of a pod that its StatefulSet cannot create. There is no pod to say so: only events of the StatefulSet do.
	FailedCreate Reason = "FailedCreate"
)

// Trouble is why a pod does not run; the zero value is none that somebody must do something
// about.
type Trouble struct {
	Reason Reason `json:"reason,omitempty"`
	// Words is a full sentence or two. It has nothing in it that changes from try to try.
	Words string `json:"words,omitempty"`
	// MayRun says that the pod was given up, and nobody looked whether its processes have ended.
	MayRun bool `json:"mayRun,omitempty"`
}

// Is says that there is any.
func (t Trouble) Is() bool { return t.Reason != "" }

// Stopped says that because of it a container of the pod does not run.
func (t Trouble) Stopped() bool { return t.Is() && !t.MayRun }
