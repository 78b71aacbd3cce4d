//! What a request for documents asks: every parameter typed, every fault found at once.

use jiff::tz::TimeZone;
use serde_json::Value as Json;

use super::gather::Wanted;
use crate::access::Caller;
use crate::definitions::{self, Document, Filters};
use crate::delivery::Way;
use crate::error::Result;
use crate::formats::{Parameters, params};

/// The parameters of a bundle that are no filters.
const BUNDLE: [&str; 3] = ["delivery", "filename", "tz"];
/// Those of a single document.
const SINGLE: [&str; 1] = ["tz"];

/// Which documents are wanted, and how they are to leave; all of it valid.
#[derive(Debug, Clone)]
pub struct Asked {
    /// How the bundle is to leave.
    pub way: Way,
    /// The name for the download, without regard to what names may be.
    pub filename: Option<String>,
    /// The zone in which times are shown.
    pub zone: TimeZone,
    filters: Filters,
    details: Filters,
    pairs: Vec<(String, String)>,
}

impl Asked {
    /// Reads the parameters of a bundle.
    ///
    /// # Errors
    /// [`crate::error::Error::Malformed`] with every fault.
    pub fn bundle(
        document: &Document,
        pairs: &[(String, String)],
        zone: &TimeZone,
    ) -> Result<Self> {
        let mut reader = Parameters::new(pairs);
        let way = reader.word("delivery", &Way::ALL, Way::name).unwrap_or(Way::Prepared);
        let filename = reader.value("filename").map(str::to_owned);
        Self::read(reader, document, zone, &BUNDLE, way, filename)
    }

    /// Reads the parameters of a single document.
    ///
    /// # Errors
    /// As [`Asked::bundle`].
    pub fn single(
        document: &Document,
        pairs: &[(String, String)],
        zone: &TimeZone,
    ) -> Result<Self> {
        Self::read(Parameters::new(pairs), document, zone, &SINGLE, Way::Prepared, None)
    }

    fn read(
        mut reader: Parameters<'_>,
        document: &Document,
        zone: &TimeZone,
        own: &[&str],
        way: Way,
        filename: Option<String>,
    ) -> Result<Self> {
        let zone = reader.zone().unwrap_or_else(|| zone.clone());
        let of_details = document.details.iter().flat_map(|details| &details.report.filters);
        let of_details: Vec<&str> = of_details.map(|filter| filter.name.as_str()).collect();
        let known: Vec<&str> = own.iter().chain(&of_details).copied().collect();
        let pairs = reader.pairs;
        let filters = definitions::parse_filters(
            &document.report,
            pairs,
            &known,
            &zone,
            &mut reader.problems,
        );
        let details = document.details.as_ref().map_or_else(Filters::default, |details| {
            // What nobody knows was refused above.
            let known: Vec<_> =
                pairs.iter().filter(|pair| of_details.contains(&&*pair.0)).cloned().collect();
            definitions::parse_filters(&details.report, &known, &[], &zone, &mut reader.problems)
        });
        let pairs = pairs.to_vec();
        reader.done(Self { way, filename, zone, filters, details, pairs })
    }

    /// The parameters as the run keeps them.
    #[must_use]
    pub fn params(&self) -> Json {
        params(&self.pairs)
    }

    /// What is to be read for this caller: all that the filters leave, or the one document of a key.
    pub(super) fn wanted(self, caller: &Caller, key: Option<String>) -> Wanted {
        let Self { filters, details, zone, .. } = self;
        Wanted { filters, details, zone, key, scopes: caller.scopes.clone() }
    }
}
