//! `projects`: construction sites, in the worked example.

use sea_orm::entity::prelude::*;

/// One project.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "projects")]
pub struct Model {
    /// The project's number.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// Its name.
    #[sea_orm(column_type = "Text")]
    pub name: String,
    /// When it was begun.
    pub created_at: DateTimeUtc,
}

/// Documents name their project; a foreign key would only slow their loading.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
