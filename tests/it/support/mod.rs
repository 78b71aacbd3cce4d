//! What every test stands on.
//!
//! ```text
//! #[tokio::test]
//! async fn rows_come_in_order() {
//!     on_every_backend(async |place| {
//!         place.execute("CREATE TABLE t (id bigint PRIMARY KEY); INSERT INTO t VALUES (1), (2)").await;
//!         place.report("t", r#"
//!             from = "t"
//!             order_by = ["id"]
//!             [[columns]]
//!             key = "id"
//!             type = "int"
//!         "#);
//!         let server = Server::start(&place, &[("stall_timeout", "2s")]).await;
//!         assert_eq!(server.get("/api/v1/reports/t/rows").await.text(), "{\"id\":1}\n{\"id\":2}\n");
//!         server.stop().await;
//!     })
//!     .await;
//! }
//! ```

mod answer;
mod backend;
mod command;
mod csv;
mod disk;
mod hold;
mod nginx;
mod place;
mod server;
mod stream;
mod workbook;

use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

pub use answer::Answer;
pub use backend::{Backend, backends, on_every_backend, on_every_server};
pub use command::curl;
pub use csv::{Field, parse_csv};
pub use hold::Held;
pub use nginx::{Nginx, behind_nginx, once_behind_nginx};
pub use place::Place;
pub use server::Server;
pub use stream::{Body, End, Stream};
pub use workbook::{Workbook, xlsx};

/// Something that takes requests: the server, or what stands before it.
pub trait Listens {
    /// Host and port.
    fn address(&self) -> &str;
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Waits until `met` gives something, at most `within`; fails with `what` was waited for.
pub async fn until<T>(what: &str, within: Duration, mut met: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = met().await {
            return found;
        }
        assert!(begun.elapsed() < within, "not within {within:?}: {what}");
        tokio::time::sleep(LOOK).await;
    }
}
