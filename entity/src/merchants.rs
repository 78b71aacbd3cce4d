//! `merchants`: who is paid out, in the worked example.

use sea_orm::entity::prelude::*;

/// One merchant.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "merchants")]
pub struct Model {
    /// The merchant's number.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// Its name, unique in the example's data.
    #[sea_orm(column_type = "Text")]
    pub name: String,
    /// Its business registration number, `123-45-67890`.
    #[sea_orm(column_type = "Text")]
    pub business_no: String,
    /// Days from payment to settlement.
    pub settle_cycle: i64,
    /// When it joined.
    pub created_at: DateTimeUtc,
}

/// Lines repeat the merchant's name as it was, so nothing points here.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
