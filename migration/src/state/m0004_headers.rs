//! Mappings of headings that are kept for conversions.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{json_binary, string_len};

use crate::make::make;

/// Makes `tallyroll_headers`.
#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("tallyroll_headers")
            .col(string_len("name", 100).primary_key())
            .col(json_binary("columns"))
            .take();
        make(manager, table, []).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("tallyroll_headers").take()).await
    }
}
