//! Colours.

/// A colour, as red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colour(pub u8, pub u8, pub u8);

/// The background.
pub(crate) const PAPER: Colour = Colour(255, 255, 255);
/// Text and axes.
pub(crate) const INK: Colour = Colour(33, 33, 33);
/// Secondary text.
pub(crate) const FAINT: Colour = Colour(97, 97, 97);
/// Grid lines.
pub(crate) const GRID: Colour = Colour(222, 222, 222);
/// Hatching of missing values.
pub(crate) const HATCH: Colour = Colour(170, 170, 170);

/// Viridis at even steps.
const VIRIDIS: [Colour; 11] = [
    Colour(68, 1, 84),
    Colour(72, 36, 117),
    Colour(65, 68, 135),
    Colour(53, 95, 141),
    Colour(42, 120, 142),
    Colour(33, 145, 140),
    Colour(34, 168, 132),
    Colour(68, 191, 112),
    Colour(122, 209, 81),
    Colour(189, 223, 38),
    Colour(253, 231, 37),
];

/// The colours of Okabe and Ito, those with the most contrast to white first.
const SERIES: [Colour; 8] = [
    Colour(0, 114, 178),
    Colour(213, 94, 0),
    Colour(0, 158, 115),
    Colour(204, 121, 167),
    Colour(230, 159, 0),
    Colour(86, 180, 233),
    Colour(0, 0, 0),
    Colour(240, 228, 66),
];

/// The colour of a share from 0 to 1 of a field's range.
pub(crate) fn viridis(share: f64) -> Colour {
    let steps = (VIRIDIS.len() - 1) as f64;
    let at = if share.is_finite() { share.clamp(0.0, 1.0) * steps } else { 0.0 };
    let below = (at.floor() as usize).min(VIRIDIS.len() - 2);
    VIRIDIS[below].towards(VIRIDIS[below + 1], at - below as f64)
}

/// The colour of one of `count` series; too many for different colours are shades.
pub(crate) fn series(index: usize, count: usize) -> Colour {
    match count > SERIES.len() {
        // The yellow end is hard to see on white.
        true => viridis(0.9 * index as f64 / (count - 1) as f64),
        false => SERIES[index % SERIES.len()],
    }
}

impl Colour {
    /// The colour at this share of the way to another one.
    pub(crate) fn towards(self, other: Colour, share: f64) -> Colour {
        let mix =
            |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * share).round() as u8;
        Colour(mix(self.0, other.0), mix(self.1, other.1), mix(self.2, other.2))
    }

    /// Relative luminance, from 0 to 1 (WCAG 2.1).
    pub(crate) fn luminance(self) -> f64 {
        let linear = |c: u8| match f64::from(c) / 255.0 {
            c if c <= 0.04045 => c / 12.92,
            c => ((c + 0.055) / 1.055).powf(2.4),
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// [`INK`] or [`PAPER`], whichever has more contrast to it.
    pub(crate) fn ink(self) -> Colour {
        // The contrasts with both are equal here.
        if self.luminance() > 0.21 { INK } else { PAPER }
    }

    /// "#rrggbb".
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_of_a_field_increase_in_lightness() {
        let shades: Vec<f64> = (0..=50).map(|i| viridis(f64::from(i) / 50.0).luminance()).collect();
        assert!(shades.windows(2).all(|pair| pair[0] < pair[1]), "{shades:?}");
        assert_eq!(viridis(-3.0).hex(), "#440154");
        assert_eq!(viridis(f64::NAN), viridis(0.0));
    }

    #[test]
    fn words_are_read_on_every_colour() {
        for step in 0..=20 {
            let ground = viridis(f64::from(step) / 20.0);
            let (one, other) = (ground.luminance() + 0.05, ground.ink().luminance() + 0.05);
            assert!(one.max(other) / one.min(other) > 3.9, "{ground:?}");
        }
    }

    #[test]
    fn each_series_has_its_colour() {
        for count in [2, 8, 20] {
            let mut all: Vec<String> = (0..count).map(|i| series(i, count).hex()).collect();
            all.sort();
            all.dedup();
            assert_eq!(all.len(), count);
        }
    }
}
