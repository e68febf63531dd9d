//! Calendar dates from the system clock, UTC.

use std::time::{SystemTime, UNIX_EPOCH};

/// The current time as `YYYY-MM-DD HH:MM:SS`, UTC.
pub fn now() -> String {
    of(SystemTime::now())
}

/// The current time in seconds since 1970; `None` if the clock is set to before 1970.
pub fn epoch() -> Option<f64> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|d| d.as_secs_f64())
}

/// `YYYY-MM-DD HH:MM:SS`, UTC, of a given time; times before 1970 are clamped.
pub fn of(time: SystemTime) -> String {
    format(time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs()))
}

/// `YYYY-MM-DD HH:MM:SS`, UTC, of a number of seconds since 1970.
fn format(seconds: u64) -> String {
    let (year, month, day) = civil(seconds / 86_400);
    let second = seconds % 86_400;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

/// Year, month and day from the number of days since 1970-01-01. Years are counted from March, so that the leap
/// day comes last, in eras of 400 years (146,097 days).
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_around_leap_days() {
        assert_eq!(format(0), "1970-01-01 00:00:00");
        assert_eq!(format(951_782_399), "2000-02-28 23:59:59");
        assert_eq!(format(951_782_400), "2000-02-29 00:00:00");
        assert_eq!(format(1_709_251_199), "2024-02-29 23:59:59");
        assert_eq!(format(1_795_214_278), "2026-11-20 22:37:58");
    }
}
