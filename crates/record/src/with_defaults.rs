//! Defaults of fields beside the fields.

/// A struct whose fields name their defaults: `pub depth: u64 = 2,`. A field without one has the
/// default of its type.
#[macro_export]
macro_rules! with_defaults {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$field_meta:meta])* $field_visibility:vis $field:ident: $type:ty $(= $default:expr)?,)+
        }
    ) => {
        $(#[$meta])*
        $visibility struct $name {
            $($(#[$field_meta])* $field_visibility $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $crate::with_defaults!(@ $($default)?),)+ }
            }
        }
    };
    (@ $default:expr) => { $default };
    (@) => { Default::default() };
}
