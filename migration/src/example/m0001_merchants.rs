//! Who is paid out.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, text, timestamp_with_time_zone};

/// Makes `merchants`.
#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("merchants")
            .col(big_integer("id").primary_key())
            .col(text("name"))
            .col(text("business_no"))
            .col(big_integer("settle_cycle"))
            .col(timestamp_with_time_zone("created_at"))
            .take();
        manager.create_table(table).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("merchants").take()).await
    }
}
