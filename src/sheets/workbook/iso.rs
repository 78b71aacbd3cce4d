//! Durations of ISO 8601, as `OpenDocument` writes times: `PT09H30M00S`.

/// The days that a duration of days, hours, minutes and seconds lasts; `None` for anything else.
pub(super) fn days(text: &str) -> Option<f64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text),
    };
    let text = text.strip_prefix('P')?;
    let (date, time) = text.split_once('T').unwrap_or((text, ""));
    let days = sum(date, &[('D', 86_400.0)])?;
    let seconds = sum(time, &[('H', 3600.0), ('M', 60.0), ('S', 1.0)])?;
    (!(date.is_empty() && time.is_empty())).then_some(sign * (days + seconds) / 86_400.0)
}

/// The sum of numbers that are each followed by their unit, in the order of the units.
fn sum(mut text: &str, units: &[(char, f64)]) -> Option<f64> {
    let mut sum = 0.0;
    for (unit, seconds) in units {
        if let Some((number, rest)) = text.split_once(*unit) {
            let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            sum += number.parse::<f64>().ok().filter(|_| plain)? * seconds;
            text = rest;
        }
    }
    text.is_empty().then_some(sum)
}
