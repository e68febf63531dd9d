//! Whether this is a virtual machine.

use crate::case::units;
use crate::doctor::{About, Check, Finding};
use crate::engine::environment::source::System;
use crate::engine::environment::virtualisation::{hypervisor, machine};

pub const CHECK: Check = Check {
    name: "hypervisor",
    about: "whether neighbours may share the caches and the memory; notes a virtual machine",
    of: About::Measuring,
    examine: |_| {
        let system = System::here();
        judge(hypervisor(&system).as_deref(), machine(&system).as_deref())
    },
};

fn judge(hypervisor: Option<&str>, machine: Option<&str>) -> Finding {
    let named =
        |name: Option<&str>| name.map(|name| format!(" ({})", units::escaped(name))).unwrap_or_default();
    match hypervisor {
        Some(own) => Finding::note(format!(
            "a virtual machine{}: neighbours share caches and memory",
            named(machine.or(Some(own)))
        ))
        .advice("compare figures of one session; a replay says what still holds"),
        None => Finding::ok(format!("none seen{}", named(machine))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_virtual_machine_is_noted() {
        assert!(judge(Some("KVMKVMKVM"), None).text.starts_with("a virtual machine (KVMKVMKVM):"));
        assert!(judge(Some("xen"), Some("m5.large")).text.starts_with("a virtual machine (m5.large):"));
        assert_eq!(judge(None, Some("Board")).level, Level::Ok);
    }
}
