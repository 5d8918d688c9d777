//! Consistency of host and shaders, without a device: names of twins, offsets of structs, and validity of every shader
//! in every variant.

use std::collections::BTreeSet;
use std::path::Path;

use naga::valid::{Capabilities, ValidationFlags, Validator};

use crate::sim::gpu::layout::{Average, AverageRun, Partial, RaceRun, ReduceRun, ScheduleRun};
use crate::sim::gpu::shader::{self, Slots};

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn functions(source: &str) -> BTreeSet<&str> {
    let declared =
        source.match_indices("fn ").filter(|(at, _)| *at == 0 || !source[..*at].ends_with(char::is_alphanumeric));
    let names = declared.map(|(at, _)| source[at + 3..].split(|c: char| !c.is_alphanumeric() && c != '_').next());
    names.flatten().filter(|name| !name.is_empty()).collect()
}

/// The twins that a shared shader names: file and functions.
fn twins(source: &str) -> Vec<(String, Vec<String>)> {
    let line = source.lines().find_map(|line| line.strip_prefix("// Twin: ")).unwrap_or_default();
    let entries = line.split_terminator(')');
    entries
        .filter_map(|entry| {
            let (file, names) = entry.trim_start_matches(", ").split_once(" (")?;
            Some((file.to_owned(), names.split(", ").map(str::to_owned).collect()))
        })
        .collect()
}

#[test]
fn every_shared_shader_has_a_twin_with_the_same_names() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut seen = 0;
    for entry in std::fs::read_dir(root.join("shaders/shared")).unwrap() {
        let path = entry.unwrap().path();
        let source = read(&path);
        let named = twins(&source);
        assert!(!named.is_empty(), "{} names no twin", path.display());
        for (file, names) in named {
            let rust = read(&root.join(&file));
            for name in names {
                assert!(functions(&source).contains(&name[..]), "{} has no fn {name}", path.display());
                assert!(functions(&rust).contains(&name[..]), "{file} has no fn {name}");
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "only {seen} functions");
}

fn parse(source: &str) -> naga::Module {
    naga::front::wgsl::parse_str(source).unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)))
}

/// Offsets of the members of a struct in the shader, and the size of the struct.
fn offsets(module: &naga::Module, name: &str) -> Vec<(String, usize)> {
    let found = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name));
    let (_, ty) = found.unwrap_or_else(|| panic!("no struct {name}"));
    let naga::TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no struct") };
    let named = members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset as usize));
    named.chain([("size".to_owned(), *span as usize)]).collect()
}

macro_rules! mirror {
    ($module:expr, $name:ident { $($field:ident),* }) => {{
        let here = vec![
            $((stringify!($field).to_owned(), std::mem::offset_of!($name, $field)),)*
            ("size".to_owned(), size_of::<$name>()),
        ];
        assert_eq!(offsets($module, stringify!($name)), here, stringify!($name));
    }};
}

/// This test was seen to fail with two fields of `RaceRun` exchanged on one side.
#[test]
fn structs_have_the_same_layout_on_both_sides() {
    let schedule = parse(&shader::schedule(false, Slots::Memory, false, false));
    mirror!(&schedule, ScheduleRun { key, first_quad, quads, stride, begin, end, horizon, quads_each, length });
    let reduce = parse(&shader::reduce(false));
    mirror!(&reduce, ReduceRun { limit, begin, end, share, histogram, padding });
    mirror!(&reduce, Partial { squares, sum, min, max, count, seen });
    let average = parse(&shader::average(false));
    mirror!(
        &average,
        AverageRun { warm_up, tick, count, units, offset, blocks, first, end_column, taken_column, padding }
    );
    mirror!(&average, Average { mean, squares, min, max, count, padding });
    let race = parse(&race_shaders()[0]);
    mirror!(&race, RaceRun { key, first, count, lanes, steps, horizon, last_tick, warm_up, max_firings, padding });
}

/// The race kernel for a net with all features, and for an empty net, in both forms.
fn race_shaders() -> Vec<String> {
    crate::sim::gpu::tests::race::sources()
}

#[test]
fn every_shader_is_valid_in_every_variant() {
    let mut sources = race_shaders();
    for int64 in [false, true] {
        sources.extend([
            shader::schedule(int64, Slots::Private(3), false, true),
            shader::schedule(int64, Slots::Private(3), true, false),
            shader::schedule(int64, Slots::Memory, false, true),
            shader::reduce(int64),
            shader::average(int64),
            shader::self_test(int64),
        ]);
    }
    assert!(sources.len() >= 12);
    for source in sources {
        let module = parse(&source);
        let checked = Validator::new(ValidationFlags::all(), Capabilities::SHADER_INT64).validate(&module);
        if let Err(error) = checked {
            panic!("{}", error.emit_to_string(&source));
        }
    }
}

/// Kernels whose compiled form is compared from version to version: name and source.
fn fixed_kernels() -> Vec<(&'static str, String)> {
    let [rich_direct, rich_clock, plain_direct, plain_clock] = race_shaders().try_into().unwrap();
    vec![
        ("schedule", shader::schedule(true, Slots::Private(3), false, false)),
        ("schedule-words", shader::schedule(false, Slots::Private(3), false, false)),
        ("schedule-memory", shader::schedule(true, Slots::Memory, false, false)),
        ("reduce", shader::reduce(true)),
        ("average", shader::average(true)),
        ("race-direct", plain_direct),
        ("race-direct-rich", rich_direct),
        ("race-clock", plain_clock),
        ("race-clock-rich", rich_clock),
    ]
}

/// Writes the fixed kernels as SPIR-V, with the checks of bounds that wgpu leaves to the driver left out here too.
#[test]
#[ignore = "writes files for benches/kernels.py"]
fn kernels_as_spirv() {
    use naga::back::spv;
    let folder = std::env::var_os("TAILSPN_KERNELS").expect("TAILSPN_KERNELS names the folder for the files");
    let options = spv::Options {
        bounds_check_policies: naga::proc::BoundsCheckPolicies {
            index: naga::proc::BoundsCheckPolicy::Restrict,
            ..Default::default()
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        ..spv::Options::default()
    };
    let entry = spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: "main".to_owned() };
    for (name, source) in fixed_kernels() {
        let module = parse(&source);
        let info = Validator::new(ValidationFlags::all(), Capabilities::SHADER_INT64).validate(&module).unwrap();
        let words = spv::write_vec(&module, &info, &options, Some(&entry)).unwrap();
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        std::fs::write(Path::new(&folder).join(format!("{name}.spv")), bytes).unwrap();
    }
}
