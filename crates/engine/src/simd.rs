//! Run-time choice of vector instructions: the same code is compiled for AVX-512, for AVX2 and for any CPU.
//!
//! Integer arithmetic gives the same bits on all three, so the choice affects only the speed.

use std::sync::OnceLock;

/// Vector instructions of this CPU.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Level {
    /// Instructions that every CPU of the architecture has.
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    #[cfg(target_arch = "x86_64")]
    Avx512(pulp::x86::V4),
}

/// Environment variable that limits the level, for tests and comparisons: `portable`, `avx2` or `avx512`.
const VARIABLE: &str = "TAILSPN_SIMD";

/// Returns the value of the environment variable `TAILSPN_SIMD` if it names no vector instructions; they are then chosen as if it were not set.
pub fn unknown_vectors() -> Option<String> {
    let cap = std::env::var(VARIABLE).ok()?;
    (!["", "portable", "avx2", "avx512"].contains(&cap.as_str())).then_some(cap)
}

impl Level {
    /// The best level of this CPU that the environment variable `TAILSPN_SIMD` allows.
    pub(crate) fn detect() -> Self {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        *LEVEL.get_or_init(|| {
            let cap = std::env::var(VARIABLE).unwrap_or_default();
            let levels = Self::available();
            let position = levels.iter().position(|level| level.name() == cap).unwrap_or(0);
            levels[position]
        })
    }

    /// All levels of this CPU, best first.
    pub(crate) fn available() -> Vec<Self> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            levels.extend(pulp::x86::V4::try_new().map(Self::Avx512));
            levels.extend(pulp::x86::V3::try_new().map(Self::Avx2));
        }
        levels.push(Self::Portable);
        levels
    }

    /// Name for provenance and for the environment variable.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => "avx512",
        }
    }

    /// Runs `work`, whose body is compiled for each level. All that it calls must be `#[inline(always)]`.
    #[inline]
    pub(crate) fn run<W: pulp::NullaryFnOnce>(self, work: W) -> W::Output {
        match self {
            Self::Portable => work.call(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(v3) => v3.vectorize(work),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(v4) => v4.vectorize(work),
        }
    }
}
