// Package telemetry is the interface to a source of measurements: what may be asked of one, and the client of
// Prometheus that does so. What a source says of a function comes back as load.Facts.
//
// A source is a setting of the installation. A class names one, and says by a contract which of its series are
// requests; it can neither write a query nor name a URL. All classes of a source are asked for together, by one set
// of instant queries for each contract, grouped by namespace, class and function. A contract of a user's
// own has a set of its own in each namespace, and cannot choose series of another.
package telemetry
