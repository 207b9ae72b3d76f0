//! Packages of others: each has a reason, a licence that fits, and no banned name.

use super::tree::Tree;
use crate::shell::{cargo, output};
use toml::{Table, Value};

const REASONS: &str = "docs/adr/0001-dependencies.md";

/// Finds dependencies of the workspace without a line in their decision record.
pub(super) fn justified(tree: &Tree) -> Vec<String> {
    let reasons = tree.text(REASONS);
    let shared = table(&tree.root, &["workspace", "dependencies"]);
    let foreign =
        shared.into_iter().flat_map(Table::iter).filter(|(_, how)| how.get("path").is_none());
    let mut found: Vec<_> = foreign
        .filter(|(name, _)| !reasons.contains(&format!("`{name}`")))
        .map(|(name, _)| format!("{name} has no line in {REASONS}"))
        .collect();
    for package in &tree.packages {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let own = table(&package.manifest, &[kind]);
            for (name, how) in own.into_iter().flat_map(Table::iter) {
                if how.get("workspace").is_none() {
                    found.push(format!(
                        "{}: {name} is not taken from the workspace",
                        package.folder
                    ));
                }
            }
        }
    }
    found
}

/// Finds dependencies of the workspace that no package uses.
pub(super) fn used(tree: &Tree) -> Vec<String> {
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let takes = |name: &str| {
        let all = tree.packages.iter().flat_map(|package| kinds.map(|kind| (package, kind)));
        all.into_iter().any(|(package, kind)| package.dependencies(kind).contains(&name))
    };
    let shared = table(&tree.root, &["workspace", "dependencies"]);
    let idle = shared.into_iter().flat_map(Table::keys).filter(|name| !takes(name));
    idle.map(|name| format!("no package uses {name}")).collect()
}

/// Finds packages whose licence is not on the list of deny.toml.
pub(super) fn licensed(tree: &Tree) -> Vec<String> {
    let rules = rules(tree);
    let allowed = strings(table(&rules, &["licenses"]).and_then(|licenses| licenses.get("allow")));
    let described = output(&mut cargo("metadata --format-version 1 --locked --offline"))
        .or_else(|_| output(&mut cargo("metadata --format-version 1")));
    let Ok(described) = described else { return vec!["cargo metadata failed".to_owned()] };
    let Ok(metadata) = serde_json::from_slice::<serde_json::Value>(&described.stdout) else {
        return vec!["cargo metadata wrote no JSON".to_owned()];
    };
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let odd = packages.iter().filter(|package| !fits(package["license"].as_str(), &allowed));
    odd.map(|package| format!("{} is under {}", package["name"], package["license"])).collect()
}

/// Finds packages that deny.toml bans, however deep they come in.
pub(super) fn banned(tree: &Tree) -> Vec<String> {
    let rules = rules(tree);
    let bans = table(&rules, &["bans"]).and_then(|bans| bans.get("deny")).and_then(Value::as_array);
    let locked = tree.text("Cargo.lock");
    let name = |ban: &Value| ban.get("crate").and_then(Value::as_str).map(str::to_owned);
    let names = bans.into_iter().flatten().filter_map(name);
    let present = names.filter(|name| locked.contains(&format!("name = \"{name}\"\n")));
    present.map(|name| format!("{name} is banned by deny.toml")).collect()
}

/// Says whether one way through a licence expression is allowed.
fn fits(licence: Option<&str>, allowed: &[&str]) -> bool {
    let expression = licence.unwrap_or_default().replace('/', " OR ").replace(['(', ')'], "");
    let met = |name: &str| allowed.contains(&name.trim());
    expression.split(" AND ").all(|part| part.split(" OR ").any(met))
}

fn rules(tree: &Tree) -> Table {
    tree.text("deny.toml").parse().unwrap_or_default()
}

fn table<'a>(start: &'a Table, path: &[&str]) -> Option<&'a Table> {
    path.iter().try_fold(start, |table, key| table.get(*key)?.as_table())
}

fn strings(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_expressions() {
        let allowed = ["MIT", "Unicode-3.0"];
        assert!(fits(Some("MIT OR Apache-2.0"), &allowed));
        assert!(fits(Some("Apache-2.0/MIT"), &allowed));
        assert!(fits(Some("(MIT OR Apache-2.0) AND Unicode-3.0"), &allowed));
        assert!(!fits(Some("MIT AND GPL-3.0"), &allowed));
        assert!(!fits(None, &allowed));
    }

    #[test]
    fn a_dependency_without_a_reason_is_found() {
        let root =
            "[workspace.dependencies]\ncsv = \"1\"\nours = { path = \"x\" }".parse().unwrap();
        assert_eq!(justified(&Tree { root, ..Tree::default() }).len(), 1);
    }
}
