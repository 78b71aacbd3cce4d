//! `tallyroll_runs`: everything long that was ever asked for.

use sea_orm::entity::prelude::*;

/// One run: a report, an export, an import, a conversion or a bundle.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "tallyroll_runs")]
pub struct Model {
    /// UUIDv7 as text, so that the order of ids is the order of creation.
    #[sea_orm(primary_key, auto_increment = false, column_type = "String(StringLen::N(36))")]
    pub id: String,
    /// `report`, `export`, `import`, `convert` or `bundle`.
    #[sea_orm(column_type = "String(StringLen::N(16))")]
    pub kind: String,
    /// The definition's name.
    #[sea_orm(column_type = "String(StringLen::N(190))")]
    pub name: String,
    /// `queued`, `running`, `complete`, `failed` or `cancelled`.
    #[sea_orm(column_type = "String(StringLen::N(16))")]
    pub state: String,
    /// Rows encoded or read.
    pub rows: i64,
    /// Bytes encoded, before content coding.
    pub bytes: i64,
    /// Bytes sent to clients, also by later downloads.
    pub sent_bytes: i64,
    /// SHA-256 of the encoded bytes in lower-case hex, once they are whole.
    #[sea_orm(column_type = "String(StringLen::N(64))")]
    pub sha256: Option<String>,
    /// When it was asked for.
    pub created_at: DateTimeUtc,
    /// When it got its permit.
    pub started_at: Option<DateTimeUtc>,
    /// When it was done, in whatever way.
    pub finished_at: Option<DateTimeUtc>,
    /// Milliseconds spent waiting for a permit.
    pub queue_ms: i64,
    /// Milliseconds spent waiting for the database.
    pub query_ms: i64,
    /// Milliseconds spent in encoder and compressor.
    pub encode_ms: i64,
    /// Milliseconds spent waiting for the client or the disk.
    pub write_ms: i64,
    /// A list of `{code, detail, …}`.
    #[sea_orm(column_type = "JsonBinary")]
    pub warnings: Json,
    /// `{code, detail}` of a run that failed.
    #[sea_orm(column_type = "JsonBinary")]
    pub error: Option<Json>,
    /// What an import or a bundle has to say when it is done.
    #[sea_orm(column_type = "JsonBinary")]
    pub result: Option<Json>,
    /// The parameters it was asked with.
    #[sea_orm(column_type = "JsonBinary")]
    pub params: Json,
    /// Who began it, and who alone may see it.
    #[sea_orm(column_type = "String(StringLen::N(255))")]
    pub caller: String,
    /// The process that carries it, an id in `tallyroll_nodes`.
    #[sea_orm(column_type = "String(StringLen::N(36))")]
    pub node: String,
    /// Somebody, perhaps through another process, asked for it to stop.
    pub cancel_requested: bool,
}

/// A run outlives the process that carried it, so its node is no foreign key.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
