//! Enums whose variants are the values of an option.

/// An enum whose variants are the values of an option.
pub trait Named: Copy + PartialEq + 'static {
    /// Every variant with its name.
    const NAMES: &'static [(Self, &'static str)];

    /// The variant of this name.
    fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(variant, _)| *variant)
    }

    /// Its name.
    fn name_of(self) -> &'static str {
        Self::NAMES.iter().find(|(variant, _)| *variant == self).map_or("", |(_, name)| name)
    }
}

/// Names the variants of an enum.
macro_rules! named {
    ($type:ident: $($variant:ident $name:literal),+ $(,)?) => {
        record::named!($type: $($variant $name),+);

        impl $crate::model::Named for $type {
            const NAMES: &'static [($type, &'static str)] = &[$(($type::$variant, $name)),+];
        }
    };
}
pub(super) use named;
