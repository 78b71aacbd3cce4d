//! `documents`: what is written for a project, in the worked example.

use sea_orm::entity::prelude::*;

/// One document, a construction ledger for example.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "documents")]
pub struct Model {
    /// The document's id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// An id in `projects`.
    pub project_id: i64,
    /// Its number, unique within the project in the example's data.
    #[sea_orm(column_type = "Text")]
    pub number: String,
    /// Its title.
    #[sea_orm(column_type = "Text")]
    pub title: String,
    /// `ledger`.
    #[sea_orm(column_type = "Text")]
    pub kind: String,
    /// What it says: an object.
    pub content: Json,
    /// When it was written.
    pub created_at: DateTimeUtc,
}

/// See [`crate::projects::Relation`].
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
