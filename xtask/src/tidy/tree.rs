//! What the rules look at: the text files and the packages of the repository.

use anyhow::{Context, Result};
use std::path::Path;
use toml::{Table, Value};

/// Folders that hold nothing written by hand.
const SKIPPED: &[&str] = &[".git", "target", "gallery", "counterexamples"];

/// The repository as text.
#[derive(Default)]
pub(super) struct Tree {
    /// Every text file, sorted by path.
    pub(super) files: Vec<Source>,
    /// Every package of the workspace.
    pub(super) packages: Vec<Package>,
    /// The root manifest.
    pub(super) root: Table,
}

/// A text file.
pub(super) struct Source {
    /// Where it lies, from the root, with slashes.
    pub(super) path: String,
    /// What it says.
    pub(super) text: String,
}

/// A package of the workspace.
pub(super) struct Package {
    /// Its folder, from the root.
    pub(super) folder: String,
    /// Its manifest.
    pub(super) manifest: Table,
}

impl Tree {
    /// Reads the repository below a folder.
    pub(super) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.walk(root, "")?;
        tree.files.sort_by(|one, other| one.path.cmp(&other.path));
        for file in &tree.files {
            let folder = file.path.strip_suffix("/Cargo.toml");
            let parse = || file.text.parse::<Table>().with_context(|| file.path.clone());
            if file.path == "Cargo.toml" {
                tree.root = parse()?;
            } else if let Some(folder) = folder {
                tree.packages.push(Package { folder: folder.to_owned(), manifest: parse()? });
            }
        }
        Ok(tree)
    }

    fn walk(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            if entry.file_type()?.is_dir() {
                let generated = path.starts_with("reports/") || SKIPPED.contains(&name.as_str());
                if !generated {
                    self.walk(&entry.path(), &format!("{path}/"))?;
                }
            } else if let Ok(text) = std::fs::read_to_string(entry.path()) {
                self.files.push(Source { path, text });
            }
        }
        Ok(())
    }

    /// Returns the text of a file, or nothing.
    pub(super) fn text(&self, path: &str) -> &str {
        self.files.iter().find(|file| file.path == path).map_or("", |file| &file.text)
    }
}

impl Source {
    /// Says whether this is Rust source.
    pub(super) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Returns the lines with their numbers from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

impl Package {
    /// Returns the names of the packages in one dependency table.
    pub(super) fn dependencies(&self, table: &str) -> Vec<&str> {
        let named = self.manifest.get(table).and_then(Value::as_table);
        named.into_iter().flat_map(Table::keys).map(String::as_str).collect()
    }
}
