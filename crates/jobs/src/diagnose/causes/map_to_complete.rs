//! A node map for the user to complete, for nodes whose samples cannot be matched by name.

use std::fmt::Write as _;

use crate::diagnose::causes::nodes::NodeMap;
use crate::diagnose::samples::{Meter, Samples, Series};

/// Returns the text of a node map for nodes of a log without samples, except nodes in the given map; none
/// without such nodes or without samples. A single host is filled in; comments list all devices of the
/// samples.
///
/// ```
/// # use tailspn_jobs::diagnose::causes::{NodeMap, map_to_complete};
/// # use tailspn_jobs::diagnose::samples::Samples;
/// assert_eq!(map_to_complete(&["10.0.0.1"], &Samples::default(), &NodeMap::default()), None);
/// ```
pub fn map_to_complete(nodes: &[&str], samples: &Samples, given: &NodeMap) -> Option<String> {
    let hosts = samples.hosts();
    let nodes: Vec<&str> = nodes.iter().copied().filter(|name| !given.node.contains_key(*name)).collect();
    if nodes.is_empty() || hosts.is_empty() {
        return None;
    }
    let quoted = |names: &[&str]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let devices = |meters: &[Meter]| {
        let is_meant = |series: &&Series| meters.contains(&series.meter) && series.device != "all";
        let mut found: Vec<&str> =
            samples.series.iter().filter(is_meant).map(|series| series.device.as_str()).collect();
        found.sort_unstable();
        found.dedup();
        quoted(&found)
    };
    let devices = [
        ("cpu", devices(&[Meter::CpuBusy, Meter::CpuUser])),
        ("disk", devices(&[Meter::DiskBusy])),
        ("network", devices(&[Meter::Received, Meter::Sent])),
    ];
    let mut text = String::new();
    for node in nodes {
        let host = match hosts[..] {
            [only] => format!("host = {only:?}"),
            _ => format!("host = \"\"  # one of {}", quoted(&hosts)),
        };
        // writing to a string does not fail
        let _ = writeln!(text, "[node.{node:?}]\n{host}");
        for (key, all) in devices.iter().filter(|(_, all)| !all.is_empty()) {
            let _ = writeln!(text, "# {key} = [{all}]");
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_names_what_the_samples_have_and_can_be_read() {
        let series =
            |device: &str, meter| Series { host: "vm".into(), device: device.into(), meter, samples: Vec::new() };
        let samples = Samples {
            series: vec![
                series("all", Meter::CpuBusy),
                series("1", Meter::CpuBusy),
                series("sda", Meter::DiskBusy),
                series("eth0", Meter::Sent),
                series("eth0", Meter::Received),
            ],
            ..Samples::default()
        };
        let nodes = ["10.0.0.1", "10.0.0.2"];
        let given = NodeMap::parse("[node.\"10.0.0.1\"]\n").unwrap();
        let text = map_to_complete(&nodes, &samples, &given).unwrap();
        let expected =
            "[node.\"10.0.0.2\"]\nhost = \"vm\"\n# cpu = [\"1\"]\n# disk = [\"sda\"]\n# network = [\"eth0\"]\n";
        assert_eq!(text, expected);
        let read = NodeMap::parse(&text.replace("# ", "")).unwrap();
        assert_eq!(
            (read.node["10.0.0.2"].host.as_deref(), &read.node["10.0.0.2"].disk[..]),
            (Some("vm"), &["sda".to_owned()][..])
        );
        assert_eq!(map_to_complete(&nodes[..1], &samples, &given), None);
    }
}
