//! Requests that may be repeated and are done once.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::string_len;

use crate::make::{make, moment};

/// Makes `tallyroll_requests`.
#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("tallyroll_requests")
            .col(string_len("id", 64).primary_key())
            .col(string_len("content", 64))
            .col(string_len("run_id", 36))
            .col(moment(manager, "created_at"))
            .take();
        let index = Index::create()
            .name("tallyroll_requests_created_at")
            .table("tallyroll_requests")
            .col("created_at")
            .take();
        make(manager, table, [index]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("tallyroll_requests").take()).await
    }
}
