//! Takes the steps of a migrator once, however many processes begin at the same time.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{
    DatabaseConnection, DbBackend, SqliteTransactionMode, Statement, TransactionOptions,
    TransactionTrait,
};

/// Takes the pending steps of `M`, all or none of them.
///
/// `key` names the migrator among the advisory locks of a PostgreSQL database. The wait for
/// another process is bounded by the connection's busy time-out on SQLite and by its
/// `lock_timeout` on PostgreSQL.
pub(crate) async fn up<M: MigratorTrait>(db: &DatabaseConnection, key: i64) -> Result<(), DbErr> {
    let backend = db.get_database_backend();
    match backend {
        DbBackend::Postgres => {
            let transaction = db.begin().await?;
            let lock = Statement::from_sql_and_values(
                backend,
                "SELECT pg_advisory_xact_lock($1)",
                [key.into()],
            );
            transaction.query_one_raw(lock).await?;
            M::up(&transaction, None).await?;
            transaction.commit().await
        }
        DbBackend::Sqlite => {
            // A deferred transaction that reads first cannot wait for a writer: it is refused
            // at once, whatever the busy time-out.
            let transaction = db
                .begin_with_options(TransactionOptions {
                    sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
                    ..TransactionOptions::default()
                })
                .await?;
            M::up(&transaction, None).await?;
            transaction.commit().await
        }
        other => Err(DbErr::BackendNotSupported { db: other.as_str(), ctx: "migrations" }),
    }
}
