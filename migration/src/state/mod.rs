//! The server's own tables.

mod m0001_nodes;
mod m0002_runs;
mod m0003_requests;
mod m0004_headers;

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseConnection;

/// The steps of the state database, recorded in `tallyroll_migrations`.
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_nodes::Migration),
            Box::new(m0002_runs::Migration),
            Box::new(m0003_requests::Migration),
            Box::new(m0004_headers::Migration),
        ]
    }

    fn migration_table_name() -> DynIden {
        "tallyroll_migrations".into_iden()
    }
}

/// Takes the steps not yet taken, all or none; safe from several processes at once.
///
/// # Errors
/// Whatever the database refuses; the tables are then as they were.
pub async fn up(db: &DatabaseConnection) -> Result<(), DbErr> {
    crate::lock::up::<Migrator>(db, i64::from_be_bytes(*b"tallysta")).await
}
