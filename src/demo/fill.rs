//! Puts the example into a database: all of it or nothing.

use migration::example::{self, TABLES};
use sea_orm::DatabaseConnection;

use super::{DOCUMENTS, Demo, LINES, MERCHANTS, PROJECTS};
use crate::database::{Loader, Target};
use crate::error::{Error, Result};

/// Makes the example's tables in the business database and fills them, in one transaction.
///
/// `db` takes the migrations and `target` is the same database for loading. Tables that hold rows
/// are refused unless `replace` is set; tables of these names that somebody else made are refused
/// always. `progress` is told the settlement lines done, about every 10,000, and once more at the
/// end, before indexes are built.
///
/// # Errors
/// [`Error::Conflict`] for tables in the way, [`Error::NoSpace`], [`Error::Busy`],
/// [`Error::Unavailable`]; the tables then hold what they held before.
pub async fn fill(
    db: &DatabaseConnection,
    target: Target,
    demo: Demo,
    replace: bool,
    mut progress: impl FnMut(u64) + Send + 'static,
) -> Result<()> {
    make_tables(db).await?;
    tokio::task::spawn_blocking(move || load(&target, &demo, replace, &mut progress))
        .await
        .map_err(|error| Error::internal("making example data", error))?
}

async fn make_tables(db: &DatabaseConnection) -> Result<()> {
    let failed = |error| Error::internal("making the example's tables", error);
    let strangers = example::strangers(db).await.map_err(failed)?;
    if strangers.is_empty() {
        return example::up(db).await.map_err(failed);
    }
    Err(Error::Conflict {
        code: "table_exists",
        detail: format!(
            "the business database already has {} of its own, which the example neither changes \
             nor replaces; give the example a database of its own with database_url",
            strangers.join(" and ")
        ),
    })
}

fn load(target: &Target, demo: &Demo, replace: bool, progress: &mut dyn FnMut(u64)) -> Result<()> {
    let mut loader = Loader::begin(target)?;
    for table in TABLES {
        make_room(&mut loader, table, replace)?;
    }
    loader.load(&MERCHANTS, &mut |sink| demo.push_merchants(sink))?;
    loader.load(&PROJECTS, &mut |sink| demo.push_projects(sink))?;
    loader.load(&DOCUMENTS, &mut |sink| demo.push_documents(sink))?;
    let indexes = loader.take_indexes(LINES.name)?;
    loader.load(&LINES, &mut |sink| demo.push_lines(sink, progress))?;
    loader.restore_indexes(indexes)?;
    loader.commit(&TABLES)
}

fn make_room(loader: &mut Loader, table: &str, replace: bool) -> Result<()> {
    loader.lock(table)?;
    if loader.is_empty(table)? {
        return Ok(());
    }
    if replace {
        return loader.clear(table);
    }
    Err(Error::Conflict {
        code: "table_not_empty",
        detail: format!(
            "the table {table} holds rows and nothing was changed; --replace removes them and \
             makes new ones"
        ),
    })
}
