//! Who is paid out.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, text};

use crate::make::{make, moment};

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
            .col(moment(manager, "created_at"))
            .take();
        make(manager, table, []).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("merchants").take()).await
    }
}
