//! What all handles of the `Store` have in common.

/// Makes a handle: a group of the store's operations under one name, and the method of [`Store`](super::Store) that
/// gives it. A handle is a reference: it costs nothing to make or to copy.
macro_rules! handle {
    ($(#[$doc:meta])* $visible:vis $name:ident, $accessor:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        $visible struct $name<'a>(&'a $crate::store::Store);

        impl std::ops::Deref for $name<'_> {
            type Target = $crate::store::Store;

            fn deref(&self) -> &Self::Target {
                self.0
            }
        }

        impl $crate::store::Store {
            $(#[$doc])*
            #[must_use]
            $visible fn $accessor(&self) -> $name<'_> {
                $name(self)
            }
        }
    };
}
pub(crate) use handle;
