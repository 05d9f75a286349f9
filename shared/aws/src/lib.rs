//! The ports on AWS.
