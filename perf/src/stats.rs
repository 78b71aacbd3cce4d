//! Figures of several rounds, and how figures are shown.

use std::fmt;

/// The figures of the rounds, in the order in which they came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series(Vec<f64>);

impl Series {
    /// The one in the middle; between the two in the middle where the number is even. NaN without
    /// any.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match (sorted.get(middle), sorted.len() % 2) {
            (None, _) => f64::NAN,
            (Some(high), 1) => *high,
            (Some(high), _) => f64::midpoint(sorted[middle - 1], *high),
        }
    }

    /// What so many of a hundred do not pass (nearest rank). NaN without any.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
    }

    /// The lowest; infinite without any.
    pub(crate) fn low(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The highest; minus infinite without any.
    pub(crate) fn high(&self) -> f64 {
        self.0.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Each so many times as large, as for another unit.
    pub(crate) fn times(&self, factor: f64) -> Self {
        self.0.iter().map(|figure| figure * factor).collect()
    }

    /// Each as a divisor of one.
    pub(crate) fn inverse(&self) -> Self {
        self.0.iter().map(|figure| figure.recip()).collect()
    }

    /// Each by the other's of the same round.
    pub(crate) fn by(&self, other: &Self) -> Self {
        self.0.iter().zip(&other.0).map(|(one, other)| one / other).collect()
    }
}

impl FromIterator<f64> for Series {
    fn from_iter<I: IntoIterator<Item = f64>>(figures: I) -> Self {
        Self(figures.into_iter().collect())
    }
}

/// A count as a figure for people.
#[expect(clippy::cast_precision_loss, reason = "figures for people, far below 2^53")]
pub(crate) fn number(count: u64) -> f64 {
    count as f64
}

/// Millions of bytes.
pub(crate) fn megabytes(bytes: u64) -> f64 {
    number(bytes) / 1e6
}

/// MiB, with one digit.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1}", number(bytes) / f64::from(1 << 20))
}

/// Median and, of several, the range: `1.62 (1.58–1.70)`. `{:.1}` sets the digits; two without.
impl fmt::Display for Series {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = to.precision().unwrap_or(2);
        write!(to, "{:.digits$}", self.median())?;
        if self.len() > 1 {
            write!(to, " ({:.digits$}–{:.digits$})", self.low(), self.high())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(figures: &[f64]) -> Series {
        figures.iter().copied().collect()
    }

    #[test]
    fn the_median_is_in_the_middle_whatever_the_order() {
        for (figures, median) in
            [(&[3.0, 1.0, 2.0][..], 2.0), (&[4.0, 1.0, 3.0, 2.0], 2.5), (&[7.0], 7.0)]
        {
            assert!((series(figures).median() - median).abs() < 1e-12, "{figures:?}");
        }
        assert!(series(&[]).median().is_nan());
    }

    #[test]
    fn a_percentile_is_one_of_the_figures() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        for (percent, figure) in [(50, 50.0), (99, 99.0), (100, 100.0), (0, 1.0)] {
            assert!((series(&hundred).percentile(percent) - figure).abs() < 1e-12);
        }
        assert!((series(&[7.0, 3.0]).percentile(99) - 7.0).abs() < 1e-12);
        assert!(series(&[]).percentile(50).is_nan());
    }

    #[test]
    fn figures_are_shown_with_their_range() {
        assert_eq!(series(&[1.0, 3.0, 2.0]).to_string(), "2.00 (1.00–3.00)");
        assert_eq!(format!("{:.1}", series(&[1.0])), "1.0");
    }

    #[test]
    fn a_ratio_is_taken_round_by_round() {
        assert_eq!(series(&[6.0, 9.0]).by(&series(&[3.0, 3.0])).to_string(), "2.50 (2.00–3.00)");
    }
}
