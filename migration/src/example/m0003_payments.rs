//! What was paid, as merchants report it.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, string_len, string_len_null};

use crate::make::{make, moment};

/// Makes `payments`, which the import of that name fills.
#[derive(DeriveMigrationName)]
pub(super) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("payments")
            .col(big_integer("id").auto_increment().primary_key())
            .col(big_integer("merchant_id"))
            .col(string_len("order_no", 64))
            .col(string_len_null("product", 200))
            .col(string_len("method", 20))
            .col(big_integer("amount"))
            .col(big_integer("fee"))
            .col(moment(manager, "paid_at"))
            .take();
        let key = Index::create()
            .name("payments_merchant_id_order_no")
            .table("payments")
            .col("merchant_id")
            .col("order_no")
            .unique()
            .take();
        make(manager, table, [key]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("payments").take()).await
    }
}
