//! The tables of the worked example, made by the demo alone.

mod m0001_merchants;
mod m0002_settlement_lines;
mod m0003_payments;
mod m0004_projects;
mod m0005_documents;

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DatabaseConnection;

/// The tables of the example, in the order in which they are filled.
pub const TABLES: [&str; 5] =
    ["merchants", "settlement_lines", "payments", "projects", "documents"];

/// The steps of the example, recorded in `tallyroll_example_migrations`.
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_merchants::Migration),
            Box::new(m0002_settlement_lines::Migration),
            Box::new(m0003_payments::Migration),
            Box::new(m0004_projects::Migration),
            Box::new(m0005_documents::Migration),
        ]
    }

    fn migration_table_name() -> DynIden {
        "tallyroll_example_migrations".into_iden()
    }
}

/// Takes the steps not yet taken, all or none; safe from several processes at once.
///
/// # Errors
/// Whatever the database refuses, such as a table of the same name that somebody else made (see
/// [`strangers`]); the tables are then as they were.
pub async fn up(db: &DatabaseConnection) -> Result<(), DbErr> {
    crate::lock::up::<Migrator>(db, i64::from_be_bytes(*b"tallyexa")).await
}

/// Names the tables of the example that are there without the example having made them.
///
/// They are somebody's own, whatever they hold, and must not be touched.
///
/// # Errors
/// Whatever the database refuses; nothing is written.
pub async fn strangers(db: &DatabaseConnection) -> Result<Vec<&'static str>, DbErr> {
    let manager = SchemaManager::new(db);
    let mut found = Vec::new();
    for table in TABLES {
        if manager.has_table(table).await? {
            found.push(table);
        }
    }
    // Asked second: a table that another process has just made is recorded by now.
    let pending = Migrator::get_pending_migrations_read_only(db).await?;
    found.retain(|table| pending.iter().any(|step| step.name().ends_with(table)));
    Ok(found)
}
