//! What the tiers share.
