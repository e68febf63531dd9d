//! Whether this is a virtual machine.

use crate::backend::cpu::facts;
use crate::doctor::scene::text;
use crate::doctor::{About, Check, Finding};

pub const CHECK: Check = Check {
    name: "hypervisor",
    about: "whether neighbours may share the caches and the memory; notes a virtual machine",
    of: About::Measuring,
    examine: |_| judge(&facts::cpuinfo("flags").unwrap_or_default(), product().as_deref()),
};

fn product() -> Option<String> {
    let read = |name: &str| text(format!("/sys/class/dmi/id/{name}")).filter(|text| !text.is_empty());
    let words: Vec<String> = ["sys_vendor", "product_name"].into_iter().filter_map(read).collect();
    (!words.is_empty()).then(|| crate::units::escaped(&words.join(" ")))
}

fn judge(flags: &str, product: Option<&str>) -> Finding {
    let virtual_machine = flags.split(' ').any(|flag| flag == "hypervisor");
    let named = product.map(|name| format!(" ({name})")).unwrap_or_default();
    match virtual_machine {
        true => Finding::note(format!("a virtual machine{named}: neighbours share caches and memory"))
            .advice("compare figures of one session; a replay says what still holds"),
        false => Finding::ok(format!("none seen{named}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_virtual_machine_is_noted() {
        assert_eq!(judge("fpu hypervisor lahf_lm", None).level, Level::Note);
        assert_eq!(judge("fpu lahf_lm", Some("Board")).level, Level::Ok);
    }
}
