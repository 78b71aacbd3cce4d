//! `tallyroll_requests`: requests that may be repeated and are done once.

use sea_orm::entity::prelude::*;

/// One request under its Idempotency-Key.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "tallyroll_requests")]
pub struct Model {
    /// SHA-256 of caller, path and key in hex.
    #[sea_orm(primary_key, auto_increment = false, column_type = "String(StringLen::N(64))")]
    pub id: String,
    /// SHA-256 of parameters and content in hex.
    #[sea_orm(column_type = "String(StringLen::N(64))")]
    pub content: String,
    /// The run that does it.
    #[sea_orm(column_type = "String(StringLen::N(36))")]
    pub run_id: String,
    /// When it came first.
    pub created_at: DateTimeUtc,
}

/// Runs are referred to by id alone.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
