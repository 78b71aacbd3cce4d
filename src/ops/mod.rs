//! What stands around the server, with the server's own settings filled in: the configuration of a
//! proxy in front of it. It knows the settings and starts nothing.

mod nginx;

pub use nginx::{Site, nginx};
