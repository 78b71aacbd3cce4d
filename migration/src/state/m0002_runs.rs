//! Everything long that was ever asked for.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{
    big_integer, boolean, json_binary, json_binary_null, string_len, string_len_null,
};

use crate::make::{make, moment, moment_null};

/// Makes `tallyroll_runs` with its indexes.
#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        make(manager, table(manager), indexes()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("tallyroll_runs").take()).await
    }
}

/// Ids are `varchar`, not `char`: PostgreSQL compares `char` with a text argument only after
/// converting every stored id, past the index.
fn table(manager: &SchemaManager<'_>) -> TableCreateStatement {
    Table::create()
        .table("tallyroll_runs")
        .col(string_len("id", 36).primary_key())
        .col(string_len("kind", 16))
        .col(string_len("name", 190))
        .col(string_len("state", 16))
        .col(big_integer("rows"))
        .col(big_integer("bytes"))
        .col(big_integer("sent_bytes"))
        .col(string_len_null("sha256", 64))
        .col(moment(manager, "created_at"))
        .col(moment_null(manager, "started_at"))
        .col(moment_null(manager, "finished_at"))
        .col(big_integer("queue_ms"))
        .col(big_integer("query_ms"))
        .col(big_integer("encode_ms"))
        .col(big_integer("write_ms"))
        .col(json_binary("warnings"))
        .col(json_binary_null("error"))
        .col(json_binary_null("result"))
        .col(json_binary("params"))
        .col(string_len("caller", 255))
        .col(string_len("node", 36))
        .col(boolean("cancel_requested"))
        .take()
}

/// Newest first for one caller, what a node still has to do, and the runs of one definition.
fn indexes() -> [IndexCreateStatement; 3] {
    [
        index("tallyroll_runs_caller_id", &["caller", "id"]),
        index("tallyroll_runs_state_node", &["state", "node"]),
        index("tallyroll_runs_kind_name_id", &["kind", "name", "id"]),
    ]
}

fn index(name: &'static str, columns: &[&'static str]) -> IndexCreateStatement {
    let mut index = Index::create().name(name).table("tallyroll_runs").take();
    for column in columns {
        index.col(*column);
    }
    index
}
