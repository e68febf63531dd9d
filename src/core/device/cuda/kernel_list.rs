//! The kernels of a case, in one list: compiling ahead of time and the filters of profilers follow from it.

/// A kernel, as its module and its name in the PTX.
pub type KernelName = (&'static str, String);

/// The kernels of a case on a GPU, each with the number of its launches in an execution: 0 for those that make inputs or
/// certify.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelList(Vec<(KernelName, u64)>);

/// The launches of one execution, at which a profiler is told to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The name of the only kernel, or a regular expression that matches all of them (`regex:^(a|b)$`).
    pub kernel: String,
    pub launches: u64,
}

impl KernelList {
    /// Adds kernels that an execution does not launch.
    pub fn untimed(
        mut self,
        module: &'static str,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> KernelList {
        names.into_iter().for_each(|name| self.add((module, name.into()), 0));
        self
    }

    /// Adds a kernel that an execution launches so many times.
    pub fn timed(mut self, module: &'static str, name: impl Into<String>, launches: u64) -> KernelList {
        self.add((module, name.into()), launches);
        self
    }

    /// Adds kernels with their launches.
    pub fn timed_all(
        self,
        module: &'static str,
        kernels: impl IntoIterator<Item = (impl Into<String>, u64)>,
    ) -> KernelList {
        kernels.into_iter().fold(self, |list, (name, launches)| list.timed(module, name, launches))
    }

    /// Adds the kernels of a list, launched `times` as often.
    pub fn and(mut self, other: KernelList, times: u64) -> KernelList {
        other.0.into_iter().for_each(|(kernel, launches)| self.add(kernel, launches * times));
        self
    }

    /// A kernel is listed once, with all its launches.
    fn add(&mut self, kernel: KernelName, launches: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == kernel) {
            Some((_, all)) => *all += launches,
            None => self.0.push((kernel, launches)),
        }
    }

    /// All kernels.
    pub fn names(self) -> impl Iterator<Item = KernelName> {
        self.0.into_iter().map(|(kernel, _)| kernel)
    }

    /// The kernels that an execution launches, and how often.
    pub fn launches(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().filter(|(_, launches)| *launches > 0).map(|((_, name), launches)| (&**name, *launches))
    }
}

impl Launched {
    /// The launches of an execution that has these kernels on one generation of GPUs or another, as many on each.
    pub fn of(lists: &[KernelList]) -> Launched {
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in lists.iter().flat_map(KernelList::launches) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let kernel = match &names[..] {
            [only] => (*only).to_owned(),
            all => format!("regex:^({})$", all.join("|")),
        };
        let launches = lists.first().map_or(0, |list| list.launches().map(|(_, launches)| launches).sum());
        Launched { kernel, launches }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_tells_profilers_and_compilers() {
        let pass = |name| KernelList::default().timed("m", "count", 1).timed("m", name, 2);
        let of_case = |name| KernelList::default().untimed("m", ["fill"]).and(pass(name), 3);
        let names: Vec<String> = of_case("pass").names().map(|(_, name)| name).collect();
        assert_eq!(names, ["fill", "count", "pass"]);
        let told = Launched::of(&["pass", "bulk"].map(of_case));
        assert_eq!(told, Launched { kernel: "regex:^(count|pass|bulk)$".to_owned(), launches: 9 });
        let told = Launched::of(&[KernelList::default().untimed("m", ["fill"]).timed("m", "one", 1)]);
        assert_eq!(told, Launched { kernel: "one".to_owned(), launches: 1 });
    }
}
