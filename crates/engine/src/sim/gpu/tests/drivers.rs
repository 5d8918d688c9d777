//! Tests with drivers that the machine does not select by itself: SwiftShader, and a driver without a GPU. Each driver runs
//! in a child process, because a process loads its drivers only once.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::sim::gpu::{GpuError, survey};

/// Runs tests of this program in a child process that sees only one driver.
fn with_driver(driver: &Path, variables: &[(&str, &str)], tests: &[&str]) -> Output {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(tests).args(["--exact", "--include-ignored", "--test-threads=1"]);
    // otherwise, a layer of Mesa prints additional lines
    child.env("VK_DRIVER_FILES", driver).env("VK_ICD_FILENAMES", driver).env("NODEVICE_SELECT", "1");
    child.envs(variables.iter().copied()).output().unwrap()
}

fn assert_passed(done: &Output, tests: &[&str]) {
    let (printed, errors) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{printed}\n{errors}");
    assert!(printed.contains(&format!(" {} passed; 0 failed; 0 ignored;", tests.len())), "{printed}");
}

/// The file that describes SwiftShader: `$TAILSPN_SWIFTSHADER`, otherwise the file in an installed package of Chromium.
fn swiftshader() -> Option<PathBuf> {
    let named = std::env::var_os("TAILSPN_SWIFTSHADER").map(PathBuf::from);
    let folders = ["/usr/lib/chromium", "/usr/lib64/chromium-browser", "/opt/google/chrome"];
    let mut known = folders.map(|folder| Path::new(folder).join("vk_swiftshader_icd.json")).into_iter();
    named.or_else(|| known.find(|path| path.exists()))
}

/// SwiftShader is independent of Mesa and has no 64-bit integers. The tests cover the known answers of the self-test, a
/// schedule, both forms of a race with choices, and every distribution.
///
/// This test was seen to fail with an adapter that is not SwiftShader, and with the name of a test that does not exist.
#[test]
fn swiftshader_gives_the_bits_of_the_cpu() {
    let Some(driver) = swiftshader() else {
        let required = std::env::var_os("TAILSPN_REQUIRE_SWIFTSHADER").is_some();
        assert!(!required, "no SwiftShader: install Chromium, or name vk_swiftshader_icd.json in $TAILSPN_SWIFTSHADER");
        println!("skipped: no SwiftShader");
        return;
    };
    let tests = [
        "sim::gpu::tests::law::delays_of_extreme_words_equal_the_cpu_bit_for_bit",
        "sim::gpu::tests::race::choices_and_laws_equal_the_cpu_bit_for_bit",
        "sim::gpu::tests::schedule::a_job_with_a_goal_marking_equals_the_cpu",
    ];
    assert_passed(&with_driver(&driver, &[("TAILSPN_ADAPTER", "SwiftShader")], &tests), &tests);
}

/// Mesa's driver for AMD GPUs can report a GPU that does not exist; nothing runs on this GPU.
#[test]
fn a_driver_without_its_gpu_is_refused() {
    let driver = Path::new("/usr/share/vulkan/icd.d/radeon_icd.x86_64.json");
    if !driver.exists() {
        println!("skipped: no driver of Mesa for AMD GPUs");
        return;
    }
    let tests = ["sim::gpu::tests::drivers::the_only_adapter_is_refused"];
    assert_passed(&with_driver(driver, &[("RADV_FORCE_FAMILY", "GFX1100")], &tests), &tests);
}

#[test]
#[ignore = "runs in the child process of another test"]
fn the_only_adapter_is_refused() {
    let found = survey();
    let [only] = &found[..] else { panic!("{found:?}") };
    assert!(only.facts.name.contains("RADV GFX1100"), "{only:?}");
    // Mesa 22 loses the device while it is opened; a version that opens the device does no work
    let refused = matches!(&only.fault, Some(GpuError::Refused { adapter, .. }) if *adapter == only.facts.name);
    let skips =
        matches!(only.fault, Some(GpuError::SelfTest { .. } | GpuError::Unfinished { .. } | GpuError::Lost { .. }));
    assert!(refused || skips, "{only:?}");
}
