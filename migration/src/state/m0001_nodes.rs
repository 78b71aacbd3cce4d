//! The processes that share one state database.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, string_len, text};

use crate::make::{make, moment};

/// Makes `tallyroll_nodes`.
#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("tallyroll_nodes")
            .col(string_len("id", 36).primary_key())
            .col(text("host"))
            .col(big_integer("pid"))
            .col(moment(manager, "started_at"))
            .col(big_integer("beat"))
            .take();
        make(manager, table, []).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("tallyroll_nodes").take()).await
    }
}
