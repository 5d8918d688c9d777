//! Measures of tasks by RAPIDS, NVIDIA's plug-in for GPUs. Each version logs some of the measures: an absent one is unknown, not zero.

use crate::trace::builder::Builder;
use crate::trace::metric::{Metric, Metrics};
use crate::trace::spark::event::Measures;
use crate::trace::warning::WarningKind;

/// Records the measures of a task; a measure with several parts is the sum of the parts.
pub(super) fn measure(found: &Measures<'_>, metrics: &mut Metrics, builder: &mut Builder) {
    let mut sums: Vec<(Metric, u64)> = Vec::new();
    for (name, update) in &found.0 {
        let (metric, read): (Metric, fn(&str) -> Option<u64>) = match name.as_str() {
            "gpuSemaphoreWait" => (Metric::GpuWaitTime, microseconds),
            "gpuTime" => (Metric::GpuHoldTime, microseconds),
            "gpuRetryBlockTime" | "gpuRetryComputationTime" => (Metric::GpuRetryTime, microseconds),
            "gpuSpillToHostTime" | "gpuSpillToDiskTime" | "gpuReadSpillFromHostTime" | "gpuReadSpillFromDiskTime" => {
                (Metric::GpuSpillTime, microseconds)
            }
            "gpuRetryCount" | "gpuSplitAndRetryCount" => (Metric::GpuRetries, number),
            "gpuMaxDeviceMemoryBytes" => (Metric::GpuPeakBytes, number),
            _ => continue,
        };
        let Some(value) = read(update.as_str()) else {
            builder.warn(WarningKind::BadCounter, || format!("{}: {}", name.as_str(), update.as_str()));
            continue;
        };
        match sums.iter_mut().find(|(own, _)| *own == metric) {
            Some((_, sum)) => *sum = sum.saturating_add(value),
            None => sums.push((metric, value)),
        }
    }
    sums.into_iter().for_each(|(metric, value)| metrics.set(metric, value));
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// A time such as `00:01:02.345`.
fn microseconds(text: &str) -> Option<u64> {
    let (clock, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let mut parts = clock.split(':').map(|part| part.parse::<u64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || minutes >= 60 || seconds >= 60 || fraction.len() > 6 {
        return None;
    }
    let fraction = match fraction.is_empty() {
        true => 0,
        false => fraction.parse::<u64>().ok()? * 10_u64.pow(6 - fraction.len() as u32),
    };
    let whole = hours.checked_mul(3600)?.checked_add(60 * minutes + seconds)?;
    whole.checked_mul(1_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_hours_minutes_and_seconds() {
        assert_eq!(microseconds("00:00:00.001"), Some(1_000));
        assert_eq!(microseconds("01:02:03.5"), Some(3_723_500_000));
        assert_eq!(microseconds("100:00:00"), Some(360_000_000_000));
        for bad in ["", "1", "00:61:00", "00:00:00:00", "00:00:0x", "00:00:00.1234567", "99999999999999999:00:00"] {
            assert_eq!(microseconds(bad), None, "{bad}");
        }
    }
}
