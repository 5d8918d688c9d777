//! Times as dates that people read.

/// Writes a time in seconds since 1970 as `2026-11-20 10:24:43 UTC`, rounded down to the second.
pub fn utc_text(unix_s: f64) -> String {
    const DAY: i64 = 86_400;
    // a time outside of the range of whole numbers becomes the end of the range
    let seconds = unix_s.floor() as i64;
    let (days, of_day) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    // years begin in March here, so that a leap day is the last of its year; 400 years have 146,097 days
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_dates() {
        assert_eq!(utc_text(0.0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc_text(-0.5), "1969-12-31 23:59:59 UTC");
        assert_eq!(utc_text(1_709_208_000.999), "2024-02-29 12:00:00 UTC");
        assert_eq!(utc_text(1_709_251_200.0), "2024-03-01 00:00:00 UTC");
        assert_eq!(utc_text(4_107_542_399.0), "2100-02-28 23:59:59 UTC");
        assert!([f64::MAX, f64::MIN, f64::NAN].into_iter().all(|time| utc_text(time).ends_with(" UTC")));
    }
}
