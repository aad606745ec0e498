package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ActionDefinition is one action of the catalogue: what it takes, which rights it has, and what
// performs it. An administrator who makes one chooses code and rights, so that needs the verb bind on its role.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=kad,scope=Cluster,categories=statecraft
// +kubebuilder:printcolumn:name="Kinds",type=string,JSONPath=`.spec.targetKinds[*].kind`
// +kubebuilder:printcolumn:name="Risk",type=string,JSONPath=`.spec.risk`
// +kubebuilder:printcolumn:name="Inverse",type=string,JSONPath=`.spec.inverse`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Description",type=string,priority=1,JSONPath=`.spec.description`
type ActionDefinition struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata. The name, with underscores for its dashes, is that of the action.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec is the action. It cannot be changed; to replace it, delete it and make it anew, which
	// makes every plan with it void.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="an action cannot be changed: delete it and make it anew, or give the new version another name"
	Spec ActionDefinitionSpec `json:"spec"`
}

// ActionDefinitionList is a list of actions.
//
// +kubebuilder:object:root=true
type ActionDefinitionList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the actions.
	Items []ActionDefinition `json:"items"`
}

// ActionDefinitionSpec is one action.
//
// +kubebuilder:validation:XValidation:rule="has(self.builtin) != has(self.image)",message="an action has one of builtin and image"
type ActionDefinitionSpec struct {
	// description says in a sentence what the action does.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Description string `json:"description"`
	// builtin is the function of ours that performs the action.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Builtin string `json:"builtin,omitempty"`
	// image performs the action instead, by digest.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^[a-z0-9][-a-z0-9._:/]*@sha256:[0-9a-f]{64}$`
	Image string `json:"image,omitempty"`
	// args are the arguments of the image: each is a literal, or exactly one of $(parameters.<name>),
	// $(target.name), $(target.namespace) and $(target.uid).
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Args []string `json:"args,omitempty"`
	// clusterRoleName is the role that the account of the action is bound to. It is named after
	// the action: statecraft-action-<name>.
	// +kubebuilder:validation:MaxLength=253
	ClusterRoleName string `json:"clusterRoleName"`
	// access is what the requester must be allowed on the very target.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	Access []Access `json:"access"`
	// targetKinds are the kinds that the action takes.
	// +listType=map
	// +listMapKey=kind
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	TargetKinds []TargetKind `json:"targetKinds"`
	// footprint are the fields that the action reads and writes, by paths with dots. A builtin knows its own.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=256
	Footprint []string `json:"footprint,omitempty"`
	// parameters are those that the action takes.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Parameters []Parameter `json:"parameters,omitempty"`
	// inverse names the action that takes this one back; empty if there is none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Inverse string `json:"inverse,omitempty"`
	// risk is what policies may look at.
	// +kubebuilder:default=Medium
	// +kubebuilder:validation:Enum=Low;Medium;High
	// +optional
	Risk string `json:"risk,omitempty"`
}

// Access is a right on the target.
type Access struct {
	// group of the resource; empty for the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group"`
	// resource in the plural.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Resource string `json:"resource"`
	// subresource of it.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Subresource string `json:"subresource,omitempty"`
	// verb that is needed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Verb string `json:"verb"`
}

// TargetKind is a kind that an action takes.
type TargetKind struct {
	// group of the kind; empty for the core group.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group"`
	// version of the kind.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Version string `json:"version"`
	// kind is the name of the kind.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// resource is its name in the plural.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Resource string `json:"resource"`
}

// ParameterType is the type of a parameter.
// +kubebuilder:validation:Enum=string;integer;boolean;object
type ParameterType string

// The types of parameters.
const (
	TypeString  ParameterType = "string"
	TypeInteger ParameterType = "integer"
	TypeBoolean ParameterType = "boolean"
	// TypeObject is a flat map of strings to strings.
	TypeObject ParameterType = "object"
)

// Parameter is one parameter of an action.
type Parameter struct {
	// name of the parameter.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z][a-zA-Z0-9]*$`
	Name string `json:"name"`
	// description says what it is.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Description string `json:"description,omitempty"`
	// type of the value.
	Type ParameterType `json:"type"`
	// required parameters must be given.
	// +optional
	Required bool `json:"required,omitempty"`
	// default is the value of one that is not given.
	// +optional
	Default *apiextensionsv1.JSON `json:"default,omitempty"`
	// minimum of an integer.
	// +optional
	Minimum *int64 `json:"minimum,omitempty"`
	// maximum of an integer.
	// +optional
	Maximum *int64 `json:"maximum,omitempty"`
	// maxLength of a string, or of each value of an object; 253 if it is not given.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4096
	MaxLength *int32 `json:"maxLength,omitempty"`
	// pattern that a string matches as a whole (RE2). Without one a string cannot begin with a dash.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Pattern string `json:"pattern,omitempty"`
	// enum are the only values of a string.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=253
	Enum []string `json:"enum,omitempty"`
}

// ActionOf is the name of the action that a definition defines, and the other way round.
func ActionOf(definition string) string { return swap(definition, '-', '_') }

// DefinitionOf is the name of the definition of an action.
func DefinitionOf(action string) string { return swap(action, '_', '-') }

func swap(s string, from, to byte) string {
	out := []byte(s)
	for i := range out {
		if out[i] == from {
			out[i] = to
		}
	}
	return string(out)
}
