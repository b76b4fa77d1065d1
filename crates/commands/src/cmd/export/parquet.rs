//! Flat rows as a Parquet file, written in groups so that memory stays bounded.

use super::each;
use crate::store::RunFile;
use ::parquet::basic::{ConvertedType, Repetition, Type as Physical};
use ::parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterPropertiesPtr;
use ::parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use ::parquet::schema::types::{ColumnDescPtr, Type};
use bytes::Bytes;
use gpubench_core::error::{Error, Result};
use gpubench_report::export_rows::{COLUMNS, Cell, Kind};
use gpubench_report::progress::say;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows that are held before they are written.
const GROUP: usize = 1 << 16;

/// One row a case and round.
pub(super) fn write(files: &[RunFile], output: Option<&Path>) -> Result<()> {
    let no_file = || Error::Usage("Parquet is no text: name the file with --output".into());
    let path = output.ok_or_else(no_file)?;
    let mut file = Parquet::create(path, &COLUMNS)?;
    let rows = each(files, |cells| file.row(cells))?;
    file.finish()?;
    say(&format!("{rows} rows: {}", path.display()));
    Ok(())
}

/// A column's values until they are written.
#[derive(Debug)]
enum Column {
    /// UTF-8 text.
    Text(Vec<ByteArray>),
    /// 64-bit integers.
    Whole(Vec<i64>),
    /// Numbers, some missing.
    Number(Vec<Option<f64>>),
}

/// A file that is being written.
#[derive(Debug)]
struct Parquet {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
    columns: Vec<Column>,
    rows: usize,
}

impl Parquet {
    /// Creates `path`, which must not exist, with columns of these names and kinds.
    ///
    /// # Errors
    /// `Io` when it exists or cannot be written.
    fn create(path: &Path, columns: &[(&str, Kind)]) -> Result<Self> {
        let file = File::create_new(path).map_err(|source| Error::io(path, source))?;
        let failed = |error| rejected(path, error);
        let (fields, columns): (Vec<_>, _) =
            columns.iter().map(|(name, kind)| column(name, kind)).unzip();
        let fields = fields.into_iter().collect::<Result<_, _>>().map_err(failed)?;
        let schema = Type::group_type_builder("gpubench").with_fields(fields).build();
        let schema = Arc::new(schema.map_err(failed)?);
        let writer = SerializedFileWriter::new(file, schema, Arc::default()).map_err(failed)?;
        Ok(Self { path: path.to_owned(), writer, columns, rows: 0 })
    }

    /// Adds a row, one cell of its kind a column.
    ///
    /// # Errors
    /// `Io` when it cannot be written.
    fn row(&mut self, cells: Vec<Cell>) -> Result<()> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            match (column, cell) {
                (Column::Text(values), Cell::Text(text)) => values.push(text.as_str().into()),
                (Column::Whole(values), Cell::Whole(x)) => values.push(x),
                (Column::Number(values), Cell::Number(x)) => values.push(x),
                // A row has a cell of the right kind for every column.
                _ => {}
            }
        }
        self.rows += 1;
        if self.rows >= GROUP { self.group() } else { Ok(()) }
    }

    /// Writes what is left and the file's end.
    ///
    /// # Errors
    /// `Io` when it cannot be written.
    fn finish(mut self) -> Result<()> {
        if self.rows > 0 {
            self.group()?;
        }
        let path = self.path;
        self.writer.close().map(|_| ()).map_err(|error| rejected(&path, error))
    }

    fn group(&mut self) -> Result<()> {
        self.rows = 0;
        self.write().map_err(|error| rejected(&self.path, error))
    }

    fn write(&mut self) -> Result<(), ParquetError> {
        let properties = self.writer.properties().clone();
        let descriptions = self.writer.schema_descr().columns().to_vec();
        let mut group = self.writer.next_row_group()?;
        for (column, description) in self.columns.iter_mut().zip(descriptions) {
            let to = (description, properties.clone());
            let (bytes, end) = match column {
                Column::Text(values) => chunk::<ByteArrayType>(to, &std::mem::take(values), None),
                Column::Whole(values) => chunk::<Int64Type>(to, &std::mem::take(values), None),
                Column::Number(values) => {
                    let values = std::mem::take(values);
                    let levels: Vec<i16> = values.iter().map(|x| i16::from(x.is_some())).collect();
                    let there: Vec<f64> = values.into_iter().flatten().collect();
                    chunk::<DoubleType>(to, &there, Some(&levels))
                }
            }?;
            group.append_column(&bytes, end)?;
        }
        group.close().map(|_| ())
    }
}

/// A group's part of one column, encoded. The file's own writer of columns would bring those of all types there are
/// into the binary, where three are used.
fn chunk<T: DataType>(
    (description, properties): (ColumnDescPtr, WriterPropertiesPtr),
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(Bytes, ColumnCloseResult), ParquetError> {
    let mut bytes = TrackedWrite::new(vec![]);
    let pages = Box::new(SerializedPageWriter::new(&mut bytes));
    let mut writer = ColumnWriterImpl::<T>::new(description, properties, pages);
    writer.write_batch(values, levels, None)?;
    let end = writer.close()?;
    Ok((bytes.into_inner()?.into(), end))
}

/// A column's type, and its values, of which there are none yet.
fn column(name: &str, kind: &Kind) -> (Result<Arc<Type>, ParquetError>, Column) {
    let (physical, repetition, converted, values) = match kind {
        Kind::Text(_) => {
            (Physical::BYTE_ARRAY, Repetition::REQUIRED, ConvertedType::UTF8, Column::Text(vec![]))
        }
        Kind::Whole(_) => {
            (Physical::INT64, Repetition::REQUIRED, ConvertedType::NONE, Column::Whole(vec![]))
        }
        Kind::Number(_) => {
            (Physical::DOUBLE, Repetition::OPTIONAL, ConvertedType::NONE, Column::Number(vec![]))
        }
    };
    let builder = Type::primitive_type_builder(name, physical).with_repetition(repetition);
    (builder.with_converted_type(converted).build().map(Arc::new), values)
}

fn rejected(path: &Path, error: ParquetError) -> Error {
    Error::io(path, std::io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let columns = [
            ("name", Kind::Text(|_| "".into())),
            ("n", Kind::Whole(|_| 0)),
            ("x", Kind::Number(|_| None)),
        ];
        let mut file = Parquet::create(&path, &columns).unwrap();
        for n in 0..3_i64 {
            let x = (n != 1).then_some(n as f64 / 4.0);
            file.row(vec![Cell::Text(format!("=é{n}")), Cell::Whole(n), Cell::Number(x)]).unwrap();
        }
        file.finish().unwrap();
        assert!(Parquet::create(&path, &columns).is_err(), "nothing is written over");
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows: Vec<String> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(rows.len(), 3);
        assert!(rows[1].contains("=é1") && rows[1].contains("null"), "{}", rows[1]);
        assert!(rows[2].contains("0.5"), "{}", rows[2]);
    }
}
