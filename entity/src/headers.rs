//! `tallyroll_headers`: mappings of headings that are kept for conversions.

use sea_orm::entity::prelude::*;

/// One mapping.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "tallyroll_headers")]
pub struct Model {
    /// Names it in addresses.
    #[sea_orm(primary_key, auto_increment = false, column_type = "String(StringLen::N(100))")]
    pub name: String,
    /// A list of `{from, to}`, in the order that columns get.
    #[sea_orm(column_type = "JsonBinary")]
    pub columns: Json,
}

/// Nothing refers to a mapping.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
