//! Assignment of samples to the nodes of a log, and their values over an interval in the log's time.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::diagnose::causes::feature::Feature;
use crate::diagnose::samples::{Meter, Over, Samples, Series};
use crate::trace::{Clock, JobTrace};

/// Measure of a node's CPU use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CpuShare {
    /// All time that is neither idle nor waiting for a disk. On a node that tasks keep nearly busy, competition shows
    /// in the remaining time. It does not show in the user share, because the system takes a random part of that share.
    #[default]
    Busy,
    /// Time in user mode, as in equation 1 of the paper.
    User,
    /// Either of the two measures may show a cause.
    Either,
}

/// Samples of a node. Omitted settings are determined automatically.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NodeSource {
    /// The host's name in the samples. Default: the host with the node's name.
    pub host: Option<String>,
    /// CPUs: `all`, or the numbers of some CPUs. Default `all`.
    pub cpu: Vec<String>,
    /// Disks; the busiest counts. Default: all but loop devices, memory disks and device mappers.
    pub disk: Vec<String>,
    /// Network interfaces; their bytes are added. Default: all but `lo` and virtual interfaces.
    pub network: Vec<String>,
    /// Seconds to add to the samples' times to get times of the log. Default 0.
    pub clock_offset_s: f64,
}

/// Samples of all nodes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeMap {
    /// Sources by the node's name in the log.
    #[serde(default)]
    pub node: BTreeMap<String, NodeSource>,
}

/// Error for an unreadable node map: the TOML error, and its position in the text, in bytes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct NodeMapError {
    /// The error.
    pub message: String,
    /// Position in the text.
    pub span: Option<std::ops::Range<usize>>,
}

impl NodeMap {
    /// Adds an offset \[s\] to the clock of a node; without a name, to the clocks of all nodes of a log.
    pub fn shift(&mut self, trace: &JobTrace, node: Option<&str>, seconds: f64) {
        let names: Vec<String> = match node {
            Some(name) => vec![name.to_owned()],
            None => trace.nodes.iter().map(|node| node.name.clone()).collect(),
        };
        for name in names {
            self.node.entry(name).or_default().clock_offset_s += seconds;
        }
    }

    /// Reads a map: a table `[node."NAME"]` for each node, with the keys of [`NodeSource`].
    ///
    /// # Errors
    ///
    /// [`NodeMapError`] if the text is not TOML or has unknown keys or invalid values.
    ///
    /// ```
    /// # use tailspn_jobs::diagnose::causes::NodeMap;
    /// let map = NodeMap::parse("[node.\"10.0.0.1\"]\nhost = \"a\"\ndisk = [\"sda\"]\n").unwrap();
    /// assert_eq!(map.node["10.0.0.1"].disk, ["sda"]);
    /// ```
    pub fn parse(text: &str) -> Result<Self, NodeMapError> {
        let map: Self = toml::from_str(text)
            .map_err(|error| NodeMapError { message: error.message().to_owned(), span: error.span() })?;
        let bad = map.node.iter().find(|(_, source)| !source.clock_offset_s.is_finite());
        match bad {
            Some((name, _)) => {
                Err(NodeMapError { message: format!("`clock_offset_s` of `{name}` is not a number"), span: None })
            }
            None => Ok(map),
        }
    }
}

/// Samples of one node, in seconds since the start of the log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeMeters {
    /// Series of the node's CPUs; the mean of these series is used.
    pub cpu: Vec<Series>,
    /// Series of the CPUs' time in user mode, if either measure may show a cause ([`CpuShare::Either`]).
    pub user: Vec<Series>,
    /// Series of the node's disks; the busiest disk is used.
    pub disk: Vec<Series>,
    /// Series of bytes received and sent by the node's interfaces; the sum of these series is used.
    pub network: Vec<Series>,
    /// Series of the CPU time that the hypervisor gave to others, above 0.
    pub steal: Vec<Series>,
    /// Series of the host's run queue.
    pub queue: Vec<Series>,
    /// Number of the host's CPUs in the samples; 0 if unknown.
    pub cpus: usize,
    /// Seconds to add to a time of the log to get the time of the samples.
    pub shift: f64,
}

impl NodeMeters {
    /// Returns the value of a resource of the node between two times of the log; none without samples.
    ///
    /// CPU share (equation 1 of \[Zhou2018\], with [`CpuShare`]), disk share (equation 2), and bytes per second (equation 3). Each sample is weighted
    /// by its overlap with the interval, so short tasks have a value too.
    pub fn over(&self, resource: Feature, from: f64, to: f64) -> Option<Over> {
        let (from, to) = (from + self.shift, to + self.shift);
        if to <= from {
            return None;
        }
        let each = |series: &[Series]| -> Vec<Over> { series.iter().filter_map(|s| s.over(from, to)).collect() };
        let covered = |found: &[Over]| found.iter().map(|over| over.covered).reduce(f64::min);
        match resource {
            Feature::Cpu => {
                let found = each(&self.cpu);
                let mean = found.iter().map(|over| over.mean).sum::<f64>() / found.len() as f64;
                Some(Over { mean, covered: covered(&found)? })
            }
            Feature::Disk => each(&self.disk).into_iter().max_by(|a, b| a.mean.total_cmp(&b.mean)),
            Feature::Network => {
                let found = each(&self.network);
                Some(Over { mean: found.iter().map(|over| over.mean).sum(), covered: covered(&found)? })
            }
            _ => None,
        }
    }

    /// Returns the time range of all samples, in seconds since the start of the log.
    pub fn span(&self) -> Option<(f64, f64)> {
        let all = self.cpu.iter().chain(&self.disk).chain(&self.network);
        let (from, to) = all.filter_map(Series::span).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        Some((from - self.shift, to - self.shift))
    }

    /// Returns the same node with its CPUs measured by their time in user mode.
    pub fn by_user(&self) -> Self {
        Self { cpu: self.user.clone(), ..self.clone() }
    }

    /// Returns the sum of the maximum transfer rates of the node's interfaces \[bytes/s\]; each maximum is at its own time.
    pub(super) fn network_peak(&self) -> f64 {
        let peak = |series: &Series| series.samples.iter().map(|sample| sample.value).fold(0.0, f64::max);
        self.network.iter().map(peak).sum()
    }

    /// Returns true if there are no samples at all.
    pub fn is_empty(&self) -> bool {
        self.cpu.is_empty() && self.disk.is_empty() && self.network.is_empty()
    }
}

/// A node without samples, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmapped {
    /// Name in the log; empty for a problem of the whole map.
    pub node: String,
    /// Reason for the lack of samples.
    pub reason: String,
}

/// Finds the samples of each node of a log, in the order of [`JobTrace::nodes`], and lists the nodes without samples.
pub fn meters_of(
    trace: &JobTrace,
    samples: &Samples,
    map: &NodeMap,
    cpu: CpuShare,
) -> (Vec<NodeMeters>, Vec<Unmapped>) {
    let mut unmapped = Vec::new();
    if trace.clock != Clock::Unix {
        let reason = "the log does not record the time of day, so samples cannot be aligned with it".to_owned();
        return (vec![NodeMeters::default(); trace.nodes.len()], vec![Unmapped { node: String::new(), reason }]);
    }
    for name in map.node.keys().filter(|name| trace.nodes.iter().all(|node| node.name != **name)) {
        unmapped.push(Unmapped {
            node: name.clone(),
            reason: "the node map contains this node, but the log does not".to_owned(),
        });
    }
    let origin = trace.origin_us as f64 / 1e6;
    let meters = trace.nodes.iter().map(|node| {
        let given = map.node.get(&node.name);
        let source = given.cloned().unwrap_or_default();
        let mut missing = |reason: String| unmapped.push(Unmapped { node: node.name.clone(), reason });
        let host = match host_of(&node.name, given, samples, trace.nodes.len()) {
            Ok(host) => host,
            Err(reason) => {
                missing(reason);
                return NodeMeters::default();
            }
        };
        let share = if cpu == CpuShare::User { Meter::CpuUser } else { Meter::CpuBusy };
        let found = NodeMeters {
            cpu: processors(samples, host, &source, share),
            user: match cpu {
                CpuShare::Either => processors(samples, host, &source, Meter::CpuUser),
                CpuShare::Busy | CpuShare::User => Vec::new(),
            },
            disk: chosen(samples, host, &[Meter::DiskBusy], &source.disk, is_whole_disk),
            network: chosen(samples, host, &[Meter::Received, Meter::Sent], &source.network, is_real_interface),
            steal: processors(samples, host, &source, Meter::CpuSteal),
            queue: samples.of(host, Meter::RunQueue).cloned().collect(),
            cpus: samples.of(host, Meter::CpuUser).filter(|series| series.device.parse::<u32>().is_ok()).count(),
            shift: origin - source.clock_offset_s,
        };
        for (what, series, wanted) in [
            ("CPU", &found.cpu, &source.cpu),
            ("disk", &found.disk, &source.disk),
            ("network", &found.network, &source.network),
        ] {
            if series.is_empty() {
                let named = if wanted.is_empty() { String::new() } else { format!(" called {}", wanted.join(", ")) };
                missing(format!("no samples of its {what}{named} on host `{host}`"));
            }
        }
        found
    });
    let meters = meters.collect();
    (meters, unmapped)
}

/// Returns the host with the samples of a node: as given, otherwise by name, otherwise the only host if there
/// is only one node.
fn host_of<'s>(node: &str, given: Option<&NodeSource>, samples: &'s Samples, nodes: usize) -> Result<&'s str, String> {
    let hosts = samples.hosts();
    let listed = if hosts.is_empty() { "none".to_owned() } else { format!("`{}`", hosts.join("`, `")) };
    if let Some(host) = given.and_then(|source| source.host.as_deref()) {
        let found = hosts.iter().find(|name| **name == host);
        return found.copied().ok_or_else(|| format!("no samples of host `{host}`; available: {listed}"));
    }
    let short = |name: &str| {
        if is_address(name) { name.to_owned() } else { name.split('.').next().unwrap_or(name).to_lowercase() }
    };
    let by = |same: &dyn Fn(&str) -> bool| {
        let mut found = hosts.iter().filter(|host| same(host));
        found.next().copied().filter(|_| found.next().is_none())
    };
    if let Some(host) = by(&|host| host == node).or_else(|| by(&|host| short(host) == short(node))) {
        return Ok(host);
    }
    match hosts.as_slice() {
        [only] if nodes == 1 => Ok(only),
        // only the map can assign the devices of a host that holds several nodes
        [only] if given.is_some() => Ok(only),
        _ => Err(format!("no samples of a host with this name; available: {listed}; assign them with --node-map")),
    }
}

fn is_address(name: &str) -> bool {
    name.parse::<std::net::IpAddr>().is_ok()
}

/// Returns true if a disk is a physical device, not a partition or a mapping of another.
fn is_whole_disk(device: &str) -> bool {
    !["loop", "ram", "zram", "sr", "dm-", "md"].iter().any(|start| device.starts_with(start))
}

/// Returns true if an interface connects the host to the outside.
fn is_real_interface(device: &str) -> bool {
    const VIRTUAL: [&str; 10] = ["lo", "veth", "docker", "br-", "virbr", "ifb", "tun", "tap", "cni", "flannel"];
    !VIRTUAL.iter().any(|start| device.starts_with(start))
}

fn processors(samples: &Samples, host: &str, source: &NodeSource, meter: Meter) -> Vec<Series> {
    let wanted = if source.cpu.is_empty() { vec!["all".to_owned()] } else { source.cpu.clone() };
    samples.of(host, meter).filter(|series| wanted.contains(&series.device)).cloned().collect()
}

/// Returns the series of the requested devices. Without a request: the devices that count by default, or all if no such device exists.
fn chosen(
    samples: &Samples,
    host: &str,
    meters: &[Meter],
    wanted: &[String],
    counts: impl Fn(&str) -> bool,
) -> Vec<Series> {
    let all: Vec<&Series> = meters.iter().flat_map(|&meter| samples.of(host, meter)).collect();
    // truth and tables name disks with and without their folder
    let is_wanted = |device: &str| wanted.iter().any(|name| name.trim_start_matches("/dev/") == device);
    let of = |pick: &dyn Fn(&str) -> bool| -> Vec<Series> {
        all.iter().filter(|series| pick(&series.device)).map(|&series| series.clone()).collect()
    };
    if !wanted.is_empty() {
        return of(&is_wanted);
    }
    let found = of(&counts);
    if found.is_empty() { of(&|_| true) } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::samples::Sample;

    fn series(host: &str, device: &str, meter: Meter, value: f64) -> Series {
        let samples = vec![Sample { from: 0.0, to: 10.0, value }];
        Series { host: host.into(), device: device.into(), meter, samples }
    }

    #[test]
    fn hosts_are_found_by_name_by_short_name_and_by_the_map() {
        let samples = Samples {
            series: vec![series("n1.a.org", "all", Meter::CpuBusy, 0.1), series("n2", "all", Meter::CpuBusy, 0.1)],
            ..Samples::default()
        };
        let host = |node: &str, given: Option<&str>| {
            let source = NodeSource { host: given.map(str::to_owned), ..NodeSource::default() };
            host_of(node, given.map(|_| &source), &samples, 2).map(str::to_owned)
        };
        assert_eq!(host("n2", None).as_deref(), Ok("n2"));
        assert_eq!(host("N1", None).as_deref(), Ok("n1.a.org"));
        assert_eq!(host("10.0.0.1", Some("n2")).as_deref(), Ok("n2"));
        assert!(host("10.0.0.1", None).unwrap_err().contains("--node-map"));
        assert!(host("n1", Some("n3")).unwrap_err().contains("`n1.a.org`, `n2`"));
    }

    #[test]
    fn the_busiest_disk_counts_and_interfaces_add_up() {
        let node = NodeMeters {
            user: Vec::new(),
            cpu: vec![series("a", "0", Meter::CpuBusy, 0.2), series("a", "1", Meter::CpuBusy, 0.6)],
            disk: vec![series("a", "sda", Meter::DiskBusy, 0.3), series("a", "sdb", Meter::DiskBusy, 0.7)],
            network: vec![series("a", "eth0", Meter::Received, 5.0), series("a", "eth0", Meter::Sent, 7.0)],
            shift: 1.0,
            ..NodeMeters::default()
        };
        let mean = |resource| node.over(resource, 0.0, 2.0).map(|over| over.mean);
        assert_eq!(
            [mean(Feature::Cpu), mean(Feature::Disk), mean(Feature::Network)],
            [Some(0.4), Some(0.7), Some(12.0)]
        );
        assert_eq!(node.over(Feature::Cpu, 8.0, 10.0).unwrap().covered, 0.5);
        assert_eq!(node.over(Feature::Cpu, 9.5, 10.0), None);
        assert_eq!(node.span(), Some((-1.0, 9.0)));
    }

    #[test]
    fn loop_devices_and_loopback_interfaces_do_not_count() {
        let samples = Samples {
            series: vec![
                series("a", "loop0", Meter::DiskBusy, 0.9),
                series("a", "nvme0n1", Meter::DiskBusy, 0.1),
                series("a", "lo", Meter::Received, 1.0),
            ],
            ..Samples::default()
        };
        let names = |meter, wanted: &[String], counts: fn(&str) -> bool| -> Vec<String> {
            chosen(&samples, "a", &[meter], wanted, counts).into_iter().map(|series| series.device).collect()
        };
        assert_eq!(names(Meter::DiskBusy, &[], is_whole_disk), ["nvme0n1"]);
        assert_eq!(names(Meter::DiskBusy, &["/dev/loop0".to_owned()], is_whole_disk), ["loop0"]);
        // there is no better choice
        assert_eq!(names(Meter::Received, &[], is_real_interface), ["lo"]);
    }
}
