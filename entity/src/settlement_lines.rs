//! `settlement_lines`: the daily settlement, line by line, in the worked example.

use sea_orm::entity::prelude::*;

/// One payment or refund and what is paid out for it. Money is whole won; a refund's is negative.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "settlement_lines")]
pub struct Model {
    /// The line's number, in the order of payment.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i64,
    /// An id in `merchants`.
    pub merchant_id: i64,
    /// The merchant's name when the line was made.
    #[sea_orm(column_type = "Text")]
    pub merchant_name: String,
    /// Thirteen digits; leading zeros count.
    #[sea_orm(column_type = "Text")]
    pub order_no: String,
    /// What was bought.
    #[sea_orm(column_type = "Text")]
    pub product: String,
    /// `payment` or `refund`.
    #[sea_orm(column_type = "Text")]
    pub kind: String,
    /// How it was paid.
    #[sea_orm(column_type = "Text")]
    pub method: String,
    /// `settled`, `scheduled` or `held`.
    #[sea_orm(column_type = "Text")]
    pub status: String,
    /// What the buyer paid, in won.
    pub gross: i64,
    /// The fee, in won.
    pub fee: i64,
    /// Value added tax on the fee, in won.
    pub vat: i64,
    /// `gross - fee - vat`, in won.
    pub net: i64,
    /// When it was paid, to the microsecond.
    pub paid_at: DateTimeUtc,
    /// The day on which it is paid out, in Seoul.
    pub settle_on: Date,
}

/// Lines come by the million from other systems; a foreign key would only slow their loading.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
