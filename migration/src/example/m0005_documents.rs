//! What is written for construction sites.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, json, string_len, text};

use crate::make::{make, moment};

/// Makes `documents`.
#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("documents")
            .col(big_integer("id").primary_key())
            .col(big_integer("project_id"))
            .col(string_len("number", 64))
            .col(text("title"))
            .col(text("kind"))
            .col(json("content"))
            .col(moment(manager, "created_at"))
            .take();
        // In the order of a project's documents.
        let order = Index::create()
            .name("documents_project_id_number_id")
            .table("documents")
            .col("project_id")
            .col("number")
            .col("id")
            .take();
        make(manager, table, [order]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("documents").take()).await
    }
}
