//! Errors of GPUs.

/// A reason why the GPU cannot run, or could not continue. Nothing of the failed chunk is counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// The system has no adapter at all. Install a driver, or run on the CPU.
    #[error(
        "no graphics adapter found: install its Vulkan driver (for tests without a GPU: mesa-vulkan-drivers), or use the CPU"
    )]
    NoAdapter,
    /// Only software adapters were found, and none was selected by name.
    #[error(
        "found only a software adapter ({found}), which is slower than the CPU; select it with --adapter to use it anyway"
    )]
    OnlySoftware {
        /// Name of the adapter.
        found: String,
    },
    /// No adapter has the requested name.
    #[error("no adapter `{name}`; available: {}", available.join(", "))]
    NoSuchAdapter {
        /// The name.
        name: String,
        /// Names of the available adapters.
        available: Vec<String>,
    },
    /// The driver refused to open the device.
    #[error("the adapter `{adapter}` could not be opened: {message}")]
    Refused {
        /// Name of the adapter.
        adapter: String,
        /// Message of the driver.
        message: String,
    },
    /// The device computes wrong results. Update its driver.
    #[error(
        "the adapter `{adapter}` failed its self-test ({what}): its driver miscompiles; update the driver or use the CPU"
    )]
    SelfTest {
        /// Name of the adapter.
        adapter: String,
        /// The wrong result.
        what: String,
    },
    /// A shader was refused, which is a fault of this program or of the driver.
    #[error("the device refused the shader {shader}: {message}")]
    Shader {
        /// Name of the shader.
        shader: &'static str,
        /// Message of the compiler.
        message: String,
    },
    /// A command was refused, which is a fault of this program.
    #[error("the device refused a command: {message}")]
    Validation {
        /// Message of the validation.
        message: String,
    },
    /// The device has no memory for a buffer, not even a small one.
    #[error("the device has no free memory for {bytes} bytes; close other programs that use it, or use the CPU")]
    OutOfMemory {
        /// Size of the buffer that did not fit \[bytes\].
        bytes: u64,
    },
    /// The device went away, or the driver reset it.
    #[error("the device was lost: {message}")]
    Lost {
        /// Message of the driver.
        message: String,
    },
    /// The driver reported work as complete that was not done. Update the driver, or use the CPU.
    #[error("the device skipped work of the shader {kernel}: {what}; update the driver or use the CPU")]
    Unfinished {
        /// Name of the shader.
        kernel: &'static str,
        /// The missing work.
        what: String,
    },
    /// The device did not respond in time.
    #[error("the device did not finish within {seconds} s")]
    Timeout {
        /// Time waited.
        seconds: u64,
    },
}
