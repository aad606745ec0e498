package spec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// subject is the pod that rows are asked about, and what its values come from.
type subject struct {
	pod  *corev1.Pod
	from Sources
}

// container is the only one that is converted.
func (s subject) container() corev1.Container {
	if len(s.pod.Spec.Containers) == 0 {
		return corev1.Container{}
	}
	return s.pod.Spec.Containers[0]
}

// unknown is the row of a field that no row has: the types of Kubernetes have grown, and the table has not.
var unknown = refused("", "it is not known whether a device can honour it")

// rowOf is what becomes of a field of a pod.
func rowOf(table []Row, s subject, l leaf) Row {
	path := l.path()
	for _, row := range table {
		if row.covers(path) && (row.is == nil || row.is(s, l)) {
			return row
		}
	}
	return unknown
}

// judge says what becomes of everything that a pod asks for, in words.
func judge(s subject) (leftOut, refused []string) {
	table := Table()
	add := func(to *[]string, words string) {
		if !slices.Contains(*to, words) {
			*to = append(*to, words)
		}
	}
	for _, l := range leavesOf(&s.pod.Spec) {
		row := rowOf(table, s, l)
		depth := row.depth()
		if row.Field == "" {
			depth = len(l.found)
		}
		words := l.at(depth) + ": " + row.Words
		switch {
		case row.Column == Refused:
			add(&refused, words)
		case row.Column == LeftOut && !row.quiet:
			add(&leftOut, words)
		}
	}
	return leftOut, refused
}
