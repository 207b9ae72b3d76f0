//! Which crate may be built on which, as ARCHITECTURE.md draws it.

use super::tree::{Package, Tree};

/// What each crate may use of ours, by folder names. A crate that is not listed may use
/// nothing.
const ARROWS: &[(&str, &str)] = &[
    ("history", ""),
    ("choice", "history"),
    ("sim", "choice history"),
    ("redis", ""),
    ("services", "sim redis history"),
    ("locks", "services sim history"),
    ("check", "history"),
    ("report", "history"),
    ("testbed", "locks services sim choice check history"),
    ("campaign", "testbed choice check history"),
    ("fencepost", "campaign testbed locks services sim choice check history report"),
    ("cli", "fencepost campaign testbed report"),
    ("xtask", "redis"),
];

/// Packages of others that only these crates may use outside of tests.
const HOMES: &[(&str, &str)] = &[
    ("rand_chacha", "choice"),
    ("mlua", "redis"),
    ("plotters", "report"),
    ("clap", "cli"),
    ("annotate-snippets", "cli"),
    ("signal-hook", "cli xtask"),
    ("anyhow", "cli xtask"),
    ("proptest", "fencepost xtask"),
];

/// Finds dependencies between our crates that are no arrow.
pub(super) fn between_crates(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for package in &tree.packages {
        let folder = crate_folder(package);
        let allowed = match package.folder.split('/').next() {
            Some("examples") => "fencepost",
            _ => ARROWS.iter().find(|(from, _)| *from == folder).map_or("", |(_, to)| to),
        };
        for table in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for name in package.dependencies(table) {
                let to = match name.strip_prefix("fencepost") {
                    Some("") => "fencepost",
                    Some(rest) => rest.trim_start_matches('-'),
                    None => continue,
                };
                if !allowed.split(' ').any(|arrow| arrow == to) {
                    found.push(format!("{} may not be built on {to} ({table})", package.folder));
                }
            }
        }
    }
    found
}

/// Finds packages of others in crates that must not know them.
pub(super) fn homes_of_packages(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for package in &tree.packages {
        for name in package.dependencies("dependencies") {
            let home = HOMES.iter().find(|(guest, _)| *guest == name);
            let at_home = |homes: &str| homes.split(' ').any(|home| home == crate_folder(package));
            if home.is_some_and(|(_, homes)| !at_home(homes)) {
                found.push(format!("{} may not use {name}", package.folder));
            }
        }
    }
    found
}

/// Finds packages that do not take the lints of the workspace.
pub(super) fn workspace_lints(tree: &Tree) -> Vec<String> {
    let takes = |package: &Package| {
        let lints = package.manifest.get("lints").and_then(|lints| lints.get("workspace"));
        lints.and_then(toml::Value::as_bool) == Some(true)
    };
    let without = tree.packages.iter().filter(|package| !takes(package));
    without.map(|package| format!("{} has no `[lints] workspace = true`", package.folder)).collect()
}

fn crate_folder(package: &Package) -> &str {
    package.folder.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(folder: &str, manifest: &str) -> Tree {
        let manifest = manifest.parse().unwrap();
        let packages = vec![Package { folder: folder.to_owned(), manifest }];
        Tree { packages, ..Tree::default() }
    }

    #[test]
    fn an_arrow_that_is_not_drawn_is_found() {
        let manifest = "[dependencies]\nfencepost-history = {}\nfencepost-sim = {}\n";
        assert_eq!(between_crates(&tree("crates/check", manifest)).len(), 1);
        assert_eq!(between_crates(&tree("crates/locks", manifest)).len(), 0);
        assert_eq!(between_crates(&tree("examples/my_lock", manifest)).len(), 2);
        let front_door = "[dependencies]\nfencepost = {}\n";
        assert_eq!(between_crates(&tree("examples/my_lock", front_door)).len(), 0);
        assert_eq!(between_crates(&tree("crates/sim", front_door)).len(), 1);
    }

    #[test]
    fn the_arrows_have_no_cycle() {
        for (index, (from, to)) in ARROWS.iter().enumerate() {
            for name in to.split(' ').filter(|name| !name.is_empty()) {
                let target = ARROWS.iter().position(|(folder, _)| *folder == name).unwrap();
                assert!(target < index, "{from} -> {name} points downwards in the list");
            }
        }
    }

    #[test]
    fn a_guest_away_from_home_is_found() {
        let manifest = "[dependencies]\nclap = {}\n[dev-dependencies]\nproptest = {}\n";
        assert_eq!(homes_of_packages(&tree("crates/cli", manifest)).len(), 0);
        assert_eq!(
            homes_of_packages(&tree("crates/testbed", manifest)),
            ["crates/testbed may not use clap"]
        );
    }

    #[test]
    fn own_lints_are_found() {
        assert_eq!(workspace_lints(&tree("crates/sim", "[lints]\nworkspace = true")).len(), 0);
        assert_eq!(workspace_lints(&tree("crates/sim", "[lints.rust]")).len(), 1);
    }
}
