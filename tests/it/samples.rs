//! Samples of nodes, read to counts and sums that another program found, and readers that take anything.

use std::path::PathBuf;

use proptest::prelude::*;
use tailspn::diagnose::samples::{
    Meter, SampleError, SampleFormat, SampleOptions, SampleWarningKind, Samples, is_samples, read_samples,
    read_samples_from_bytes,
};
use tailspn::watch::Unwatched;

use crate::shared::shared;

/// The folder with logs.
fn logs() -> Option<PathBuf> {
    shared("data/logs")
}

fn read(files: &[PathBuf]) -> Samples {
    read_samples(files, &SampleOptions::default(), &Unwatched).unwrap()
}

/// Rows of mpstat, iostat (without its first report), sar, the three tables of `sadf -d` and `sadf -j`; then sums: user share of
/// processor 1 in % by mpstat, %util of loop1 by iostat, kB/s received by vh2 by sar, and the same three by `sadf -d`.
type Expected = (&'static str, [u64; 7], [f64; 6]);

/// Counted and added up by a Python script that splits lines and knows nothing of this reader.
const LABELLED: [Expected; 8] = [
    ("baseline", [288, 285, 679, 294, 294, 686, 1274], [8847.56, 41.59, 1372.11, 9040.06, 41.51, 1371.65]),
    ("cpu_hog", [225, 222, 525, 228, 228, 532, 988], [6931.75, 24.72, 1154.36, 7021.48, 24.80, 1155.51]),
    ("data_skew", [327, 324, 763, 330, 330, 770, 1430], [9755.47, 66.76, 1440.97, 9854.95, 66.75, 1442.34]),
    ("gc", [213, 350, 497, 216, 360, 504, 1080], [6420.60, 0.80, 19345.85, 6507.38, 0.80, 19346.07]),
    ("io_hog", [381, 378, 889, 384, 384, 896, 1664], [10760.23, 1023.28, 1164.84, 10828.17, 1021.76, 1165.83]),
    ("locality", [195, 320, 455, 198, 330, 462, 990], [5969.59, 0.80, 95.15, 6066.55, 0.80, 95.23]),
    ("shuffle_skew", [447, 444, 1043, 450, 450, 1050, 1950], [14237.51, 5.59, 614.40, 14311.84, 5.59, 614.85]),
    ("slow_code", [267, 264, 623, 270, 270, 630, 1170], [8274.31, 25.49, 1492.20, 8369.84, 27.05, 1490.80]),
];

const FILES: [&str; 7] = [
    "mpstat.txt.gz",
    "iostat.txt.gz",
    "sar_net.txt.gz",
    "sadf_cpu.csv.gz",
    "sadf_disk.csv.gz",
    "sadf_net.csv.gz",
    "sadf.json.gz",
];

/// The sum of a series' values.
fn sum(samples: &Samples, device: &str, meter: Meter) -> f64 {
    let series = samples.of("vm", meter).find(|series| series.device == device).unwrap();
    series.samples.iter().map(|sample| sample.value).sum()
}

#[test]
fn all_samples_of_the_labelled_runs_are_read() {
    let Some(logs) = logs() else { return };
    for (case, rows, sums) in LABELLED {
        let folder = logs.join("labelled/bigroots-2node").join(case);
        let each = FILES.map(|file| read(&[folder.join(file)]));
        assert_eq!(each.each_ref().map(|samples| samples.files[0].rows), rows, "{case}");
        let seen = [0, 3].map(|file| 100.0 * sum(&each[file], "1", Meter::CpuUser));
        let disk = [1, 4].map(|file| 100.0 * sum(&each[file], "loop1", Meter::DiskBusy));
        let net = [2, 5].map(|file| sum(&each[file], "vh2", Meter::Received) / 1024.0);
        let found = [seen[0], disk[0], net[0], seen[1], disk[1], net[1]];
        // iostat's first report, which the script counts and the reader leaves out, has 0% for loop1
        for (found, expected) in found.iter().zip(sums) {
            assert!((found - expected).abs() < 0.006, "{case}: {found} {expected}");
        }
        for samples in &each {
            for warning in &samples.warnings {
                use SampleWarningKind::{NoZone, SinceBoot};
                assert!(matches!(warning.kind, NoZone | SinceBoot), "{warning}");
            }
        }
    }
}

#[test]
fn the_same_series_in_several_files_counts_once() {
    let Some(logs) = logs() else { return };
    let folder = logs.join("labelled/bigroots-2node/cpu_hog");
    let all = read(&FILES.map(|file| folder.join(file)));
    let json = read(&[folder.join("sadf.json.gz")]);
    // the JSON takes precedence: text and tables cover the same time and are left out, with a note
    assert_eq!(all.series.len(), json.series.len());
    assert_eq!(all.files[0].format, SampleFormat::SadfJson);
    assert_eq!(all.count(), json.count());
    let twice = all.warnings.iter().filter(|warning| warning.kind == SampleWarningKind::Twice).count();
    assert_eq!(twice, 6);
    let text = read(&[folder.join("mpstat.txt.gz")]);
    let over = |samples: &Samples, device| {
        let series = samples.of("vm", Meter::CpuUser).find(|series| series.device == device).unwrap().clone();
        series.over(1_795_166_800.0, 1_795_166_830.0).unwrap().mean
    };
    // mpstat and sar sample at slightly different moments
    assert!((over(&text, "1") - over(&all, "1")).abs() < 0.02);
}

/// A file, rows that are used, and rows that are left out by kind.
type LeftOut = (&'static str, u64, &'static [(SampleWarningKind, u64)]);

/// Used and excluded parts of samples that others collected on CentOS 7 and Ubuntu 18 and 20. The numbers are those of
/// the JSON in the same folder, made by another parser: its rows of processors and of disks with `percent_util`.
#[test]
fn samples_of_other_systems_are_read_or_left_out_with_a_reason() {
    use SampleWarningKind::{NoTime, NoUtilisation, SinceBoot};
    let Some(logs) = logs() else { return };
    let folder = logs.join("sysstat/jc-fixtures");
    let expected: [LeftOut; 18] = [
        ("centos-7.7_iostat", 0, &[(NoTime, 1), (NoUtilisation, 1)]),
        ("centos-7.7_iostat-1", 0, &[(NoTime, 3), (NoUtilisation, 3)]),
        ("centos-7.7_iostat-m", 0, &[(NoTime, 1), (NoUtilisation, 1)]),
        ("centos-7.7_iostat-x", 0, &[(NoTime, 4)]),
        ("centos-7.7_iostat-mx", 0, &[(NoTime, 4)]),
        ("centos-7.7_mpstat", 0, &[(SinceBoot, 1)]),
        ("centos-7.7_mpstat-A", 0, &[(SinceBoot, 2)]),
        ("centos-7.7_mpstat-A-2-5", 10, &[]),
        ("ubuntu-18.04_iostat", 0, &[(NoTime, 1), (NoUtilisation, 1)]),
        ("ubuntu-18.04_iostat-1", 0, &[(NoTime, 3), (NoUtilisation, 3)]),
        ("ubuntu-18.04_iostat-m", 0, &[(NoTime, 1), (NoUtilisation, 1)]),
        ("ubuntu-18.04_iostat-x", 0, &[(NoTime, 21)]),
        ("ubuntu-18.04_iostat-mx", 0, &[(NoTime, 21)]),
        ("ubuntu-18.04_mpstat-A", 0, &[(SinceBoot, 2)]),
        ("ubuntu-20.10_iostat", 0, &[(NoTime, 1), (NoUtilisation, 1)]),
        ("ubuntu-20.10_iostat-m", 0, &[(NoTime, 1), (NoUtilisation, 1)]),
        ("ubuntu-20.10_iostat-x", 0, &[(NoTime, 15)]),
        ("ubuntu-20.10_iostat-mx", 0, &[(NoTime, 15)]),
    ];
    for (name, rows, left_out) in expected {
        let samples = read(&[folder.join(format!("{name}.out"))]);
        assert_eq!(samples.files[0].rows, rows, "{name}");
        let of_time = |kind| !matches!(kind, SampleWarningKind::AmbiguousDate | SampleWarningKind::NoZone);
        let found: Vec<_> = samples.warnings.iter().filter(|w| of_time(w.kind)).map(|w| (w.kind, w.count)).collect();
        assert_eq!(found, left_out, "{name}");
    }
    for name in ["centos-7.7_pidstat", "centos-7.7_pidstat-hl", "centos-7.7_pidstat-hdlrsuw", "generic_pidstat-ht"] {
        let refused = read_samples(&[folder.join(format!("{name}.out"))], &SampleOptions::default(), &Unwatched);
        assert!(matches!(refused, Err(SampleError::NotSamples { what, .. }) if what.contains("pidstat")), "{name}");
    }
    // what another parser made of them is JSON, but not of sysstat
    assert!(!is_samples(&folder.join("centos-7.7_mpstat.json")));
}

fn text_of(name: &str, bytes: &[u8]) -> Result<Samples, SampleError> {
    read_samples_from_bytes(name, bytes, &SampleOptions::default())
}

#[test]
fn files_that_are_not_samples_are_refused_with_the_reason() {
    let refused = |bytes: &[u8]| text_of("f", bytes).unwrap_err().to_string();
    assert_eq!(refused(b""), "`f` is empty");
    assert_eq!(refused(b"hello\n"), "`f` is not output of sysstat");
    assert!(refused(b"\x96\xd5\x75\x21").contains("binary sar file"));
    assert!(refused(b"{\"Event\":1}\n").contains("not output of sysstat"));
}

#[test]
fn a_clock_of_another_zone_is_shifted_where_the_text_does_not_say() {
    let text = b"Linux 6.1 (a) \t2026-11-20 \t_x86_64_\t(1 CPU)\n\n10:00:00 CPU %usr %idle\n10:00:01 all 50.00 50.00\n";
    let at = |utc_offset| {
        let options = SampleOptions { utc_offset, ..SampleOptions::default() };
        read_samples_from_bytes("f", text, &options).unwrap().series[0].samples[0].to as i64
    };
    assert_eq!(at(0.0) - at(3600.0), 3600);
    assert_eq!(at(0.0), 1_795_132_800 + 36_001);
}

#[test]
fn a_damaged_gz_keeps_what_was_before() {
    let mut text = String::from("# hostname;interval;timestamp;CPU;%user;%idle\n");
    for second in 0..3000 {
        text += &format!("a;1;{};-1;{}.5;3.25\n", 1_795_166_000 + second, second * 7919 % 90);
    }
    let mut packed = packed(text.as_bytes());
    packed.truncate(packed.len() / 2);
    let samples = text_of("f", &packed).unwrap();
    assert!(samples.count() > 100, "{}", samples.count());
    let kinds: Vec<_> = samples.warnings.iter().map(|warning| warning.kind).collect();
    assert!(kinds.contains(&SampleWarningKind::CutFile), "{kinds:?}");
}

/// Packs bytes with gzip.
fn packed(bytes: &[u8]) -> Vec<u8> {
    use flate2::write::GzEncoder;
    use std::io::Write as _;
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Pieces of which texts of sysstat consist, and some that they should not have.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "Linux 6.1 (a) \t2026-11-20 \t_x86_64_\t(1 CPU)",
        "Linux ((",
        "10:00:00 CPU %usr %iowait %idle",
        "11:59:59 PM CPU %usr %idle",
        "10:00:01 all 50.00 1.00 49.00",
        "12:00:00 AM all 50,00 49,00",
        "99:99:99 all 1 2",
        "Average: all 1 2 3",
        "2026-11-20T09:22:53+0000",
        "11/30/2021 03:16:15 PM",
        "avg-cpu: %user %nice %system %iowait %steal %idle",
        " 1 2 3 4 5 6",
        "Device r/s %util",
        "Device: tps",
        "sda 1.0 99.9",
        "sda NaN inf",
        "sda 1e308 -1e308",
        "10:00:00 IFACE rxkB/s txkB/s",
        "10:00:01 eth0 1e300 2",
        "10:00:05 LINUX RESTART (2 CPU)",
        "# hostname;interval;timestamp;CPU;%user;%idle",
        "vm;1;2026-11-20 09:22:53 UTC;-1;90.50;3.00",
        "vm;-1;2026-11-20 09:22:53 UTC;LINUX-RESTART;(2 CPU)",
        "vm;1e308;99999999999;0;1;1",
        "{\"sysstat\": {\"hosts\": [{\"nodename\": \"vm\", \"statistics\": [",
        "{\"timestamp\": {\"date\": \"2026-11-20\", \"time\": \"09:22:53\", \"utc\": 1, \"interval\": 1}, \"cpu-load\": [{\"cpu\": \"all\", \"user\": 1}]},",
        "{\"timestamp\": \"09:22:53\", \"disk\": [{}], \"network\": 3}",
        "]}]}}",
        "",
        "\u{feff}",
    ]);
    prop_oneof![8 => fixed.prop_map(str::to_owned), 1 => ".{0,40}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Whatever is read, nothing panics, and what comes out is in order and within its bounds.
    #[test]
    fn samples_of_arbitrary_text_are_ordered_and_in_range(pieces in prop::collection::vec(piece(), 0..24), cut in 0..400_usize) {
        let text = pieces.join("\n");
        let bytes = &text.as_bytes()[..text.len().saturating_sub(cut % (text.len() + 1))];
        if let Ok(samples) = text_of("f", bytes) {
            for series in &samples.series {
                prop_assert!(series.samples.windows(2).all(|pair| pair[0].to <= pair[1].from));
                for sample in &series.samples {
                    prop_assert!(sample.from < sample.to && sample.value.is_finite() && sample.value >= 0.0);
                    prop_assert!(sample.value <= 1.0 || matches!(series.meter, Meter::Received | Meter::Sent | Meter::RunQueue));
                }
            }
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = text_of("f", &bytes);
    }
}
