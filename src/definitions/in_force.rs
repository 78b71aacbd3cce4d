//! The definitions that requests go by, until others are put in their place.

use std::sync::{Arc, PoisonError, RwLock};

use super::Definitions;

/// Definitions that everybody shares and that are read again on demand.
#[derive(Debug, Clone, Default)]
pub struct InForce(Arc<RwLock<Arc<Definitions>>>);

impl InForce {
    /// These from the start.
    #[must_use]
    pub fn new(definitions: Definitions) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(definitions))))
    }

    /// Those in force now.
    #[must_use]
    pub fn get(&self) -> Arc<Definitions> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts others in force, for requests from now on.
    pub fn replace(&self, definitions: Definitions) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(definitions);
    }
}
