//! A file as a source of rows. Knows neither formats nor where the rows go.

use std::path::PathBuf;
use std::sync::Arc;

use super::Asked;
use super::cells::Cells;
use super::columns::Wish;
use super::table::Table;
use crate::delivery::RowSource;
use crate::error::Result;
use crate::rows::{RowSink, Warning};
use crate::runs::Stop;
use crate::sheets::{Reader, Wanted};
use crate::spool::Upload;

/// The rows of one file, in the columns that were asked for.
pub(super) struct FileRows {
    reader: Reader,
    path: PathBuf,
    /// Held until it has been read.
    upload: Option<Arc<Upload>>,
    wanted: Wanted,
    header_row: Option<u64>,
    wish: Wish,
    cells: Cells,
}

impl FileRows {
    /// Of what was sent.
    pub(super) fn of_upload(reader: Reader, upload: Arc<Upload>, asked: &Asked) -> Self {
        let path = upload.path().to_owned();
        Self { upload: Some(upload), ..Self::of_path(reader, path, asked) }
    }

    /// Of a file that is somebody's.
    pub(super) fn of_path(reader: Reader, path: PathBuf, asked: &Asked) -> Self {
        Self {
            reader,
            path,
            upload: None,
            wanted: Wanted { sheet: asked.sheet.clone() },
            header_row: asked.header_row,
            wish: asked.wish.clone(),
            cells: asked.cells(),
        }
    }
}

impl RowSource for FileRows {
    fn drive(
        self: Box<Self>,
        sink: &mut (dyn RowSink + Send),
        stop: &Stop,
        warnings: &mut Vec<Warning>,
    ) -> Result<()> {
        let Self { reader, path, wanted, header_row, wish, cells, upload } = *self;
        let mut table = Table::new(&wish, header_row, cells, sink);
        let read = reader.read(&path, &wanted, stop, &mut table);
        drop(upload);
        let ended = table.end(warnings);
        let remarks = read?;
        warnings.extend(
            remarks.into_iter().map(|remark| Warning { code: remark.code, detail: remark.detail }),
        );
        ended
    }
}
