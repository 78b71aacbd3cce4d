//! Rows pass through nginx as they come.

use futures::future::join_all;

use crate::faults::trickle::{read, read_book, slow_report};
use crate::support::{Backend, Nginx, Server, behind_nginx};

#[tokio::test]
async fn rows_that_trickle_reach_the_client_within_300_ms() {
    behind_nginx(async |place| {
        slow_report(&place).await;
        let server = Server::start(&place, &[]).await;
        let nginx = Nginx::start(&place, &server, &[]).await;
        let codings = ["identity", "gzip", "zstd"];
        if place.backend() == Backend::Sqlite {
            // Here each row costs a processor.
            for coding in codings {
                read(&server, &nginx, coding).await;
            }
            read_book(&server, &nginx).await;
        } else {
            let texts = join_all(codings.map(|coding| read(&server, &nginx, coding)));
            tokio::join!(texts, read_book(&server, &nginx));
        }
        nginx.stop().await;
        server.stop().await;
    })
    .await;
}
