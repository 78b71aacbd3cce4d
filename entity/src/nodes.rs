//! `tallyroll_nodes`: the processes that share one state database.

use sea_orm::entity::prelude::*;

/// One process, from its start until its row is swept.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "tallyroll_nodes")]
pub struct Model {
    /// UUIDv7, made anew at each start.
    #[sea_orm(primary_key, auto_increment = false, column_type = "String(StringLen::N(36))")]
    pub id: String,
    /// The machine's name.
    #[sea_orm(column_type = "Text")]
    pub host: String,
    /// The process id on that machine.
    pub pid: i64,
    /// When the process began.
    pub started_at: DateTimeUtc,
    /// Counts up while the process lives; a row whose beat stands still is a dead process.
    pub beat: i64,
}

/// Nodes are referred to by id alone.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
