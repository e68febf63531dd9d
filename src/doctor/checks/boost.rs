//! Clock rates above the nominal one.

use crate::doctor::{About, Check, Finding};
use crate::engine::environment::frequency::boost;
use crate::engine::environment::source::System;

pub const CHECK: Check = Check {
    name: "boost",
    about: "whether the clock may exceed its nominal value; notes it, because it then depends on load and heat",
    of: About::Measuring,
    examine: |_| judge(boost(&System::here())),
};

fn judge(on: Option<bool>) -> Finding {
    match on {
        None => Finding::note("unknown"),
        Some(false) => Finding::ok("off: the clock is the nominal one"),
        Some(true) => Finding::note("on: the clock depends on load and temperature")
            .advice("leave it for everyday figures; switch it off where a few per cent matter"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn boost_is_noted() {
        assert_eq!([Some(true), Some(false)].map(|on| judge(on).level), [Level::Note, Level::Ok]);
    }
}
