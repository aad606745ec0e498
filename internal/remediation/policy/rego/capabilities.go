package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// builtins are the functions that a pack may call. What is not listed does not compile, so a new
// release of Open Policy Agent adds nothing by itself. A function is listed if policies need it,
// its result depends on its arguments alone, and it stops when it is told to: bits.lsh,
// strings.render_template and graph.reachable_paths ran on for a minute after their deadline.
var builtins = strings.Fields(`
	eq equal neq lt lte gt gte assign
	internal.member_2 internal.member_3 internal.template_string internal.print print
	plus minus mul div rem abs ceil floor round numbers.range
	and or intersection union count sum product max min sort
	array.concat array.flatten array.reverse array.slice
	object.filter object.get object.keys object.remove object.subset object.union object.union_n
	is_array is_boolean is_null is_number is_object is_set is_string type_name to_number
	concat contains endswith format_int indexof indexof_n lower replace split sprintf startswith
	strings.any_prefix_match strings.any_suffix_match strings.count strings.replace_n strings.reverse
	substring trim trim_left trim_prefix trim_right trim_space trim_suffix upper
	regex.find_all_string_submatch_n regex.find_n regex.is_valid regex.match regex.replace regex.split
	glob.match glob.quote_meta semver.compare semver.is_valid
	net.cidr_contains net.cidr_is_valid
	time.add_date time.clock time.date time.diff time.format time.parse_duration_ns time.parse_ns
	time.parse_rfc3339_ns time.weekday
	json.is_valid json.marshal json.unmarshal units.parse units.parse_bytes walk
`)

// features of the language beyond its first version. Those of drafts are left out.
var features = []string{ast.FeatureRegoV1, "keywords_in_refs", "template_strings"}

// capabilities are what a pack may use.
func capabilities(more ...string) *ast.Capabilities {
	all := ast.CapabilitiesForThisVersion()
	allowed := &ast.Capabilities{
		Features: slices.DeleteFunc(all.Features, func(f string) bool { return !slices.Contains(features, f) }),
		AllowNet: []string{}, // nil would allow every host
	}
	for _, b := range all.Builtins {
		if slices.Contains(builtins, b.Name) || slices.Contains(more, b.Name) {
			allowed.Builtins = append(allowed.Builtins, b)
		}
	}
	return allowed
}
