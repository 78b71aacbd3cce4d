//! Tables and columns as each database has them.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{custom, timestamp_with_time_zone};
use sea_orm_migration::sea_orm::DbBackend;

/// A moment to the microsecond, UTC. MySQL's own type for moments ends in 2038.
pub(crate) fn moment(manager: &SchemaManager<'_>, name: &'static str) -> ColumnDef {
    match manager.get_database_backend() {
        DbBackend::MySql => custom(name, "datetime(6)"),
        _ => timestamp_with_time_zone(name),
    }
}

/// The same, where there may be none.
pub(crate) fn moment_null(manager: &SchemaManager<'_>, name: &'static str) -> ColumnDef {
    moment(manager, name).null().take()
}

/// Makes a table with its indexes; on MySQL in one statement, with texts that are compared byte for
/// byte.
pub(crate) async fn make(
    manager: &SchemaManager<'_>,
    mut table: TableCreateStatement,
    indexes: impl IntoIterator<Item = IndexCreateStatement>,
) -> Result<(), DbErr> {
    if manager.get_database_backend() == DbBackend::MySql {
        table.if_not_exists().engine("InnoDB").character_set("utf8mb4").collate("utf8mb4_bin");
        for mut index in indexes {
            table.index(&mut index);
        }
        return manager.create_table(table).await;
    }
    manager.create_table(table).await?;
    for index in indexes {
        manager.create_index(index).await?;
    }
    Ok(())
}
