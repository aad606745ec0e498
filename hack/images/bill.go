package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	unknown    = "NOASSERTION"
	documentID = "SPDXRef-DOCUMENT"
	programID  = "SPDXRef-Program"
)

// billOf lists what is in a binary, from what the linker wrote into it: the modules that are
// really there, and not those of a go.mod.
func billOf(p program, platform v1.Platform, binary, version string) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])
	d := document{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: documentID,
		Name:      p.binary() + " " + platform.String(),
		Namespace: "https://" + module + "/spdx/" + p.Name + "-" + hash,
		Creation:  creation{Created: epoch.Format(time.RFC3339), Creators: []string{"Tool: hack/images"}},
		Packages:  []pkg{ours(p, info.Main.Path, version, hash), standardLibrary(info.GoVersion)},
	}
	for _, dep := range info.Deps {
		d.Packages = append(d.Packages, foreign(dep))
	}
	d.Relationships = []relationship{{documentID, "DESCRIBES", programID}}
	for _, dep := range d.Packages[1:] {
		d.Relationships = append(d.Relationships, relationship{programID, "DEPENDS_ON", dep.ID})
	}
	return json.MarshalIndent(d, "", "  ")
}

func ours(p program, modulePath, version, hash string) pkg {
	described := pkg{
		Name: modulePath, ID: programID, FileName: p.binary(), Purpose: "APPLICATION",
		DownloadLocation: unknown, LicenseConcluded: "Apache-2.0", LicenseDeclared: "Apache-2.0", Copyright: unknown,
		Checksums: []checksum{{"SHA256", hash}},
	}
	if p.Versioned {
		described.Version = version
	}
	return described
}

func standardLibrary(goVersion string) pkg {
	return library("stdlib", strings.TrimPrefix(goVersion, "go"))
}

func foreign(m *debug.Module) pkg {
	if m.Replace != nil {
		m = m.Replace
	}
	described := library(m.Path, m.Version)
	described.DownloadLocation = "https://" + m.Path
	described.Comment = "go.sum " + m.Sum
	return described
}

// notInID is what an ID may not have.
var notInID = regexp.MustCompile(`[^a-zA-Z0-9.-]+`)

func library(path, version string) pkg {
	return pkg{
		Name: path, ID: "SPDXRef-" + notInID.ReplaceAllString(path+"-"+version, "-"), Version: version,
		Purpose: "LIBRARY", DownloadLocation: unknown,
		LicenseConcluded: unknown, LicenseDeclared: unknown, Copyright: unknown,
		Refs: []external{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(path) + "@" + url.QueryEscape(version)}},
	}
}
