//! Names of the variants of an enum.

/// Names the variants of an enum: `named!(Format: Json "json", Terse "terse");`.
#[macro_export]
macro_rules! named {
    ($type:ident: $($variant:ident $name:literal),+ $(,)?) => {
        impl $type {
            /// The name, as typed, printed and recorded.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }
        }
    };
}
