//! Construction sites.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, text};

use crate::make::{make, moment};

/// Makes `projects`.
#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("projects")
            .col(big_integer("id").primary_key())
            .col(text("name"))
            .col(moment(manager, "created_at"))
            .take();
        make(manager, table, []).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("projects").take()).await
    }
}
