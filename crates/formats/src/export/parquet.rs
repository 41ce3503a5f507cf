//! A table as a Parquet file.

use super::table::{Column, Table, Values};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::Write;
use std::sync::Arc;

/// The error of writing a Parquet file.
pub use parquet::errors::ParquetError;

impl Table {
    /// Writes the table as a Parquet file of one row group: texts as UTF-8, whole numbers as INT64,
    /// real numbers as DOUBLE; missing numbers are null. It is compressed with Snappy, which every
    /// reader supports.
    pub fn parquet(&self, out: impl Write + Send) -> Result<()> {
        let fields = self.columns.iter().map(field).collect::<Result<Vec<_>>>()?;
        let schema = Type::group_type_builder("fathom").with_fields(fields).build()?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("fathom ", env!("CARGO_PKG_VERSION")).into())
            .build();
        let mut file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        let mut group = file.next_row_group()?;
        for column in &self.columns {
            let Some(mut writer) = group.next_column()? else { break };
            match &column.values {
                Values::Text(values) => {
                    let bytes: Vec<ByteArray> =
                        values.iter().map(|text| text.as_str().into()).collect();
                    writer.typed::<ByteArrayType>().write_batch(&bytes, None, None)?;
                }
                Values::Whole(values) => {
                    let numbers: Vec<Option<i64>> = values.iter().map(|v| v.map(signed)).collect();
                    write::<Int64Type>(&mut writer, &numbers)?;
                }
                Values::Real(values) => write::<DoubleType>(&mut writer, values)?,
            }
            writer.close()?;
        }
        group.close()?;
        file.close()?;
        Ok(())
    }
}

/// Few readers support unsigned types, and no count of a run exceeds the signed range.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn field(column: &Column) -> Result<TypePtr> {
    let (physical, logical, repetition) = match column.values {
        Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
        Values::Whole(_) => (Physical::INT64, None, Repetition::OPTIONAL),
        Values::Real(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
    };
    let builder = Type::primitive_type_builder(column.name, physical);
    Ok(Arc::new(builder.with_repetition(repetition).with_logical_type(logical).build()?))
}

/// Writes values that may be missing: the level of each says whether it exists.
fn write<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &[Option<T::T>],
) -> Result<()> {
    let there: Vec<T::T> = values.iter().flatten().cloned().collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    writer.typed::<T>().write_batch(&there, Some(&levels), None).map(drop)
}
