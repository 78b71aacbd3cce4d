//! Takes the steps of a migrator once, however many processes begin at the same time.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{
    DatabaseConnection, DbBackend, SqliteTransactionMode, Statement, TransactionOptions,
    TransactionTrait,
};

/// Takes the pending steps of `M`, all or none of them.
///
/// `key` names the migrator among the advisory locks of a PostgreSQL database, or among the named
/// locks of a MySQL server. The wait for another process is bounded by the connection's busy time-out
/// on SQLite, by its `lock_timeout` on PostgreSQL and to a minute on MySQL.
///
/// MySQL commits every statement that changes tables. There each step is one statement that passes
/// over what is there already, so that steps cut off in the middle are taken up again.
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
        DbBackend::MySql => {
            // A transaction only to stay on one connection, whose lock it is.
            let transaction = db.begin().await?;
            let name = format!("CONCAT('tallyroll.', MD5(CONCAT(DATABASE(), '.{key}')))");
            let lock = format!("SELECT GET_LOCK({name}, 60) = 1");
            let lock = transaction.query_one_raw(Statement::from_string(backend, lock)).await?;
            let held: Option<bool> = lock.map(|row| row.try_get_by_index(0)).transpose()?.flatten();
            if held != Some(true) {
                let words = "another process has been making the tables for more than a minute";
                return Err(DbErr::Custom(words.into()));
            }
            let taken = M::up(&transaction, None).await;
            let release = Statement::from_string(backend, format!("DO RELEASE_LOCK({name})"));
            let released = transaction.execute_raw(release).await;
            taken?;
            released?;
            transaction.commit().await
        }
        other => Err(DbErr::BackendNotSupported { db: other.as_str(), ctx: "migrations" }),
    }
}
