//! What all handles of the `Runtime` have in common.

/// Makes a handle: a group of the runtime's operations under one name, and the method of [`Runtime`](super::Runtime) that
/// gives it. A handle is a reference: it costs nothing to make or to copy.
macro_rules! handle {
    ($(#[$doc:meta])* $visible:vis $name:ident, $accessor:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        $visible struct $name<'a>(&'a $crate::runtime::Runtime);

        impl std::ops::Deref for $name<'_> {
            type Target = $crate::runtime::Runtime;

            fn deref(&self) -> &Self::Target {
                self.0
            }
        }

        impl $crate::runtime::Runtime {
            $(#[$doc])*
            #[must_use]
            $visible fn $accessor(&self) -> $name<'_> {
                $name(self)
            }
        }
    };
}
pub(crate) use handle;
