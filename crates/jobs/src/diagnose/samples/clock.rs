//! Dates and times as sysstat writes them: 12 and 24 hours, ISO, and the dates of several locales.

/// Seconds of a day.
pub(super) const DAY: f64 = 86_400.0;

/// A date as days since 1970-01-01, and true if day and month are ambiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) days: i64,
    pub(super) ambiguous: bool,
}

/// Returns the days since 1970-01-01 in the Gregorian calendar; none for a date that does not exist.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    const LENGTHS: [i64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = *LENGTHS.get(usize::try_from(month - 1).ok()?)? + i64::from(leap && month == 2);
    if !(1970..=9999).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    // years begin in March, so that the leap day is the last one
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    Some(365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468)
}

/// Reads a date: `2026-11-20`, `11/20/2026`, `11/20/26` (month first unless only the day can be above 12), `20.11.2026`.
pub(super) fn date(text: &str) -> Option<Date> {
    let separator = text.chars().find(|c| !c.is_ascii_digit())?;
    let mut parts = text.split(separator);
    let (a, b, c) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || [a, b, c].iter().any(|part| part.is_empty() || part.len() > 4) {
        return None;
    }
    let number = |text: &str| text.parse::<i64>().ok();
    let (a, b, last) = (number(a)?, number(b)?, number(c)?);
    let year = if c.len() <= 2 { 2000 + last } else { last };
    let certain = |days: Option<i64>| Some(Date { days: days?, ambiguous: false });
    match separator {
        '-' if a > 31 => certain(days(a, b, last)),
        '.' => certain(days(year, b, a)),
        '-' | '/' if a > 12 => certain(days(year, b, a)),
        '-' | '/' => Some(Date { days: days(year, a, b)?, ambiguous: b <= 12 && a != b }),
        _ => None,
    }
}

/// Reads a time of day \[s\]: `15:16:15`, also with a decimal part; the 12-hour clock needs [`with_half`].
pub(super) fn time_of_day(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || hours.len() > 2 || minutes.len() != 2 || seconds.len() < 2 {
        return None;
    }
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = number(seconds).filter(|s| (0.0..61.0).contains(s))?;
    (hours < 24 && minutes < 60).then(|| f64::from(hours * 3600 + minutes * 60) + seconds)
}

/// Returns the half of the day that a word means: 0 before noon, 1 after noon.
pub(super) fn half(word: &str) -> Option<u8> {
    match word {
        "AM" | "am" | "a.m." => Some(0),
        "PM" | "pm" | "p.m." => Some(1),
        _ => None,
    }
}

/// Converts a time of the 12-hour clock to the 24-hour clock.
pub(super) fn with_half(time: f64, half: u8) -> Option<f64> {
    (3600.0..13.0 * 3600.0).contains(&time).then(|| time % (DAY / 2.0) + f64::from(half) * DAY / 2.0)
}

/// Reads a number with a decimal point or comma; none if the number is not finite.
pub(super) fn number(text: &str) -> Option<f64> {
    let parsed = if text.contains(',') && !text.contains('.') { text.replace(',', ".").parse() } else { text.parse() };
    parsed.ok().filter(|number: &f64| number.is_finite())
}

/// Reads a number that a kernel may report incorrectly: `nan` and `inf` become NaN, which is counted where the number is used.
pub(super) fn number_or_nan(text: &str) -> Option<f64> {
    number(text).or_else(|| text.parse::<f64>().is_ok().then_some(f64::NAN))
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stamp {
    /// Seconds since 1970 by the clock that wrote the stamp.
    pub(super) seconds: f64,
    /// True if the clock is known to be UTC.
    pub(super) utc: bool,
    pub(super) ambiguous: bool,
}

/// Reads a date with a time: `2026-11-20T09:22:53+0000`, `2026-11-20 09:22:53 UTC`, `11/30/2021 03:16:15 PM`, or whole seconds
/// since 1970.
pub(super) fn stamp(text: &str) -> Option<Stamp> {
    let text = text.trim();
    if text.len() >= 9 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let seconds = text.parse::<u64>().ok().filter(|&seconds| seconds < 1 << 40)? as f64;
        return Some(Stamp { seconds, utc: true, ambiguous: false });
    }
    let (day, rest) = text.split_once(['T', ' ', '\t'])?;
    let day = date(day)?;
    let rest = rest.trim();
    let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.' | ','))).unwrap_or(rest.len());
    let mut time = time_of_day(&rest[..end])?;
    let zone = rest[end..].trim();
    let mut utc = false;
    if let Some(half) = half(zone) {
        time = with_half(time, half)?;
    } else if !zone.is_empty() {
        time -= offset(zone)?;
        utc = true;
    }
    Some(Stamp { seconds: day.days as f64 * DAY + time, utc, ambiguous: day.ambiguous })
}

/// Returns the number of seconds by which a zone is ahead of UTC: `Z`, `UTC`, `GMT`, `+0100`, `+01:00`.
pub(super) fn offset(zone: &str) -> Option<f64> {
    if matches!(zone, "Z" | "UTC" | "GMT") {
        return Some(0.0);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1.0, digits),
        ("-", digits) => (-1.0, digits),
        _ => return None,
    };
    let digits: String = digits.chars().filter(|&c| c != ':').collect();
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (u32, u32) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    (hours < 24 && minutes < 60).then(|| sign * f64::from(hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_locales() {
        let day = |text| date(text).map(|date| (date.days, date.ambiguous));
        assert_eq!(day("1970-01-01"), Some((0, false)));
        // `date -u -d 2026-11-20 +%s` is 1795132800
        assert_eq!(day("2026-11-20"), Some((1_795_132_800 / 86_400, false)));
        for same in ["11/20/2026", "11/20/26", "20.11.2026", "20/11/2026", "20-11-26"] {
            assert_eq!(day(same), day("2026-11-20"), "{same}");
        }
        assert_eq!(day("03/11/2022").map(|date| date.1), Some(true));
        assert_eq!(day("2024-02-29").map(|date| date.0), day("2024-03-01").map(|date| date.0 - 1));
        for none in ["", "2026-02-29", "13/13/2026", "2026-11", "2026-11-20-1", "a/b/c", "99999-1-1", "2026-0-1"] {
            assert_eq!(day(none), None, "{none}");
        }
    }

    #[test]
    fn times_of_both_clocks() {
        assert_eq!(time_of_day("15:16:15"), Some(54_975.0));
        assert_eq!(time_of_day("15:16:15.25"), Some(54_975.25));
        let twelve = |text, word| with_half(time_of_day(text)?, half(word)?);
        assert_eq!(twelve("03:16:15", "PM"), Some(54_975.0));
        assert_eq!(twelve("12:00:00", "AM"), Some(0.0));
        assert_eq!(twelve("12:00:00", "PM"), Some(43_200.0));
        assert_eq!(twelve("13:00:00", "PM"), None);
        for none in ["", "1:2:3", "24:00:00", "10:60:00", "10:00:61", "10:00", "1:00:00:00"] {
            assert_eq!(time_of_day(none), None, "{none}");
        }
    }

    #[test]
    fn stamps_with_and_without_a_zone() {
        let seconds = |text| stamp(text).map(|stamp| (stamp.seconds, stamp.utc));
        let noon = 1_795_132_800.0 + 43_200.0;
        assert_eq!(seconds("2026-11-20T12:00:00+0000"), Some((noon, true)));
        assert_eq!(seconds("2026-11-20T12:00:00+01:00"), Some((noon - 3600.0, true)));
        assert_eq!(seconds("2026-11-20 12:00:00 UTC"), Some((noon, true)));
        assert_eq!(seconds("2026-11-20 12:00:00"), Some((noon, false)));
        assert_eq!(seconds("11/20/2026 12:00:00 PM"), Some((noon, false)));
        assert_eq!(seconds("1795176000"), Some((noon, true)));
        for none in ["2026-11-20", "12:00:00", "2026-11-20 12:00:00 XYZ", "sda 0.0", "123", "2026-11-20Tü"] {
            assert_eq!(seconds(none), None, "{none}");
        }
    }

    #[test]
    fn numbers_with_points_and_commas() {
        assert_eq!([number("1.5"), number("1,5"), number("1e3")], [Some(1.5), Some(1.5), Some(1000.0)]);
        assert_eq!([number("1,2.3"), number("nan"), number("-"), number("1,2,3")], [None; 4]);
        assert_eq!([number_or_nan("1,5"), number_or_nan("-")], [Some(1.5), None]);
        assert!(["nan", "-nan", "NaN", "inf"].iter().all(|text| number_or_nan(text).is_some_and(f64::is_nan)));
    }
}
