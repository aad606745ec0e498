package child

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Edit is a field that somebody else changed or removed.
type Edit struct {
	Field Field
	By    string // the field manager that owns it now; "" is nobody, because it was removed
}

// Edits lists which of the fields that differ were taken from the manager that applied them.
// A field that this manager still owns was not edited: admission, or the server's own
// spelling, makes it what it is, and applying it again would change nothing.
func Edits(differing []Field, live metav1.Object, manager string) ([]Edit, error) {
	var edits []Edit
	for _, field := range differing {
		e := Edit{Field: field}
		ours := false
		for _, entry := range live.GetManagedFields() {
			owns, err := owns(entry, field)
			if err != nil {
				return nil, fmt.Errorf("read managed fields of %s: %w", live.GetName(), err)
			}
			switch {
			case !owns:
			case entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply:
				ours = true
			default:
				e.By = entry.Manager
			}
		}
		if !ours {
			edits = append(edits, e)
		}
	}
	return edits, nil
}

// Owners are the entries of the managed fields that have a field. Caches hold none: it takes a live read.
func Owners(live metav1.Object, field Field) (owners []metav1.ManagedFieldsEntry, err error) {
	for _, entry := range live.GetManagedFields() {
		has, err := owns(entry, field)
		if err != nil {
			return nil, fmt.Errorf("read managed fields of %s: %w", live.GetName(), err)
		}
		if has {
			owners = append(owners, entry)
		}
	}
	return owners, nil
}

// owns says that an entry has the field, or the atomic one that it is in.
func owns(entry metav1.ManagedFieldsEntry, field Field) (bool, error) {
	if entry.FieldsV1 == nil {
		return false, nil
	}
	set := &fieldpath.Set{}
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return false, err
	}
	for i, element := range field {
		if set.Members.Has(element) && (i == len(field)-1 || set.WithPrefix(element).Empty()) {
			return true, nil
		}
		set = set.WithPrefix(element)
	}
	return !set.Empty(), nil // something inside
}

// hands is how the field managers of tools begin that a person uses.
const hands = "kubectl"

// ByHand says that a person made the edit, and not another controller: it is undone. Two
// controllers would undo each other's edits for ever.
func (e Edit) ByHand() bool { return HandTool(e.By) || e.By == "" }

// HandTool says that a field manager is a tool that a person uses.
func HandTool(manager string) bool { return strings.HasPrefix(manager, hands) }

func (e Edit) String() string {
	if e.By == "" {
		return e.Field.String() + " is missing"
	}
	return fmt.Sprintf("%s is set by %q", e.Field, e.By)
}

// State is how a child stands to what would be applied. It is current if it is stamped and
// nothing was edited: the stamp alone misses the edit.
type State struct {
	Stamped bool   // it was applied as it would be applied now
	Edits   []Edit // since
}

// Edited tells what people edited, and what is to be applied over.
func (s State) Edited() string {
	if s.contested() {
		return ""
	}
	return tell(s.Edits)
}

// Contested tells what was edited, if another controller has a part in it: apply would fail, and
// a person must say whose the fields are.
func (s State) Contested() string {
	if !s.contested() {
		return ""
	}
	return tell(s.Edits)
}

func (s State) contested() bool {
	return slices.ContainsFunc(s.Edits, func(e Edit) bool { return !e.ByHand() })
}

// mostTold is how many edits are told one by one.
const mostTold = 3

// tell says what was edited, and by whom.
func tell(edits []Edit) string {
	var words []string
	for _, e := range edits[:min(len(edits), mostTold)] {
		words = append(words, e.String())
	}
	if more := len(edits) - mostTold; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}
