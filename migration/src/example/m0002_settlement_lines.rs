//! The daily settlement, line by line.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, date, text};

use crate::make::{make, moment};

/// Makes `settlement_lines` with its indexes.
#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        make(manager, table(manager), indexes()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("settlement_lines").take()).await
    }
}

fn table(manager: &SchemaManager<'_>) -> TableCreateStatement {
    Table::create()
        .table("settlement_lines")
        .col(big_integer("id").primary_key())
        .col(big_integer("merchant_id"))
        .col(text("merchant_name"))
        .col(text("order_no"))
        .col(text("product"))
        .col(text("kind"))
        .col(text("method"))
        .col(text("status"))
        .col(big_integer("gross"))
        .col(big_integer("fee"))
        .col(big_integer("vat"))
        .col(big_integer("net"))
        .col(moment(manager, "paid_at"))
        .col(date("settle_on"))
        .take()
}

/// Each ends in the id, so that a page begins where the last one ended without sorting.
fn indexes() -> [IndexCreateStatement; 3] {
    [
        index("settlement_lines_paid_at_id", &["paid_at", "id"]),
        index("settlement_lines_merchant_id_paid_at_id", &["merchant_id", "paid_at", "id"]),
        index("settlement_lines_settle_on_id", &["settle_on", "id"]),
    ]
}

fn index(name: &'static str, columns: &[&'static str]) -> IndexCreateStatement {
    let mut index = Index::create().name(name).table("settlement_lines").take();
    for column in columns {
        index.col(*column);
    }
    index
}
